// run: 5
// run: 500
// left alone: only a handler could release it; at the call that throws it is still needed
#include <cstdio>
#include <cstdlib>

static int checked(int n) {
    if (n > 100)
        throw n;
    return n;
}

static int twice(int n) {
    int *pair = new int[2];
    pair[0] = checked(n);
    pair[1] = pair[0];
    int sum = pair[0] + pair[1];
    delete[] pair;
    return sum;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 0;
    try {
        std::printf("%d\n", twice(n));
    } catch (int large) {
        std::printf("too large: %d\n", large);
    }
    return 0;
}

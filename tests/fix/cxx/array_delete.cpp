// run: 1
// run: 0
#include <cstdio>
#include <cstdlib>

static int work(int n) {
    int *list = new int[4];
    for (int i = 0; i < 4; i++)
        list[i] = i * n;
    if (n == 0)
        return -1;
    int sum = list[1] + list[2];
    delete[] list;
    return sum;
}

int main(int argc, char **argv) {
    std::printf("%d\n", work(argc > 1 ? std::atoi(argv[1]) : 1));
    return 0;
}

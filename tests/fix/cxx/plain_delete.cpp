// run: 1
// run: 0
#include <cstdio>
#include <cstdlib>

struct point {
    int x, y;
};

static int work(int early) {
    point *p = new point;
    p->x = 1;
    p->y = early;
    if (early)
        return 1;
    std::printf("%d\n", p->x + p->y);
    delete p;
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? std::atoi(argv[1]) : 1) < 0;
}

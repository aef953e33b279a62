// verdict: MUST-LEAK
// What is thrown passes the object by.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

static int parse(const char *text)
{
    if (std::strcmp(text, "nine") != 0)
        return std::atoi(text);
    throw std::runtime_error("no number");
}

static int work(const char *text)
{
    int *cell = new int[4]; // @alloc
    cell[0] = 3;
    try {
        cell[1] = parse(text);
    } catch (const std::runtime_error &) {
        return 1; // @leak
    }
    int sum = cell[0] + cell[1];
    delete[] cell;
    return sum == 0;
}

int main(int argc, char **argv)
{
    return argc > 1 ? work(argv[1]) : 0;
}

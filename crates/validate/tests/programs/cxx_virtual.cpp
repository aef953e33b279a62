// verdict: MUST-LEAK
// One of the shapes keeps what it is given and has no destructor for it.
#include <cstring>
#include <memory>
#include <string>

struct Shape {
    virtual ~Shape() {}
    virtual void name(const char *text) = 0;
};

struct Square : Shape {
    std::string text;
    void name(const char *t) override { text = t; }
};

struct Circle : Shape {
    char *text = nullptr;
    void name(const char *t) override
    {
        text = new char[std::strlen(t) + 1]; // @alloc
        std::strcpy(text, t); // @leak
    }
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    std::unique_ptr<Shape> shape;
    if (std::string(argv[1]) == "circle")
        shape.reset(new Circle);
    else
        shape.reset(new Square);
    shape->name(argv[2]);
    return 0;
}

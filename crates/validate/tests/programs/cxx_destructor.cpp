// verdict: LIKELY-NOT-LEAK
// The owner's destructor frees it after its last use.
#include <cstdlib>
#include <string>

class Buffer {
  public:
    explicit Buffer(int size) : data(new char[size]), size(size) { data[0] = 'x'; } // @alloc
    ~Buffer() { delete[] data; }
    char first() const { return data[0]; }
    int length() const { return size; }

  private:
    char *data;
    int size;
};

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 1;
    if (n < 1 || n > 100)
        return 2;
    Buffer buffer(n);
    int more = n + 1; // @leak
    if (more == 50)
        return buffer.first();
    return buffer.first() == 'x' && buffer.length() == n ? 0 : more;
}

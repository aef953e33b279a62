/* Multiplies matrices whose rows are allocated one by one; the input only says where to start. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 96 };

static double **matrix(int seed)
{
    double **rows = malloc(N * sizeof *rows);
    if (!rows)
        exit(1);
    for (int i = 0; i < N; i++) {
        rows[i] = malloc(N * sizeof **rows); // @alloc
        if (!rows[i])
            exit(1);
        for (int j = 0; j < N; j++)
            rows[i][j] = (i * seed + j) % 17;
    }
    return rows; // @leak
}

static void release(double **rows)
{
    for (int i = 0; i < N; i++)
        free(rows[i]);
    free(rows);
}

int main(void)
{
    int seed = getchar();
    double **a = matrix(3), **b = matrix(5), trace = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            trace += i == j ? sum : 0;
        }
    release(a);
    release(b);
    return trace < seed;
}

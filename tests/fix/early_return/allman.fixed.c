// run: 0
// run: 5
#include <stdio.h>
#include <stdlib.h>

static int sum(int n)
{
	int total = 0;
	int *numbers = calloc(10, sizeof *numbers);
	if (!numbers)
	{
		return -1;
	}
	if (n == 0)
	{
		free(numbers);
		return -2;
	}
	else
	{
		numbers[n % 10] = n;
	}
	for (int i = 0; i < 10; i++)
		total += numbers[i];
	free(numbers);
	return total;
}

int main(int argc, char **argv)
{
	printf("%d\n", sum(argc > 1 ? atoi(argv[1]) : 3));
	return 0;
}

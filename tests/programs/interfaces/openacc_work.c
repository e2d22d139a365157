/* Three parallel loops within a data region, two kernels, an update and a wait, in OpenACC; prints what it computed. */
#include <stdio.h>

#define COUNT 1000

int main(void) {
  static int values[COUNT];
  long sum = 0;
#pragma acc data copy(values)
  {
    for (int round = 0; round < 3; ++round) {
#pragma acc parallel loop present(values)
      for (int i = 0; i < COUNT; ++i) values[i] += i;
    }
#pragma acc update host(values)
  }
  for (int round = 0; round < 2; ++round) {
#pragma acc kernels copy(values)
    for (int i = 0; i < COUNT; ++i) values[i] += 1;
  }
#pragma acc wait
  for (int i = 0; i < COUNT; ++i) sum += values[i];
  printf("%ld\n", sum);
  return 0;
}

/* A program in OpenMP with known content: four threads in a region with a loop, a barrier, a critical section and a single block that makes five
   tasks and waits for them; then a region of two threads. Built against LLVM's runtime, which reports it to tools. */
#include <omp.h>
#include <stdio.h>

enum { kThreads = 4, kTasks = 5, kSteps = 1000 };

int main(void) {
  long sum = 0;
  int in_turn = 0, tasks = 0;
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < kSteps; ++i) sum += i;
#pragma omp barrier
#pragma omp critical
    ++in_turn;
#pragma omp single
    {
      for (int i = 0; i < kTasks; ++i) {
#pragma omp task shared(tasks)
        {
#pragma omp atomic
          ++tasks;
        }
      }
#pragma omp taskwait
    }
  }
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    ++in_turn;
  }
  printf("%ld %d %d\n", sum, in_turn, tasks);
  return sum == (long)kSteps * (kSteps - 1) / 2 && in_turn == kThreads + 2 && tasks == kTasks ? 0 : 1;
}

// A program that looks like an interpreter's file: its loop has rarely used parts, which the compiler puts elsewhere.
#include <cstdio>

extern "C" {
extern int runtime __asm__("_PyRuntime");
int runtime = 0;

__attribute__((cold, noinline)) void complain(int code) { std::printf("%d\n", code); }

__attribute__((noinline)) int run_loop(const int* codes, int count) __asm__("_PyEval_EvalFrameDefault");
int run_loop(const int* codes, int count) {
  int sum = runtime;
  for (int i = 0; i < count; ++i) {
    if (codes[i] == 10) complain(sum), sum += 3;
    if (codes[i] == 20) complain(i), sum -= 7;
    sum ^= codes[i];
    if (codes[i] == 30) complain(sum + i), sum *= 5;
    if (codes[i] == 40) complain(sum - i), sum ^= 11;
    sum += codes[i] >> 3;
    if (codes[i] == 50) complain(2 * i), sum += 17;
    if (sum == 60) complain(60), sum -= 19;
  }
  return sum;
}
}

int main(int count, char**) {
  const int codes[] = {1, 2, 3, count};
  return run_loop(codes, 4) == 0 ? 1 : 0;
}

/* A small library with symbols, lines and inlined functions, for fuzz_elf. */
static inline __attribute__((always_inline)) int twice(int x) { return 2 * x; }
int PyRuntime_like(int x) { return twice(x) + twice(x + 1); }
struct { int words[8]; } _PyRuntime = {{1}};
int _PyEval_EvalFrameDefault(int x) { return x < 2 ? x : PyRuntime_like(x - 1); }

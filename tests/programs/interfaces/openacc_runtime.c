/* Plays a runtime of OpenACC that knows source lines, kernels and copies, as NVIDIA's does. It loads what ACC_PROFLIB names first, and reports a
   kernel that is launched within a construct, with a copy of 4,096 bytes; then a kernel as by a runtime that fills in few members of its structures. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct info {
  int event, valid_bytes, version, device_type, device_number, thread;
  long async, async_queue;
  const char *source_file, *function;
  int line, end_line, function_line, function_end_line;
};
struct event {
  int event, valid_bytes, construct, is_implicit;
  void *of_tool;
  const char *name;
  size_t bytes;
};
typedef void (*callback)(struct info *, struct event *, void *);
static callback known[32];
static void add(int event, callback tell, int how) {
  if (how == 0) known[event] = tell;
}

static void tell(int event, const char *name, size_t bytes, int line) {
  struct info info = {.event = event, .valid_bytes = sizeof info, .source_file = "/src/solver.c", .function = "solve", .line = line};
  struct event about = {.event = event, .valid_bytes = sizeof about, .construct = 16, .name = name, .bytes = bytes};
  if (known[event]) known[event](&info, &about, NULL);
}
static void tell_little(int event) {
  struct info info = {.event = event, .valid_bytes = 8, .source_file = (const char *)1, .line = 5};
  struct event about = {.event = event, .valid_bytes = 8, .construct = 1, .name = (const char *)1};
  if (known[event]) known[event](&info, &about, NULL);
}

int main(void) {
  char *libraries = getenv("ACC_PROFLIB");
  if (libraries == NULL) return 2;
  libraries[strcspn(libraries, ";")] = '\0';
  void *library = dlopen(libraries, RTLD_LAZY);
  void (*begin)(void (*)(int, callback, int), void (*)(int, callback, int), void *) = NULL;
  if (library != NULL) *(void **)&begin = dlsym(library, "acc_register_library");
  if (begin == NULL) return 3;
  begin(add, add, NULL);
  tell(16, NULL, 0, 12);
  tell(20, "matrix", 4096, 12);
  tell(21, "matrix", 4096, 12);
  tell(18, "solve_12_gpu", 8, 14);
  tell(19, "solve_12_gpu", 8, 14);
  tell(17, NULL, 0, 12);
  tell_little(18);
  tell_little(19);
  puts("told");
  return 0;
}

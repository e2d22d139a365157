// To be preloaded: of the allocations that a program makes from main() on, the one numbered LANESCOPE_FAIL_AT fails, of all threads, by
// whichever function of the C library. Writes how many there were to the file that LANESCOPE_ALLOCATIONS names. For glibc.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

typedef int Main(int, char**, char**);
typedef int StartMain(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

static atomic_long allocations;
static atomic_int is_counting;
static long fails_at;
static Main* program;

static int fails(void) {
  if (!is_counting || atomic_fetch_add(&allocations, 1) + 1 != fails_at) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return fails() ? NULL : __libc_calloc(count, bytes); }
void* realloc(void* memory, size_t bytes) { return fails() ? NULL : __libc_realloc(memory, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return fails() ? NULL : __libc_memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (fails()) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == NULL ? ENOMEM : 0;
}

static void end(void) {
  is_counting = 0;
  const char* path = getenv("LANESCOPE_ALLOCATIONS");
  FILE* file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld\n", atomic_load(&allocations));
  fclose(file);
}

static int counted_main(int argc, char** argv, char** environment) {
  const char* wanted = getenv("LANESCOPE_FAIL_AT");
  fails_at = wanted != NULL ? atol(wanted) : 0;
  unsetenv("LD_PRELOAD");
  atexit(end);
  is_counting = 1;
  const int code = program(argc, argv, environment);
  is_counting = 0;
  return code;
}

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(void), void (*fini)(void), void (*end_of_loader)(void), void* stack) {
  program = main;
  StartMain* next;
  *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  return next(counted_main, argc, argv, init, fini, end_of_loader, stack);
}

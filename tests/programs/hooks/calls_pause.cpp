// A library that calls pause(), which the program also defines, and fdatasync(), which the library itself defines.
#include <unistd.h>

#include "stands_before.h"

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default"), noinline))

LANESCOPE_EXPORT int fdatasync(int) { return kAnswer; }
LANESCOPE_EXPORT int pause_by_library() { return pause(); }
LANESCOPE_EXPORT int sync_by_library() { return fdatasync(-1); }

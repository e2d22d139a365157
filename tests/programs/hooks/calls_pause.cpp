// A library that calls pause(), which the program has, too.
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int pause_by_library() { return pause(); }

// A library that loads another by name alone, from a folder that its own path names.
#include <dlfcn.h>

extern "C" int finds_neighbour() { return dlopen(LANESCOPE_NEIGHBOUR, RTLD_NOW) != nullptr ? 1 : 0; }

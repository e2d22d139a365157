// A library that loads another one by its name only, from a folder in its own path list.
#include <dlfcn.h>

extern "C" int finds_neighbour() { return dlopen(LANESCOPE_NEIGHBOUR, RTLD_NOW) != nullptr ? 1 : 0; }

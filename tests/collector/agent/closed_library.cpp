// A library whose table of functions is read-only after loading (-z now) and lies on the last of several such pages.
#include <unistd.h>

#define LANESCOPE_EIGHT(of) of, of, of, of, of, of, of, of

extern "C" __attribute__((visibility("default"))) pid_t ask_parent() { return getppid(); }

// Addresses, which the loader fills in: three pages of them.
extern "C" __attribute__((visibility("default"))) pid_t (*const many_addresses[])() = {LANESCOPE_EIGHT(LANESCOPE_EIGHT(LANESCOPE_EIGHT(ask_parent))),
                                                                                       LANESCOPE_EIGHT(LANESCOPE_EIGHT(LANESCOPE_EIGHT(ask_parent))),
                                                                                       LANESCOPE_EIGHT(LANESCOPE_EIGHT(LANESCOPE_EIGHT(ask_parent)))};

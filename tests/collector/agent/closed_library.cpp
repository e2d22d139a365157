// A library whose table of functions is read-only once it is loaded (-z now), on the last of several pages that are.
#include <unistd.h>

#define LANESCOPE_EIGHT(of) of, of, of, of, of, of, of, of

extern "C" __attribute__((visibility("default"))) pid_t ask_parent() { return getppid(); }

// Addresses, which the loader fills in: three pages of them.
extern "C" __attribute__((visibility("default"))) pid_t (*const many_addresses[])() = {LANESCOPE_EIGHT(LANESCOPE_EIGHT(LANESCOPE_EIGHT(ask_parent))),
                                                                                       LANESCOPE_EIGHT(LANESCOPE_EIGHT(LANESCOPE_EIGHT(ask_parent))),
                                                                                       LANESCOPE_EIGHT(LANESCOPE_EIGHT(LANESCOPE_EIGHT(ask_parent)))};

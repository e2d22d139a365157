// sigaction() and related functions, before which the agent stands if it is preloaded (process/handlers.h).
#include "agent/process/handlers.h"

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

LANESCOPE_EXPORT int lanescope_sigaction(int signal, const struct sigaction* action, struct sigaction* before) __asm__("sigaction");
LANESCOPE_EXPORT int lanescope_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  return lanescope::agent::program_sigaction(signal, action, before);
}
LANESCOPE_EXPORT __attribute__((nothrow, alias("sigaction"))) int lanescope_other_sigaction(int, const struct sigaction*,
                                                                                            struct sigaction*) __asm__("__sigaction");

#define LANESCOPE_SIGNAL(name, function)                                                           \
  LANESCOPE_EXPORT sighandler_t lanescope_##name(int signal, sighandler_t handler) __asm__(#name); \
  LANESCOPE_EXPORT sighandler_t lanescope_##name(int signal, sighandler_t handler) { return lanescope::agent::function(signal, handler); }
LANESCOPE_SIGNAL(signal, program_signal)
LANESCOPE_SIGNAL(bsd_signal, program_signal)
LANESCOPE_SIGNAL(ssignal, program_signal)
LANESCOPE_SIGNAL(sysv_signal, program_sysv_signal)
LANESCOPE_SIGNAL(__sysv_signal, program_sysv_signal)
LANESCOPE_SIGNAL(sigset, program_sigset)
#undef LANESCOPE_SIGNAL

#include "agent/cupti/library/injection.h"

#include <cerrno>
#include <cstddef>
#include <new>

#include "agent/channel/end_signals.h"
#include "agent/channel/membership.h"
#include "agent/channel/places.h"
#include "agent/core/quiet.h"
#include "agent/cupti/callbacks.h"
#include "agent/cupti/cuda_names.h"
#include "agent/cupti/exit_hook.h"
#include "agent/cupti/library/library.h"
#include "agent/cupti/tracer.h"
#include "agent/cupti/words.h"
#include "agent/kernel_counters/collection.h"
#include "agent/process/crash_mark.h"
#include "agent/process/forks.h"
#include "agent/process/lock.h"

namespace lanescope::agent::cupti {
namespace {

constinit Lock injection_lock;
constinit std::uint32_t injected_in = 0;  // generation for whose session it was tried last

// Used again for each session until one succeeds; that tracer stays.
alignas(Tracer) constinit std::byte tracer_storage[sizeof(Tracer)] = {};

// Does nothing in the child of a vfork, which sees the same memory.
void ask_tracer(void (Tracer::*work)() noexcept) noexcept {
  Tracer* current = current_tracer();
  if (current == nullptr || !is_traced_process()) return;
  const Quiet quiet;
  (current->*work)();
}

void hand_over_at_crash() noexcept { ask_tracer(&Tracer::hand_over_at_crash); }

void start_tracer(channel::SharedMemory memory, Arrival arrival) noexcept {
  const Library library = load_library();
  switch (library.result) {
    case LoadResult::kLoaded:
      session_places.hold(&memory.header());
      if (!(::new (tracer_storage) Tracer(library, memory, process_instance()))->start(arrival)) {
        session_places.release(&memory.header(), process_generation());
        break;
      }
      finish_before_exits();
      before_crashes(hand_over_at_crash);
      before_end_signals(hand_over_at_crash);
      break;
    case LoadResult::kNoDriver:
      tell(ComponentState::kNoDriver, Severity::kError, "GPU activity is not recorded: there is no NVIDIA driver in this process.");
      break;
    case LoadResult::kNotFound:
      tell(ComponentState::kNoLibrary, Severity::kError,
           "GPU activity is not recorded: no libcupti for CUDA %u was found; install it beside liblanescope-agent.so, or name it in "
           "LANESCOPE_CUPTI_LIBRARY.",
           library.driver_version / 1000);
      break;
    case LoadResult::kDamaged:
      tell(ComponentState::kNoLibrary, Severity::kError,
           "GPU activity is not recorded: %.300s is damaged or was cut short. Install it anew, or name another libcupti in "
           "LANESCOPE_CUPTI_LIBRARY.",
           library.damaged.path);
      break;
    case LoadResult::kFaulted:
      tell(ComponentState::kFailed, Severity::kError, "GPU activity is not recorded: this libcupti faulted at the first question.");
      break;
    case LoadResult::kUnknownMajor:
      tell(ComponentState::kVersionMismatch, Severity::kError,
           "GPU activity is not recorded: this agent does not know the records of CUPTI version %u; name another libcupti in "
           "LANESCOPE_CUPTI_LIBRARY, or update Lanescope.",
           library.version);
      break;
  }
}

}  // namespace

void finish() noexcept { ask_tracer(&Tracer::finish); }
void hand_over() noexcept { ask_tracer(&Tracer::hand_over); }

void inject(Arrival arrival) noexcept {
  const int saved_errno = errno;
  const Quiet quiet;
  const std::uint32_t generation = process_generation();
  const channel::SharedMemory memory = join_recording();
  if (memory && memory.header().settings.trace_cuda.load(std::memory_order_acquire) != 0) {
    const ScopedLock lock(injection_lock);
    if (injected_in != generation) {
      injected_in = generation;
      // A forked child of a process that uses CUDA can't use it. It has neither our thread nor any other that would answer.
      on_fork_child([] {
        if (Tracer* parents = current_tracer()) parents->kernel_profiler().process_forked();
        set_current_tracer(nullptr);
        forget_cuda_names();
        kernel_counters::forget_all();
      });
      if (Tracer* current = current_tracer())
        current->follow(memory, process_instance());
      else
        start_tracer(memory, arrival);
    }
  }
  errno = saved_errno;
}

}  // namespace lanescope::agent::cupti

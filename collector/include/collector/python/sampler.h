// Reads again and again what the threads of CPython programs are doing, from their memory, and remembers it for a while.
//
// Nothing runs in the programs for it, and they do not stop. What is recorded of a thread by other means (samples of its native code, the
// begin and end of a call) is joined with what was read of it at that time. Times are CLOCK_MONOTONIC nanoseconds.
//
// Threads: a thread of its own reads; all functions may be called from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collector/python/stacks.h"

namespace lanescope::python {

inline constexpr const char* kSupportedVersions = "CPython 3.9 to 3.15";  // with or without the global lock

class Sampler {
 public:
  // Reads each program `frequency` times a second, or less often where that would take more than a fifth of one processor.
  explicit Sampler(std::uint32_t frequency);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // A program that may be one, now or later: its interpreter is looked for until it is found. Known processes are looked at anew, as they
  // are after exec.
  void watch(pid_t process);
  void forget(pid_t process);
  void set_sampling(bool sampling);

  // What a thread that runs was doing at a time: the last stack that was
  // read before it while the thread ran, no more than 100 ms ago. Where a thread was when it had to give its processor away says little
  // about what it does while it has one: kernels take it away at certain places first. Null where there is none. Readings are kept for
  // 10 seconds. The functions live as long as this sampler.
  using RanAt = std::function<bool(std::int64_t time)>;  // whether the thread ran then
  [[nodiscard]] std::shared_ptr<const Stack> at(pid_t process, std::uint32_t thread, std::int64_t time, const RanAt& ran_at) const;
  // A reading that was taken between two times, whether or not the thread ran.
  [[nodiscard]] std::shared_ptr<const Stack> within(pid_t process, std::uint32_t thread, std::int64_t from, std::int64_t until) const;
  // Whether code of the interpreter's loop is there, which runs Python functions.
  [[nodiscard]] bool is_loop(pid_t process, std::uint64_t address) const;

  struct Counts {
    std::uint64_t programs = 0;  // whose stacks were read
    std::uint64_t readings = 0;  // of programs
    std::uint64_t torn = 0;      // stacks that changed while they were read, and were dropped
  };
  [[nodiscard]] Counts counts() const;
  // One sentence for each program that can't be read, since the last call.
  [[nodiscard]] std::vector<std::string> take_refusals();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::python

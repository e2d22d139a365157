// Repeatedly reads from the memory of CPython programs what their threads are doing, and remembers it for a while.
//
// Nothing runs in the programs for this, and they do not stop. What is recorded of a thread by other means (samples of its native code, the start and
// end of a call) is joined with the stack that was read at that time. Times are CLOCK_MONOTONIC nanoseconds.
//
// Threads: the sampler reads on its own thread; all functions may be called from any thread.
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
  // Reads each program `frequency` times a second, or less often if that would take more than a fifth of one processor.
  explicit Sampler(std::uint32_t frequency);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Adds a program that may be a Python program, now or later: its interpreter is looked for until it is found. A process that is already watched is
  // examined again, as is necessary after exec.
  void watch(pid_t process);
  void forget(pid_t process);
  // Reads from now on, until pause(). Reads nothing before the first call.
  void start();
  void pause();

  // What a running thread was doing at `time`: the last stack that was read before it while the thread ran, at most 100 ms earlier. A stack read
  // while the thread had lost its processor says little about what it does while it runs, because kernels preempt threads preferably at certain
  // places. Null if there is no such stack. Readings are kept for 10 seconds. The functions live as long as this sampler.
  using RanAt = std::function<bool(std::int64_t time)>;  // whether the thread ran at that time
  [[nodiscard]] std::shared_ptr<const Stack> at(pid_t process, std::uint32_t thread, std::int64_t time, const RanAt& ran_at) const;
  // A stack that was read between the two times, whether or not the thread ran.
  [[nodiscard]] std::shared_ptr<const Stack> within(pid_t process, std::uint32_t thread, std::int64_t from, std::int64_t until) const;
  // True if `address` lies in the code of the interpreter's loop, which runs Python functions.
  [[nodiscard]] bool is_loop(pid_t process, std::uint64_t address) const;

  struct Counts {
    std::uint64_t programs = 0;  // programs whose stacks were read
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

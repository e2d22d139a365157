// Calls into the C library that the agent makes itself are not recorded.
#pragma once

#include <cstdint>

namespace lanescope::agent {

class [[nodiscard]] Quiet {
 public:
  Quiet() noexcept {
    if (!is_on()) outermost = this;
    ++depth;
  }
  ~Quiet() {
    if (depth != 0) --depth;
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

  // For a thread of the agent's own, or one that is left alone: from here to the end of the thread.
  static void this_thread() noexcept {
    outermost = nullptr;
    ++depth;
  }
  // A signal handler may have left a Quiet by a jump, which also ends it (core/faults/left_frame.h).
  [[nodiscard]] static bool is_on() noexcept { return depth != 0 && !was_left(); }

 private:
  static bool was_left() noexcept;

  static constinit thread_local std::uint32_t depth;
  static constinit thread_local const Quiet* outermost;  // null: it lasts as long as the thread
};

}  // namespace lanescope::agent

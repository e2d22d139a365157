// Calls into the C library that the agent makes itself are no business of the recording.
#pragma once

#include <cstdint>

namespace lanescope::agent {

class [[nodiscard]] Quiet {
 public:
  Quiet() noexcept { ++depth; }
  ~Quiet() { --depth; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

  // For a thread of the agent's own: from here to its end.
  static void this_thread() noexcept { ++depth; }
  [[nodiscard]] static bool is_on() noexcept { return depth != 0; }

 private:
  static constinit thread_local std::uint32_t depth;
};

}  // namespace lanescope::agent

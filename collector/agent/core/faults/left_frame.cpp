#include "agent/core/faults/left_frame.h"

#include <cstddef>
#include <cstdint>

namespace lanescope::agent {
namespace {

constexpr std::size_t kLooksBelow = 512;  // about as much as writing an event needs

}  // namespace

// Stacks grow downwards. The local memory of this function is on the stack that it runs on, whichever that is.
[[gnu::noinline]] bool is_left(const void* place, const void* newest) noexcept {
  volatile std::byte own[kLooksBelow];
  own[0] = std::byte{};
  const auto at = reinterpret_cast<std::uintptr_t>(place);
  return at >= reinterpret_cast<std::uintptr_t>(&own[0]) && at <= reinterpret_cast<std::uintptr_t>(newest);
}

}  // namespace lanescope::agent

#include "agent/core/quiet.h"

#include "agent/core/faults/left_frame.h"

namespace lanescope::agent {

constinit thread_local std::uint32_t Quiet::depth = 0;
constinit thread_local const Quiet* Quiet::outermost = nullptr;

bool Quiet::was_left() noexcept {
  if (outermost == nullptr || !is_left(outermost, __builtin_frame_address(0))) return false;
  depth = 0;
  return true;
}

}  // namespace lanescope::agent

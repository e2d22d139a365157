// The calls that led to the calling thread's present place, by unwind tables, because libraries such as the C library and CUDA's keep no frame pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/channel/layout.h"

namespace lanescope::agent {

// Looks for the unwinder and walks once, so that later walks need nothing of the kernel. May load a library, so do not call it if the caller may hold a lock of
// the program's. False if there is no unwinder.
bool prepare_call_chains() noexcept;
[[nodiscard]] bool can_take_call_chains() noexcept;

// Return addresses, innermost first, including those of the agent's own functions.
class CallChain {
 public:
  // Takes the chain, as far as the stack can be read: it ends where a stack does that has no caller at its end. Requires: can_take_call_chains(), except for
  // the walk of prepare_call_chains(). After that walk, it takes no memory, and asks the kernel only whether pages can be read (core/faults/readable.h).
  CallChain() noexcept;

  // The text of a record of type kCallChain. Valid as long as this object.
  [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(addresses_), depth_ * sizeof(addresses_[0])}; }

 private:
  static constexpr std::size_t kMaximumDepth = channel::kMaximumTextBytes / sizeof(std::uint64_t);
  std::uint64_t addresses_[kMaximumDepth];
  std::size_t depth_ = 0;
};

}  // namespace lanescope::agent

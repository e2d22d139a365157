// The calls that led to where the calling thread is, by unwind tables: libraries of the C library's and CUDA's sort keep no frame pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/channel/layout.h"

namespace lanescope::agent {

// Looks for what unwinds, and walks once, so that later walks need nothing of the kernel. Loads a library perhaps, so not where the caller may hold a lock of
// the program's. False where there is none.
bool prepare_call_chains() noexcept;
[[nodiscard]] bool can_take_call_chains() noexcept;

// Return addresses, innermost first, those of the agent's own functions among them.
class CallChain {
 public:
  // Takes it. Requires: can_take_call_chains(), but for the walk of prepare_call_chains(). Takes no memory and calls no kernel after that one.
  CallChain() noexcept;

  // As a record of type kCallChain carries it. Valid as long as this.
  [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(addresses_), depth_ * sizeof(addresses_[0])}; }

 private:
  friend struct CallChainWalk;
  static constexpr std::size_t kMaximumDepth = channel::kMaximumTextBytes / sizeof(std::uint64_t);
  std::uint64_t addresses_[kMaximumDepth];
  std::size_t depth_ = 0;
};

}  // namespace lanescope::agent

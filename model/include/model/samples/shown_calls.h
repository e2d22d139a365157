// Which calls of a chain are looked at: all, or those that users of Python know.
//
// Between two functions of Python, and around the first, stand a dozen calls of the interpreter that runs them. They say nothing that the
// functions do not say.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/call_stacks.h"

namespace lanescope::samples {

enum class CallChoice : std::uint8_t {
  kAll,
  // Without calls of the interpreter, and without those through which the program came to Python. What Python's functions call in other
  // files stays. The interpreter is the file whose code calls Python's functions.
  kWithoutInterpreter,
  kPythonOnly,  // time in what Python's functions call counts as theirs
};
// Chains without Python are shown whole, whatever is chosen: threads of native libraries do not vanish.

class ShownCalls {
 public:
  // O(call nodes). Refers to the call stacks no longer than this takes.
  ShownCalls(const CallStacks& stacks, CallChoice choice);

  // The innermost call of a chain that is shown; 0 for chain 0 alone. O(1).
  [[nodiscard]] CallNodeId innermost(CallNodeId chain) const noexcept { return innermost_[chain]; }
  // The call below which a shown one is shown, with a smaller id; 0 for the outermost. O(1).
  [[nodiscard]] CallNodeId caller(CallNodeId shown) const noexcept { return caller_[shown]; }

 private:
  std::vector<CallNodeId> innermost_;  // by call node
  std::vector<CallNodeId> caller_;     // by call node
};

// Whether chains go through functions of Python: only then the choices differ. O(code locations).
[[nodiscard]] bool has_python(const CallStacks& stacks) noexcept;

}  // namespace lanescope::samples

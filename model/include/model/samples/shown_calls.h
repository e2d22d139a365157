// Selects the calls of a chain that are shown: all, or those that users of Python know.
//
// Between two Python functions, and around the first, there are a dozen calls of the interpreter. They add no information to the functions.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/call_stacks.h"

namespace lanescope::samples {

enum class CallChoice : std::uint8_t {
  kAll,
  // Without calls of the interpreter, and without the calls that lead from the program's start to Python. Calls from Python functions into other files are
  // kept. The interpreter is the file whose code calls Python functions.
  kWithoutInterpreter,
  kPythonOnly,  // time in functions that Python functions call is attributed to those
};
// Chains without Python are always shown completely, so that threads of native libraries do not disappear.

class ShownCalls {
 public:
  // O(call nodes). Uses `stacks` only during construction.
  ShownCalls(const CallStacks& stacks, CallChoice choice);

  // The innermost shown call of a chain; 0 only for chain 0. O(1).
  [[nodiscard]] CallNodeId innermost(CallNodeId chain) const noexcept { return innermost_[chain]; }
  // The shown call above a shown call, with a smaller id; 0 for the outermost. O(1).
  [[nodiscard]] CallNodeId caller(CallNodeId shown) const noexcept { return caller_[shown]; }

 private:
  std::vector<CallNodeId> innermost_;  // by call node
  std::vector<CallNodeId> caller_;     // by call node
};

// True if chains contain Python functions: only then do the choices differ. O(code locations).
[[nodiscard]] bool has_python(const CallStacks& stacks) noexcept;

}  // namespace lanescope::samples

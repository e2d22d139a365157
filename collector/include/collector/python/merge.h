// Puts Python's calls into the chain of native calls in which they were made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lanescope::python {

struct NativeCall {
  std::uint32_t location = 0;
  bool is_loop = false;  // the loop of the interpreter, which runs Python functions
};
struct PythonCall {
  std::uint32_t location = 0;
  bool is_entry = false;  // called by native code, see Frame
};

// Both chains are innermost first, and so is the result. Each run of the interpreter's loop is replaced by the Python functions that it runs. The two
// may not fit, because they were taken at slightly different times or native calls could not be followed. Then Python's calls stay together, between
// the native code that they called last and the native code that started them, as far as that is known. O(length).
[[nodiscard]] std::vector<std::uint32_t> merge_calls(std::span<const NativeCall> native, std::span<const PythonCall> python);

}  // namespace lanescope::python

// Puts Python's calls into the chain of native calls in which they were made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lanescope::python {

struct NativeCall {
  std::uint32_t location = 0;
  bool is_loop = false;  // of the interpreter, running Python functions
};
struct PythonCall {
  std::uint32_t location = 0;
  bool is_entry = false;  // native code called it, see Frame
};

// Both innermost first, and so is the result. Each run of the interpreter's loop gives way to the Python functions that it runs. Where the
// two do not fit, since they were taken at slightly different times or native calls could not be followed, Python's stand whole between
// what native code they had called last and what had started them, as far as that is known. O(length).
[[nodiscard]] std::vector<std::uint32_t> merge_calls(std::span<const NativeCall> native, std::span<const PythonCall> python);

}  // namespace lanescope::python

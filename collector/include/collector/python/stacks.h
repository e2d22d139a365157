// What a thread of a Python program does: its calls of Python functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::python {

struct Function {
  std::string name;  // qualified ("Loader.__next__") from CPython 3.11 on
  std::string source_file;
  std::uint32_t first_line = 0;
  auto operator<=>(const Function&) const = default;
};

struct Frame {
  const Function* function = nullptr;
  std::uint32_t line = 0;  // the line that runs, or that calls the next function
  // True if native code called it: each run of the interpreter's loop (_PyEval_EvalFrameDefault) ends with one such frame.
  bool is_entry = false;
  bool operator==(const Frame&) const = default;
};

using Stack = std::vector<Frame>;  // innermost first

}  // namespace lanescope::python

// Addresses in a file that contains CPython (libpython3.*.so, a statically linked python3, a program that embeds it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanescope::python {

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] bool contains(std::uint64_t address) const noexcept { return address >= begin && address < end; }
};

inline constexpr std::size_t kMostLoopParts = 32;

// Addresses are those of the file; 0 if the file does not have them.
struct InterpreterFile {
  bool is_readable = false;        // it is an ELF file for this kind of machine, and could be read
  std::uint64_t start = 0;         // address of the part that is mapped from the file's start
  std::uint64_t runtime = 0;       // _PyRuntime
  std::uint64_t version = 0;       // Py_Version (3.11 and newer)
  std::vector<AddressRange> loop;  // _PyEval_EvalFrameDefault, and its rarely used parts: at most kMostLoopParts
};

// Reads the symbol tables of an open file, unless they are implausibly large.
[[nodiscard]] InterpreterFile read_interpreter_file(int descriptor);

}  // namespace lanescope::python

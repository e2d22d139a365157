// What a file that holds CPython (libpython3.*.so, a python3 linked statically, a program that embeds it) says of where things are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::python {

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] bool contains(std::uint64_t address) const noexcept { return address >= begin && address < end; }
};

// Addresses as the file counts them; 0 where it does not say.
struct InterpreterFile {
  bool is_readable = false;        // it is an ELF file of this machine's sort, and could be read
  std::uint64_t start = 0;         // of the part of it that lies at its begin
  std::uint64_t runtime = 0;       // _PyRuntime
  std::uint64_t version = 0;       // Py_Version (3.11 and newer)
  std::vector<AddressRange> loop;  // _PyEval_EvalFrameDefault, and the seldom used part of it
};

// Reads the file's symbol tables, if they are not of unlikely size.
[[nodiscard]] InterpreterFile read_interpreter_file(const std::string& path);

}  // namespace lanescope::python

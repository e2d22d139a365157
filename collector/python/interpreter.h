// The CPython interpreter in a running process.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interpreter_file.h"
#include "layout.h"
#include "memory.h"

namespace lanescope::python {

struct Interpreter {
  Layout layout;
  std::uint64_t runtime = 0;       // the address of _PyRuntime in the process
  std::vector<AddressRange> loop;  // code of the interpreter's loop in the process
};

struct InterpreterSearch {
  std::optional<Interpreter> found;
  std::string refusal;  // if there is an interpreter that can't be read: the reason, one clause that follows its path; else empty
};

// Reads each file once, however many processes map it.
class InterpreterFinder {
 public:
  // Reads files as the process sees them, also in a container. O(number of its mappings).
  InterpreterSearch find(pid_t process, Memory& memory);

 private:
  const InterpreterFile& file(pid_t process, const std::string& path);
  std::map<std::pair<std::string, std::uint64_t>, InterpreterFile> files_;  // by path and inode
};

}  // namespace lanescope::python

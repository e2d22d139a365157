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
  std::vector<AddressRange> loop;  // code of the interpreter's loop, there
};

struct InterpreterSearch {
  std::optional<Interpreter> found;
  std::string refusal;  // there is one, but it can't be read: why, one clause after its path; else empty
};

// Looks into files once, however many processes have them.
class InterpreterFinder {
 public:
  // Files are read as the process sees them, also in a container. O(number of its mappings).
  InterpreterSearch find(pid_t process, Memory& memory);

 private:
  const InterpreterFile& file(pid_t process, const std::string& path);
  std::map<std::pair<std::string, std::uint64_t>, InterpreterFile> files_;  // by path and inode
};

}  // namespace lanescope::python

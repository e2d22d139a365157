// The CPython interpreter in a running process.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interpreter_file.h"
#include "layout.h"
#include "memory.h"

namespace lanescope::code_names {
class Reader;
}

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

// Reads each file once, however many processes map it. If we are root, files that are not root's own are read by lanescope-code-names, without rights;
// files that took too much time or memory there are given up. One thread.
class InterpreterFinder {
 public:
  InterpreterFinder();
  ~InterpreterFinder();
  // Reads files as the process sees them, also in a container. O(number of its mappings).
  InterpreterSearch find(pid_t process, Memory& memory);

 private:
  const InterpreterFile& file(pid_t process, const std::string& path);
  InterpreterFile read_without_rights(int descriptor);
  std::map<std::pair<std::string, std::uint64_t>, InterpreterFile> files_;  // by path and inode
  std::unique_ptr<code_names::Reader> reader_;
  int failures_ = 0;  // of readers
};

}  // namespace lanescope::python

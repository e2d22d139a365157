// Names of code: functions, source files and lines, from symbol tables and debug information.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "code_names/code_name.h"
#include "modules.h"

namespace lanescope::cpu {

using code_names::CodeName;

// Files are read by lanescope-code-names, a process of its own. If we are root, files that are not root's are read by one without rights. The process
// is killed if an answer takes more than 20 seconds or 1 GiB; after three times the file that it was reading is given up.
//
// Each file is read once: the file itself, its .gnu_debugdata, and its debug file by build id or debug link. If there is no such program (a build
// without libdw), native code has no names. One thread.
class CodeNames {
 public:
  // `debug_folders`: additional folders with debug files, separated by colons.
  explicit CodeNames(const std::string& debug_folders);
  ~CodeNames();
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;

  // Innermost first, if the compiler inlined functions into each other; empty if the address has no name. Also empty, within 50 ms, when `goes_on` returns
  // false: the reader works on alone, for 20 seconds at most, and a later call takes up what it has read.
  std::vector<CodeName> find(const Module& module, std::uint64_t address, const std::function<bool()>& goes_on = always);
  static bool always() { return true; }

  // Messages for the user since the last call: one sentence each.
  std::vector<std::string> take_notes();

 private:
  struct File;
  struct State;
  std::unique_ptr<State> state_;
};

// True if this build can name native code, and unwind by tables.
[[nodiscard]] bool have_code_names() noexcept;

// Functions of the kernel; empty if this user may not know their addresses.
class KernelNames {
 public:
  [[nodiscard]] std::string_view find(std::uint64_t address);

 private:
  void read();
  bool is_read_ = false;
  std::vector<std::pair<std::uint64_t, std::string>> functions_;  // by address
};

}  // namespace lanescope::cpu

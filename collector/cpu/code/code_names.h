// What code is called: functions, source files and lines, from symbol tables and debug information.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "code_names/code_name.h"
#include "modules.h"

namespace lanescope::cpu {

using code_names::CodeName;

// Has files read by lanescope-code-names, a process of its own: where we are root, one without rights for what is not root's. It is ended
// when it takes more than some seconds or 1 GiB for an answer; the file that it was at is given up after the third time.
//
// Looks at each file once: the file itself, its .gnu_debugdata, and its debug file by build id or debug link. Where there is no such
// program (a build without libdw), native code stays without names. One thread.
class CodeNames {
 public:
  // Folders in which to look for debug files besides the usual ones, separated by colons.
  explicit CodeNames(const std::string& debug_folders);
  ~CodeNames();
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;

  // Innermost first, where the compiler inlined functions into each other; empty when it has no name.
  std::vector<CodeName> find(const Module& module, std::uint64_t address);

  // What the user should know since the last time: one sentence each.
  std::vector<std::string> take_notes();

 private:
  class Reader;
  struct File;
  struct State;
  std::unique_ptr<State> state_;
};

// Whether this build can name native code, and unwind by tables.
[[nodiscard]] bool have_code_names() noexcept;

// Functions of the kernel; empty where this user may not know where they are.
class KernelNames {
 public:
  [[nodiscard]] std::string_view find(std::uint64_t address);

 private:
  void read();
  bool is_read_ = false;
  std::vector<std::pair<std::uint64_t, std::string>> functions_;  // by address
};

}  // namespace lanescope::cpu

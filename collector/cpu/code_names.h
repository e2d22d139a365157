// What code is called: functions, source files and lines, from symbol tables and debug information.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "modules.h"

namespace lanescope::cpu {

struct CodeName {
  std::string function;     // demangled
  std::string source_file;  // empty when not known
  std::uint32_t source_line = 0;
};

// Looks at each file once: the file itself, its .gnu_debugdata, and its debug file by build id or debug link. Where this build has no
// libdw, native code stays without names.
class CodeNames {
 public:
  // Folders in which to look for debug files besides the usual ones, separated by colons.
  explicit CodeNames(const std::string& debug_folders);
  ~CodeNames();
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;

  // Innermost first, where the compiler inlined functions into each other; empty when it has no name.
  std::vector<CodeName> find(const Module& module, std::uint64_t address);

 private:
  struct Files;
  std::unique_ptr<Files> files_;
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

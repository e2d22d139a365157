// What the code of one file is called, from its symbol tables and debug information (libdw).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/channel/file_descriptor.h"
#include "debug_information.h"
#include "symbol_table.h"

namespace lanescope::code_names {

// Looks at the file once: the file itself, its .gnu_debugdata, and its debug file by build id or debug link.
class FileNames {
 public:
  // `path`: where debug files are looked for that a link in the file names. `debug_folders`: besides the usual ones, separated by colons;
  // it stays where it is as long as this lives.
  FileNames(const std::string& path, channel::FileDescriptor content, std::string& debug_folders);
  ~FileNames();
  FileNames(const FileNames&) = delete;
  FileNames& operator=(const FileNames&) = delete;

  // Innermost first, where the compiler inlined functions into each other; empty when the address has no name.
  std::vector<CodeName> find(std::uint64_t address);

 private:
  char* debug_path_;
  Dwfl_Callbacks callbacks_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  DebugInformation debug_information_;
  std::optional<SymbolTable> functions_;  // as soon as debug information does not name one
};

}  // namespace lanescope::code_names

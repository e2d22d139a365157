// Names of the code of one file, from its symbol tables and debug information (libdw).
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

// Reads once: the file itself, its .gnu_debugdata, and its debug file by build id or debug link.
class FileNames {
 public:
  // `path` is where debug files named by a link in the file are looked for. `debug_folders` are additional folders, separated by colons. The string
  // must keep its address while this object lives.
  FileNames(const std::string& path, channel::FileDescriptor content, std::string& debug_folders);
  ~FileNames();
  FileNames(const FileNames&) = delete;
  FileNames& operator=(const FileNames&) = delete;

  // Innermost first, if the compiler inlined functions into each other; empty if the address has no name.
  std::vector<CodeName> find(std::uint64_t address);

 private:
  char* debug_path_;
  Dwfl_Callbacks callbacks_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  DebugInformation debug_information_;
  std::optional<SymbolTable> functions_;  // read when debug information does not name an address
};

}  // namespace lanescope::code_names

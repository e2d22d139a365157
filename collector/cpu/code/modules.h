// Files that contain code, and their places in the memory of processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/attach/foreign_file.h"

namespace lanescope::cpu {

// A file with code: the facts needed to convert places in memory to addresses of its symbol table.
struct Module {
  std::string path;          // as the process names it; "[vdso]", "[kernel]"
  std::string build_id;      // hexadecimal; empty if it has none
  pid_t seen_by = 0;         // the process whose view of files the path refers to; 0: ours
  std::uint64_t device = 0;  // of the file that was found there; if inode is 0, none was found
  std::uint64_t inode = 0;
  struct Segment {
    std::uint64_t offset;   // in the file
    std::uint64_t size;     // in the file
    std::uint64_t address;  // in the address space of its symbols
  };
  std::vector<Segment> segments;  // segments that are mapped into memory
  bool is_generated = false;      // not a file: code that was made at run time

  // The address of a place in the file; the place itself if the file could not be read.
  [[nodiscard]] std::uint64_t address_of(std::uint64_t offset) const noexcept;
  // Opens the file that was found. Nothing if it no longer exists, or another file is at its path.
  [[nodiscard]] std::optional<attach::ForeignFile> open() const;
};

// Facts that an ELF file states about itself. Empty if it is not an ELF file.
struct ElfFacts {
  std::vector<Module::Segment> segments;
  std::string build_id;
};
[[nodiscard]] ElfFacts read_elf_facts(const std::string& path);

// One entry for each file, even if several processes use it.
class ModuleTable {
 public:
  ModuleTable();
  // `inode` distinguishes files that had the same name one after the other; 0 if it is not known.
  const Module* find(std::string_view path, std::uint64_t inode, pid_t process);
  [[nodiscard]] const Module* kernel() const noexcept { return kernel_; }

 private:
  std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<Module>> modules_;
  std::unique_ptr<Module> further_ = std::make_unique<Module>();  // used for all modules beyond a limit that only a hostile program exceeds
  const Module* kernel_;
};

struct Place {
  const Module* module = nullptr;  // null if nothing is known to be there
  std::uint64_t address = 0;       // in the address space of the module's symbols; in memory if the code is generated or the module is not known
};

class AddressSpace {
 public:
  void map(std::uint64_t start, std::uint64_t length, std::uint64_t offset, const Module* module);
  [[nodiscard]] Place find(std::uint64_t address) const;
  // Number of mappings, including those that are unmapped but not yet covered by others.
  [[nodiscard]] std::size_t size() const noexcept { return mappings_.size(); }
  // Adds what the process has mapped now. Returns how long the kernel took to list it.
  std::chrono::nanoseconds read(pid_t process, ModuleTable& modules);

 private:
  struct Mapping {
    std::uint64_t end;
    std::uint64_t offset;
    const Module* module;
  };
  std::map<std::uint64_t, Mapping> mappings_;  // by start; they do not overlap
};

}  // namespace lanescope::cpu

// Files that hold code, and where each process has them in memory.
#pragma once

#include <sys/types.h>

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

// A file with code, as far as it takes to turn places in memory into addresses of its symbol table.
struct Module {
  std::string path;          // as the process names it; "[vdso]", "[kernel]"
  std::string build_id;      // hexadecimal; empty when it has none
  pid_t seen_by = 0;         // the process as which the path is to be read; 0: ours
  std::uint64_t device = 0;  // of the file that was found there; with inode 0, none was
  std::uint64_t inode = 0;
  struct Segment {
    std::uint64_t offset;   // in the file
    std::uint64_t size;     // there
    std::uint64_t address;  // as symbols count
  };
  std::vector<Segment> segments;  // that are mapped into memory
  bool is_generated = false;      // no file: code that was made at run time

  // Of a place in the file; the place itself where the file could not be read.
  [[nodiscard]] std::uint64_t address_of(std::uint64_t offset) const noexcept;
  // The file that was found; none where it is not there any more, or another.
  [[nodiscard]] std::optional<attach::ForeignFile> open() const;
};

// What ELF files say of themselves. None where it is no such file.
struct ElfFacts {
  std::vector<Module::Segment> segments;
  std::string build_id;
};
[[nodiscard]] ElfFacts read_elf_facts(const std::string& path);

// One entry for each file, whichever processes use it.
class ModuleTable {
 public:
  ModuleTable();
  // `inode` tells apart files that had the same name one after the other; 0 where it is not known.
  const Module* find(std::string_view path, std::uint64_t inode, pid_t process);
  [[nodiscard]] const Module* kernel() const noexcept { return kernel_; }

 private:
  std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<Module>> modules_;
  std::unique_ptr<Module> further_ = std::make_unique<Module>();  // stands for all beyond a number that only a hostile program maps
  const Module* kernel_;
};

struct Place {
  const Module* module = nullptr;  // null where nothing is known to be there
  std::uint64_t address = 0;       // as the module's symbols count; in memory where the code is generated or the module not known
};

class AddressSpace {
 public:
  void map(std::uint64_t start, std::uint64_t length, std::uint64_t offset, const Module* module);
  [[nodiscard]] Place find(std::uint64_t address) const;
  // Of mappings, also such as are gone and have not been covered since.
  [[nodiscard]] std::size_t size() const noexcept { return mappings_.size(); }
  // What the process has mapped now.
  void read(pid_t process, ModuleTable& modules);

 private:
  struct Mapping {
    std::uint64_t end;
    std::uint64_t offset;
    const Module* module;
  };
  std::map<std::uint64_t, Mapping> mappings_;  // by start; they do not overlap
};

}  // namespace lanescope::cpu

// The line table of a cubin. Internal to model/kernels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "elf_sections.h"
#include "model/kernels/code/kernel_code.h"

namespace lanescope::kernels {

struct LineRow {
  std::uint64_t address = 0;  // in the section
  std::uint32_t file = 0;     // position in LineTable::files, or kNoFile
  std::uint32_t line = 0;
  std::uint32_t caller = 0;    // 1 + the row of the same sequence into which it was inlined; 0: none
  std::uint32_t function = 0;  // where it was: offset of its name in .debug_str
};

// Rows of one function's code, addresses ascending but for what is damaged.
struct LineSequence {
  std::uint32_t section = 0;
  std::uint64_t end = 0;  // address behind the last instruction
  std::vector<LineRow> rows;
};

struct LineTable {
  std::vector<std::string> files;
  std::vector<std::uint64_t> file_bytes;  // of each, as it was when it was compiled; 0: not known
  std::vector<LineSequence> sequences;
};

// What can be read of it. O(bytes of .debug_line), and at most some hundred MB.
[[nodiscard]] LineTable read_line_table(const std::vector<ElfSection>& sections, const std::vector<ElfSymbol>& symbols);

}  // namespace lanescope::kernels

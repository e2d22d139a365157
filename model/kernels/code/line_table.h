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
  std::uint32_t file = 0;     // index into LineTable::files, or kNoFile
  std::uint32_t line = 0;
  std::uint32_t caller = 0;    // 1 + the row of the same sequence that it was inlined into; 0: none
  std::uint32_t function = 0;  // the inlined function: offset of its name in .debug_str
};

// Rows of one function's code. Addresses ascend unless the table is damaged.
struct LineSequence {
  std::uint32_t section = 0;
  std::uint64_t end = 0;  // address behind the last instruction
  std::vector<LineRow> rows;
};

struct LineTable {
  std::vector<std::string> files;
  std::vector<std::uint64_t> file_bytes;  // size of each file when it was compiled; 0: unknown
  std::vector<LineSequence> sequences;
};

// Reads as much of the table as possible. O(bytes of .debug_line), and at most some hundred MB.
[[nodiscard]] LineTable read_line_table(const std::vector<ElfSection>& sections, const std::vector<ElfSymbol>& symbols);

}  // namespace lanescope::kernels

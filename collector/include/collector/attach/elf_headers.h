// The headers of an executable file or a library (ELF), which may hold anything.
#pragma once

#include <elf.h>

#include <istream>
#include <optional>
#include <vector>

namespace lanescope::attach {

struct ElfHeaders {
  Elf64_Ehdr file{};  // of a file that is not of 64 bits, only e_ident means something
  // Program headers in their order, at most as many as the kernel accepts; empty if the file is not of 64 bits or does not hold them all.
  std::vector<Elf64_Phdr> segments;

  [[nodiscard]] bool is_of_64_bits() const noexcept { return file.e_ident[EI_CLASS] == ELFCLASS64; }
  [[nodiscard]] const Elf64_Phdr* find(Elf64_Word type) const noexcept;  // the first segment of this type; null if there is none
};

// Nothing if the file is no ELF file. Reads some kilobytes.
[[nodiscard]] std::optional<ElfHeaders> read_elf_headers(std::istream& file);

}  // namespace lanescope::attach

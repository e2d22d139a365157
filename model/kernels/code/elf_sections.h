// Sections of a 64-bit little-endian ELF file. Internal to model/kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace lanescope::kernels {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::string_view bytes;  // the part that lies within the file
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t type = 0;
  bool is_global = false;
  std::uint32_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

// By number; nothing if the image is not such a file for this machine.
[[nodiscard]] std::optional<std::vector<ElfSection>> elf_sections(std::string_view image, std::uint16_t machine);
// The first section of this name; null if there is none.
[[nodiscard]] const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name) noexcept;
// The entries of the symbol table, by index.
[[nodiscard]] std::vector<ElfSymbol> elf_symbols(const std::vector<ElfSection>& sections);

// The number at a place. Requires: it lies within `bytes`.
template <typename Number>
[[nodiscard]] Number number_at(std::string_view bytes, std::size_t place) noexcept {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number = static_cast<Number>(number | static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[place + i])) << (8 * i)));
  return number;
}
// The zero-terminated texts at these places; empty if there is none. O(bytes + places · log places), even if they overlap.
[[nodiscard]] std::vector<std::string_view> texts_at(std::string_view bytes, std::span<const std::uint32_t> places);

}  // namespace lanescope::kernels

// Sections of a 64-bit little-endian ELF file. Internal to model/kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lanescope::kernels {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::string_view bytes;  // as many as lie within the file
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t type = 0;
  bool is_global = false;
  std::uint32_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

// By number; none where the image is no such file of this machine.
[[nodiscard]] std::optional<std::vector<ElfSection>> elf_sections(std::string_view image, std::uint16_t machine);
// Of the symbol table, by index.
[[nodiscard]] std::vector<ElfSymbol> elf_symbols(const std::vector<ElfSection>& sections);

// The number at a place that holds one. Requires: it does.
template <typename Number>
[[nodiscard]] Number number_at(std::string_view bytes, std::size_t place) noexcept {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number = static_cast<Number>(number | static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[place + i])) << (8 * i)));
  return number;
}
// The text from a place up to a zero byte; empty where there is none.
[[nodiscard]] std::string_view text_at(std::string_view bytes, std::uint64_t place) noexcept;

}  // namespace lanescope::kernels

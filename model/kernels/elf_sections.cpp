#include "elf_sections.h"

#include <algorithm>

namespace lanescope::kernels {
namespace {

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kSectionBytes = 64;
constexpr std::size_t kSymbolBytes = 24;
constexpr std::uint32_t kSymbolTable = 2;
constexpr std::uint32_t kNoBytes = 8;  // SHT_NOBITS

std::string_view part_of(std::string_view image, std::uint64_t offset, std::uint64_t size) {
  if (offset > image.size()) return {};
  return image.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(std::min<std::uint64_t>(size, image.size() - offset)));
}

}  // namespace

std::string_view text_at(std::string_view bytes, std::uint64_t place) noexcept {
  if (place >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(static_cast<std::size_t>(place));
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::optional<std::vector<ElfSection>> elf_sections(std::string_view image, std::uint16_t machine) {
  if (image.size() < kHeaderBytes || !image.starts_with("\x7f" "ELF") || image[4] != 2 || image[5] != 1) return std::nullopt;
  if (number_at<std::uint16_t>(image, 18) != machine || number_at<std::uint16_t>(image, 58) != kSectionBytes) return std::nullopt;
  const auto table = number_at<std::uint64_t>(image, 40);
  const std::uint64_t room = table < image.size() ? (image.size() - table) / kSectionBytes : 0;
  // Where there are very many, their number stands in the first.
  std::uint64_t count = number_at<std::uint16_t>(image, 60);
  if (count == 0 && room > 0) count = number_at<std::uint64_t>(image, static_cast<std::size_t>(table) + 32);
  count = std::min(count, room);
  std::vector<ElfSection> sections;
  std::vector<std::uint32_t> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(table + i * kSectionBytes);
    ElfSection& section = sections.emplace_back();
    names.push_back(number_at<std::uint32_t>(image, at));
    section.type = number_at<std::uint32_t>(image, at + 4);
    section.link = number_at<std::uint32_t>(image, at + 40);
    section.info = number_at<std::uint32_t>(image, at + 44);
    if (section.type != kNoBytes) section.bytes = part_of(image, number_at<std::uint64_t>(image, at + 24), number_at<std::uint64_t>(image, at + 32));
  }
  std::uint64_t names_section = number_at<std::uint16_t>(image, 62);
  if (names_section == 0xffff && !sections.empty()) names_section = sections[0].link;
  if (names_section < sections.size())
    for (std::size_t i = 0; i < sections.size(); ++i) sections[i].name = text_at(sections[names_section].bytes, names[i]);
  return sections;
}

std::vector<ElfSymbol> elf_symbols(const std::vector<ElfSection>& sections) {
  std::vector<ElfSymbol> symbols;
  const auto table = std::find_if(sections.begin(), sections.end(), [](const ElfSection& section) { return section.type == kSymbolTable; });
  if (table == sections.end()) return symbols;
  const std::string_view names = table->link < sections.size() ? sections[table->link].bytes : std::string_view();
  for (std::size_t at = 0; at + kSymbolBytes <= table->bytes.size(); at += kSymbolBytes) {
    ElfSymbol& symbol = symbols.emplace_back();
    const auto info = static_cast<unsigned char>(table->bytes[at + 4]);
    symbol.name = text_at(names, number_at<std::uint32_t>(table->bytes, at));
    symbol.type = info & 15;
    symbol.is_global = info >> 4 != 0;
    symbol.section = number_at<std::uint16_t>(table->bytes, at + 6);
    symbol.value = number_at<std::uint64_t>(table->bytes, at + 8);
    symbol.size = number_at<std::uint64_t>(table->bytes, at + 16);
  }
  return symbols;
}

}  // namespace lanescope::kernels

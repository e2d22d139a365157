#include "elf_sections.h"

#include <algorithm>
#include <numeric>

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

std::vector<std::string_view> texts_at(std::string_view bytes, std::span<const std::uint32_t> places) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places[a] > places[b]; });
  std::vector<std::string_view> texts(places.size());
  std::size_t searched = bytes.size();       // from here on was searched
  std::size_t end = std::string_view::npos;  // of the first text from there on
  for (const std::size_t i : order) {
    const std::size_t place = places[i];
    if (place >= bytes.size()) continue;
    if (const std::size_t found = bytes.substr(place, searched - place).find('\0'); found != std::string_view::npos) end = place + found;
    searched = place;
    if (end != std::string_view::npos) texts[i] = bytes.substr(place, end - place);
  }
  return texts;
}

std::optional<std::vector<ElfSection>> elf_sections(std::string_view image, std::uint16_t machine) {
  if (image.size() < kHeaderBytes ||
      !image.starts_with("\x7f"
                         "ELF") ||
      image[4] != 2 || image[5] != 1)
    return std::nullopt;
  if (number_at<std::uint16_t>(image, 18) != machine || number_at<std::uint16_t>(image, 58) != kSectionBytes) return std::nullopt;
  const auto table = number_at<std::uint64_t>(image, 40);
  const std::uint64_t room = table < image.size() ? (image.size() - table) / kSectionBytes : 0;
  // If there are very many sections, the first one contains their number.
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
  if (names_section < sections.size()) {
    const std::vector<std::string_view> texts = texts_at(sections[names_section].bytes, names);
    for (std::size_t i = 0; i < sections.size(); ++i) sections[i].name = texts[i];
  }
  return sections;
}

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name) noexcept {
  const auto found = std::find_if(sections.begin(), sections.end(), [name](const ElfSection& section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

std::vector<ElfSymbol> elf_symbols(const std::vector<ElfSection>& sections) {
  std::vector<ElfSymbol> symbols;
  const auto table = std::find_if(sections.begin(), sections.end(), [](const ElfSection& section) { return section.type == kSymbolTable; });
  if (table == sections.end()) return symbols;
  std::vector<std::uint32_t> names;
  for (std::size_t at = 0; at + kSymbolBytes <= table->bytes.size(); at += kSymbolBytes) {
    ElfSymbol& symbol = symbols.emplace_back();
    const auto info = static_cast<unsigned char>(table->bytes[at + 4]);
    names.push_back(number_at<std::uint32_t>(table->bytes, at));
    symbol.type = info & 15;
    symbol.is_global = info >> 4 != 0;
    symbol.section = number_at<std::uint16_t>(table->bytes, at + 6);
    symbol.value = number_at<std::uint64_t>(table->bytes, at + 8);
    symbol.size = number_at<std::uint64_t>(table->bytes, at + 16);
  }
  const std::vector<std::string_view> texts = texts_at(table->link < sections.size() ? sections[table->link].bytes : std::string_view(), names);
  for (std::size_t i = 0; i < symbols.size(); ++i) symbols[i].name = texts[i];
  return symbols;
}

}  // namespace lanescope::kernels

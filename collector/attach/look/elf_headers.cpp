#include "collector/attach/elf_headers.h"

#include <algorithm>
#include <cstring>

namespace lanescope::attach {

const Elf64_Phdr* ElfHeaders::find(Elf64_Word type) const noexcept {
  const auto found = std::find_if(segments.begin(), segments.end(), [type](const Elf64_Phdr& each) { return each.p_type == type; });
  return found == segments.end() ? nullptr : &*found;
}

std::optional<ElfHeaders> read_elf_headers(std::istream& file) {
  constexpr std::size_t kMostSegments = 1170;  // the kernel runs no file with more
  const auto read_at = [&file](std::uint64_t place, void* to, std::size_t bytes) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(place));
    return static_cast<bool>(file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
  };
  ElfHeaders headers;
  if (!read_at(0, &headers.file, sizeof(headers.file)) || std::memcmp(headers.file.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (!headers.is_of_64_bits() || headers.file.e_phentsize != sizeof(Elf64_Phdr)) return headers;
  headers.segments.resize(std::min<std::size_t>(headers.file.e_phnum, kMostSegments));
  if (!read_at(headers.file.e_phoff, headers.segments.data(), headers.segments.size() * sizeof(Elf64_Phdr))) headers.segments.clear();
  return headers;
}

}  // namespace lanescope::attach

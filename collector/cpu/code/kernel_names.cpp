#include <algorithm>
#include <charconv>
#include <fstream>

#include "code_names.h"

namespace lanescope::cpu {

void KernelNames::read() {
  is_read_ = true;  // if there is not enough memory for the names, none is known, and reading is not tried again
  std::vector<std::pair<std::uint64_t, std::string>> functions;
  std::ifstream file("/proc/kallsyms");  // "ffffffff81000000 T _stext", all zeros if we may not know the addresses
  for (std::string line; std::getline(file, line);) {
    const std::size_t kind = line.find(' ') + 1;
    if (kind == 0 || kind + 2 >= line.size() || (line[kind] != 't' && line[kind] != 'T' && line[kind] != 'w' && line[kind] != 'W')) continue;
    std::uint64_t address = 0;
    std::from_chars(line.data(), line.data() + kind - 1, address, 16);
    const std::size_t end = std::min(line.find('\t', kind + 2), line.size());  // "[module]" follows
    if (address != 0) functions.emplace_back(address, line.substr(kind + 2, end - kind - 2));
  }
  std::stable_sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  functions_ = std::move(functions);
}

std::string_view KernelNames::find(std::uint64_t address) {
  if (!is_read_) read();
  const auto behind =
      std::upper_bound(functions_.begin(), functions_.end(), address, [](std::uint64_t at, const auto& function) { return at < function.first; });
  return behind == functions_.begin() ? std::string_view() : std::string_view(std::prev(behind)->second);
}

}  // namespace lanescope::cpu

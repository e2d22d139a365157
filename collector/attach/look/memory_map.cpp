#include "collector/attach/memory_map.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include "model/file/last_path_part.h"

namespace lanescope::attach {
namespace {

// Reads a number and skips it and the character after it.
std::uint64_t take_number(std::string_view& text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const auto length = static_cast<std::size_t>(end - text.data());
  text.remove_prefix(std::min(length + 1, text.size()));
  return value;
}

void skip_field(std::string_view& text) {
  const std::size_t blank = text.find(' ');
  text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
}

// "7f01-7f02 r-xp 00001000 fe:00 123   /usr/lib/libc.so.6"
Mapping parse_line(std::string_view line) {
  constexpr int kHexadecimal = 16;
  constexpr int kDecimal = 10;
  Mapping mapping;
  mapping.begin = take_number(line, kHexadecimal);
  mapping.end = take_number(line, kHexadecimal);
  mapping.executable = line.size() > 2 && line[2] == 'x';
  skip_field(line);  // the rights
  mapping.offset = take_number(line, kHexadecimal);
  skip_field(line);  // the device
  mapping.inode = take_number(line, kDecimal);
  const std::size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) mapping.path = line.substr(path);
  return mapping;
}

bool is_executable(std::string_view line) {
  const std::size_t rights = line.find(' ');
  return rights != std::string_view::npos && line.size() > rights + 3 && line[rights + 3] == 'x';
}

}  // namespace

std::optional<std::vector<Mapping>> read_memory_map(pid_t pid, Mappings which) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  if (!file) return std::nullopt;
  std::vector<Mapping> map;
  for (std::string line; std::getline(file, line);)
    if (which == Mappings::kAll || is_executable(line)) map.push_back(parse_line(line));
  if (file.bad()) return std::nullopt;
  return map;
}

std::string_view file_name(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return last_path_part(path);
}

bool is_glibc(std::string_view path) {
  const std::string_view name = file_name(path);
  return name == "libc.so.6" || (name.starts_with("libc-2.") && name.ends_with(".so"));
}

bool is_musl(std::string_view path) {
  const std::string_view name = file_name(path);
  const bool is_in_its_folder = name == "libc.so" && path.find("musl") != std::string_view::npos;
  return name.starts_with("ld-musl-") || name.starts_with("libc.musl-") || is_in_its_folder;
}

bool is_agent(std::string_view path) {
  const std::string_view name = file_name(path);
  return name == "liblanescope-agent.so" || name == "memfd:liblanescope-agent.so";
}

bool is_cuda_driver(std::string_view path) { return file_name(path).starts_with("libcuda.so"); }

bool is_loader(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with("ld-linux") || (name.starts_with("ld-2.") && name.ends_with(".so"));
}

}  // namespace lanescope::attach

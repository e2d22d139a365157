// The memory map of a process (/proc/PID/maps).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::attach {

struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t inode = 0;   // of the file; 0 if there is none
  bool executable = false;
  std::string path;  // empty for anonymous memory; "[stack]" and similar for special mappings

  [[nodiscard]] bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

enum class Mappings { kAll, kExecutable };

// In ascending order; nothing if the map may not be read or the process has ended. A process may have tens of thousands of mappings: executable ones alone cost
// a fraction of all.
std::optional<std::vector<Mapping>> read_memory_map(pid_t pid, Mappings which = Mappings::kAll);

// The last part of a path, without the " (deleted)" that the kernel appends.
std::string_view file_name(std::string_view path);

bool is_glibc(std::string_view path);  // libc.so.6 or libc-2.NN.so
bool is_musl(std::string_view path);
bool is_agent(std::string_view path);  // a file of ours, or a copy of one in memory
bool is_cuda_driver(std::string_view path);
bool is_loader(std::string_view path);  // ld-linux-x86-64.so.2 or ld-2.NN.so

// The mapping of the start of the first file that satisfies `predicate`; null if there is none.
template <typename Predicate>
const Mapping* find_file(const std::vector<Mapping>& map, Predicate predicate) {
  for (const Mapping& mapping : map)
    if (mapping.offset == 0 && predicate(mapping.path)) return &mapping;
  return nullptr;
}

}  // namespace lanescope::attach

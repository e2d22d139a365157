#include "split_function.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "memory.h"

namespace lanescope::python {
namespace {

constexpr std::uint64_t kMaximumFunction = 16u << 20;  // bytes
constexpr std::uint64_t kMaximumTable = 64u << 20;

std::vector<std::byte> read_at(std::istream& file, std::span<const Elf64_Phdr> segments, std::uint64_t address, std::uint64_t size) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || address - segment.p_vaddr > segment.p_filesz) continue;
    if (size > segment.p_filesz - (address - segment.p_vaddr)) continue;
    std::vector<std::byte> bytes(size);
    file.clear();
    file.seekg(static_cast<std::streamoff>(segment.p_offset + (address - segment.p_vaddr)));
    if (file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) return bytes;
  }
  return {};
}

// The start of each piece of code that has unwind information, in ascending order: the table of .eh_frame_hdr, in the only form that linkers write.
std::vector<std::uint64_t> begins_of_code(std::istream& file, std::span<const Elf64_Phdr> segments) {
  constexpr std::uint32_t kForm = 0x3b'03'1b'01;  // version 1; an offset, a number, and offsets from this table's start, of 32 bits
  constexpr std::uint64_t kHeader = 12;
  constexpr std::uint64_t kEntry = 8;
  std::vector<std::uint64_t> begins;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_GNU_EH_FRAME || segment.p_memsz > kMaximumTable) continue;
    const std::vector<std::byte> table = read_at(file, segments, segment.p_vaddr, segment.p_memsz);
    if (field<std::uint32_t>(table, 0) != kForm) continue;
    const std::uint64_t count = std::min<std::uint64_t>(field<std::uint32_t>(table, 8), (table.size() - kHeader) / kEntry);
    for (std::uint64_t i = 0; i < count; ++i)
      begins.push_back(segment.p_vaddr + static_cast<std::uint64_t>(std::int64_t{field<std::int32_t>(table, kHeader + i * kEntry)}));
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

// Targets of the code's jumps with 32-bit distances. Bytes that only look like a jump give arbitrary targets.
std::vector<std::uint64_t> targets_of_jumps(std::span<const std::byte> code, std::uint64_t address) {
  constexpr std::byte kJump{0xe9};
  constexpr std::byte kConditional{0x0f};
  constexpr std::byte kConditions{0x80};
  constexpr std::byte kUpper{0xf0};
  std::vector<std::uint64_t> targets;
  for (std::size_t at = 0; at + 1 < code.size(); ++at) {
    const bool is_conditional = code[at] == kConditional && (code[at + 1] & kUpper) == kConditions;
    if (code[at] != kJump && !is_conditional) continue;
    const std::size_t distance = at + (is_conditional ? 2 : 1);
    const std::size_t next = distance + sizeof(std::int32_t);
    if (next > code.size()) break;
    targets.push_back(address + next + static_cast<std::uint64_t>(std::int64_t{field<std::int32_t>(code, distance)}));
  }
  return targets;
}

}  // namespace

std::vector<AddressRange> find_parts_elsewhere(std::istream& file, std::span<const Elf64_Phdr> segments, const AddressRange& function) {
  constexpr std::size_t kFewJumps = 3;
  std::vector<AddressRange> parts;
  if (function.end - function.begin > kMaximumFunction) return parts;
  const std::vector<std::uint64_t> begins = begins_of_code(file, segments);
  std::map<std::size_t, std::size_t> jumps;  // number of jumps, by piece
  for (const std::uint64_t target : targets_of_jumps(read_at(file, segments, function.begin, function.end - function.begin), function.begin)) {
    const auto behind = std::upper_bound(begins.begin(), begins.end(), target);
    // A jump to the start of a piece calls another function.
    if (function.contains(target) || behind == begins.begin() || behind == begins.end() || behind[-1] == target) continue;
    ++jumps[static_cast<std::size_t>(behind - begins.begin()) - 1];
  }
  for (const auto& [piece, count] : jumps)
    if (count >= kFewJumps) parts.push_back({begins[piece], begins[piece + 1]});
  return parts;
}

}  // namespace lanescope::python

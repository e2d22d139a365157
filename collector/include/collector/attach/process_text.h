// What the kernel tells of a process as text (/proc/PID/...), within limits.
//
// A process lays its arguments and its environment over any of its memory (PR_SET_MM_MAP), terabytes of it at no cost to itself. So whoever reads
// `cmdline` or `environ` of a process reads them here. Its other files are the kernel's own words, and short, but that a process, and each thread, names
// itself as it likes, with line feeds, parentheses and blanks: `stat` has that name as it is, and is taken apart here alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::attach {

inline constexpr std::size_t kMostTextBytes = 1u << 20;
inline constexpr std::size_t kMostArgumentBytes = 128u << 10;
inline constexpr std::size_t kMostArguments = 4096;
inline constexpr std::size_t kMostEnvironmentBytes = 6u << 20;  // as much as the kernel hands to a program, where no limit of its stack was raised

// The first bytes of a file, `limit` at most; empty where it can't be read. A process that ends in between ends the text.
[[nodiscard]] std::string process_text(const std::filesystem::path& path, std::size_t limit = kMostTextBytes);

// The parts of a file that zero bytes end, one after another, from its first `limit` bytes: without more memory than the longest takes. One that is longer
// than kMostPartBytes, as the kernel gives none to a program, is passed over.
enum class Reading { kGoesOn, kEnds };
enum class PartsRead {
  kNone,  // the file can't be opened
  kSome,  // there may be others: it was ended, or parts were passed over or cut
  kAll,
};
inline constexpr std::size_t kMostPartBytes = 128u << 10;
PartsRead read_parts(const std::filesystem::path& path, std::size_t limit, const std::function<Reading(std::string_view part)>& take);

// /proc/PID/stat, or that of a thread, by the numbers of proc(5): field 3 is the state.
struct ProcessStat {
  std::string name;                                             // as the kernel shortens it; any bytes
  std::vector<std::string> fields;                              // from the third on
  [[nodiscard]] char state() const;                             // 'Z' and 'X': it has ended. 0 where it is not known
  [[nodiscard]] std::uint64_t number(std::size_t field) const;  // 0 where there is none
};
// Of the process or thread with this folder; without a name and fields where there is none.
[[nodiscard]] ProcessStat process_stat(const std::filesystem::path& folder);

// What stands behind a word, such as "Uid:", in the lines of /proc/PID/status; empty where there is none. There the kernel escapes line feeds of names.
[[nodiscard]] std::string status_value(std::string_view status, std::string_view word);

// The parts of a text that zero bytes end, `limit` at most. They stand in `text`.
[[nodiscard]] std::vector<std::string_view> parts_at_zeros(std::string_view text, std::size_t limit);

// The arguments of the process with this folder (/proc/PID): the first kMostArguments of them within kMostArgumentBytes.
[[nodiscard]] std::vector<std::string> process_arguments(const std::filesystem::path& folder);

}  // namespace lanescope::attach

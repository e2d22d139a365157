// Reads the texts that the kernel has about a process (/proc/PID/...), with limits.
//
// A process can place its arguments and its environment over any part of its memory (PR_SET_MM_MAP), terabytes of it at no cost to itself. So
// `cmdline` and `environ` of a process must be read by these functions. Its other files are written by the kernel, and short. But a process, and each
// thread, chooses its name freely, with line feeds, parentheses and blanks. `stat` has that name unescaped, and is parsed only here.
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
inline constexpr std::size_t kMostEnvironmentBytes = 6u << 20;  // the most that the kernel hands to a program if its stack limit was not raised

// The first bytes of a file, at most `limit`; empty if it can't be read. If the process ends meanwhile, so does the text.
[[nodiscard]] std::string process_text(const std::filesystem::path& path, std::size_t limit = kMostTextBytes);

// Calls `take` for each zero-terminated part of a file, in order, within its first `limit` bytes. Memory use is that of the longest part. A part
// longer than kMostPartBytes is skipped; the kernel gives no program such a part.
enum class Reading { kGoesOn, kEnds };
enum class PartsRead {
  kNone,  // the file can't be opened
  kSome,  // there may be others: reading was ended by `take`, or parts were skipped or cut
  kAll,
};
inline constexpr std::size_t kMostPartBytes = 128u << 10;
PartsRead read_parts(const std::filesystem::path& path, std::size_t limit, const std::function<Reading(std::string_view part)>& take);

// /proc/PID/stat, or that of a thread. Fields are numbered as in proc(5): field 3 is the state.
struct ProcessStat {
  std::string name;                                             // as the kernel shortens it; any bytes
  std::vector<std::string> fields;                              // from the third field on
  [[nodiscard]] char state() const;                             // 'Z' and 'X': it has ended; 0 if it is not known
  [[nodiscard]] std::uint64_t number(std::size_t field) const;  // 0 if there is no such field
};
// Of the process or thread with this folder; without name and fields if there is no such folder.
[[nodiscard]] ProcessStat process_stat(const std::filesystem::path& folder);

// The text after a word, such as "Uid:", in the lines of /proc/PID/status; empty if there is none. In that file the kernel escapes line feeds of
// names.
[[nodiscard]] std::string status_value(std::string_view status, std::string_view word);

// The zero-terminated parts of a text, at most `limit`. The results refer to `text`.
[[nodiscard]] std::vector<std::string_view> parts_at_zeros(std::string_view text, std::size_t limit);

// The arguments of the process with this folder (/proc/PID): the first kMostArguments of them within kMostArgumentBytes.
[[nodiscard]] std::vector<std::string> process_arguments(const std::filesystem::path& folder);

}  // namespace lanescope::attach

// Numbers and names as a person reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lanescope::cli {

[[nodiscard]] std::string unfollowed_text(std::uint64_t processes);              // "2 processes could not be followed"
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);  // "1 event", "2 events"; nouns that take an s
[[nodiscard]] std::string duration_text(std::int64_t nanoseconds);               // "2.346 s", "12.300 ms", "417 ns"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);                       // "139.8 GiB", "512 B"
[[nodiscard]] std::string utc_text(std::int64_t nanoseconds_since_1970);         // "2026-11-20 13:52:10 UTC"
[[nodiscard]] std::string in_small_letters(std::string text);                    // "True" -> "true"; ASCII only
[[nodiscard]] std::string hexadecimal(std::string_view bytes);                   // "\x01\xff" -> "01ff"
// "dir/run.json.gz" -> "dir/run": without the extension that says which kind of trace a file is.
[[nodiscard]] std::string without_trace_extension(std::string_view path);
// A command as one would type it: arguments with special characters are quoted.
[[nodiscard]] std::string command_text(std::span<const std::string> command);

}  // namespace lanescope::cli

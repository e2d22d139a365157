// What the kernel tells of a process as text (/proc/PID/...), within limits.
//
// A process lays its arguments and its environment over any of its memory (PR_SET_MM_MAP), terabytes of it at no cost to itself. So whoever reads
// `cmdline` or `environ` of a process reads them here; its other files are the kernel's own words, and short.
#pragma once

#include <cstddef>
#include <filesystem>
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

// The parts of a text that zero bytes end, `limit` at most. They stand in `text`.
[[nodiscard]] std::vector<std::string_view> parts_at_zeros(std::string_view text, std::size_t limit);

// The arguments of the process with this folder (/proc/PID): the first kMostArguments of them within kMostArgumentBytes.
[[nodiscard]] std::vector<std::string> process_arguments(const std::filesystem::path& folder);

}  // namespace lanescope::attach

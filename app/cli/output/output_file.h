// A file that a command writes: first beside its place, then moved there once it is complete. "-" is standard output. A signal that ends the program leaves
// no file behind. A pipe or device is written to as it is; a pipe that nobody reads is refused after a moment.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "model/file/result.h"
#include "model/file/trace_file.h"

namespace lanescope::cli {

inline constexpr std::string_view kStandardOutput = "-";

// From here on, this process makes files without those permissions for group and others that one of the inputs lacks. Changes the umask.
void keep_as_private_as(std::span<const std::filesystem::path> inputs);

// True if `output` is one of these files, under whatever name, even if it does not exist yet. A folder stands for the traces in it.
[[nodiscard]] bool is_one_of(const std::filesystem::path& output, std::span<const std::filesystem::path> files);

// Fails if `output` is one of the inputs, which would be lost. All code that writes files calls it, even if files may be overwritten.
Result<void> check_is_no_input(const std::string& output, std::span<const std::filesystem::path> inputs);

// Fails if the file exists and may not be overwritten, or if it is the input.
Result<void> check_output(const std::string& input, const std::string& output, Overwrite overwrite);

// Calls write(consumer), which passes text on until the consumer refuses it and returns true if everything was written. With Overwrite::kRefuse, fails if a
// file exists, even if it appeared while this one was written.
using TextProducer = std::function<bool(const std::function<bool(std::string_view)>& consumer)>;
Result<void> write_text(const std::string& output, Overwrite overwrite, const TextProducer& write);

// Returns a descriptor, which the caller owns, to print to while other things happen. It is that of a new file, which has its final name at once, or of an
// existing pipe or device. Fails with one sentence if none can be had, and with Overwrite::kRefuse if a file exists.
Result<int> open_to_print(const std::string& output, Overwrite overwrite);

// Calls write(path, overwrite) with a path that ends in `extension`. For standard output, the path is that of a temporary file, which is then copied.
using FileProducer = std::function<Result<void>(const std::filesystem::path& path, Overwrite overwrite)>;
Result<void> write_file(const std::string& output, Overwrite overwrite, std::string_view extension, const FileProducer& write);

}  // namespace lanescope::cli

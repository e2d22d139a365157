// A file that a command writes: beside its place first, and moved there once it is whole. "-" is standard output. A signal that ends the
// program leaves nothing behind. A pipe or device is written to as it is; a pipe that nobody reads is refused after a moment.
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

// From here on, this process makes files without permissions for group and others that one of these lacks. Changes the umask.
void keep_as_private_as(std::span<const std::filesystem::path> inputs);

// Whether `output` is one of these files, by whatever name, also where it is not there yet. A folder has the traces in it.
[[nodiscard]] bool is_one_of(const std::filesystem::path& output, std::span<const std::filesystem::path> files);

// Fails where `output` is one of the files that are read: it would be lost. What writes files asks it, whatever may be overwritten.
Result<void> check_is_no_input(const std::string& output, std::span<const std::filesystem::path> inputs);

// Fails where the file exists and may not be overwritten, or is the one that is read.
Result<void> check_output(const std::string& input, const std::string& output, Overwrite overwrite);

// Calls write(consumer), which passes text on until the consumer refuses it and returns whether all was written. With Overwrite::kRefuse, fails where
// a file is there, also one that came while it was written.
using TextProducer = std::function<bool(const std::function<bool(std::string_view)>& consumer)>;
Result<void> write_text(const std::string& output, Overwrite overwrite, const TextProducer& write);

// A descriptor, which is the caller's, to print to while other things happen: of a new file, which is in its place at once, or of the pipe or device that is
// there. Fails with one sentence where there is none, and with Overwrite::kRefuse where a file is there.
Result<int> open_to_print(const std::string& output, Overwrite overwrite);

// Calls write(path, overwrite) with a path that ends in `extension`. For standard output, that is a temporary file, whose bytes are then
// copied.
using FileProducer = std::function<Result<void>(const std::filesystem::path& path, Overwrite overwrite)>;
Result<void> write_file(const std::string& output, Overwrite overwrite, std::string_view extension, const FileProducer& write);

}  // namespace lanescope::cli

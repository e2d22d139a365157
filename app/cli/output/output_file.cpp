#include "output/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "collector/session/inheritance.h"
#include "model/file/privacy.h"
#include "model/file/written_in_place.h"
#include "model/import/open_trace.h"
#include "output/unfinished_file.h"

namespace lanescope::cli {
namespace {

Error failure(const std::string& output) {
  const std::string reason = std::strerror(errno);
  if (output == kStandardOutput) return Error{"Standard output can't be written: " + reason + ". Is there room where it goes?"};
  return not_written(output, reason);
}

using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

bool put(std::FILE* file, std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file) == text.size(); }

Result<void> write_to(std::FILE* file, const std::string& output, const TextProducer& write) {
  const bool written = write([file](std::string_view text) { return put(file, text); });
  const bool flushed = std::fflush(file) == 0;
  return written && flushed ? Result<void>() : failure(output);
}

// A new empty folder for one file. The destructor removes both.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code missing;
    std::string pattern = (std::filesystem::temp_directory_path(missing) / "lanescope-export-XXXXXX").string();
    if (!missing && mkdtemp(pattern.data())) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Result<void> copy_to_standard_output(const std::filesystem::path& path) {
  const OpenFile file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return failure(path.string());
  std::array<char, 1u << 16> piece;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), file.get()))
    if (!put(stdout, {piece.data(), size})) return failure(std::string(kStandardOutput));
  if (std::fflush(stdout) != 0) return failure(std::string(kStandardOutput));
  return {};
}

// Also works for files that do not exist yet.
bool are_same(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code missing;
  if (std::filesystem::equivalent(one, other, missing)) return true;
  const auto plain = [](const std::filesystem::path& path) {
    std::error_code failed;
    const std::filesystem::path found = std::filesystem::weakly_canonical(path, failed);
    return failed ? path.lexically_normal() : found;
  };
  return plain(one) == plain(other);
}

}  // namespace

bool is_one_of(const std::filesystem::path& output, std::span<const std::filesystem::path> files) {
  const auto is_same = [&output](const std::filesystem::path& file) { return are_same(output, file); };
  if (std::ranges::any_of(files, is_same)) return true;
  const auto traces = trace_files(files);
  return traces && std::ranges::any_of(*traces, is_same);
}

Result<void> check_is_no_input(const std::string& output, std::span<const std::filesystem::path> inputs) {
  if (output == kStandardOutput || !is_one_of(output, inputs)) return {};
  return Error{output + " can't be written over itself. Name another file with -o.", ErrorKind::kUsage};
}

void keep_as_private_as(std::span<const std::filesystem::path> inputs) { keep_new_files_to(readers_of(inputs)); }

Result<void> check_output(const std::string& input, const std::string& output, Overwrite overwrite) {
  if (const Result<void> sound = check_is_no_input(output, std::array<std::filesystem::path, 1>{input}); !sound) return sound;
  if (output == kStandardOutput && !session::inherited(STDOUT_FILENO))  // /dev/null is in its place
    return Error{"Standard output is closed. Open it, or name a file with -o."};
  std::error_code missing;  // opening explains what is wrong
  if (output != kStandardOutput && overwrite == Overwrite::kRefuse && std::filesystem::is_regular_file(output, missing))
    return Error{output + " exists already. Give another name with -o, or allow overwriting with -f."};
  return {};
}

Result<void> write_text(const std::string& output, Overwrite overwrite, const TextProducer& write) {
  if (output == kStandardOutput) {
    if (!write([](std::string_view text) { return put(stdout, text); }) || std::fflush(stdout) != 0) return failure(output);
    return {};
  }
  const UnfinishedFile unfinished({});
  std::error_code missing;
  if (std::filesystem::is_directory(output, missing)) return Error{output + " is a folder. Name a file in it with -o.", ErrorKind::kUsage};
  const auto in_place = open_written_in_place(output);
  if (!in_place) return in_place.error();
  if (*in_place) {
    const OpenFile file(fdopen(**in_place, "wb"), std::fclose);
    return file ? write_to(file.get(), output, write) : failure(output);
  }
  auto made = NewFile::create(output, overwrite, Readers::kAsUsual);
  if (!made) return made.error();
  const OpenFile file(fdopen(fcntl(made->descriptor(), F_DUPFD_CLOEXEC, 0), "wb"), std::fclose);
  if (!file) return failure(output);
  if (const auto written = write_to(file.get(), output, write); !written) return written;
  return made->take_place();
}

Result<int> open_to_print(const std::string& output, Overwrite overwrite) {
  std::error_code missing;
  if (std::filesystem::is_directory(output, missing)) return Error{output + " is a folder. Name a file in it.", ErrorKind::kUsage};
  const auto in_place = open_written_in_place(output);
  if (!in_place) return in_place.error();
  if (*in_place) return **in_place;
  auto made = NewFile::create(output, overwrite, Readers::kAsUsual);
  if (!made) return made.error();
  if (const Result<void> placed = made->take_place(); !placed) return placed.error();
  const int descriptor = fcntl(made->descriptor(), F_DUPFD_CLOEXEC, 0);
  return descriptor < 0 ? Result<int>(failure(output)) : descriptor;
}

Result<void> write_file(const std::string& output, Overwrite overwrite, std::string_view extension, const FileProducer& write) {
  if (output != kStandardOutput) {
    const UnfinishedFile unfinished({});
    return write(output, overwrite);
  }
  const TemporaryFolder folder;
  if (folder.path().empty()) return Error{"No temporary file can be made. Set TMPDIR to a folder that is there and can be written."};
  const std::filesystem::path path = folder.path() / ("export" + std::string(extension));
  const UnfinishedFile unfinished({path, folder.path()});
  if (const auto written = write(path, Overwrite::kAllow); !written) return written.error();
  return copy_to_standard_output(path);
}

}  // namespace lanescope::cli

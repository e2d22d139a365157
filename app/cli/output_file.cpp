#include "output_file.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "unfinished_file.h"

namespace lanescope::cli {
namespace {

Error failure(const std::string& output) {
  return Error{(output == kStandardOutput ? "Standard output" : output) + " can't be written: " + std::strerror(errno) + "."};
}

bool put(std::FILE* file, std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file) == text.size(); }

// A new empty folder for one file, removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code missing;
    std::string pattern = (std::filesystem::temp_directory_path(missing) / "lanescope-XXXXXX").string();
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
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return failure(path.string());
  std::array<char, 1u << 16> piece;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), file.get()))
    if (!put(stdout, {piece.data(), size})) return failure(std::string(kStandardOutput));
  if (std::fflush(stdout) != 0) return failure(std::string(kStandardOutput));
  return {};
}

}  // namespace

Result<void> check_output(const std::string& input, const std::string& output, Overwrite overwrite) {
  std::error_code missing;  // what can't be looked at, opening it explains
  if (output != kStandardOutput && std::filesystem::equivalent(input, output, missing))
    return Error{output + " can't be written over itself. Name another file with -o.", ErrorKind::kUsage};
  if (output != kStandardOutput && overwrite == Overwrite::kRefuse && std::filesystem::is_regular_file(output, missing))
    return Error{output + " exists already. Give another name with -o, or allow overwriting with -f."};
  return {};
}

Result<void> write_text(const std::string& output, const TextProducer& write) {
  if (output == kStandardOutput) {
    if (!write([](std::string_view text) { return put(stdout, text); }) || std::fflush(stdout) != 0) return failure(output);
    return {};
  }
  // What is there and no file (a pipe, a device) is written to, never replaced.
  std::error_code missing;
  const bool in_place = std::filesystem::exists(output, missing) && !std::filesystem::is_regular_file(output, missing);
  const std::string partial = in_place ? output : output + ".partial";
  const UnfinishedFile unfinished({in_place ? std::string() : partial});
  std::FILE* const file = std::fopen(partial.c_str(), "wb");
  if (!file) return failure(output);
  const bool written = write([file](std::string_view text) { return put(file, text); });
  const bool closed = std::fclose(file) == 0;
  if (written && closed && (in_place || std::rename(partial.c_str(), output.c_str()) == 0)) return {};
  const Error error = failure(output);
  if (!in_place) std::remove(partial.c_str());
  return error;
}

Result<void> write_file(const std::string& output, Overwrite overwrite, std::string_view extension, const FileProducer& write) {
  if (output != kStandardOutput) {
    const UnfinishedFile unfinished({output + ".partial"});
    return write(output, overwrite);
  }
  const TemporaryFolder folder;
  if (folder.path().empty()) return Error{"No temporary file can be made. Set TMPDIR to a folder that is there and can be written."};
  const std::filesystem::path path = folder.path() / ("export" + std::string(extension));
  const UnfinishedFile unfinished({path.string() + ".partial", path, folder.path()});
  if (const auto written = write(path, Overwrite::kAllow); !written) return written.error();
  return copy_to_standard_output(path);
}

}  // namespace lanescope::cli

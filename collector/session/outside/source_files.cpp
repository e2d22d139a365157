#include "collector/session/source_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "file_descriptor.h"
#include "lanescope/kernel_metrics.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"

namespace lanescope::session {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargest = 4u << 20;  // bytes of a file
constexpr std::size_t kMost = 32u << 20;    // of all files
constexpr std::size_t kMostFiles = 1'000;
constexpr std::array<std::string_view, 32> kEndings = {".c",   ".cc",  ".cpp", ".cxx", ".c++", ".cu",  ".cuh", ".cuf",  ".h",    ".hh",  ".hpp",
                                                       ".hxx", ".h++", ".inl", ".inc", ".ipp", ".tpp", ".tcc", ".py",   ".pyx",  ".ptx", ".f",
                                                       ".for", ".f90", ".f95", ".f03", ".jl",  ".rs",  ".cl",  ".sycl", ".cute", ".mojo"};

bool is_source_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

// True if the rights of the file and of all folders on its path allow it.
bool can_be_read_by_all(const fs::path& path, const struct stat& file) {
  if ((file.st_mode & S_IROTH) == 0) return false;
  for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0 || (status.st_mode & S_IXOTH) == 0) return false;
    if (folder == folder.root_path()) break;
  }
  return true;
}

struct Read {
  std::string text;
  std::string problem;  // empty: no problem
  bool is_everybodys = false;
};

Read read_source(const std::string& name, SourceRights rights) {
  const fs::path path(name);
  if (!path.is_absolute()) return {{}, "its path does not say where it is", false};
  if (!is_source_name(path)) return {{}, "its name is none of a source file", false};
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure);
  if (failure) return {{}, "it is not there", false};
  if (!is_source_name(real)) return {{}, "it leads to what is no source file", false};
  const FileDescriptor file(open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) return {{}, "it can't be read", false};
  if (!S_ISREG(status.st_mode)) return {{}, "it is no file", false};
  if (static_cast<std::uint64_t>(status.st_size) > kLargest) return {{}, "it is larger than 4 MiB", false};
  Read read;
  read.is_everybodys = can_be_read_by_all(real, status);
  if (rights == SourceRights::kEverybodys && !read.is_everybodys) return {{}, "not everybody may read it, and the program ran as another user", false};
  read.text.resize(static_cast<std::size_t>(status.st_size));
  std::size_t size = 0;
  for (ssize_t count = 1; size < read.text.size() && count != 0;) {
    count = ::read(file.get(), read.text.data() + size, read.text.size() - size);
    if (count < 0 && errno != EINTR) return {{}, "it can't be read", false};
    if (count > 0) size += static_cast<std::size_t>(count);
  }
  read.text.resize(size);
  if (read.text.find('\0') != std::string::npos) return {{}, "it is no text", false};
  return read;
}

}  // namespace

Result<StoredSources> append_sources(const fs::path& recording, const std::vector<std::string>& paths, SourceRights rights,
                                     const std::optional<FileIdentity>& meant) {
  StoredSources stored;
  std::vector<std::byte> frames;
  bool all_are_everybodys = true;
  for (const std::string& path : paths) {
    Read source = read_source(path, rights);
    if (source.problem.empty() && (stored.files == kMostFiles || stored.bytes + source.text.size() > kMost))
      source.problem = "the others fill the 32 MiB that sources may take";
    if (!source.problem.empty()) {
      stored.left_out.emplace_back(path, source.problem);
      continue;
    }
    all_are_everybodys &= source.is_everybodys;
    ++stored.files;
    stored.bytes += source.text.size();
    proto::SourceFile message;
    message.set_path(path);
    message.set_text(std::move(source.text));
    FrameHeader header{};
    header.type = proto::FRAME_SOURCE_FILE;
    header.source = proto::SOURCE_SESSION;
    append_frame(header, message.SerializeAsString(), frames);
  }
  if (frames.empty()) return stored;
  Result<TraceFileWriter> writer = TraceFileWriter::reopen(recording, meant);
  if (!writer) return writer.error();
  struct stat status {};
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if (!all_are_everybodys && stat(recording.c_str(), &status) == 0 && (status.st_mode & kOthers) != 0) {
    if (chmod(recording.c_str(), status.st_mode & ~kOthers & 07777) != 0)
      return Error{"The sources are not in the recording: others may read " + recording.string() + ", which can't be changed, and not the sources."};
    stored.is_owners_now = true;
  }
  if (const Result<void> written = writer->append(frames); !written) return written.error();
  if (const Result<void> finished = writer->finish(); !finished) return finished.error();
  return stored;
}

}  // namespace lanescope::session

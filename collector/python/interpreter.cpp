#include "interpreter.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "code_names/reader.h"
#include "collector/attach/foreign_file.h"
#include "collector/attach/memory_map.h"
#include "interpreter_message.h"

namespace lanescope::python {
namespace {

using attach::Mapping;

// The N of "python3.N" in a path, in its last part or in the name of a folder.
std::optional<unsigned> minor_in(std::string_view path) {
  constexpr std::string_view kPrefix = "python3.";
  for (std::size_t at = path.find(kPrefix); at != std::string_view::npos; at = path.find(kPrefix, at + 1)) {
    unsigned minor = 0;
    const char* digits = path.data() + at + kPrefix.size();
    if (std::from_chars(digits, path.data() + path.size(), minor).ec == std::errc{}) return minor;
  }
  return std::nullopt;
}

// Says which other implementation of Python the mapping belongs to, whose layout differs; else empty.
std::string_view other_python(const Mapping& mapping) {
  const std::string_view name = attach::file_name(mapping.path);
  if (name.starts_with("libpypy")) return "it is PyPy";
  return name.starts_with("libpython2") ? "it is Python 2" : "";
}

bool may_hold_interpreter(const Mapping& mapping, std::string_view executable) {
  const std::string_view name = attach::file_name(mapping.path);
  return mapping.offset == 0 && mapping.path.starts_with('/') && (mapping.path == executable || name.starts_with("libpython3") || name.starts_with("python"));
}

// The version that the interpreter itself states, else the one in the names of its files.
std::optional<unsigned> minor_version(const InterpreterFile& file, std::uint64_t bias, std::string_view path, const std::vector<Mapping>& map, Memory& memory) {
  if (file.version != 0)
    if (const auto version = memory.read<std::uint32_t>(bias + file.version); version && *version >> 24 == 3) return *version >> 16 & 0xff;
  if (const auto minor = minor_in(attach::file_name(path))) return minor;
  for (const Mapping& mapping : map)
    if (const auto minor = minor_in(mapping.path)) return minor;
  return std::nullopt;
}

Result<Layout> layout_of(const InterpreterFile& file, std::uint64_t bias, std::string_view path, const std::vector<Mapping>& map, Memory& memory) {
  const std::optional<unsigned> minor = minor_version(file, bias, path, map, memory);
  if (minor && *minor < kFirstWithOffsets) return known_layout(*minor);
  std::array<std::byte, kOffsetsSize> offsets{};
  if (!memory.read(bias + file.runtime, offsets)) return Error{"its memory can't be read"};
  return layout_by_offsets(offsets);
}

// True if the file can do no harm that its writer could not do anyway: we have no more rights than the program, or only root can write the file that we see
// at this path ourselves.
bool may_read(const attach::ForeignFile& file, const std::string& path) {
  if (geteuid() != 0) return true;
  const std::optional<attach::ForeignFile> own = attach::open_file(path);
  return own && own->facts.st_dev == file.facts.st_dev && own->facts.st_ino == file.facts.st_ino && code_names::is_roots_own(file.facts);
}

}  // namespace

InterpreterFinder::InterpreterFinder() = default;
InterpreterFinder::~InterpreterFinder() = default;

const InterpreterFile& InterpreterFinder::file(pid_t process, const std::string& path) {
  // The path as the process sees it, for example in a container. Otherwise the path as we see it, if the process has changed its root and the
  // kernel's map shows the path from ours.
  std::optional<attach::ForeignFile> file = attach::open_file_of(process, path);
  if (!file) file = attach::open_file(path);
  static const InterpreterFile kNone;
  if (!file) return kNone;
  constexpr std::size_t kMostFiles = 10'000;
  if (files_.size() >= kMostFiles) files_.clear();
  const auto [found, inserted] = files_.try_emplace({path, file->facts.st_ino});
  if (inserted) found->second = may_read(*file, path) ? read_interpreter_file(file->descriptor.get()) : read_without_rights(file->descriptor.get());
  return found->second;
}

InterpreterFile InterpreterFinder::read_without_rights(int descriptor) {
  constexpr int kMostFailures = 10;
  if (failures_ >= kMostFailures) return {};
  if (reader_ == nullptr) reader_ = code_names::Reader::start(code_names::kAsNobody, {});
  const auto answer =
      reader_ == nullptr ? code_names::Reader::Answer() : reader_->ask({code_names::RequestKind::kInterpreter, 0, 0}, {}, descriptor, [] { return true; });
  if (answer.reply == code_names::Reader::Reply::kCame) return unpacked_interpreter(answer.bytes).value_or(InterpreterFile());
  reader_.reset();
  ++failures_;
  return {};
}

InterpreterSearch InterpreterFinder::find(pid_t process, Memory& memory) {
  InterpreterSearch search;
  const std::optional<std::vector<Mapping>> map = attach::read_memory_map(process);
  if (!map) return search;
  std::error_code ignored;
  std::string executable = std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", ignored).string();
  if (executable == std::filesystem::read_symlink("/proc/self/exe", ignored)) executable.clear();  // our own child, about to become a program
  for (const Mapping& mapping : *map) {
    if (const std::string_view other = other_python(mapping); !other.empty()) search.refusal = mapping.path + ": " + std::string(other);
    if (!may_hold_interpreter(mapping, executable)) continue;
    const InterpreterFile& holder = file(process, mapping.path);
    const bool is_library = attach::file_name(mapping.path).starts_with("libpython3");
    if (!holder.is_readable && is_library) search.refusal = mapping.path + ": the file can't be read";
    if (!holder.is_readable) continue;
    if (holder.runtime == 0) {
      // A python that is linked to libpython has no such symbol itself.
      if (is_library) search.refusal = mapping.path + ": it does not say where its state is (no symbol _PyRuntime)";
      continue;
    }
    const std::uint64_t bias = mapping.begin - holder.start;
    Result<Layout> layout = layout_of(holder, bias, mapping.path, *map, memory);
    if (!layout) {
      search.refusal = mapping.path + ": " + layout.error().text;
      continue;
    }
    Interpreter found{*layout, bias + holder.runtime, {}};
    for (const AddressRange& range : holder.loop) found.loop.push_back({bias + range.begin, bias + range.end});
    search.found = std::move(found);
    search.refusal.clear();
    return search;
  }
  return search;
}

}  // namespace lanescope::python

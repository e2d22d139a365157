#include "file/trace_output.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "collector/session/planned_file.h"
#include "file/output_name.h"

namespace lanescope::session {
namespace {

constexpr int kNumberRetries = 100;  // other recordings may take the same free number at the same time
constexpr std::string_view kExtension = ".trace";

OutputNameFacts output_name_facts(pid_t pid) {
  return {pid, host_name(),
          [](const std::string& name) {
            const char* value = std::getenv(name.c_str());
            return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
          },
          [](const std::filesystem::path& path) {
            std::error_code ignored;
            return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
          }};
}

bool is_numbered(const std::string& pattern) { return pattern.empty() || pattern.find("%n") != std::string::npos; }

// A folder gets a file of the usual name.
std::string in_folder(const std::string& pattern) {
  std::error_code ignored;
  if (pattern.empty() || !(pattern.ends_with('/') || std::filesystem::is_directory(pattern, ignored))) return pattern;
  return (std::filesystem::path(pattern) / "report%n").string();
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

Result<std::optional<std::filesystem::path>> planned_file(const std::string& asked) {
  const std::string pattern = in_folder(asked);
  const Result<std::filesystem::path> one = expand_output_name(pattern, output_name_facts(1));
  if (!one) return one.error();
  const Result<std::filesystem::path> other = expand_output_name(pattern, output_name_facts(2));
  if (!other || *other != *one) return std::optional<std::filesystem::path>();
  std::error_code missing;
  const std::filesystem::path path = std::filesystem::absolute(*one, missing).lexically_normal();
  if (missing) return Error{"The current folder is not there any more."};
  return std::optional(path);
}

Result<CreatedFile> create_trace_file(const std::string& asked, Overwrite overwrite, Readers readers, pid_t pid) {
  OutputNameFacts facts = output_name_facts(pid);
  std::string pattern = in_folder(asked);
  std::string note;
  for (int attempt = 0;; ++attempt) {
    const Result<std::filesystem::path> name = expand_output_name(pattern, facts);
    if (!name) return name.error();
    std::error_code missing;
    const std::filesystem::path path = std::filesystem::absolute(*name, missing).lexically_normal();
    if (missing)
      return Error{"Can't create " + name->string() + ": " + missing.message() +
                   ". Go to a folder that is there, or give its whole path with -o."};
    Result<TraceFileWriter> file = TraceFileWriter::create(path, overwrite, readers);
    if (file && !note.empty()) note += path.string() + ".";
    if (file) return CreatedFile{std::move(*file), std::move(note)};
    if (attempt == kNumberRetries) return file.error();
    if (overwrite == Overwrite::kAllow && !is_numbered(pattern) && TraceFileWriter::is_being_written(path)) {
      pattern = numbered_pattern(pattern);
      facts.exists = TraceFileWriter::is_being_written;  // others may be replaced
      note = path.string() + " is being written by another recording; this one goes to ";
    } else if (!is_numbered(pattern) || !facts.exists(path)) {
      return file.error();
    }
  }
}

Readers readers_of(const cpu::CpuSettings& threads, uid_t user) {
  return threads.system_wide() || user != geteuid() ? Readers::kOwnerAlone : Readers::kAsUsual;
}

std::string numbered_pattern(const std::string& pattern) {
  if (is_numbered(pattern)) return pattern;
  const bool has_extension = pattern.ends_with(kExtension);
  return pattern.substr(0, pattern.size() - (has_extension ? kExtension.size() : 0)) + ".%n";
}

}  // namespace lanescope::session

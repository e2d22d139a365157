#include "file/trace_output.h"

#include <glob.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "collector/session/planned_file.h"
#include "file/output_name.h"
#include "launch/means.h"
#include "model/file/new_file.h"
#include "processes/proc.h"

namespace lanescope::session {
namespace {

constexpr int kNumberRetries = 100;           // other recordings may take the same free number at the same time
constexpr std::size_t kLongestValue = 64;     // of a variable, in a name
constexpr const char* kNoValue = "launcher";  // in a name that would otherwise be empty

bool exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

std::optional<std::string> our_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

// A value as one part of a path.
std::string as_name(std::string_view value) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+=@,";
  std::string name(value.substr(0, kLongestValue));
  for (char& letter : name)
    if (kPlain.find(letter) == std::string_view::npos) letter = '_';
  if (name.starts_with('.')) name.front() = '_';
  return name;
}

// Fails for a device, a pipe or a socket: a recording can't replace it, and a name beside it is not what was meant.
Result<void> check_is_no_device(const std::string& pattern) {
  std::error_code missing;
  const std::filesystem::file_status status = std::filesystem::status(pattern, missing);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) || std::filesystem::is_directory(status)) return {};
  return Error{pattern + " is no file, and a recording is one. Name it with -o.", ErrorKind::kUsage};
}

bool is_numbered(const std::string& pattern) {
  bool is_asked = false;
  const auto any = [](const std::string&) { return std::string("1"); };
  const auto note = [&is_asked](const std::filesystem::path&) {
    is_asked = true;
    return false;
  };
  static_cast<void>(expand_output_name(pattern, {0, "", any, note}));
  return is_asked;
}

// A file of the usual name, if the pattern is a folder.
std::string in_folder(const std::string& pattern) {
  std::error_code ignored;
  if (pattern.empty() || !(pattern.ends_with('/') || std::filesystem::is_directory(pattern, ignored))) return pattern;
  return (std::filesystem::path(pattern) / "report%n").string();
}

// For the recording's own file, whose name omits variables that we lack.
OutputNameFacts own_facts(pid_t pid, const char* instead) {
  const auto variable = [instead](const std::string& name) { return our_variable(name).value_or(instead); };
  return {pid, host_name(), variable, exists};
}

const char* word_for_missing(const std::string& pattern) {
  const Result<std::filesystem::path> name = expand_output_name(in_folder(pattern), own_facts(1, ""));
  return name && name->filename() == kTraceExtension ? kNoValue : "";
}

std::string_view without_extension(std::string_view pattern) {
  return pattern.substr(0, pattern.size() - (pattern.ends_with(kTraceExtension) ? kTraceExtension.size() : 0));
}

// Only a name that was given completely may replace a file: a number makes it new.
Result<CreatedFile> create_file(const OutputName& asked, const OutputNameFacts& facts, Readers readers) {
  std::string pattern = in_folder(asked.pattern);
  Overwrite overwrite = asked.overwrite;
  if (const Result<void> checked = check_is_no_device(pattern); !checked) return checked.error();
  std::string note;
  if (is_numbered(pattern)) overwrite = Overwrite::kRefuse;
  for (int attempt = 0;; ++attempt) {
    const Result<std::filesystem::path> name = expand_output_name(pattern, facts);
    if (!name) return name.error();
    std::error_code missing;
    const std::filesystem::path path = std::filesystem::absolute(*name, missing).lexically_normal();
    if (missing) return Error{"Can't create " + name->string() + ": " + missing.message() + ". Go to a folder that is there, or give its whole path with -o."};
    const bool is_others = overwrite == Overwrite::kAllow && asked.earlier != nullptr && !asked.earlier->may_be_replaced(path);
    Result<TraceFileWriter> file = is_others ? Result<TraceFileWriter>(Error{}) : TraceFileWriter::create(path, overwrite, readers);
    if (file && !note.empty()) note += path.string() + ".";
    if (file) return CreatedFile{std::move(*file), std::move(note)};
    if (attempt == kNumberRetries) return file.error();
    const bool is_being_written = overwrite == Overwrite::kAllow && TraceFileWriter::is_being_written(path);
    if (is_others || is_being_written) {
      pattern = asked.otherwise.empty() ? numbered_pattern(pattern) : asked.otherwise;
      overwrite = Overwrite::kRefuse;
      note = path.string() +
             (is_being_written ? " is being written by another recording" : " was made by another recording, which still runs or began after this one") +
             "; this one goes to ";
    } else if (!is_numbered(pattern) || !facts.exists(path)) {
      return file.error();
    }
  }
}

// The files that are there whose names this pattern may give, whatever values the variables have that we lack. Nothing if we lack none, or if the name is new
// for each recording.
std::optional<std::vector<std::filesystem::path>> files_of_ranks(const std::string& asked, EarlierFiles::Captures captures) {
  constexpr char kAny = '\1';
  if (missing_variables(asked).empty() || is_numbered(in_folder(asked))) return std::nullopt;
  std::string pattern = in_folder(asked);
  if (captures == EarlierFiles::Captures::kSeveral) pattern = std::string(without_extension(pattern)) + '.' + kAny;
  const std::string any(1, kAny);
  const Result<std::filesystem::path> one = expand_output_name(pattern, own_facts(1, any.c_str()));
  const Result<std::filesystem::path> other = expand_output_name(pattern, own_facts(2, any.c_str()));
  std::error_code missing;
  if (!one || !other || *one != *other) return std::nullopt;
  const std::string names = std::filesystem::absolute(*one, missing).lexically_normal();
  if (missing) return std::nullopt;
  std::string wanted;
  for (const char letter : names) {
    if (std::string_view("*?[\\").find(letter) != std::string_view::npos) wanted += '\\';
    wanted += letter == kAny ? '*' : letter;
  }
  glob_t found{};
  std::vector<std::filesystem::path> files;
  if (glob(wanted.c_str(), GLOB_NOSORT, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return files;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

Result<std::optional<std::filesystem::path>> planned_file(const std::string& asked) {
  const std::string pattern = in_folder(asked);
  if (const Result<void> checked = check_is_no_device(pattern); !checked) return checked.error();
  const char* const missing_word = word_for_missing(asked);
  const Result<std::filesystem::path> one = expand_output_name(pattern, own_facts(1, missing_word));
  if (!one) return one.error();
  const Result<std::filesystem::path> other = expand_output_name(pattern, own_facts(2, missing_word));
  if (!other || *other != *one) return std::optional<std::filesystem::path>();
  std::error_code missing;
  const std::filesystem::path path = std::filesystem::absolute(*one, missing).lexically_normal();
  if (missing) return Error{"The current folder is not there any more."};
  return std::optional(path);
}

Result<CreatedFile> create_trace_file(const OutputName& name, Readers readers, pid_t pid) {
  return create_file(name, own_facts(pid, word_for_missing(name.pattern)), readers);
}

std::vector<std::string> missing_variables(const std::string& pattern) {
  std::vector<std::string> missing;
  const auto note = [&missing](const std::string& name) {
    if (!our_variable(name)) missing.push_back(name);
    return std::string("1");
  };
  const auto nothing = [](const std::filesystem::path&) { return false; };
  static_cast<void>(expand_output_name(pattern, {0, "", note, nothing}));
  return missing;
}

Result<CreatedFile> create_share_file(const OutputName& asked, const Variables& variables, Readers readers, pid_t pid) {
  bool is_distinct = false;
  const auto variable = [&](const std::string& name) {
    if (const std::optional<std::string> ours = our_variable(name)) return *ours;
    const auto own = variables.find(name);
    is_distinct = is_distinct || own != variables.end();
    return own == variables.end() ? std::string() : as_name(own->second);
  };
  const OutputNameFacts facts{pid, host_name(), variable, exists};
  const std::string pattern = in_folder(asked.pattern);
  if (const Result<std::filesystem::path> name = expand_output_name(pattern, facts); !name) return name.error();
  if (is_distinct)
    if (Result<CreatedFile> created = create_file({pattern, asked.overwrite, asked.earlier, asked.otherwise}, facts, readers)) return created;
  return create_file({numbered_pattern(pattern), asked.overwrite}, facts, readers);
}

Result<CreatedFile> create_attached_file(const OutputName& asked, Readers readers, pid_t pid) {
  const std::vector<std::string> missing = missing_variables(asked.pattern);
  const std::vector<std::string_view> names(missing.begin(), missing.end());
  const Variables variables = start_variables(pid, names).found;
  const auto variable = [&variables](const std::string& name) {
    if (std::optional<std::string> ours = our_variable(name)) return ours;
    const auto own = variables.find(name);
    return own == variables.end() ? std::nullopt : std::optional(as_name(own->second));
  };
  return create_file(asked, {pid, host_name(), variable, exists}, readers);
}

ShareFiles share_files(const OutputName& asked, Readers readers, pid_t pid) {
  return [=](const Variables& share) {
    Result<CreatedFile> created = create_share_file(asked, share, readers, pid);
    if (created && asked.earlier) asked.earlier->note_taken(created->file.path());
    return created;
  };
}

Readers readers_of(const cpu::CpuSettings& threads, uid_t user) {
  return threads.system_wide() || user != geteuid() ? Readers::kOwnerAlone : Readers::kAsUsual;
}

Result<void> check_later_file(const std::string& pattern, Overwrite overwrite, AfterCapture after) {
  const Result<std::optional<std::filesystem::path>> planned = planned_file(after == AfterCapture::kRepeat ? numbered_pattern(in_folder(pattern)) : pattern);
  if (!planned) return planned.error();
  if (!*planned) return {};
  const Result<NewFile> file = NewFile::create(**planned, overwrite, Readers::kAsUsual);
  return file || !has_room_for_files(pattern) ? Result<void>() : file.error();
}

std::string numbered_pattern(const std::string& pattern) { return is_numbered(pattern) ? pattern : std::string(without_extension(pattern)) + ".%n"; }

std::string pattern_of_capture(const std::string& asked, std::uint32_t number, Overwrite overwrite) {
  const std::string pattern = asked.empty() ? std::string(kDefaultOutputPattern) : in_folder(asked);
  if (overwrite == Overwrite::kRefuse || is_numbered(pattern)) return numbered_pattern(pattern);
  return std::string(without_extension(pattern)) + '.' + std::to_string(number);
}

std::shared_ptr<EarlierFiles> earlier_files(const std::string& asked, Overwrite overwrite, EarlierFiles::Captures captures) {
  if (overwrite == Overwrite::kRefuse) return std::make_shared<EarlierFiles>();
  if (const auto of_ranks = files_of_ranks(asked, captures)) return std::make_shared<EarlierFiles>(captures, *of_ranks);
  return std::make_shared<EarlierFiles>(captures, [&](std::uint32_t number) -> std::optional<std::filesystem::path> {
    const std::string pattern = captures == EarlierFiles::Captures::kSeveral ? pattern_of_capture(asked, number, overwrite) : asked;
    if (is_numbered(in_folder(pattern))) return std::nullopt;
    const Result<std::optional<std::filesystem::path>> place = planned_file(pattern);
    return place ? *place : std::nullopt;
  });
}

}  // namespace lanescope::session

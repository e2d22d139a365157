#include "output/table_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "collector/session/inheritance.h"
#include "model/trace/segments/demanded_segments.h"
#include "output/output_file.h"

namespace lanescope::cli {
namespace {

// The n-th element of a list whose last element is used for all that follow.
template <typename T>
const T& nth_or_last(const std::vector<T>& list, std::size_t n) {
  return list[std::min(n, list.size() - 1)];
}

bool is_readable(stats::Format format) { return format == stats::Format::kColumn || format == stats::Format::kTable; }

std::string_view extension_of(stats::Format format) {
  for (const stats::NamedFormat& known : stats::formats())
    if (known.format == format) return known.extension;
  return ".txt";
}

// The outputs of a list, separated by commas. A comma after @ or a backslash does not separate.
std::vector<std::string> outputs_of(std::string_view list) {
  std::vector<std::string> outputs(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (outputs.back().empty() && list[i] == '@') {
      outputs.back() = list.substr(i);
      break;
    }
    const bool is_escaped = list[i] == '\\' && i + 1 < list.size() && list[i + 1] == ',';
    if (is_escaped)
      outputs.back() += list[++i];
    else if (list[i] == ',')
      outputs.emplace_back();
    else
      outputs.back() += list[i];
  }
  return outputs;
}

bool is_standard_output(const std::string& name) { return name == "/dev/stdout" || name == "/dev/fd/1" || name == "/proc/self/fd/1"; }

// Checks the folder of files whose names start with `base`. They are made last, and may be the reason why a program was run.
Result<void> check_folder_of(const std::filesystem::path& base) {
  const std::filesystem::path folder = base.has_parent_path() ? base.parent_path() : std::filesystem::path(".");
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return Error{"Nothing can be written to " + base.string() + ": " + std::strerror(errno) + ". Name another place with -o."};
}

void print_formats() {
  for (const stats::NamedFormat& format : stats::formats()) std::cout << format.name << " - " << format.description << '\n';
  throw CLI::Success();
}

}  // namespace

void TableOutput::add_options(CLI::App& app) {
  app.add_option("-f,--format", format_names_, "column (default on a terminal), table, csv (default for files), tsv, json")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("FORMAT");
  app.add_option("-o,--output", output_names_,
                 "Where to: - the terminal (default); . files beside FILE; @COMMAND its input; else files that begin with this name, or one table's of this "
                 "name where it ends as the format does (.csv); several "
                 "are separated by commas (\\, stands for one within a name, and a command goes on to the end)")
      ->allow_extra_args(false)
      ->type_name("OUTPUT");
  app.add_option("--timeunit", time_unit_name_, "nsec (default), usec, msec or sec")->type_name("UNIT");
  app.add_flag("-q,--quiet", quiet_, "Print tables alone, without titles");
  app.add_flag("--force-overwrite", force_overwrite_, "Write over files that exist");
  app.add_flag_callback("--help-formats", print_formats, "List the formats");
}

Result<void> TableOutput::prepare(std::span<const std::filesystem::path> inputs) {
  inputs_.assign(inputs.begin(), inputs.end());
  for (const std::string& name : format_names_) {
    const auto format = stats::format_of(name);
    if (!format && name.find(':') != std::string::npos)
      return Error{"--format=" + name + ": formats take nothing behind a colon here. Leave it away; titles go with -q.", ErrorKind::kUsage};
    if (!format) return Error{"There is no format " + name + ". Formats: column, table, csv, tsv, json.", ErrorKind::kUsage};
    formats_.push_back(*format);
  }
  const auto unit = stats::time_unit_of(time_unit_name_);
  if (!unit) return Error{time_unit_name_ + " is not a unit of time. Units: nsec, usec, msec, sec.", ErrorKind::kUsage};
  time_unit_ = *unit;
  for (const std::string& list : output_names_) {
    for (const std::string& name : outputs_of(list)) {
      if (name.empty() || name == "@") return Error{"-o " + list + " names an output that is empty. Leave it away.", ErrorKind::kUsage};
      std::error_code missing;
      const auto kind = std::filesystem::status(name, missing).type();
      const bool is_no_file = kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::fifo ||
                              kind == std::filesystem::file_type::socket || kind == std::filesystem::file_type::block;
      if (name == "-" || is_standard_output(name))
        targets_.push_back({});
      else if (is_no_file)
        return Error{"-o " + name + " is no place for files, whose names would begin so. To standard output: -o -; into a command: -o @COMMAND",
                     ErrorKind::kUsage};
      else if (name.starts_with('@'))
        targets_.push_back({Target::Kind::kCommand, name.substr(1)});
      else
        targets_.push_back({Target::Kind::kFile, name == "." ? std::filesystem::path(inputs_.front()).replace_extension().string() : name});
      if (targets_.back().kind != Target::Kind::kFile) continue;
      if (const Result<void> has_place = check_folder_of(targets_.back().text); !has_place) return has_place;
    }
  }
  if (targets_.empty()) targets_.emplace_back();
  return {};
}

Result<void> TableOutput::expect(Tables tables) {
  expected_ = tables;
  if (tables == Tables::kOne && targets_.size() > 1)
    return Error{"-o names " + std::to_string(targets_.size()) + " outputs for one table. Name one; a comma within its name is written as \\,",
                 ErrorKind::kUsage};
  if (tables == Tables::kOne) return {};
  bool has_json = false, has_other = false;
  for (std::size_t n = 0; n < std::max(targets_.size(), formats_.size()); ++n) {
    if (nth_or_last(targets_, n).kind != Target::Kind::kConsole) continue;
    (is_json_on_console(n) ? has_json : has_other) = true;
  }
  if (has_json && has_other) return Error{"JSON beside another format is no document. Choose one format, or files with -o NAME.", ErrorKind::kUsage};
  return {};
}

Result<void> TableOutput::check_sources() const {
  for (const std::shared_ptr<const Trace>& trace : sources_)
    if (const auto read = check_all_was_read(*trace); !read) return read;
  return {};
}

TextProducer TableOutput::text_of(std::size_t n, const TableHeading& heading, const stats::Table& table) const {
  const stats::Format format = format_of_table(n);
  std::string before;
  const bool has_heading = !quiet_ && is_readable(format);
  if (has_heading) before = "\n ** " + heading.title + " (" + heading.request + "):\n\n" + (heading.advice.empty() ? "" : heading.advice + "\n\n");
  return [=, this, &table](const std::function<bool(std::string_view)>& write) {
    return (before.empty() || write(before)) && stats::write_table(table, format, time_unit_, write) && (!has_heading || write("\n"));
  };
}

stats::Format TableOutput::format_of_table(std::size_t n) const {
  if (!formats_.empty()) return nth_or_last(formats_, n);
  return nth_or_last(targets_, n).kind == Target::Kind::kFile ? stats::Format::kCsv : stats::Format::kColumn;
}

bool TableOutput::is_for_people(std::size_t n) const { return nth_or_last(targets_, n).kind == Target::Kind::kConsole && is_readable(format_of_table(n)); }

bool TableOutput::is_json_on_console(std::size_t n) const {
  return nth_or_last(targets_, n).kind == Target::Kind::kConsole && format_of_table(n) == stats::Format::kJson;
}

std::string TableOutput::own_name(const std::string& request) {
  const std::size_t before = names_[request]++;
  return before == 0 ? request : request + ":" + std::to_string(before);
}

Result<void> TableOutput::leave_out(std::size_t n, const std::string& request) {
  const Target& target = nth_or_last(targets_, n);
  if (target.kind != Target::Kind::kFile) return {};
  const std::string name = file_name(n, own_name(request));
  if (const auto free = check_is_free(name); !free) return free;
  std::error_code error;
  std::filesystem::remove(name, error);
  return error ? Error{name + " can't be removed: " + error.message() + ". It is of another run."} : Result<void>{};
}

void TableOutput::finish() {
  if (expected_ == Tables::kOne) return;
  if (in_object_ > 0)
    std::cout << "}\n";
  else if (is_json_on_console(0))
    std::cout << "{}\n";
}

Result<void> TableOutput::write(std::size_t n, const TableHeading& heading, const stats::Table& table) {
  if (const auto read = check_sources(); !read) return read;
  const Target& target = nth_or_last(targets_, n);
  const TextProducer produce = text_of(n, heading, table);
  const std::string own = own_name(heading.request);
  if (target.kind == Target::Kind::kFile) return write_file(n, own, produce);

  std::string before;
  if (expected_ == Tables::kSeveral && is_json_on_console(n)) before = (in_object_++ == 0 ? "{\"" : ",\"") + own + "\": ";
  std::cout.flush();
  if (target.kind == Target::Kind::kCommand) return feed(target.text, produce);
  if (console_ != nullptr) {
    *console_ << before;
    produce([this](std::string_view part) {
      *console_ << part;
      return true;
    });
    return {};
  }
  if (!session::inherited(STDOUT_FILENO)) return Error{"Standard output is closed. Open it, or name files with -o."};
  std::fwrite(before.data(), 1, before.size(), stdout);
  produce([](std::string_view part) { return std::fwrite(part.data(), 1, part.size(), stdout) == part.size(); });
  std::fflush(stdout);
  return {};
}

Result<void> TableOutput::feed(const std::string& command, const TextProducer& produce) {
  FILE* const input = popen(command.c_str(), "w");
  if (!input) return Error{"The command " + command + " can't be started."};
  // A command that has read what it wanted, such as head, may end; its exit code says whether it failed.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  produce([&](std::string_view part) { return std::fwrite(part.data(), 1, part.size(), input) == part.size(); });
  const int code = pclose(input);
  std::signal(SIGPIPE, before);
  return code == 0 ? Result<void>() : Error{"The command " + command + " failed."};
}

std::string TableOutput::file_name(std::size_t n, const std::string& request) const {
  std::string base = nth_or_last(targets_, n).text;
  const std::string_view extension = extension_of(format_of_table(n));
  if (expected_ == Tables::kOne && base.ends_with(extension)) {
    if (n < targets_.size()) return base;
    base.resize(base.size() - extension.size());
  }
  std::string name = base + "_" + request;
  std::replace(name.begin() + static_cast<std::ptrdiff_t>(base.size()), name.end(), ':', '_');
  std::replace(name.begin() + static_cast<std::ptrdiff_t>(base.size()), name.end(), '/', '-');
  return name.append(extension);
}

Result<void> TableOutput::check_is_free(const std::string& name) const {
  if (const Result<void> sound = check_is_no_input(name, inputs_); !sound) return sound;
  std::error_code missing;
  if (!force_overwrite_ && std::filesystem::exists(name, missing))
    return Error{name + " exists already. Write over it with --force-overwrite, or give another name with -o."};
  return {};
}

Result<void> TableOutput::write_file(std::size_t n, const std::string& request, const TextProducer& produce) const {
  const std::string name = file_name(n, request);
  if (const auto free = check_is_free(name); !free) return free;
  const Result<void> written = write_text(name, force_overwrite_ ? Overwrite::kAllow : Overwrite::kRefuse, produce);
  if (!written) return written.error();
  if (!quiet_) std::cout << name << '\n';
  return {};
}

void TableOutput::skip(const std::string& sentence) { std::cerr << "SKIPPED: " << sentence << '\n'; }

}  // namespace lanescope::cli

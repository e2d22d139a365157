#include "remote/remote_work.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <iostream>
#include <optional>

#include "collector/remote/recorder_copy.h"
#include "collector/remote/recording_name.h"
#include "collector/remote/remote_work.h"
#include "collector/remote/signals.h"
#include "collector/session/planned_file.h"
#include "model/file/trace_file.h"
#include "remote/question.h"
#include "remote/text_from_there.h"
#include "session/ending.h"
#include "session/recording_watch.h"
#include "session/stopped_program.h"
#include "text.h"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

// What the user wants, from the signals that come. For work that was started from here, the first Ctrl+C ends it, and the second leaves it. A recording that
// runs there already is left by the first, because ending a copy must not end what is copied. A terminal that is closed leaves the work, too.
class WishBySignals {
 public:
  enum class Begun { kFromHere, kBefore };
  explicit WishBySignals(Begun begun) : begun_(begun) {}
  remote::Wish next() {
    while (const std::optional<siginfo_t> signal = signals_.next()) take(signal->si_signo);
    return wish_;
  }
  // Signals have their usual effect again.
  void release() { signals_.release(); }
  [[nodiscard]] int stop_signal() const { return stop_signal_; }
  // The next signal for the program there.
  std::optional<int> for_program() {
    if (for_program_.empty()) return std::nullopt;
    const int signal = for_program_.front();
    for_program_.pop_front();
    return signal;
  }
  [[nodiscard]] bool has_come(int signal) const { return signal >= SIGHUP && signal < NSIG && (came_ >> (signal - 1) & 1) != 0; }

 private:
  static constexpr std::size_t kMostSignals = 64;

  void take(int signal) {
    came_ |= std::uint64_t{1} << (signal - 1);
    if (signal == SIGHUP) wish_ = remote::Wish::kLeave;
    if (signal == SIGINT || signal == SIGTERM || signal == SIGQUIT) {
      stop_signal_ = signal;
      wish_ = begun_ == Begun::kFromHere && wish_ == remote::Wish::kGoOn ? remote::Wish::kStop : remote::Wish::kLeave;
    }
    if (begun_ == Begun::kFromHere && remote::passes_on(signal) && for_program_.size() < kMostSignals) for_program_.push_back(signal);
    if (signal == SIGTSTP) stop_as_terminals_do();
  }

  Begun begun_;
  RecorderSignals signals_;
  remote::Wish wish_ = remote::Wish::kGoOn;
  int stop_signal_ = SIGINT;     // the signal that asked for the end
  std::deque<int> for_program_;  // those that came while there is no link
  std::uint64_t came_ = 0;       // bit n - 1 for signal n
};

// The first file has the name that was asked for. The others, or all, have a number in it.
Result<fs::path> place_of(const CopyOptions& copy, std::size_t number) {
  const std::string& output = copy.output;
  const Result<std::optional<fs::path>> first = session::planned_file(output);
  if (!first) return first.error();
  if (!*first) return Error{"The output name \"" + output + "\" has %p, and the program's number is only known there. Leave it away.", ErrorKind::kUsage};
  const bool has_number = number > 1 || copy.numbers == CopyOptions::Numbers::kAll;
  if (!has_number || output.empty() || output.find("%n") != std::string::npos) return **first;
  fs::path place = **first;
  return place.replace_extension("." + std::to_string(number) + ".trace");
}

// A name for each process, %q{RANK}, can't be made there: everything would be in one file, with a name from variables of this machine.
bool names_variable(std::string_view pattern) {
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i)
    if (pattern[i] == '%' && pattern[++i] == 'q') return true;
  return false;
}

// Checks the place before anything starts there: that it can be written, and whether a file exists. A file that a copy may continue is checked by the copying
// itself.
Result<void> check_place(const CopyOptions& copy, const remote::Task& task) {
  const Result<fs::path> place = place_of(copy, 1);
  if (!place) return place.error();
  if (std::holds_alternative<remote::NewRecording>(task) && names_variable(copy.output))
    return Error{"The output name \"" + copy.output + "\" has %q, and variables of the program are only known there, where all " +
                     "processes are recorded in one file. Leave it away, or record there and copy the files.",
                 ErrorKind::kUsage};
  if (const Result<void> can_be_made = check_exports(copy.output, copy.reports); !can_be_made) return can_be_made.error();
  std::error_code missing;
  if (!std::holds_alternative<remote::NewRecording>(task) && fs::is_regular_file(fs::symlink_status(*place, missing))) return {};
  const Result<NewFile> file = NewFile::create(*place, copy.overwrite, Readers::kAsUsual);
  return file ? Result<void>() : file.error();
}

remote::RecorderToCopy this_recorder() {
  std::error_code failed;
  return {fs::read_symlink("/proc/self/exe", failed).parent_path(), LANESCOPE_VERSION};
}

enum class Originals { kKept, kRemoved };

void tell_files(const remote::WorkOutcome& outcome, Originals originals) {
  const auto is_here = [](const remote::CopiedFile& file) {
    std::error_code unknown;
    return fs::exists(fs::symlink_status(file.path, unknown));
  };
  if (std::none_of(outcome.files.begin(), outcome.files.end(), is_here)) return;
  std::cerr << (outcome.failure ? "Copied so far:\n" : originals == Originals::kRemoved ? "Copied, and removed there:\n" : "Copied, and the same as there:\n");
  for (const remote::CopiedFile& file : outcome.files)
    if (is_here(file)) std::cerr << '\t' << file.path.string() << " (" << bytes_text(file.bytes) << ")\n";
}

// True if the files have an index. Only a recorder that has reached its end writes one.
bool are_finished(const std::vector<remote::CopiedFile>& files) {
  return !files.empty() && std::all_of(files.begin(), files.end(), [](const remote::CopiedFile& file) {
    const Result<TraceFileReader> reader = TraceFileReader::open(file.path);
    return reader && !reader->index().empty();
  });
}

enum class WorkThere { kRecording, kOther };

// The signal that ended a program is in the exit code of its recorder. A signal in the outcome ended the recorder itself.
int exit_code(const remote::WorkOutcome& outcome, WorkThere work) {
  const bool is_recording = work == WorkThere::kRecording;
  if (outcome.is_known && outcome.signal != 0)
    std::cerr << "lanescope: " << (is_recording ? "The recorder there" : "lanescope there") << " was ended by signal " << outcome.signal << " ("
              << strsignal(outcome.signal) << ")."
              << (!is_recording                 ? ""
                  : are_finished(outcome.files) ? " The recording was whole by then; how the program ended is not known."
                                                : " The recording is cut off there; the program may run on.")
              << '\n';
  if (outcome.is_known) return outcome.signal != 0 ? 128 + outcome.signal : outcome.code;
  return fail({outcome.recording.empty() ? "How it ended there is not known: its recorder was killed." : "It is not known whether it runs on there."});
}

int work(const RemoteOptions& remote, remote::Task task, const CopyOptions& copy) {
  Result<remote::Target> target = remote::parse_target(remote.target);
  if (!target) return fail(target.error());
  if (remote.is_one_of_several) remote::forbid_questions(*target);
  const bool is_command = std::holds_alternative<remote::ForeignCommand>(task);
  const bool is_recording = !is_command && !std::holds_alternative<remote::ForeignFile>(task);
  if (!is_command)
    if (const Result<void> checked = check_place(copy, task); !checked) return fail(checked.error());
  WishBySignals wish(std::holds_alternative<remote::ExistingRecording>(task) ? WishBySignals::Begun::kBefore : WishBySignals::Begun::kFromHere);
  TextFromThere text([&wish] { return wish.next() != remote::Wish::kLeave; });
  remote::WorkSettings settings;
  settings.target = remote.target;
  settings.terminal = target->terminal;
  settings.version = LANESCOPE_VERSION;
  settings.task = std::move(task);
  settings.overwrite = copy.overwrite;
  settings.place = [&copy](std::size_t number) { return place_of(copy, number); };
  settings.print = [&text](remote::TextStream stream, std::string_view bytes) { text.print(stream, bytes); };
  settings.reading = [&text](remote::TextStream stream) { return text.reading(stream); };
  settings.keeps_recording = [&text] { return text.lacks_text(); };
  settings.tell = [](const std::string& sentence) { std::cerr << "lanescope: " << sentence << std::endl; };
  settings.wish = [&wish] { return wish.next(); };
  settings.stop_signal = [&wish] { return wish.stop_signal(); };
  settings.signal = [&wish] { return wish.for_program(); };
  remote::RecorderThere there{*target, remote.lanescope};
  const auto goes_on = [&wish] { return wish.next() == remote::Wish::kGoOn; };
  const auto may_copy = [&] {
    if (remote.copies_recorder) return true;
    return remote.is_one_of_several ? is_copy_wished_by_starter(goes_on) : is_copy_wished(target->text, goes_on);
  };
  remote::WorkOutcome outcome =
      remote::work_by(there, this_recorder(), settings, remote.copies_recorder ? remote::Preferred::kCopy : remote::Preferred::kProgramThere, may_copy);
  if (outcome.missing != remote::Missing::kNothing && !remote.copies_recorder)
    outcome.failure->text += " Name one that is there with --remote-lanescope PATH, or add --copy-recorder, which copies this one.";
  text.finish();
  wish.release();
  for (const std::string& loss : text.losses()) std::cerr << "lanescope: " << loss << '\n';
  if (!is_command) tell_files(outcome, is_recording && outcome.recording.empty() ? Originals::kRemoved : Originals::kKept);
  if (!outcome.recording.empty())
    std::cerr << "The recording is there still" << (outcome.is_known ? "" : ", and its program may run on")
              << ". Fetch it with: " << command_text(remote::fetch_command(there, outcome.recording)) << '\n';
  if (outcome.failure) return fail(*outcome.failure);
  const int code = exit_code(outcome, is_recording ? WorkThere::kRecording : WorkThere::kOther);
  if (outcome.is_known) keep_code(code);
  bool lacks_reports = false;
  const auto make = [&] {
    for (const remote::CopiedFile& file : outcome.files) lacks_reports = make_reports(file.path, copy.reports) == Reports::kLacking || lacks_reports;
  };
  if (!is_made("What was asked to be made of the recording", make)) lacks_reports = true;
  if (const int signal = code - 128; is_recording && wish.has_come(signal)) end_by(signal);
  return code == kSuccess && lacks_reports ? kFailure : code;
}

}  // namespace

CopyOptions::Numbers numbers_of(const RangeOptions& range) {
  const Result<session::CaptureRange> read = capture_range(range);  // what is wrong with it is reported there
  const bool repeats = read && read->trigger != session::CaptureTrigger::kNone && read->after == session::AfterCapture::kRepeat;
  return repeats ? CopyOptions::Numbers::kAll : CopyOptions::Numbers::kFurther;
}

int record_there(const RemoteOptions& remote, const std::string& command, Arguments options, Arguments operands, const CopyOptions& copy) {
  return work(remote, remote::NewRecording{command, std::move(options), std::move(operands), remote.folder}, copy);
}

int fetch_recording(const RemoteOptions& remote, const std::string& name, const CopyOptions& copy) {
  if (!remote::is_recording_name(name))
    return fail({"\"" + name + "\" is no name of a recording. See them with: lanescope fetch --on TARGET --list", ErrorKind::kUsage});
  return work(remote, remote::ExistingRecording{name}, copy);
}

int fetch_file(const RemoteOptions& remote, const std::string& path, const CopyOptions& copy) { return work(remote, remote::ForeignFile{path}, copy); }

int run_there(const RemoteOptions& remote, const std::string& command, const CLI::App& app) {
  Arguments arguments = options_for_there(app);
  arguments.insert(arguments.begin(), command);
  return work(remote, remote::ForeignCommand{std::move(arguments)}, {});
}

std::optional<int> ask_values_there(const CLI::App& app, const Arguments& options) {
  std::optional<SplitOptions> split = split_remote(app, options);
  if (!split) return std::nullopt;
  const std::string name = app.get_name();
  Arguments arguments{name.substr(name.rfind(' ') + 1)};
  arguments.insert(arguments.end(), split->others.begin(), split->others.end());
  int code = kSuccess;
  for (const std::string& target : split->remote.targets) {
    split->remote.target = target;
    if (split->remote.targets.size() > 1) std::cout << target << ":" << std::endl;
    const int answered = work(split->remote, remote::ForeignCommand{arguments}, {});
    if (code == kSuccess) code = answered;
  }
  return code;
}

}  // namespace lanescope::cli

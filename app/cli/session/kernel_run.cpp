#include "session/kernel_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "collector/channel/kernel_counters.h"
#include "collector/session/recording.h"
#include "model/import/open_trace.h"
#include "model/kernels/launch_kinds.h"
#include "model/trace/text/kernel_name.h"
#include "model/trace/text/utf8.h"
#include "options/kernel_choice.h"
#include "session/recording_watch.h"
#include "text.h"

namespace lanescope::cli {
namespace {

using namespace std::chrono_literals;

struct Ran {
  int code = 0;                      // the program's, as a shell sees it
  bool was_signalled = false;        // we were asked to end meanwhile
  bool was_warned = false;           // the recorder had messages
  bool was_stuck = false;            // the program was ended, because a kernel did not end while it was measured
  std::optional<FileIdentity> file;  // the file that was made
  std::optional<Error> failure;      // why no file was made
};

// Ends a program if measuring a launch takes longer than it may, because nothing brings back the thread that launched it.
class Watchdog {
 public:
  Watchdog(session::KernelCounters* counters, std::chrono::nanoseconds patience) : counters_(counters), patience_(patience) {}

  // To be called often. Returns true if the program was ended.
  bool look(session::Recording& recording) {
    const auto now = std::chrono::steady_clock::now();
    if (counters_ == nullptr || now < next_look_) return ended_;
    constexpr auto kPause = 250ms;  // between looks
    constexpr auto kTime = 30s;     // for the program to end by itself, and save what it wants to
    next_look_ = now + kPause;
    if (ended_) {
      if (now - ended_since_ > kTime) recording.shut_down(SIGKILL);
      return true;
    }
    const std::optional<std::string> kernel = counters_->find_stuck(recording.statistics().running);
    if (!kernel) return false;
    ended_ = true;
    ended_since_ = now;
    std::cerr << "lanescope: The kernel " << printable(demangle(*kernel).substr(0, kLongestName), LineBreaks::kEscaped) << " did not come to an end within "
              << std::chrono::duration_cast<std::chrono::duration<double>>(patience_).count()
              << " s while it was measured: it may wait for another kernel, or for the program, which can't run meanwhile. The program is ended; what was "
                 "measured before is kept. Leave the kernel "
                 "out with --kernel-name, count it with --replay-mode range or application, or give it more time with --timeout.\n";
    recording.pass_on(SIGTERM);
    return true;
  }

 private:
  static constexpr std::size_t kLongestName = 120;
  session::KernelCounters* counters_;
  std::chrono::nanoseconds patience_;
  std::chrono::steady_clock::time_point next_look_{}, ended_since_{};
  bool ended_ = false;
};

enum class Ranges { kLeft, kFollowed };  // NVTX ranges, by which launches are chosen

// Runs the program once and records it into the file; `counters` may be null. Fails if the program did not run.
Result<Ran> run(const kernels::Program& program, session::KernelCounters* counters, const std::filesystem::path& file, session::TargetOutput output,
                Ranges ranges, std::chrono::nanoseconds patience) {
  session::LaunchRequest request;
  request.command = program.command;
  request.working_directory = program.folder;
  request.settings.trace_nvtx = ranges == Ranges::kFollowed;
  request.output = file.string();
  request.overwrite = Overwrite::kRefuse;
  request.target_output = output;
  if (counters != nullptr) {
    for (const auto& [name, value] : counters->variables()) request.environment.push_back({name, value});
  }
  RecorderSignals signals(program.command);
  const auto recording = session::Recording::launch(std::move(request));
  if (!recording) return recording.error();
  Ran ran;
  std::set<std::string> said;
  const auto say = [&] {
    for (const std::string& sentence : (*recording)->take_messages()) {
      said.insert(sentence);
      std::cerr << "lanescope: " << sentence << '\n';
      ran.was_warned = true;
    }
  };
  Watchdog watchdog(counters, patience);
  while (!(*recording)->wait_for(20ms)) {
    ran.was_stuck = watchdog.look(**recording);
    // The program gets each signal that we get, once; how it ends is its own decision.
    while (const auto signal = signals.next()) {
      ran.was_signalled = true;
      if (const auto receiver = signals.receiver_of(*signal, (*recording)->target_pid())) (*recording)->pass_on(signal->si_signo, *receiver);
    }
    say();
  }
  signals.release();
  say();
  const session::RecordingOutcome outcome = (*recording)->outcome();
  if (outcome.failure && !outcome.target) return *outcome.failure;
  if (outcome.files.empty() && outcome.failure)
    ran.failure = said.contains(outcome.failure->text) ? Error{"So nothing was measured."} : *outcome.failure;
  else if (!outcome.files.empty())
    ran.file = outcome.files.front().identity;
  if (outcome.target) ran.code = outcome.target->signal != 0 ? 128 + outcome.target->signal : outcome.target->code;
  return ran;
}

void tell(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) std::cerr << "lanescope: " << sentence << '\n';
}

// A folder for recordings that are not kept.
class PassingFolder {
 public:
  static Result<PassingFolder> make() {
    std::error_code nowhere;
    std::string path = (std::filesystem::temp_directory_path(nowhere) / "lanescope-counts-XXXXXX").string();
    if (nowhere || mkdtemp(path.data()) == nullptr) return Error{"The program can't run again: no folder could be made at " + path + "."};
    return PassingFolder(path);
  }
  ~PassingFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PassingFolder(PassingFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PassingFolder& operator=(PassingFolder&&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  explicit PassingFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

std::uint64_t number_of(const Trace& trace, const kernels::LaunchKind& kind) {
  std::uint32_t shape[7];
  std::copy(std::begin(kind.detail.grid), std::end(kind.detail.grid), shape);
  std::copy(std::begin(kind.detail.block), std::end(kind.detail.block), shape + 3);
  shape[6] = kind.detail.dynamic_shared_memory;
  return channel::launch_kind(trace.name(kind.detail.mangled_name), shape);
}

// Further runs of a program that has run once. Their output is not shown. After a signal there are no further runs.
Result<void> run_again(const kernels::Program& program, session::KernelCounters& counters, std::size_t runs, const Ran& first, Ranges ranges,
                       std::chrono::nanoseconds patience) {
  if (runs == 0) return {};
  const Result<PassingFolder> folder = PassingFolder::make();
  if (!folder) return folder.error();
  bool was_signalled = first.was_signalled || first.was_stuck;
  for (std::size_t i = 1; i <= runs && !was_signalled; ++i) {
    if (const Result<void> begun = counters.begin_next_run(); !begun) return begun;
    const std::filesystem::path passing = folder->path() / (std::to_string(i) + ".trace");
    const Result<Ran> again = run(program, &counters, passing, session::TargetOutput::kStore, ranges, patience);
    if (!again) return again.error();
    if (again->failure) return *again->failure;
    was_signalled = again->was_signalled || again->was_stuck;
    std::error_code ignored;
    std::filesystem::remove(passing, ignored);
    if (again->code != first.code) tell({"In run " + std::to_string(i + 1) + " the program ended with " + std::to_string(again->code) + "."});
  }
  return {};
}

// Why a program that ran has no launch whose instructions could be counted.
std::string what_is_not_counted(const Trace& trace, const session::KernelCounterSettings& chosen) {
  const bool has_kernels = std::any_of(trace.tracks().begin(), trace.tracks().end(), [](const Track& track) { return track.key.kind == TrackKind::kKernels; });
  if (!has_kernels) return "No kernel was recorded of which instructions could be counted: the program launched none on a GPU.";
  if (!chosen.kernel.empty())
    return "No launch of kernel " + chosen.kernel +
           " was recorded of which instructions could be counted: there is none of that name, or all are in CUDA graphs.";
  return "No launch of a kernel was recorded of which instructions could be counted: all are in CUDA graphs" +
         std::string(chosen.skip > 0 ? ", or before those that --launch-skip leaves." : ".");
}

}  // namespace

std::vector<std::string> left_out_sentences(const session::AppendedCounters& appended) {
  constexpr std::size_t kMostTold = 8, kLongestName = 120;
  std::vector<std::string> sentences;
  for (const auto& [kernel, reason] : appended.left_out) {
    if (sentences.size() == kMostTold) break;
    sentences.push_back("Not measured: " + std::string(first_characters(demangle(kernel), kLongestName)) + ". " + reason);
  }
  if (appended.left_out.size() > kMostTold)
    sentences.push_back("Not measured either: " + std::to_string(appended.left_out.size() - kMostTold) + " more kernels.");
  return sentences;
}

Costliest costliest_kernels(const Trace& trace, const std::string& kernel, std::size_t most) {
  const NameChoice choice(kernel);
  const std::vector<kernels::LaunchKind> kinds = kernels::launch_kinds(
      trace, [&choice](const kernels::KernelNameOf& name) { return choice.fits(name); }, 0);
  Costliest result;
  Nanoseconds chosen = 0, all = 0;
  for (const kernels::LaunchKind& kind : kinds) {
    all += kind.time;
    if (result.kinds.size() == most) continue;
    chosen += kind.time;
    // Several processes of a program may launch the same kernel.
    const std::uint64_t number = number_of(trace, kind);
    if (std::none_of(result.kinds.begin(), result.kinds.end(), [number](const channel::ChosenKind& other) { return other.kind == number; }))
      result.kinds.push_back({number, kind.typical});
  }
  result.share = all == 0 ? 0 : static_cast<double>(chosen) / static_cast<double>(all);
  return result;
}

Result<MeasuredProgram> record_kernels(const kernels::Program& program, session::KernelCounters& kernel_counters,
                                       const session::KernelCounterSettings& counters, const std::filesystem::path& file) {
  const Result<std::size_t> runs = kernel_counters.runs();
  if (!runs) return runs.error();
  if (*runs > 1) tell({"The program runs " + std::to_string(*runs) + " times, for one pass each."});
  const Ranges ranges = counters.range.empty() ? Ranges::kLeft : Ranges::kFollowed;
  const Result<Ran> ran = run(program, &kernel_counters, file, session::TargetOutput::kShowAndStore, ranges, counters.patience);
  if (!ran) return ran.error();
  MeasuredProgram measured{ran->code, ran->file, ran->failure};
  if (measured.failure) return measured;
  if (const Result<void> again = run_again(program, kernel_counters, *runs - 1, *ran, ranges, counters.patience); !again) {
    measured.failure = again.error();
    return measured;
  }
  const auto appended = kernel_counters.append_to(file, ran->file);
  if (!appended) {
    measured.failure = appended.error();
    return measured;
  }
  tell(appended->sentences);
  tell(left_out_sentences(*appended));
  return measured;
}

namespace {

// Called after the first run. Returns what failed; nothing if everything was counted that can be.
std::optional<Error> count_instructions(const kernels::Program& program, const session::KernelCounterSettings& chosen, const std::filesystem::path& file,
                                        const Ran& first) {
  const auto trace = open_trace(file);
  if (!trace) return trace.error();
  const NameChoice choice(chosen.kernel);
  std::vector<kernels::LaunchKind> kinds = kernels::launch_kinds(
      **trace, [&choice](const kernels::KernelNameOf& name) { return choice.fits(name); }, chosen.skip);
  if (kinds.empty()) return Error{what_is_not_counted(**trace, chosen)};
  const std::size_t all = kinds.size();
  if (chosen.count != 0 && all > chosen.count) kinds.resize(chosen.count);
  tell({"CUPTI counts the instructions of one kernel in a run: the program runs again for each of " + std::to_string(kinds.size()) + " kernels and shapes" +
        (kinds.size() < all ? " of " + std::to_string(all) + ", the most costly ones."
         : all > 1          ? ". Fewer: --kernel-name, --launch-count"
                            : ".")});
  const Result<PassingFolder> folder = PassingFolder::make();
  if (!folder) return folder.error();
  session::KernelCounterSettings counters = chosen;
  counters.kernel.clear();
  counters.count = 1;
  std::size_t counted = 0;
  bool was_signalled = first.was_signalled;
  for (std::size_t i = 0; i < kinds.size() && !was_signalled; ++i) {
    const kernels::LaunchKind& kind = kinds[i];
    const std::string name((*trace)->name(kind.detail.short_name));
    counters.kinds = {{number_of(**trace, kind), 0}};
    counters.skip = static_cast<std::uint32_t>(kind.before);
    counters.process = (*trace)->processes()[kind.process].instance;
    counters.correlation = (*trace)->event(kind.first).correlation;
    const auto kernel_counters = session::KernelCounters::start(counters);
    if (!kernel_counters) return kernel_counters.error();
    const std::filesystem::path passing = folder->path() / (std::to_string(i) + ".trace");
    const Result<Ran> ran = run(program, kernel_counters->get(), passing, session::TargetOutput::kStore, Ranges::kLeft, counters.patience);
    if (!ran) return ran.error();
    if (ran->failure) return *ran->failure;
    was_signalled = ran->was_signalled || ran->was_stuck;
    std::error_code ignored;
    std::filesystem::remove(passing, ignored);
    const auto appended = (*kernel_counters)->append_to(file, first.file);
    if (!appended) return appended.error();
    counters.known_code.insert(counters.known_code.end(), appended->code.begin(), appended->code.end());
    counted += appended->launches;
    tell(left_out_sentences(*appended));
    // What CUPTI refused now, it will refuse again.
    if (appended->launches == 0 && ran->was_warned) {
      tell({"The program does not run again: nothing could be counted of " + name + "."});
      break;
    }
    if (appended->launches == 0 && appended->left_out.empty())
      tell({"Not counted: " + name + ". This time the program did not launch it where it was expected."});
    if (ran->code != first.code) tell({"While instructions of " + name + " were counted, the program ended with " + std::to_string(ran->code) + "."});
  }
  tell({"Kernels and shapes of which instructions were counted: " + std::to_string(counted) + "."});
  return std::nullopt;
}

}  // namespace

Result<MeasuredProgram> record_instruction_counts(const kernels::Program& program, const session::KernelCounterSettings& chosen,
                                                  const std::filesystem::path& file) {
  const Result<Ran> first = run(program, nullptr, file, session::TargetOutput::kShowAndStore, Ranges::kLeft, {});
  if (!first) return first.error();
  MeasuredProgram measured{first->code, first->file, first->failure};
  if (!measured.failure) measured.failure = count_instructions(program, chosen, file, *first);
  return measured;
}

}  // namespace lanescope::cli

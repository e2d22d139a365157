#include "session/recording_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iostream>
#include <thread>
#include <utility>

#include "collector/session/distant_reader.h"
#include "memory_budget.h"
#include "model/file/trace_file.h"
#include "model/trace/completeness.h"
#include "model/trace/outline.h"
#include "model/trace/text/grouped_digits.h"
#include "session/ending.h"
#include "session/stopped_program.h"
#include "text.h"

namespace lanescope::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 20ms;         // between looks at signals and messages
constexpr auto kWord = 5s;           // after this time it is said that a program continues that was asked to end
constexpr auto kGraceOfOthers = 5s;  // for processes left behind by a program that was asked to end

void print_messages(session::Recording& recording) {
  for (const std::string& message : recording.take_messages()) std::cerr << "lanescope: " << message << '\n';
}

bool asks_for_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT; }

// "SIGUSR1", "signal 40".
std::string name_of(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }

bool is_from_terminal(const siginfo_t& signal) { return signal.si_code == SI_KERNEL; }

// Handles the signals that come to the recorder while it waits for the end.
class SignalsOfRecording {
 public:
  SignalsOfRecording(session::Recording& recording, RecorderSignals& signals, OnSignal on_signal)
      : recording_(recording), signals_(signals), on_signal_(on_signal) {}

  void take(const siginfo_t& signal) {
    note(signal);
    if (asks_for_end(signal.si_signo)) return take_end(signal);
    if (signal.si_signo == SIGTSTP) return stop_as_well(signal);
    if (signal.si_signo == SIGCONT) return go_on();
    if (is_from_terminal(signal)) return;
    if (on_signal_ == OnSignal::kDetach) return tell(signal.si_signo, "has no effect: the process was attached to. The recording goes on.");
    if (recording_.exit_status()) return tell(signal.si_signo, "has no effect: the program has ended.");
    const std::optional<session::SignalReceiver> receiver = signals_.receiver_of(signal, recording_.target_pid());
    if (!receiver) return tell(signal.si_signo, "came to the program as well; the recording goes on.");
    recording_.pass_on(signal.si_signo, *receiver);
    tell(signal.si_signo, "was passed on to the program; the recording goes on.");
  }

  // For a program that was asked to end. What it still does is its own, and may take as long as without us.
  void follow_end() {
    if (first_end_ == 0 || on_signal_ == OnSignal::kDetach) return;
    const auto now = std::chrono::steady_clock::now();
    if (recording_.exit_status()) {
      if (!ended_at_) ended_at_ = now;
      if (now - *ended_at_ >= kGraceOfOthers) recording_.stop(session::StopMode::kOrderly);
    } else if (now - asked_at_ >= kWord && !std::exchange(has_told_, true)) {
      tell(first_end_, "came to the program, which has not ended yet; the recording goes on. A second one ends the recording, and the program runs on.");
    }
  }

  // For a program that was stopped without us. To be called after take() for all signals that came, because a stop of both of us comes as a signal, too.
  void follow_stop() {
    if (on_signal_ == OnSignal::kDetach || recording_.exit_status()) return;
    const bool stands = recording_.take_stop() && has_terminal();
    if (std::exchange(stands_, stands) && is_stopped(recording_.target_pid()) && !may_others_go_on()) {  // it was stopped at two looks in a row
      stands_ = false;
      stopped_.reset();
      if (getpgid(recording_.target_pid()) != getpgrp()) stopped_ = session::SignalReceiver::kTarget;  // otherwise whoever continues us continues it
      stop_with(recording_.target_pid());
    }
  }

  [[nodiscard]] int first_end() const { return first_end_; }
  // Notes a signal for which nothing needs to be done any more: it may have ended what we waited for.
  void note(const siginfo_t& signal) { came_ |= bit_of(signal.si_signo); }
  [[nodiscard]] std::uint64_t came() const { return came_; }

 private:
  // True if other processes are recorded, or are about to be, which need us for that.
  [[nodiscard]] bool may_others_go_on() const { return recording_.statistics().running.size() > 1 || has_children(recording_.target_pid()); }

  void take_end(const siginfo_t& signal) {
    if (first_end_ != 0) return recording_.stop(session::StopMode::kAtOnce);
    first_end_ = signal.si_signo;
    if (on_signal_ == OnSignal::kDetach) return recording_.stop(session::StopMode::kOrderly);
    asked_at_ = std::chrono::steady_clock::now();
    if (const auto receiver = signals_.receiver_of(signal, recording_.target_pid())) recording_.pass_on(first_end_, *receiver);
  }

  void stop_as_well(const siginfo_t& signal) {
    stopped_.reset();
    if (on_signal_ == OnSignal::kEndProgram) stopped_ = signals_.receiver_of(signal, recording_.target_pid());
    if (stopped_) recording_.pass_on(SIGTSTP, *stopped_);
    while (recording_.passes_on()) std::this_thread::sleep_for(1ms);
    stands_ = false;
    if (!stop_as_terminals_do()) go_on();
  }

  void go_on() {
    if (stopped_) recording_.pass_on(SIGCONT, *stopped_);
    stopped_.reset();
  }

  static void tell(int signal, const char* what) { std::cerr << "lanescope: " << name_of(signal) << ' ' << what << '\n'; }

  session::Recording& recording_;
  RecorderSignals& signals_;
  OnSignal on_signal_;
  int first_end_ = 0;
  std::uint64_t came_ = 0;                          // bit n - 1 for signal n
  std::optional<session::SignalReceiver> stopped_;  // whom we stopped, and continue when we continue
  bool stands_ = false;                             // the program was stopped at the last look
  bool has_told_ = false;
  std::chrono::steady_clock::time_point asked_at_;
  std::optional<std::chrono::steady_clock::time_point> ended_at_;  // when it was noticed that the program has ended
};

void wait_for_end(session::Recording& recording, RecorderSignals& signals, OnSignal on_signal, Watched& watched) {
  SignalsOfRecording coming(recording, signals, on_signal);
  while (!recording.wait_for(kLook)) {
    print_messages(recording);
    coming.follow_end();
    while (const std::optional<siginfo_t> signal = signals.next()) coming.take(*signal);
    coming.follow_stop();
  }
  print_messages(recording);
  while (const std::optional<siginfo_t> signal = signals.next()) coming.note(*signal);
  watched.signal = coming.first_end();
  watched.came = coming.came();
}

// Adds outlines so that a viewer draws the files at once. Failures are said; the files stay valid. Files of over 100 million events get none, because it
// would take gigabytes and half a minute when the program has just ended. Neither do files for which there is not enough memory. O(events).
void add_outlines(const session::RecordingOutcome& outcome) {
  constexpr std::uint64_t kMostEvents = 100'000'000;
  for (const session::RecordedFile& file : outcome.files) {
    if (file.events > kMostEvents) continue;
    if (!fit_into_memory(file.events)) {
      std::cerr << "lanescope: There is not enough memory for an outline of " << file.path.string() << ": a viewer takes longer to draw all of it.\n";
      continue;
    }
    const auto add = [&file] {
      if (const Result<void> added = append_outline(file.path, file.identity); !added) std::cerr << "lanescope: " << added.error().text << '\n';
    };
    if (!is_made("An outline of the recording, with which viewers draw it at once,", add)) return;
  }
}

// What starts a capture, for a user who got none.
std::string begin_of(const session::CaptureRange& range) {
  switch (range.trigger) {
    case session::CaptureTrigger::kNone:
      return "";
    case session::CaptureTrigger::kRequest:
      return " One begins with: lanescope start";
    case session::CaptureTrigger::kProfilerApi:
      return " One begins when the program calls cudaProfilerStart().";
    case session::CaptureTrigger::kNvtxRange:
      break;
  }
  const std::string where = !range.domain ? "any domain" : range.domain->empty() ? "the default domain" : "the domain \"" + *range.domain + '"';
  return " One begins with the NVTX range \"" + range.name + "\" in " + where + ", as it is spelled; of any domain: -p TEXT@*";
}

}  // namespace

namespace {

// What no file says in these numbers: processes that were not followed, and records by process.
std::vector<std::string> losses_of_processes(const session::RecordingOutcome& outcome) {
  std::vector<std::string> lines;
  if (outcome.unfollowed_processes > 0) lines.push_back(unfollowed_text(outcome.unfollowed_processes));
  for (const session::ProcessCompleteness& process : outcome.processes) {
    const std::string name = "[" + std::to_string(process.pid) + "] " + process.name + ": ";
    if (process.dropped > 0)
      lines.push_back(name + grouped_digits(process.dropped) + " of " + counted(process.produced + process.dropped, "record") + " dropped");
    if (process.unreturned_buffers > 0)
      lines.push_back(name + "it ended with " + counted(process.unreturned_buffers, "CUPTI buffer") + ", whose records are lost");
  }
  return lines;
}

}  // namespace

std::vector<std::string> losses(const session::RecordingOutcome& outcome) {
  std::vector<std::string> lines;
  std::uint64_t unwritten = 0;
  bool was_full = false;
  for (const session::RecordedFile& file : outcome.files) {
    unwritten += file.unwritten;
    was_full = was_full || file.reason == session::EndReason::kDiskFull;
  }
  if (unwritten > 0 || was_full)
    lines.push_back((unwritten > 0 ? counted(unwritten, "more event") + " had no room in the file" : std::string("The file had no room for more")) +
                    (was_full ? ", and what came behind them was not recorded" : ""));
  const std::vector<std::string> of_processes = losses_of_processes(outcome);
  lines.insert(lines.end(), of_processes.begin(), of_processes.end());
  return lines;
}

namespace {

// As its files say it, in the words of lanescope info.
std::string missing_from(const std::vector<session::RecordedFile>& files) {
  Missing missing;
  for (const session::RecordedFile& file : files)
    if (const Result<TraceFileReader> reader = TraceFileReader::open(file.path)) missing += missing_in(*reader);
  return missing_text(missing);
}

// Nothing is missing that was asked for, as far as the recorder knows.
bool is_whole(const session::RecordingOutcome& outcome) {
  const auto has_all = [](const session::RecordedFile& file) {
    const bool was_full = file.reason == session::EndReason::kFileSize || file.reason == session::EndReason::kDiskFull;
    return !was_full && file.kept != session::KeptPart::kShorterThanAsked;
  };
  return outcome.statistics.dropped == 0 && !outcome.failure && std::all_of(outcome.files.begin(), outcome.files.end(), has_all);
}

// Behind the number of events. A message has said it before if a file ended early, or has less than was asked for.
std::string completeness_of(const session::RecordingOutcome& outcome, const std::string& missing, const std::vector<std::string>& lost) {
  if (!missing.empty()) return ", incomplete: " + missing;
  if (!lost.empty() || !is_whole(outcome)) return "";
  const bool has_all = std::all_of(outcome.files.begin(), outcome.files.end(), [](const auto& file) { return file.kept == session::KeptPart::kAll; });
  return has_all ? ", nothing dropped" : ", nothing of that part dropped";
}

void print_outcome(const session::Recording& recording, const session::RecordingOutcome& outcome, const session::CaptureRange& range) {
  if (outcome.files.empty() && !outcome.failure) std::cerr << "No file was made: no capture began or was kept." << begin_of(range) << '\n';
  if (!outcome.files.empty()) std::cerr << "Generated:\n";
  for (const session::RecordedFile& file : outcome.files) std::cerr << '\t' << file.path.string() << '\n';
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  for (const session::RecordedFile& file : outcome.files) {
    events += file.events;
    bytes += file.bytes;
  }
  const std::string missing = missing_from(outcome.files);
  const std::vector<std::string> lost = missing.empty() ? losses(outcome) : losses_of_processes(outcome);  // said once
  if (!outcome.files.empty())
    std::cerr << counted(events, "event") << " in " << duration_text(outcome.statistics.elapsed.count()) << ", " << bytes_text(bytes)
              << completeness_of(outcome, missing, lost) << '\n';
  for (const std::string& line : lost) std::cerr << line << '\n';
  // What was recorded is written after the end of the recording, which the program may not outlive.
  const auto is_there = [](pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; };
  const bool runs = !outcome.target && outcome.reason != session::EndReason::kTargetExited && is_there(recording.target_pid());
  if (!runs) return;
  std::cerr << "The program still runs (pid " << recording.target_pid() << ").\n";
  if (!recording.was_attached_to() && session::open_distant_reading().valid())
    std::cerr << "What it prints from here on is not kept. To keep it, let the program write into a file there.\n";
}

}  // namespace

RecorderSignals::RecorderSignals() {
  sigfillset(&signals_);
  // Not handled: faults, signals that have no effect unless they are caught, and the loss of a reader of our output.
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGCHLD, SIGURG, SIGWINCH, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ})
    sigdelset(&signals_, signal);
  sigset_t blocked = signals_;
  sigaddset(&blocked, SIGPIPE);  // it must not end the recording
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
}

RecorderSignals::RecorderSignals(const std::vector<std::string>& command) : RecorderSignals() { witness_ = GroupWitness::start(command); }

void RecorderSignals::note_missed(pid_t process) {
  constexpr auto kPatience = 30ms;  // for a sender that signals first us and then the program
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    missed_ = pending_signals(getpid());  // read before the other's, because a sender that signals both reaches us first
    missed_ &= ~pending_signals(process);
    if (missed_ != 0) std::this_thread::sleep_for(1ms);
  } while (missed_ != 0 && std::chrono::steady_clock::now() < end);
}

std::optional<session::SignalReceiver> RecorderSignals::receiver_of(const siginfo_t& signal, pid_t program) {
  using session::SignalReceiver;
  const bool is_of_terminal = is_from_terminal(signal);
  if ((missed_ & bit_of(signal.si_signo)) != 0) {
    missed_ &= ~bit_of(signal.si_signo);
    witness_.forget(signal.si_signo);
    return is_of_terminal ? SignalReceiver::kGroup : SignalReceiver::kTarget;
  }
  const bool is_of_our_group = getpgid(program) == getpgrp();
  if (is_of_terminal) {
    witness_.forget(signal.si_signo);
    return is_of_our_group && is_from_terminal_to_all(signal) ? std::nullopt : std::optional(SignalReceiver::kGroup);
  }
  const bool has_come_to_group = witness_.has_got(signal.si_signo);
  if (is_of_our_group && has_come_to_group) return std::nullopt;
  // Whoever keeps a recording from another machine has no terminal, and sends Ctrl+C to our group. Other signals for a group or for a job's processes are for
  // each process.
  const bool is_a_keys = signal.si_signo == SIGINT || signal.si_signo == SIGQUIT || signal.si_signo == SIGTSTP;
  return has_come_to_group && is_a_keys ? SignalReceiver::kGroup : SignalReceiver::kTarget;
}

std::optional<siginfo_t> RecorderSignals::next() {
  siginfo_t information{};
  constexpr timespec kNoWait{0, 0};
  if (sigtimedwait(&signals_, &information, &kNoWait) > 0) return information;
  return std::nullopt;
}

void RecorderSignals::release() {
  while (next()) {
  }
  sigset_t ending;
  sigemptyset(&ending);
  for (int signal = 1; signal < NSIG; ++signal)
    if (asks_for_end(signal)) sigaddset(&ending, signal);
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
}

Watched watch(session::Recording& recording, SessionServer& server, RecorderSignals& signals, OnSignal on_signal, const session::CaptureRange& range) {
  Watched watched;
  wait_for_end(recording, signals, on_signal, watched);
  if (const auto ended = recording.exit_status()) keep_code(ended->signal != 0 ? 128 + ended->signal : ended->code);
  server.close();
  watched.outcome = recording.outcome();
  add_outlines(watched.outcome);
  print_outcome(recording, watched.outcome, range);
  if (!server.has_reports()) return watched;
  signals.release();
  for (const session::RecordedFile& file : watched.outcome.files) {
    const auto make = [&] {
      if (make_reports(file.path, server.reports_of(file), file.identity) == Reports::kLacking) watched.reports = Reports::kLacking;
    };
    if (!is_made("What was asked to be made of the recording", make)) watched.reports = Reports::kLacking;
  }
  return watched;
}

}  // namespace lanescope::cli

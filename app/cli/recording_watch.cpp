#include "recording_watch.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>

#include "model/trace/outline.h"
#include "text.h"

namespace lanescope::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 20ms;          // between looks at signals and messages
constexpr auto kInterruptGrace = 5s;  // for the program to end by itself after Ctrl+C

void print_messages(session::Recording& recording) {
  for (const std::string& message : recording.take_messages()) std::cerr << "lanescope: " << message << '\n';
}

int wait_for_end(session::Recording& recording, EndingSignals& signals, OnSignal on_signal) {
  int first_signal = 0;
  auto stop_at = std::chrono::steady_clock::time_point::max();
  while (!recording.wait_for(kLook)) {
    print_messages(recording);
    if (std::chrono::steady_clock::now() >= stop_at) {
      recording.stop(session::StopMode::kOrderly);
      stop_at = std::chrono::steady_clock::time_point::max();
    }
    const std::optional<siginfo_t> signal = signals.next();
    if (!signal) continue;
    if (first_signal != 0) {
      recording.stop(session::StopMode::kAtOnce);
      continue;
    }
    first_signal = signal->si_signo;
    if (on_signal == OnSignal::kDetach) {
      recording.stop(session::StopMode::kOrderly);
      continue;
    }
    stop_at = std::chrono::steady_clock::now() + kInterruptGrace;
    // A terminal sends Ctrl+C to the program as well; a signal meant for us alone is passed on.
    if (signal->si_code != SI_KERNEL) recording.pass_on(first_signal);
  }
  print_messages(recording);
  return first_signal;
}

// So that a viewer draws them at once. What fails is said; the files stay good. Files of over 100 million events get none: it would take
// gigabytes and half a minute when the program has just ended. O(events).
void add_outlines(const session::RecordingOutcome& outcome) {
  constexpr std::uint64_t kMostEvents = 100'000'000;
  for (const session::RecordedFile& file : outcome.files) {
    if (file.events > kMostEvents) continue;
    if (const Result<void> added = append_outline(file.path); !added) std::cerr << "lanescope: " << added.error().text << '\n';
  }
}

void print_outcome(const session::Recording& recording, const session::RecordingOutcome& outcome) {
  if (outcome.files.empty() && !outcome.failure) std::cerr << "No file was made: no capture began or was kept.\n";
  if (!outcome.files.empty()) std::cerr << "Generated:\n";
  for (const session::RecordedFile& file : outcome.files) std::cerr << '\t' << file.path.string() << '\n';
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  for (const session::RecordedFile& file : outcome.files) {
    events += file.events;
    bytes += file.bytes;
  }
  const bool lost_buffers = std::any_of(outcome.processes.begin(), outcome.processes.end(),
                                        [](const session::ProcessCompleteness& process) { return process.unreturned_buffers > 0; });
  const bool whole = outcome.statistics.dropped == 0 && !lost_buffers && !outcome.failure;
  if (!outcome.files.empty())
    std::cerr << counted(events, "event") << " in " << duration_text(outcome.statistics.elapsed.count()) << ", " << bytes_text(bytes)
              << (whole ? ", nothing dropped" : "") << '\n';
  for (const session::ProcessCompleteness& process : outcome.processes) {
    const std::string name = "[" + std::to_string(process.pid) + "] " + process.name + ": ";
    if (process.dropped > 0)
      std::cerr << name << with_thousands(process.dropped) << " of " << counted(process.produced + process.dropped, "record")
                << " dropped\n";
    if (process.unreturned_buffers > 0)
      std::cerr << name << "it ended with " << counted(process.unreturned_buffers, "CUPTI buffer") << ", whose records are lost\n";
  }
  const bool runs = !outcome.target && outcome.reason != session::EndReason::kTargetExited;
  if (runs) std::cerr << "The program still runs (pid " << recording.target_pid() << ").\n";
}

}  // namespace

EndingSignals::EndingSignals() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
  sigset_t blocked = signals_;
  sigaddset(&blocked, SIGPIPE);  // a reader of our output that went away must not end the recording
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
}

std::optional<siginfo_t> EndingSignals::next() {
  siginfo_t information{};
  constexpr timespec kNoWait{0, 0};
  if (sigtimedwait(&signals_, &information, &kNoWait) > 0) return information;
  return std::nullopt;
}

void EndingSignals::release() {
  while (next()) {
  }
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

Watched watch(session::Recording& recording, SessionServer& server, EndingSignals& signals, OnSignal on_signal) {
  Watched watched;
  watched.signal = wait_for_end(recording, signals, on_signal);
  server.close();
  watched.outcome = recording.outcome();
  add_outlines(watched.outcome);
  print_outcome(recording, watched.outcome);
  signals.release();
  for (const session::RecordedFile& file : watched.outcome.files) make_reports(file.path, server.reports_of(file));
  return watched;
}

}  // namespace lanescope::cli

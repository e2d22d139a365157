// The lifecycle matrix: each way in which programs live and end x each kind of trace x launched and attached to. A recorded program has the same exit code and
// output as alone, its ranges are in the file, and missing ranges are reported.
//
//   test_lifecycle [--all] [--jobs N] [TEXT]     --all: every kind of trace instead of three; TEXT: only ways whose title contains it
//
// Prints each failure; the exit code is 1 if there is any.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string_view>
#include <thread>

#include "model/trace/load.h"
#include "running.h"
#include "support/paths.h"
#include "ways.h"

namespace lanescope::test {
namespace {

struct Options {
  bool all = false;
  unsigned jobs = 2 * std::max(1u, std::thread::hardware_concurrency());
  std::string text;
};

struct Check {
  Way way;
  TraceKind kind;
  Joining joining;

  [[nodiscard]] std::uint64_t ranges() const { return joining == Joining::kAttached ? way.ranges_if_attached.value_or(way.ranges) : way.ranges; }
};

std::string lives() { return program("lanescope_program_lives").string(); }

std::vector<std::string> command_of(const Way& way, const std::filesystem::path& folder) {
  std::vector<std::string> words{lives()};
  for (std::string argument : way.arguments) {
    if (argument == "LIVES") argument = lives();
    if (argument.starts_with("FOLDER")) argument.replace(0, 6, folder.string());
    words.push_back(argument);
  }
  return words;
}

std::vector<std::string> recorder(const char* command, const TraceKind& kind) {
  std::vector<std::string> words{program("lanescope").string(), command, "-t", kind.option, "-o", "x"};
  words.insert(words.end(), kind.more.begin(), kind.more.end());
  const bool samples = kind.option == "none" || std::find(kind.more.begin(), kind.more.end(), "--backtrace=dwarf") != kind.more.end();
  if (!samples) words.insert(words.end(), {"--sample=none", "--cpuctxsw=none"});
  return words;
}

// Launches the program. The output is the program's, the messages are the recorder's and the program's.
Ended launch(const Check& check, const std::vector<std::string>& command, const std::filesystem::path& folder) {
  std::vector<std::string> words = recorder("profile", check.kind);
  words.insert(words.end(), command.begin(), command.end());
  return run({check.way.before, words, check.way.input, folder});
}

std::uint64_t count_ranges(const Trace& trace, std::string_view name) {
  std::uint64_t count = 0;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) count += trace.name(lane.name(i)) == name ? 1 : 0;
    }
  }
  return count;
}

// The number that a process has written to a file, after it has become the program or has ended.
std::string number_of_program(const std::filesystem::path& file, const std::atomic<bool>& is_over) {
  std::string number;
  for (std::error_code none; !is_over; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    if (std::ifstream text(file); std::getline(text, number) && std::filesystem::equivalent("/proc/" + number + "/exe", lives(), none)) break;
  return number;
}

// True if the growing file shows that the program's activity is recorded by now.
bool is_recorded(const TraceKind& kind, const std::filesystem::path& file) {
  const auto trace = load_trace(file);
  if (!trace) return false;
  return kind.ranges ? count_ranges(**trace, "waiting") > 0 : (*trace)->event_count() > 0;
}

// Attaches to the program while it makes other ranges and waits. The result is like that of launch().
Ended attach(const Check& check, const std::vector<std::string>& command, const std::filesystem::path& folder) {
  const std::string begin = "echo $$ > number; export LIVES_UNTIL=" + (folder / "go").string() + "\n" + check.way.before;
  Ended program;
  std::atomic<bool> is_over{false};
  std::thread running([&] {
    program = run({begin, command, check.way.input, folder});
    is_over = true;
  });
  std::vector<std::string> words = recorder("attach", check.kind);
  words.push_back(number_of_program(folder / "number", is_over));
  Ended recording;
  std::atomic<bool> has_ended{false};
  std::thread attached([&] {
    recording = run({"", words, "", folder});
    has_ended = true;
  });
  while (!has_ended && !is_over && !is_recorded(check.kind, folder / "x.trace")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::ofstream(folder / "go").flush();
  running.join();
  attached.join();
  program.in_time = program.in_time && recording.in_time;
  program.messages += recording.messages;
  if (recording.code != 0) program.messages += "the recorder ended with " + std::to_string(recording.code) + "\n";
  return program;
}

// Describes the first difference: "line 7: \"a\", alone \"b\"".
std::string difference(const std::string& text, const std::string& alone) {
  std::istringstream lines(text);
  std::istringstream others(alone);
  for (int number = 1;; ++number) {
    std::string line;
    std::string other;
    std::getline(lines, line);
    std::getline(others, other);
    if (line != other || !lines || !others) return "line " + std::to_string(number) + ": \"" + line + "\", alone \"" + other + "\"";
  }
}

bool holds_each_line(const std::string& text, const std::string& lines) {
  std::istringstream wanted(lines);
  for (std::string line; std::getline(wanted, line);)
    if (text.find(line) == std::string::npos) return false;
  return true;
}

// What is wrong with the file; empty if nothing is.
std::string check_file(const Check& check, const Ended& with, const std::filesystem::path& path) {
  const bool said = !check.way.said.empty() && with.messages.find(check.way.said) != std::string::npos;
  if (!std::filesystem::exists(path)) return said ? "" : "there is no file, and nothing that says so; ";
  const auto trace = load_trace(path);
  if (!trace) return said ? "" : trace.error().text + "; ";
  std::string problems;
  if (!(*trace)->provenance().finished) problems += "the file is not finished; ";
  if (!check.kind.ranges) return problems;
  const std::uint64_t steps = count_ranges(**trace, "step");
  // On a very busy machine, an agent gives up waiting for its recorder, which is reported for its process.
  const bool lost_processes = with.messages.find("could not be followed") != std::string::npos;
  if (steps > check.ranges() || (steps < check.ranges() && !said && !lost_processes))
    problems += std::to_string(steps) + " ranges in place of " + std::to_string(check.ranges()) + "; ";
  if (steps < check.ranges() && with.messages.find("nothing dropped") != std::string::npos) problems += "it says that nothing was dropped; ";
  return problems;
}

std::string check(const Check& check) {
  const TemporaryFolder folder;
  const std::vector<std::string> command = command_of(check.way, folder.path());
  const Ended alone = run({check.way.before, command, check.way.input, folder.path()});
  const Ended with = check.joining == Joining::kLaunched ? launch(check, command, folder.path()) : attach(check, command, folder.path());
  std::string problems;
  constexpr int kCanNotBeTried = 99;
  if (alone.code == kCanNotBeTried) return "it can't be tried: " + alone.messages;
  if (!with.in_time) problems += "it did not end; ";
  const bool became_another =
      with.messages.find("became another program (exec)") != std::string::npos;  // it is not recorded then: lanescope attach ends with 1
  if (with.messages.find("the recorder ended with") != std::string::npos && !became_another) problems += "its recorder failed; ";
  if (with.code != alone.code) problems += "exit code " + std::to_string(with.code) + ", alone " + std::to_string(alone.code) + "; ";
  if (with.output != alone.output) problems += "output differs in " + difference(with.output, alone.output) + "; ";
  if (!holds_each_line(with.messages, alone.messages)) problems += "standard error lacks \"" + alone.messages + "\"; ";
  problems += check_file(check, with, folder.path() / "x.trace");
  return problems.empty() ? "" : problems + "\n" + with.messages;
}

std::vector<Check> checks_of(const Options& options) {
  std::vector<Check> checks;
  for (const Way& way : all_ways()) {
    if (way.title().find(options.text) == std::string::npos) continue;
    if (way.rights == Rights::kRoot && geteuid() != 0) continue;
    for (const Joining joining : {Joining::kLaunched, Joining::kAttached}) {
      if (way.only && *way.only != joining) continue;
      for (const TraceKind& kind : options.all ? all_trace_kinds(joining) : usual_trace_kinds(joining))
        if (kind.option.find(way.traced) != std::string::npos) checks.push_back({way, kind, joining});
    }
  }
  return checks;
}

int run_checks(const Options& options) {
  const std::vector<Check> checks = checks_of(options);
  std::atomic<std::size_t> next{0};
  std::atomic<int> failed{0};
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t i = next++; i < checks.size(); i = next++) {
      const std::string problems = check(checks[i]);
      if (problems.empty()) continue;
      ++failed;
      const std::lock_guard lock(printing);
      std::cout << checks[i].way.title() << (checks[i].joining == Joining::kAttached ? "  attached -t " : "  -t ") << checks[i].kind.title() << "\n  "
                << problems << '\n'
                << std::flush;
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < options.jobs; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  std::cout << checks.size() - static_cast<std::size_t>(failed) << " of " << checks.size() << " hold\n";
  return failed == 0 && !checks.empty() ? 0 : 1;
}

}  // namespace
}  // namespace lanescope::test

int main(int argc, char** argv) {
  lanescope::test::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--all") {
      options.all = true;
    } else if (argument == "--jobs" && i + 1 < argc) {
      options.jobs = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
    } else {
      options.text = argument;
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
  return lanescope::test::run_checks(options);
}

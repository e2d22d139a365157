#include "recorded.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

#include "collector/cpu/access.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

std::optional<std::string> cannot_observe() {
  const cpu::Access access = cpu::probe_access();
  if (access.own_processes) return std::nullopt;
  return "threads can't be observed here: " + access.reason;
}

Recorded::Measured Recorded::measured(const std::string& thread) const {
  std::istringstream words(output);
  std::string name;
  Measured times;
  while (words >> name >> times.processor >> times.wall)
    if (name == thread) return times;
  FAIL("the program said nothing of its thread " + thread);
  return {};
}

namespace {

constexpr Nanoseconds kUnit = 10'000'000;  // of /proc/stat: hundredths of a second

// What processors did for none of the machine's threads since its start, in units, rounded down: on interrupts of devices, on those that were put off, and for
// other machines of their host.
using TakenAway = std::array<std::int64_t, 3>;
TakenAway taken_away() {
  std::ifstream file("/proc/stat");  // "cpu user nice system idle iowait irq softirq steal ..."
  std::string word;
  std::array<std::int64_t, 8> times{};
  file >> word;
  for (std::int64_t& time : times) file >> time;
  return {times[5], times[6], times[7]};
}

// The most that it can have been between two looks.
Nanoseconds most_between(const TakenAway& before, const TakenAway& after) {
  Nanoseconds most = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (after[i] != 0) most += (after[i] - before[i] + 1) * kUnit;  // a machine that does not count it says 0
  return most;
}

}  // namespace

Recorded record(std::vector<std::string> command, const cpu::CpuSettings& settings, const std::function<void(session::LaunchRequest&)>& change) {
  const TemporaryFolder folder;
  session::LaunchRequest request;
  request.command = std::move(command);
  request.target_output = session::TargetOutput::kStore;
  request.settings.trace_cuda = false;
  request.settings.trace_nvtx = false;
  request.settings.cpu = settings;
  request.output = (folder.path() / "x").string();
  if (change) change(request);
  const TakenAway taken_before = taken_away();
  auto recording = session::Recording::launch(std::move(request));
  INFO((recording ? "" : recording.error().text));
  REQUIRE(recording);
  REQUIRE((*recording)->wait_for(std::chrono::minutes(10)));
  Recorded result;
  result.taken_away = most_between(taken_before, taken_away());
  result.messages = (*recording)->take_messages();
  auto trace = load_trace((*recording)->path());
  REQUIRE(trace);
  result.trace = *trace;
  for (const auto& written : result.trace->output()) result.output += written.bytes;
  return result;
}

ThreadId thread_named(const Trace& trace, std::string_view name) {
  for (ThreadId id = 0; id < trace.threads().size(); ++id)
    if (trace.threads()[id].name == name) return id;
  FAIL("there is no thread " + std::string(name));
  return kNone;
}

std::vector<Interval> intervals(const Trace& trace, ThreadId thread) {
  std::vector<Interval> all;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kThreadStates || track.key.thread != thread) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i)
        all.push_back({lane.start(i), lane.start(i) + lane.duration(i), trace.thread_state_detail(lane.detail(i)).state});
    }
  }
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
  return all;
}

Nanoseconds time_in(const std::vector<Interval>& intervals, ThreadState state) {
  Nanoseconds sum = 0;
  for (const Interval& interval : intervals)
    if (interval.state == state) sum += interval.end - interval.start;
  return sum;
}

namespace {

std::vector<Chain> samples_where(const Trace& trace, const std::function<bool(const TrackKey&)>& wanted) {
  std::vector<Chain> chains;
  const CallStacks& stacks = trace.call_stacks();
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kCpuSamples || !wanted(track.key)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        Chain& chain = chains.emplace_back();
        for (const CodeLocationId location : stacks.chain(trace.sample_detail(lane.detail(i)).call_node))
          for (const CodeFunction& function : stacks.functions(location)) chain.emplace_back(trace.name(function.function));
      }
    }
  }
  return chains;
}

}  // namespace

std::vector<Chain> samples(const Trace& trace, ThreadId thread) {
  return samples_where(trace, [thread](const TrackKey& key) { return key.thread == thread; });
}

std::vector<Chain> samples_of_process(const Trace& trace, ProcessId process) {
  return samples_where(trace, [process](const TrackKey& key) { return key.process == process; });
}

bool is_called(std::string_view name, std::string_view function) {
  return name.starts_with(function) && (name.size() == function.size() || name[function.size()] == '(');
}

bool has(const Chain& chain, std::string_view function) {
  return std::any_of(chain.begin(), chain.end(), [&](const std::string& name) { return is_called(name, function); });
}

std::size_t count_with(const std::vector<Chain>& chains, std::string_view function) {
  return static_cast<std::size_t>(std::count_if(chains.begin(), chains.end(), [&](const Chain& chain) { return has(chain, function); }));
}

}  // namespace lanescope::test

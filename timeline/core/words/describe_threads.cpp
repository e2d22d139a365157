#include "describe_threads.h"

#include <algorithm>

#include "model/file/last_path_part.h"
#include "model/samples/backtrace.h"
#include "model/trace/combining/parts.h"
#include "timeline/core/words/format.h"

namespace lanescope::timeline {
namespace {

// Maximum number of lines of a brief chain.
constexpr std::size_t kMostCalls = 12;
constexpr std::size_t kMostPythonCalls = 4;  // of these lines, if the innermost calls are all native

// "load  train.py:30 (Python)", "inflate  libz.so.1".
std::string call_text(const Trace& trace, const CodeLocation& location, const CodeFunction& function) {
  std::string text(trace.name(function.function));
  if (function.source_file != 0) {
    text += "  " + std::string(last_path_part(trace.name(function.source_file)));
    if (function.source_line != 0) text += ":" + std::to_string(function.source_line);
  } else if (location.module != 0 && !is_address_text(text)) {
    text += "  " + std::string(last_path_part(trace.name(location.module)));
  }
  if (location.kind == CodeKind::kPython) text += " (Python)";
  return text;
}

// The innermost call of this kind that was running.
std::optional<EventRef> call_at(const Trace& trace, ThreadId thread, TrackKind kind, Nanoseconds time) {
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind || track.key.thread != thread) continue;
    for (auto lane = track.lanes.rbegin(); lane != track.lanes.rend(); ++lane)
      if (const auto index = trace.lane(*lane).at(time)) return EventRef{*lane, *index};
  }
  return std::nullopt;
}

// "4712 loader": with its name if it is known, of a thread that was recorded together with this process.
std::string waker_text(const Trace& trace, ProcessId process, std::uint32_t tid) {
  const TracePart* const part = part_of_process(trace, process);
  for (const Thread& thread : trace.threads())
    if (thread.tid == tid && !thread.name.empty() && part_of_process(trace, thread.process) == part) return std::to_string(tid) + ' ' + thread.name;
  return std::to_string(tid);
}

}  // namespace

std::vector<Property> describe_thread_state(const Trace& trace, const TrackKey& key, const Event& event, Length length) {
  std::vector<Property> properties;
  const ThreadStateDetail& detail = trace.thread_state_detail(event.detail);
  if (detail.processor != kNone) properties.push_back({"Processor", std::to_string(detail.processor)});
  if (key.thread == kNone || detail.state == ThreadState::kRunning) return properties;
  if (detail.waker != 0) properties.push_back({"Woken by thread", waker_text(trace, key.process, detail.waker)});
  // A call that waits starts while the thread still runs.
  CallNodeId chain = 0;
  for (const TrackKind kind : {TrackKind::kOsRuntime, TrackKind::kCudaApi})
    if (const auto call = call_at(trace, key.thread, kind, event.start)) {
      properties.push_back({"In", event_title(trace, *call) + ", " + format_duration(trace.event(*call).duration)});
      if (chain == 0) chain = samples::backtrace_of(trace, key.thread, trace.event(*call));
    }
  if (chain != 0)
    for (Property& call : describe_chain(trace, chain, length)) properties.push_back(std::move(call));
  return properties;
}

std::vector<Property> describe_chain(const Trace& trace, CallNodeId chain, Length length) {
  struct Call {
    std::string text;
    std::optional<SourcePlace> source;
  };
  std::vector<Call> calls;
  std::size_t first_python = 0;  // number of calls inside of it
  bool has_python = false;
  const CallStacks& stacks = trace.call_stacks();
  for (const CodeLocationId location : stacks.chain(chain)) {
    if (!has_python) first_python = calls.size();
    has_python = has_python || stacks.location(location).kind == CodeKind::kPython;
    for (const CodeFunction& function : stacks.functions(location)) {
      calls.push_back({call_text(trace, stacks.location(location), function), std::nullopt});
      const std::string_view file = function.source_file != 0 ? trace.name(function.source_file) : std::string_view();
      if (!file.empty() && !file.starts_with('<'))  // "<frozen importlib._bootstrap>" is not a file
        calls.back().source = SourcePlace{std::string(file), function.source_line};
    }
  }
  std::vector<Property> properties;
  const auto add = [&](auto text) { properties.emplace_back(properties.empty() ? "Call chain" : "", std::move(text)); };
  const auto add_calls = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < std::min(last, calls.size()); ++i) {
      add(std::move(calls[i].text));
      properties.back().source = std::move(calls[i].source);
    }
  };
  const auto add_more = [&](std::size_t count) {
    if (count > 0) add(Message("… {number} more", {{"number", std::to_string(count)}}));
  };
  if (length == Length::kWhole || calls.size() <= kMostCalls) {
    add_calls(0, calls.size());
  } else if (!has_python || first_python + kMostPythonCalls <= kMostCalls) {
    add_calls(0, kMostCalls);
    add_more(calls.size() - kMostCalls);
  } else {  // users look for the line of Python first
    constexpr std::size_t kNative = kMostCalls - kMostPythonCalls;
    const std::size_t end = std::min(calls.size(), first_python + kMostPythonCalls);
    add_calls(0, kNative);
    add_more(first_python - kNative);
    add_calls(first_python, end);
    add_more(calls.size() - end);
  }
  if (properties.empty()) properties.push_back({"Call chain", "could not be read"});
  return properties;
}

std::string_view caller_name(const Trace& trace, CallNodeId chain) noexcept {
  const CallStacks& stacks = trace.call_stacks();
  CallNodeId caller = chain;
  while (caller != 0 && stacks.location(stacks.node(caller).location).kind != CodeKind::kPython) caller = stacks.node(caller).parent;
  if (caller == 0) caller = chain;
  const auto functions = stacks.functions(stacks.node(caller).location);
  return caller == 0 || functions.empty() ? std::string_view() : trace.name(functions.front().function);
}

}  // namespace lanescope::timeline

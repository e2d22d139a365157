// Everything that a trace says about its events, as text that does not depend on how it numbers names, details, threads and GPUs.
#pragma once

#include <string>
#include <vector>

#include "compact/detail_fields.h"
#include "model/trace/trace.h"

namespace lanescope::test {

class DescribedFields {
 public:
  DescribedFields(const Trace& trace, std::string& text) : trace_(trace), text_(text) {}
  template <typename Number>
  void operator()(Number field) {
    text_ += ' ' + std::to_string(static_cast<std::uint64_t>(field));
  }
  void name(NameId id) { (text_ += ' ') += trace_.name(id); }
  void optional(std::uint32_t number) { text_ += ' ' + std::to_string(number); }
  void thread(ThreadId id) { text_ += id == kNone ? " none" : " thread " + std::to_string(trace_.threads()[id].tid); }
  void call_node(CallNodeId id) {
    for (const CodeLocationId location : trace_.call_stacks().chain(id))
      for (const CodeFunction& function : trace_.call_stacks().functions(location)) {
        (text_ += ' ') += trace_.name(function.function);
        (text_ += ' ') += trace_.name(function.source_file);
        text_ += ':' + std::to_string(function.source_line);
      }
  }

 private:
  const Trace& trace_;
  std::string& text_;
};

inline std::string described_detail(const Trace& trace, TrackKind kind, DetailId id) {
  std::string text;
  DescribedFields fields(trace, text);
  switch (detail_kind(static_cast<proto::TrackKind>(kind))) {
    case proto::DETAIL_KERNEL:
      for_fields(trace.kernel_detail(id), fields);
      break;
    case proto::DETAIL_MEMORY:
      for_fields(trace.memory_detail(id), fields);
      break;
    case proto::DETAIL_API:
      for_fields(trace.api_detail(id), fields);
      break;
    case proto::DETAIL_SYNCHRONIZATION:
      for_fields(trace.synchronization_detail(id), fields);
      break;
    case proto::DETAIL_CUDA_EVENT:
      for_fields(trace.cuda_event_detail(id), fields);
      break;
    case proto::DETAIL_MEMORY_USAGE:
      for_fields(trace.memory_usage_detail(id), fields);
      break;
    case proto::DETAIL_GRAPH_LAUNCH:
      for_fields(trace.graph_launch_detail(id), fields);
      break;
    case proto::DETAIL_NVTX:
      for_fields(trace.nvtx_detail(id), fields);
      break;
    case proto::DETAIL_PAGE_FAULT:
      for_fields(trace.page_fault_detail(id), fields);
      break;
    case proto::DETAIL_THREAD_STATE:
      for_fields(trace.thread_state_detail(id), fields);
      break;
    case proto::DETAIL_SAMPLE:
      for_fields(trace.sample_detail(id), fields);
      break;
    default:
      text = std::to_string(id);
  }
  return text;
}

inline std::string described_event(const Trace& trace, TrackKind kind, const Event& event) {
  return std::to_string(event.start) + ' ' + std::to_string(event.duration) + ' ' + std::string(trace.name(event.name)) + ' ' +
         std::to_string(event.correlation) + described_detail(trace, kind, event.detail);
}

inline std::string described_track(const Trace& trace, const TrackKey& key) {
  std::string text = "track " + std::to_string(static_cast<int>(key.kind));
  if (key.process != kNone) text += " process " + std::to_string(trace.processes()[key.process].instance);
  if (key.thread != kNone) text += " thread " + std::to_string(trace.threads()[key.thread].tid);
  if (key.gpu != kNone) text += " gpu " + trace.gpus()[key.gpu].name + trace.gpus()[key.gpu].uuid + std::to_string(trace.gpus()[key.gpu].ordinal);
  if (key.processor != kNone) text += " processor " + std::to_string(key.processor);
  return text + " context " + std::to_string(key.context) + " stream " + std::to_string(key.stream) + " domain " + std::to_string(key.domain);
}

// Tracks in their order with their lanes and events, then what the trace says about threads, GPUs, counters and messages.
inline std::vector<std::string> described(const Trace& trace) {
  std::vector<std::string> lines;
  for (const Track& track : trace.tracks()) {
    lines.push_back(described_track(trace, track.key));
    for (std::size_t lane = 0; lane < track.lanes.size(); ++lane) {
      lines.push_back("lane " + std::to_string(lane));
      const Lane& events = trace.lane(track.lanes[lane]);
      for (EventIndex i = 0; i < events.size(); ++i) lines.push_back(described_event(trace, track.key.kind, events.event(i)));
    }
  }
  for (const Process& process : trace.processes())
    lines.push_back("process " + std::to_string(process.instance) + ' ' + std::to_string(process.pid) + ' ' + process.executable + ' ' +
                    std::to_string(process.start) + ' ' + std::to_string(process.end.value_or(-1)) + ' ' + std::to_string(process.completeness.produced) + ' ' +
                    std::to_string(process.completeness.dropped) + ' ' + std::to_string(process.completeness.late) + ' ' +
                    std::to_string(process.completeness.invalid));
  for (const Thread& thread : trace.threads()) lines.push_back("thread " + std::to_string(thread.tid) + ' ' + thread.name);
  for (const Gpu& gpu : trace.gpus()) lines.push_back("gpu " + gpu.name + ' ' + gpu.uuid + ' ' + std::to_string(gpu.multiprocessor_count));
  for (const CudaStream& stream : trace.streams()) lines.push_back("stream " + std::to_string(stream.id) + ' ' + stream.name);
  for (const OutputText& output : trace.output()) lines.push_back("output " + output.bytes);
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    lines.push_back("counter " + trace.counters()[id].name);
    const CounterSeries& series = trace.counter_series(id);
    for (std::size_t i = 0; i < series.size(); ++i) lines.push_back(std::to_string(series.sample(i).time) + ' ' + std::to_string(series.sample(i).value));
  }
  return lines;
}

// The first line that differs, for a message; empty if they are equal.
inline std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(end)", right = i < b.size() ? b[i] : "(end)";
    if (left != right) return "line " + std::to_string(i) + ": " + left + " | " + right;
  }
  return {};
}

}  // namespace lanescope::test

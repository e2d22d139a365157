#include "model/events/event_column.h"

#include "model/trace/combining/parts.h"
#include "model/trace/domains/python_lock.h"

namespace lanescope {
namespace {

struct ColumnDescription {
  std::string_view title;
  std::string_view header;
  ColumnContent content;
};

constexpr std::array<ColumnDescription, kEventColumnCount> kColumns = {{
    {"Name", "Name", ColumnContent::kText},
    {"Start", "Start (ns)", ColumnContent::kTime},
    {"Duration", "Duration (ns)", ColumnContent::kDuration},
    {"Gap Before", "Gap Before (ns)", ColumnContent::kDuration},
    {"Queue Time", "Queue Time (ns)", ColumnContent::kDuration},
    {"Kind", "Kind", ColumnContent::kText},
    {"Process", "Process", ColumnContent::kText},
    {"Thread", "Thread", ColumnContent::kText},
    {"Device", "Device", ColumnContent::kText},
    {"Context", "Context", ColumnContent::kNumber},
    {"Stream", "Stream", ColumnContent::kText},
    {"Correlation", "Correlation", ColumnContent::kNumber},
    {"Bytes", "Bytes", ColumnContent::kBytes},
    {"Grid", "Grid", ColumnContent::kExtent},
    {"Block", "Block", ColumnContent::kExtent},
    {"Registers", "Registers per Thread", ColumnContent::kNumber},
    {"NVTX Range", "NVTX Range", ColumnContent::kText},
    {"Occupancy (%)", "Theoretical Occupancy (%)", ColumnContent::kHundredths},
    {"Waves", "Waves", ColumnContent::kHundredths},
    {"Memory", "Memory", ColumnContent::kText},
    {"Throughput", "Throughput (B/s)", ColumnContent::kThroughput},
    {"Shared Memory", "Shared Memory per Block (B)", ColumnContent::kBytes},
    {"Run", "Run", ColumnContent::kText},
}};

constexpr std::array<std::string_view, kEventKindCount> kKindNames = {
    "Kernel",      "Copy",       "Set",          "Graph launch", "Synchronization", "CUDA API",     "NVTX range", "NVTX mark",  "OS runtime", "Overhead",
    "Compilation", "Page fault", "Thread state", "CPU sample",   "Backtrace",       "Memory usage", "CUDA event", "Python GIL", "Processor",
};

const ColumnDescription& description(EventColumn column) noexcept { return kColumns[static_cast<std::size_t>(column)]; }

}  // namespace

std::array<EventColumn, kEventColumnCount> all_event_columns() noexcept {
  std::array<EventColumn, kEventColumnCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<EventColumn>(i);
  return all;
}

std::vector<EventColumn> event_columns_of(const Trace& trace) {
  std::vector<EventColumn> columns;
  if (compares_runs(trace)) columns.push_back(EventColumn::kRun);
  for (const EventColumn column : all_event_columns())
    if (column != EventColumn::kRun) columns.push_back(column);
  return columns;
}

std::string_view event_column_title(EventColumn column) noexcept { return description(column).title; }
std::string_view event_column_header(EventColumn column) noexcept { return description(column).header; }
ColumnContent event_column_content(EventColumn column) noexcept { return description(column).content; }

std::array<EventKind, kEventKindCount> all_event_kinds() noexcept {
  std::array<EventKind, kEventKindCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<EventKind>(i);
  return all;
}

std::string_view event_kind_name(EventKind kind) noexcept { return kKindNames[static_cast<std::size_t>(kind)]; }

std::string event_kind_word(EventKind kind) {
  std::string word(event_kind_name(kind));
  for (char& c : word) c = c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return word;
}

std::optional<EventKind> event_kind_of(std::string_view word) {
  for (const EventKind kind : all_event_kinds())
    if (event_kind_word(kind) == word) return kind;
  return std::nullopt;
}

NameId listed_name(const Trace& trace, EventRef event) noexcept {
  const Lane& lane = trace.lane(event.lane);
  const TrackKind kind = trace.track_of(event.lane).key.kind;
  if (kind == TrackKind::kCpuSamples || kind == TrackKind::kBacktraces) {
    const CallNodeId chain = trace.sample_detail(lane.detail(event.index)).call_node;
    if (chain != 0) return trace.call_stacks().functions(trace.call_stacks().node(chain).location).front().function;
  }
  return lane.name(event.index);
}

EventKind event_kind(const Trace& trace, EventRef event) noexcept {
  switch (trace.track_of(event.lane).key.kind) {
    case TrackKind::kKernels:
      return EventKind::kKernel;
    case TrackKind::kMemory: {
      const MemoryDetail& detail = trace.memory_detail(trace.lane(event.lane).detail(event.index));
      return detail.operation == MemoryOperation::kCopy ? EventKind::kCopy : EventKind::kSet;
    }
    case TrackKind::kGraphLaunches:
      return EventKind::kGraphLaunch;
    case TrackKind::kSynchronizations:
      return EventKind::kSynchronization;
    case TrackKind::kCudaApi:
      return EventKind::kCudaApi;
    case TrackKind::kNvtxRanges:
      return EventKind::kNvtxRange;
    case TrackKind::kNvtxProcessRanges:
      return is_of_python_lock(trace, trace.track_of(event.lane).key) ? EventKind::kPythonLock : EventKind::kNvtxRange;
    case TrackKind::kNvtxMarks:
      return EventKind::kNvtxMark;
    case TrackKind::kOsRuntime:
      return EventKind::kOsRuntime;
    case TrackKind::kOverhead:
      return EventKind::kOverhead;
    case TrackKind::kCompilation:
      return EventKind::kCompilation;
    case TrackKind::kPageFaults:
      return EventKind::kPageFault;
    case TrackKind::kThreadStates:
      return EventKind::kThreadState;
    case TrackKind::kProcessors:
      return EventKind::kProcessor;
    case TrackKind::kCpuSamples:
      return EventKind::kCpuSample;
    case TrackKind::kBacktraces:
      return EventKind::kBacktrace;
    case TrackKind::kMemoryUsage:
      return EventKind::kMemoryUsage;
    case TrackKind::kCudaEvents:
      return EventKind::kCudaEvent;
  }
  return EventKind::kKernel;
}

}  // namespace lanescope

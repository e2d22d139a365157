// What `lanescope info` shows of a trace, as text and as JSON: the number of events for each kind, process, thread and stream.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/trace/compact/compaction.h"
#include "model/trace/trace.h"

namespace lanescope::cli {

struct EventKind {
  std::string_view key;    // in JSON
  std::string_view title;  // in text
};
inline constexpr std::array<EventKind, 19> kEventKinds{{{"cuda_api_calls", "CUDA API calls"},
                                                        {"kernels", "Kernels"},
                                                        {"copies", "Memory copies"},
                                                        {"sets", "Memory sets"},
                                                        {"graph_launches", "CUDA graph launches"},
                                                        {"synchronizations", "Synchronizations"},
                                                        {"nvtx_ranges", "NVTX push/pop ranges"},
                                                        {"nvtx_process_ranges", "NVTX start/end ranges"},
                                                        {"nvtx_marks", "NVTX marks"},
                                                        {"os_runtime_calls", "OS runtime calls"},
                                                        {"overheads", "Profiler overhead"},
                                                        {"compilations", "Compilation and module loading"},
                                                        {"page_faults", "Page faults of unified memory"},
                                                        {"thread_states", "Thread states"},
                                                        {"processor_states", "Processor states"},
                                                        {"cpu_samples", "CPU samples"},
                                                        {"backtraces", "Backtraces of calls"},
                                                        {"memory_usage", "Memory allocations"},
                                                        {"cuda_events", "CUDA events"}}};

struct StreamKey {
  ProcessId process;
  std::uint32_t context;
  std::uint32_t stream;
  auto operator<=>(const StreamKey&) const = default;
};

struct EventCounts {
  std::map<std::string_view, std::uint64_t> by_kind;  // with all keys of kEventKinds
  std::map<ProcessId, std::uint64_t> by_process;
  std::map<ThreadId, std::uint64_t> by_thread;
  std::map<StreamKey, std::uint64_t> by_stream;
};

[[nodiscard]] EventCounts count_events(const Trace& trace);  // O(lanes + memory operations)

// About the file that a trace was read from.
struct FileFacts {
  std::optional<FileForm> form;  // none for files of other tools
  std::uint64_t bytes = 0;
  std::uint64_t memory = 0;        // bytes that its events and counters take once it is open
  std::uint64_t event_budget = 0;  // limit of the bytes of events that are read on demand; 0 if all are in memory
};
[[nodiscard]] FileFacts facts_of(const std::string& file, const Trace& trace);
[[nodiscard]] std::string_view form_name(FileForm form);  // "compact", "log"

// The count for this key; 0 if there is none.
template <typename Map, typename Key>
std::uint64_t count_of(const Map& counts, const Key& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

// Finds the devices of streams.
class StreamDevices {
 public:
  explicit StreamDevices(const Trace& trace);                      // O(contexts)
  [[nodiscard]] std::uint32_t of(const CudaStream& stream) const;  // its ordinal; 0 if it is unknown. O(log contexts)

 private:
  std::map<std::pair<ProcessId, std::uint32_t>, std::uint32_t> ordinals_;  // by context
};

[[nodiscard]] std::string_view severity_name(const DiagnosticMessage& message);  // "info", "warning", "error"

}  // namespace lanescope::cli

// Writes the events of a Chrome trace. Internal to model/export.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_set>

#include "../json_writer.h"
#include "chrome_pids.h"
#include "model/events/launch_index.h"
#include "model/export/selection.h"
#include "model/trace/measured_calls.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

// Opens an event of a phase on a new line; the caller closes it.
inline JsonWriter& begin_event(JsonWriter& json, std::string_view phase) {
  json.element().raw("\n").open('{');
  return json.field("ph", phase);
}

// The rows (tid) of GPUs' tracks: a row for each stream, and further rows for each lane of work that overlaps other work of the stream, for waits, and for
// page faults. Readers nest events of one row; Perfetto drops events that overlap partly. Copies and sets are on their stream's row unless they overlap its
// kernels. Copies that the processor makes for a stream may overlap them.
class QueueRows {
 public:
  // O(copies and sets · log n).
  explicit QueueRows(const Trace& trace);
  [[nodiscard]] std::uint32_t of(const TrackKey& key, std::size_t lane) const noexcept;
  [[nodiscard]] bool has_apart(const TrackKey& key) const noexcept { return apart_.contains(key); }

 private:
  std::set<TrackKey> apart_;  // copies and sets that overlap kernels
};

// Offset for the row of a thread's states, which begin and end in the middle of calls. Thread ids are smaller than this.
inline constexpr std::uint32_t kStateRows = 100'000'000;

class ChromeEvents {
 public:
  ChromeEvents(const Trace& trace, const ExportSelection& selection, JsonWriter& json, const ChromePids& pids)
      : trace_(trace), selection_(selection), json_(json), pids_(pids), rows_(trace), launches_(trace), measured_(MeasuredCalls::recorded(trace)) {}
  [[nodiscard]] const QueueRows& rows() const noexcept { return rows_; }

  // Writes an event of the given lane of the track with this key. Readers search both ends of an arrow among preceding events, so write the events of threads
  // before those of GPUs.
  void write(const TrackKey& key, std::size_t lane, const Event& event);

 private:
  void write_kernel(const TrackKey& key, std::size_t lane, const Event& event);
  void write_memory(const TrackKey& key, std::size_t lane, const Event& event);
  void write_graph(const TrackKey& key, std::size_t lane, const Event& event);
  void write_synchronization(const TrackKey& key, std::size_t lane, const Event& event);
  void write_call(const TrackKey& key, const Event& event);
  void write_state(const TrackKey& key, const Event& event);
  void write_page_fault(const TrackKey& key, std::size_t lane, const Event& event);
  void write_span(const TrackKey& key, const Event& event, std::string_view category);
  void write_range(const TrackKey& key, const Event& event);
  void write_process_range(const TrackKey& key, const Event& event);
  void write_mark(const TrackKey& key, const Event& event);
  void write_nvtx_arguments(const TrackKey& key, const Event& event);
  [[nodiscard]] std::string_view range_category(const TrackKey& key) const;

  void begin_on_thread(const TrackKey& key, const Event& event, std::string_view category, std::string_view name);
  void begin_on_stream(const TrackKey& key, std::size_t lane, const Event& event, std::string_view category, std::string_view name);
  void end_on_stream(const TrackKey& key, std::size_t lane, const Event& event);
  void write_arrow(const TrackKey& key, std::size_t lane, const Event& event);
  void write_arrow_end(std::string_view phase, std::uint64_t id, std::uint32_t pid, std::uint32_t tid, Nanoseconds time);
  [[nodiscard]] std::uint32_t tid(const TrackKey& key) const { return key.thread == kNone ? 0 : trace_.threads()[key.thread].tid; }

  const Trace& trace_;
  const ExportSelection& selection_;
  JsonWriter& json_;
  const ChromePids& pids_;
  QueueRows rows_;
  LaunchIndex launches_;
  MeasuredCalls measured_;
  std::unordered_set<std::uint64_t> started_arrows_;
  std::uint64_t process_ranges_ = 0;
};

}  // namespace lanescope::exporters

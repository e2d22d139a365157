// Packs the tracks of one process into chunks of events. Internal to model/export.
#pragma once

#include <functional>

#include "../event_order.h"
#include "model/export/selection.h"
#include "trace_dictionary.h"

namespace lanescope::exporters {

// Receives a finished chunk; returns true to continue.
using EmitChunk = std::function<bool(const proto::EventChunk& chunk, std::uint32_t events)>;

class TraceChunks {
 public:
  // Packs the selected events and those in `more`, which are not in the selection. `more` must outlive *this.
  TraceChunks(const Trace& trace, ProcessId process, const ExportSelection& selection, const EventsByLane& more, EmitChunk emit)
      : trace_(trace), dictionary_(trace, process), selection_(selection), more_(more), emit_(std::move(emit)) {}

  // Requires: a track of the process. Returns false if a chunk was not accepted.
  bool add(const Track& track);
  // The number of events that were left out because they can't be read any more.
  [[nodiscard]] std::uint64_t unreadable() const noexcept { return unreadable_; }
  // Information on code locations that the chunks lack; empty if there is none. Call it once, after the last track.
  [[nodiscard]] proto::Symbols symbols() { return dictionary_.symbols(); }

 private:
  struct Item {
    EventRef ref;
    Event event;
  };

  // Cuts events into chunks; `encode(chunk, items)` fills one.
  template <typename Encode>
  bool add_chunks(std::span<const Item> items, Encode encode);
  void leave_out_unreadable(const Track& track, std::vector<Item>& items);
  bool add_calls(const Track& track, std::span<const Item> items);

  void encode_kernels(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_copies(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_sets(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_graph_launches(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_synchronizations(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_calls(const Track& track, ApiDomain domain, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_spans(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_ranges(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_cuda_events(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_memory_usage(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_page_faults(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_thread_states(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  void encode_samples(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  bool add_samples(const Track& track, std::span<const Item> items);
  void encode_marks(const Track& track, std::span<const Item> items, proto::EventChunk& chunk);
  std::uint32_t tid(ThreadId thread) const { return thread == kNone ? 0 : trace_.threads()[thread].tid; }

  const Trace& trace_;
  TraceDictionary dictionary_;
  ExportSelection selection_;
  const EventsByLane& more_;
  EmitChunk emit_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace lanescope::exporters

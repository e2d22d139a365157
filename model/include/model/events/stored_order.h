// The order of events by a column, in a file: for tables of more events than there is memory for.
//
// Events are read once, by start, and sorted as far as memory goes; then what was sorted is merged. The first page is known when all were
// read, long before the rest is in order; that of the longest events, and of those after the longest gaps, before, where heads of segments say where
// these are.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "model/events/event_query.h"
#include "model/file/result.h"
#include "model/file/scratch_file.h"

namespace lanescope {

struct OrderRoom {
  std::filesystem::path folder;                          // for files without a name, which go with the order
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;  // for sorting; columns of gaps and NVTX ranges of a trace in memory take 8 bytes an event beside
};
struct OrderListener {
  std::size_t first_count = 500;
  std::function<void(std::vector<EventRef>)> first;  // called once, with the first of all events
  std::function<void(double)> progress;              // with what is done, from 0 to 1, now and then
};

class StoredOrder {
 public:
  // What so many events take on disk while they are ordered; a third of it from then on.
  [[nodiscard]] static constexpr std::uint64_t disk_bytes(std::uint64_t events) noexcept { return 24 * events; }

  // The events as sort_events() orders them. Requires: all are of lanes of the scope. O(n log n); by start, ascending, O(n) and without files
  // for sorting. None when asked to stop. Fails with one sentence where the files can't be written or read.
  [[nodiscard]] static Result<std::optional<StoredOrder>> make(const EventValues& values, const EventStream& events, EventColumn column,
                                                               SortDirection direction, const OrderRoom& room, const OrderListener& listener = {},
                                                               std::stop_token stop = {});

  [[nodiscard]] std::uint64_t size() const noexcept { return order_->size() / sizeof(EventRef); }
  // Fills `into` with the events from `first` on. Requires: there are that many.
  [[nodiscard]] Result<void> read(std::uint64_t first, std::span<EventRef> into) const;
  // Where an event stands, of which `values` are those that the order was made with; none where it is not in it. Reads the start and the column of
  // O(log n) events, each of another segment, and events of equal start and value; ordered by NVTX range, the first million events.
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(const EventValues& values, EventRef event) const;

 private:
  StoredOrder(std::unique_ptr<ScratchFile> order, EventColumn column, SortDirection direction)
      : order_(std::move(order)), column_(column), direction_(direction) {}
  [[nodiscard]] Result<std::optional<std::uint64_t>> find_between(std::uint64_t first, std::uint64_t end, EventRef event) const;

  std::unique_ptr<ScratchFile> order_;
  EventColumn column_;
  SortDirection direction_;
};

}  // namespace lanescope

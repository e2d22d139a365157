// The order of events by a column, in a file: for tables of more events than fit into memory.
//
// Events are read once, by start, and sorted in parts as large as memory allows; then the parts are merged. The first page is known when all events were read,
// long before the rest is in order. The first page of the longest events, and of those after the longest gaps, is known earlier if heads of segments show where
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
  std::filesystem::path folder;                          // for files without a name, which disappear with the order
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;  // for sorting; columns of gaps and NVTX ranges of a trace in memory take 8 more bytes for each event
};
struct OrderListener {
  std::size_t first_count = 500;
  std::function<void(std::vector<EventRef>)> first;  // called once, with the first events of the order
  std::function<void(double)> progress;              // called from time to time with the part that is done, from 0 to 1
};

class StoredOrder {
 public:
  // Disk space for this many events while they are ordered; afterwards a third of it.
  [[nodiscard]] static constexpr std::uint64_t disk_bytes(std::uint64_t events) noexcept { return 24 * events; }

  // The events in the order of sort_events(). Requires: all are of lanes of the scope. O(n log n); by start, ascending, O(n) and without files for sorting.
  // None if asked to stop. Fails with one sentence if the files can't be written or read.
  [[nodiscard]] static Result<std::optional<StoredOrder>> make(const EventValues& values, const EventStream& events, EventColumn column,
                                                               SortDirection direction, const OrderRoom& room, const OrderListener& listener = {},
                                                               std::stop_token stop = {});

  [[nodiscard]] std::uint64_t size() const noexcept { return order_->size() / sizeof(EventRef); }
  // Fills `into` with the events from `first` on. Requires: there are that many.
  [[nodiscard]] Result<void> read(std::uint64_t first, std::span<EventRef> into) const;
  // The position of an event; none if it is not in the order. `values` are those with which the order was made. Reads the start and the column of O(log n)
  // events, each of another segment, and events of equal start and value; if ordered by NVTX range, the first million events.
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

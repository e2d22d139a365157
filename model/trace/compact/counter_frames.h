// Chunks of counters in a compacted file: what the index says of each, and single counters of one. Internal to model/trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/counter_rows.h"
#include "model/trace/counter.h"

namespace lanescope {

// What is known of a chunk without decoding it. Times are CLOCK_MONOTONIC.
struct CounterHead {
  std::uint8_t source = 0;  // of its frame
  Nanoseconds first_time = 0;
  Nanoseconds end = 0;  // of the last values
  std::uint32_t rows = 0;
  std::vector<std::uint32_t> counters;    // ids of the source
  std::vector<CounterSummary> summaries;  // of each
};

// Chunks of more counters have no heads: finding one of their columns takes time for each of the others, so all are read at once.
inline constexpr std::size_t kMostCountersOfHead = 128;

// Returns nothing if the chunk is none that a series can have, or has too many counters. O(values).
[[nodiscard]] std::optional<CounterHead> head_of(std::uint8_t source, const CounterSampleColumns& columns, Nanoseconds base_time);
// A proto::CounterHead.
[[nodiscard]] std::string encode_counter_head(const CounterHead& head);
// Returns nothing if the bytes are no such message, or say what no chunk can be. O(bytes).
[[nodiscard]] std::optional<CounterHead> decode_counter_head(std::string_view bytes);
// True if a segment with this summary may have that head. Sums of another program may be rounded in another way.
[[nodiscard]] bool is_as_said(const CounterSummary& found, const CounterSummary& said) noexcept;

// A chunk of counters, of which single columns are decoded. Refers to its bytes.
class CounterChunk {
 public:
  // `payload`: a proto::EventChunk. Returns nothing if it is no chunk of counters.
  [[nodiscard]] static std::optional<CounterChunk> of(std::string_view payload);
  [[nodiscard]] std::size_t columns() const noexcept { return columns_.size(); }
  [[nodiscard]] const Column<std::uint32_t>& counters() const noexcept { return counters_; }
  // CLOCK_MONOTONIC; nothing if they make no sense.
  [[nodiscard]] std::optional<std::vector<Nanoseconds>> times() const { return times_of(time_delta_, base_time_, end_); }
  [[nodiscard]] Nanoseconds end() const noexcept { return end_; }
  // The values of a counter, at each time. Requires: column < columns().
  [[nodiscard]] std::optional<std::vector<std::int64_t>> values(std::size_t column) const;

 private:
  Nanoseconds base_time_ = 0, end_ = 0;
  Column<std::uint32_t> counters_;
  Column<std::int64_t> time_delta_;
  std::vector<std::string_view> columns_;
};

}  // namespace lanescope

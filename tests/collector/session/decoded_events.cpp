#include "decoded_events.h"

#include <algorithm>

#include "support/catch.h"

namespace lanescope::test {
namespace {

// A column that may be left out when all its values are 0.
template <typename Column>
auto at_or_zero(const Column& column, int index, int size) {
  REQUIRE((column.empty() || column.size() == size));
  return column.empty() ? typename Column::value_type{} : column[index];
}

}  // namespace

std::string ChunkDecoder::text(std::uint32_t id) const { return id == 0 ? "" : strings_.at(id); }

void ChunkDecoder::add(const proto::EventChunk& chunk, std::uint32_t events) {
  const std::size_t before = events_.size();
  ++chunks_;
  for (int i = 0; i < chunk.strings_size(); ++i) REQUIRE(strings_.emplace(chunk.first_string() + static_cast<std::uint32_t>(i), chunk.strings(i)).second);
  if (chunk.has_nvtx_ranges()) add_ranges(chunk.nvtx_ranges(), chunk.base_time());
  if (chunk.has_nvtx_marks()) add_marks(chunk.nvtx_marks(), chunk.base_time());
  if (chunk.has_os_runtime()) add_calls(chunk.os_runtime(), chunk.base_time());
  REQUIRE(events_.size() == before + events);
}

void ChunkDecoder::add_ranges(const proto::NvtxRanges& ranges, std::int64_t base) {
  const int size = ranges.start_delta_size();
  const bool nested = ranges.style() == proto::NVTX_PUSH_POP;
  std::int64_t start = base;
  for (int i = 0; i < size; ++i) {
    start += ranges.start_delta(i);
    const auto end_thread = ranges.end_thread().empty() ? ranges.thread() : ranges.end_thread(i);
    const bool unfinished = std::find(ranges.unfinished().begin(), ranges.unfinished().end(), static_cast<std::uint32_t>(i)) != ranges.unfinished().end();
    events_.push_back({nested ? 'P' : 'S', ranges.thread(), ranges.domain(), start, start + static_cast<std::int64_t>(ranges.duration(i)),
                       nested ? ranges.depth(i) : 0, end_thread, unfinished, text(ranges.name(i)), at_or_zero(ranges.category(), i, size),
                       at_or_zero(ranges.color(), i, size), at_or_zero(ranges.payload_type(), i, size), at_or_zero(ranges.payload(), i, size)});
  }
}

void ChunkDecoder::add_marks(const proto::NvtxMarks& marks, std::int64_t base) {
  const int size = marks.time_delta_size();
  std::int64_t time = base;
  for (int i = 0; i < size; ++i) {
    time += marks.time_delta(i);
    events_.push_back({'M', marks.thread(), marks.domain(), time, time, 0, marks.thread(), false, text(marks.name(i)), at_or_zero(marks.category(), i, size),
                       at_or_zero(marks.color(), i, size), at_or_zero(marks.payload_type(), i, size), at_or_zero(marks.payload(), i, size)});
  }
}

void ChunkDecoder::add_calls(const proto::Spans& spans, std::int64_t base) {
  std::int64_t start = base;
  for (int i = 0; i < spans.start_delta_size(); ++i) {
    start += spans.start_delta(i);
    events_.push_back({'O', spans.thread(i), 0, start, start + static_cast<std::int64_t>(spans.duration(i)), 0, spans.thread(i), false, text(spans.name(i))});
  }
}

std::vector<DecodedEvent> ChunkDecoder::sorted() const {
  std::vector<DecodedEvent> result = events_;
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace lanescope::test

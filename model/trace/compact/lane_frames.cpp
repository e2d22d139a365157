#include "model/trace/compact/lane_frames.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ingest/columns.h"
#include "ingest/packed.h"
#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "model/file/wire.h"
#include "model/trace/summary_pyramid.h"

namespace lanescope {
namespace {

constexpr std::size_t kLongestVarint = 10;  // bytes

// Appends a column of numbers; nothing where all are 0 and `empty` says that it may be left out.
enum class ZeroColumn { kKept, kLeftOut };
template <typename ValueOf>
void append_column(std::uint32_t field, std::size_t count, ZeroColumn zeros, std::string& bytes, ValueOf value_of) {
  thread_local std::string column;
  if (column.size() < count * kLongestVarint) column.resize(count * kLongestVarint);
  auto* at = reinterpret_cast<unsigned char*>(column.data());
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = value_of(i);
    any |= value;
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<unsigned char>(value | 0x80);
    *at++ = static_cast<unsigned char>(value);
  }
  if (any == 0 && zeros == ZeroColumn::kLeftOut) return;
  append_field(field, std::string_view(column.data(), static_cast<std::size_t>(at - reinterpret_cast<unsigned char*>(column.data()))), bytes);
}

// Sums by name: a table of places in `sums`, open at both ends.
class NameSums {
 public:
  NameSums() : places_(kFewest, 0) {}

  void add(NameId name, Nanoseconds duration) {
    SegmentHead::NameSum& sum = of(name, duration);
    ++sum.count;
    sum.total += duration;
    sum.least = std::min(sum.least, duration);
    sum.greatest = std::max(sum.greatest, duration);
  }
  // Those with the most time, most first.
  std::vector<SegmentHead::NameSum> most(std::size_t count) && {
    const auto more = [](const auto& a, const auto& b) { return a.total != b.total ? a.total > b.total : a.name < b.name; };
    const auto end = sums_.begin() + static_cast<std::ptrdiff_t>(std::min(count, sums_.size()));
    std::partial_sort(sums_.begin(), end, sums_.end(), more);
    sums_.erase(end, sums_.end());
    return std::move(sums_);
  }

 private:
  static constexpr std::size_t kFewest = 256;  // a power of two, as the table's size always is

  SegmentHead::NameSum& of(NameId name, Nanoseconds duration) {
    if (last_ < sums_.size() && sums_[last_].name == name) return sums_[last_];
    std::size_t at = place(name);
    if (places_[at] == 0) {
      sums_.push_back({name, 0, 0, duration, duration});
      places_[at] = static_cast<std::uint32_t>(sums_.size());
      if (2 * sums_.size() > places_.size()) grow();
      last_ = sums_.size() - 1;
    } else {
      last_ = places_[at] - 1;
    }
    return sums_[last_];
  }
  [[nodiscard]] std::size_t place(NameId name) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = (name * 0x9e3779b97f4a7c15ull >> 32) & mask;
    while (places_[at] != 0 && sums_[places_[at] - 1].name != name) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    places_.assign(2 * places_.size(), 0);
    for (std::size_t i = 0; i < sums_.size(); ++i) places_[place(sums_[i].name)] = static_cast<std::uint32_t>(i + 1);
  }

  std::vector<SegmentHead::NameSum> sums_;
  std::vector<std::uint32_t> places_;  // 1 + position in sums_
  std::size_t last_ = 0;
};

// Whether no column is longer than it may be: known before any is made.
bool is_within_limits(std::string_view payload) {
  std::uint64_t numbers = 0;
  WireReader reader(payload);
  while (const auto field = reader.next()) {
    const std::uint64_t more = field->type == WireField::kBytes ? varints_in(field->bytes) : 1;
    if (more > limits::kChunkRows || (numbers += more) > limits::kChunkNumbers) return false;
  }
  return reader.sound();
}

std::uint64_t unsigned_of(Nanoseconds value) { return static_cast<std::uint64_t>(value); }

}  // namespace

std::string encode_lane_segment(FileLane lane, std::span<const Event> events, Nanoseconds epoch) {
  using Fields = proto::LaneSegment;
  const std::size_t n = events.size();
  std::string bytes;
  bytes.reserve(8 * n + 64);
  append_field(Fields::kTrackFieldNumber, lane.track, bytes);
  append_field(Fields::kLaneFieldNumber, lane.lane, bytes);
  append_field(Fields::kFirstStartFieldNumber, zigzag(events.front().start + epoch), bytes);
  const auto delta_of = [&](std::size_t i, auto member) {
    return zigzag(static_cast<std::int64_t>(events[i].*member) - (i == 0 ? 0 : static_cast<std::int64_t>(events[i - 1].*member)));
  };
  append_column(Fields::kGapFieldNumber, n, ZeroColumn::kKept, bytes,
                [&](std::size_t i) { return i == 0 ? 0 : unsigned_of(events[i].start - events[i - 1].end()); });
  append_column(Fields::kDurationFieldNumber, n, ZeroColumn::kLeftOut, bytes, [&](std::size_t i) { return unsigned_of(events[i].duration); });
  append_column(Fields::kNameFieldNumber, n, ZeroColumn::kLeftOut, bytes, [&](std::size_t i) { return std::uint64_t{events[i].name}; });
  append_column(Fields::kCorrelationDeltaFieldNumber, n, ZeroColumn::kLeftOut, bytes, [&](std::size_t i) { return delta_of(i, &Event::correlation); });
  append_column(Fields::kDetailDeltaFieldNumber, n, ZeroColumn::kLeftOut, bytes, [&](std::size_t i) { return delta_of(i, &Event::detail); });
  return bytes;
}

std::optional<LaneSegmentEvents> decode_lane_segment(std::string_view payload, std::vector<Event> memory) {
  if (!is_within_limits(payload)) return std::nullopt;
  thread_local LaneSegmentColumns columns;  // whose memory serves for the next
  LaneSegmentColumns& c = columns;
  c.clear();
  if (!c.parse(payload)) return std::nullopt;
  const int n = c.gap.size();
  if (n == 0 || static_cast<std::uint64_t>(n) > limits::kChunkRows || !is_near(c.first_start)) return std::nullopt;
  if (!same_length_or_empty(n, c.duration, c.name, c.correlation_delta, c.detail_delta)) return std::nullopt;
  LaneSegmentEvents segment{{c.track, c.lane}, std::move(memory)};
  segment.events.resize(static_cast<std::size_t>(n));
  Nanoseconds end = c.first_start;
  std::int64_t correlation = 0, detail = 0;
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 61;  // as is_near() has it
  for (int i = 0; i < n; ++i) {
    const std::uint64_t gap = i == 0 ? 0 : c.gap[i];
    const std::uint64_t duration = optional_value(c.duration, i);
    if (gap > kLongest || duration > kLongest) return std::nullopt;
    Event& event = segment.events[static_cast<std::size_t>(i)];
    event.start = end + static_cast<Nanoseconds>(gap);
    event.duration = static_cast<Nanoseconds>(duration);
    if (!is_near(event.start)) return std::nullopt;
    end = event.end();
    if (!is_near(end)) return std::nullopt;
    event.name = optional_value(c.name, i);
    event.correlation = static_cast<std::uint32_t>(correlation = sum(correlation, optional_value(c.correlation_delta, i)));
    event.detail = static_cast<DetailId>(detail = sum(detail, optional_value(c.detail_delta, i)));
  }
  return segment;
}

SegmentHead head_of(FileLane lane, std::span<const Event> events, Nanoseconds epoch) {
  SegmentHead head;
  head.lane = lane;
  head.first_start = events.front().start + epoch;
  head.last_start = events.back().start + epoch;
  head.end = events.back().end() + epoch;
  head.least_correlation = head.greatest_correlation = events.front().correlation;
  for (const Event& event : events) {
    head.busy += event.duration;
    head.least_correlation = std::min(head.least_correlation, event.correlation);
    head.greatest_correlation = std::max(head.greatest_correlation, event.correlation);
  }
  if (events.size() < SegmentHead::kPartEvents) return head;
  NameSums names;
  for (const Event& event : events) names.add(event.name, event.duration);
  head.names = std::move(names).most(SegmentHead::kMostNames);
  for (auto rest = events; events.size() > SegmentHead::kPartEvents && !rest.empty();) {
    const auto part = rest.first(std::min<std::size_t>(rest.size(), SegmentHead::kPartEvents));
    LaneSummary sum;
    Nanoseconds busy = 0;
    for (const Event& event : part) {
      busy += event.duration;
      sum.vote(event.name, event.duration);
      sum.consider_longest(0, event.duration);
    }
    head.parts.push_back({part.front().start + epoch, busy, sum.dominant, sum.weight, sum.longest_duration});
    rest = rest.subspan(part.size());
  }
  return head;
}

std::string encode_segment_head(const SegmentHead& head) {
  proto::SegmentHead message;
  message.set_track(head.lane.track);
  message.set_lane(head.lane.lane);
  message.set_first_start(head.first_start);
  message.set_last_start(unsigned_of(head.last_start - head.first_start));
  message.set_end(unsigned_of(head.end - head.first_start));
  message.set_busy(unsigned_of(head.busy));
  message.set_least_correlation(head.least_correlation);
  message.set_greatest_correlation(head.greatest_correlation);
  for (const SegmentHead::NameSum& sum : head.names) {
    proto::NameSum& added = *message.add_names();
    added.set_name(sum.name);
    added.set_count(sum.count);
    added.set_total(unsigned_of(sum.total));
    added.set_least(unsigned_of(sum.least));
    added.set_greatest(unsigned_of(sum.greatest));
  }
  Nanoseconds before = head.first_start;
  for (const SegmentHead::Part& part : head.parts) {
    message.add_part_start_delta(unsigned_of(part.start - before));
    message.add_part_busy(unsigned_of(part.busy));
    message.add_part_name(part.dominant);
    message.add_part_weight(unsigned_of(part.weight));
    message.add_part_longest(unsigned_of(part.longest));
    before = part.start;
  }
  return message.SerializeAsString();
}

std::optional<SegmentHead> decode_segment_head(std::string_view bytes) {
  proto::SegmentHead message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  const auto after = [&](std::uint64_t distance) { return sum(message.first_start(), static_cast<std::int64_t>(distance)); };
  SegmentHead head;
  head.lane = {message.track(), message.lane()};
  head.first_start = message.first_start();
  head.last_start = after(message.last_start());
  head.end = after(message.end());
  head.busy = static_cast<Nanoseconds>(message.busy());
  head.least_correlation = message.least_correlation();
  head.greatest_correlation = message.greatest_correlation();
  if (!is_near(head.first_start) || !is_near(head.end) || head.last_start < head.first_start || head.end < head.last_start) return std::nullopt;
  const auto is_length = [&](Nanoseconds length) { return 0 <= length && length <= head.end - head.first_start; };
  if (!is_length(head.busy) || head.least_correlation > head.greatest_correlation) return std::nullopt;
  if (static_cast<std::size_t>(message.names_size()) > SegmentHead::kMostNames) return std::nullopt;
  Nanoseconds of_others = head.busy;  // that is left for names to come
  for (const proto::NameSum& sum : message.names()) {
    head.names.push_back(
        {sum.name(), sum.count(), static_cast<Nanoseconds>(sum.total()), static_cast<Nanoseconds>(sum.least()), static_cast<Nanoseconds>(sum.greatest())});
    const SegmentHead::NameSum& added = head.names.back();
    if (!is_length(added.total) || added.total > of_others || !is_length(added.least) || !is_length(added.greatest)) return std::nullopt;
    of_others -= added.total;
  }
  const int parts = message.part_start_delta_size();
  if (!same_length(parts, message.part_busy(), message.part_name(), message.part_weight(), message.part_longest())) return std::nullopt;
  Nanoseconds start = head.first_start;
  for (int i = 0; i < parts; ++i) {
    start = sum(start, static_cast<std::int64_t>(message.part_start_delta(i)));
    const SegmentHead::Part part{start, static_cast<Nanoseconds>(message.part_busy(i)), message.part_name(i), static_cast<Nanoseconds>(message.part_weight(i)),
                                 static_cast<Nanoseconds>(message.part_longest(i))};
    const bool is_behind = part.start >= (head.parts.empty() ? head.first_start : head.parts.back().start) && part.start <= head.last_start;
    if (!is_behind || !is_length(part.busy) || !is_length(part.weight) || !is_length(part.longest)) return std::nullopt;
    head.parts.push_back(part);
  }
  return head;
}

}  // namespace lanescope

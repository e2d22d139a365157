#include "segment_encoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "lanescope/trace.pb.h"
#include "model/file/wire.h"

namespace lanescope {
namespace {

constexpr std::size_t kLongestVarint = 10;  // bytes

// Numbers of up to four bytes are written without a branch on their length, because it can't be predicted. Requires: room for the longest.
inline char* write_varint(std::uint64_t value, char* at) {
  if constexpr (std::endian::native == std::endian::little) {
    if (value < std::uint64_t{1} << 28) {
      const auto raw = static_cast<std::uint32_t>(value);
      const std::uint32_t length = (static_cast<std::uint32_t>(std::bit_width(raw | 1)) * 37 + 222) >> 8;  // a byte for each seven bits
      const std::uint32_t followed = 0x80808080u & static_cast<std::uint32_t>((std::uint64_t{1} << (8 * (length - 1))) - 1);
      const std::uint32_t spread = (raw & 0x7f) | (raw & 0x3f80) << 1 | (raw & 0x1fc000) << 2 | (raw & 0xfe00000) << 3 | followed;
      std::memcpy(at, &spread, sizeof(spread));
      return at + length;
    }
  }
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

std::uint64_t raw_of(Nanoseconds value) { return static_cast<std::uint64_t>(value); }

}  // namespace

void SegmentEncoder::Column::make_room(std::size_t bytes) {
  if (size_ + bytes <= capacity_) return;
  const std::size_t capacity = std::max(size_ + bytes, capacity_ + capacity_ / 2);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
  bytes_ = std::move(larger);
  capacity_ = capacity;
}

template <typename ValueOf>
void SegmentEncoder::Column::append(std::size_t count, ValueOf value_of) {
  std::array<std::uint64_t, SegmentHead::kPartEvents> values;
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < count; ++i) any |= values[i] = value_of(i);
  any_ |= any;
  make_room(count * kLongestVarint);
  char* at = bytes_.get() + size_;
  if (any < 0x80) {  // the common case for columns of ids
    for (std::size_t i = 0; i < count; ++i) at[i] = static_cast<char>(values[i]);
    size_ += count;
    return;
  }
  for (std::size_t i = 0; i < count; ++i) at = write_varint(values[i], at);
  size_ = static_cast<std::size_t>(at - bytes_.get());
}

char* SegmentEncoder::Column::make_room_in_front(std::size_t bytes) {
  auto larger = std::make_unique_for_overwrite<char[]>(bytes + size_);
  if (size_ > 0) std::memcpy(larger.get() + bytes, bytes_.get(), size_);
  bytes_ = std::move(larger);
  size_ += bytes;
  capacity_ = size_;
  return bytes_.get();
}

void SegmentEncoder::NameSums::add(NameId name, Nanoseconds duration) {
  SegmentHead::NameSum& sum = of(name, duration);
  ++sum.count;
  sum.total += duration;
  sum.least = std::min(sum.least, duration);
  sum.greatest = std::max(sum.greatest, duration);
}

std::vector<SegmentHead::NameSum> SegmentEncoder::NameSums::most(std::size_t count) const {
  const auto more = [](const auto& a, const auto& b) { return a.total != b.total ? a.total > b.total : a.name < b.name; };
  std::vector<SegmentHead::NameSum> found(std::min(count, sums_.size()));
  std::partial_sort_copy(sums_.begin(), sums_.end(), found.begin(), found.end(), more);
  return found;
}

void SegmentEncoder::NameSums::clear() {
  std::fill(places_.begin(), places_.end(), 0);
  sums_.clear();
  last_ = 0;
}

std::size_t SegmentEncoder::NameSums::memory_bytes() const noexcept {
  return sums_.capacity() * sizeof(SegmentHead::NameSum) + places_.capacity() * sizeof(std::uint32_t);
}

SegmentHead::NameSum& SegmentEncoder::NameSums::of(NameId name, Nanoseconds duration) {
  if (last_ < sums_.size() && sums_[last_].name == name) return sums_[last_];
  if (places_.empty()) places_.assign(kFewest, 0);
  const std::size_t at = place(name);
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

std::size_t SegmentEncoder::NameSums::place(NameId name) const {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = (name * 0x9e3779b97f4a7c15ull >> 32) & mask;
  while (places_[at] != 0 && sums_[places_[at] - 1].name != name) at = (at + 1) & mask;
  return at;
}

void SegmentEncoder::NameSums::grow() {
  places_.assign(2 * places_.size(), 0);
  for (std::size_t i = 0; i < sums_.size(); ++i) places_[place(sums_[i].name)] = static_cast<std::uint32_t>(i + 1);
}

void SegmentEncoder::add(std::span<const Event> events) {
  while (!events.empty()) {
    const std::size_t room = SegmentHead::kPartEvents - size_ % SegmentHead::kPartEvents;
    const auto of_part = events.first(std::min(room, events.size()));
    add_to_columns(of_part);
    add_to_head(of_part);
    size_ += of_part.size();
    last_ = of_part.back();
    events = events.subspan(of_part.size());
  }
}

void SegmentEncoder::add_to_columns(std::span<const Event> events) {
  const std::size_t n = events.size();
  const bool is_first = size_ == 0;
  if (is_first) first_start_ = events.front().start;
  Nanoseconds end = is_first ? first_start_ : last_.end();
  auto& [gaps, durations, names, correlations, details] = columns_;
  gaps.append(n, [&](std::size_t i) {
    const Nanoseconds gap = events[i].start - end;
    end = events[i].end();
    return raw_of(gap);
  });
  durations.append(n, [&](std::size_t i) { return raw_of(events[i].duration); });
  names.append(n, [&](std::size_t i) { return std::uint64_t{events[i].name}; });
  const auto append_differences = [&](Column& column, auto member) {
    auto before = static_cast<std::int64_t>(is_first ? 0 : last_.*member);
    column.append(n, [&](std::size_t i) {
      const auto value = static_cast<std::int64_t>(events[i].*member);
      const std::uint64_t difference = zigzag(value - before);
      before = value;
      return difference;
    });
  };
  append_differences(correlations, &Event::correlation);
  append_differences(details, &Event::detail);
}

void SegmentEncoder::add_to_head(std::span<const Event> events) {
  if (size_ == 0) least_correlation_ = greatest_correlation_ = events.front().correlation;
  if (size_ % SegmentHead::kPartEvents == 0) {
    if (size_ > 0) parts_.push_back(part());
    part_start_ = events.front().start;
    part_busy_ = 0;
    part_ = {};
  }
  Nanoseconds busy = 0;
  std::uint32_t least = least_correlation_, greatest = greatest_correlation_;
  LaneSummary sum = part_;
  const auto first = static_cast<EventIndex>(size_ % SegmentHead::kPartEvents);
  for (const Event& event : events) {
    busy += event.duration;
    least = std::min(least, event.correlation);
    greatest = std::max(greatest, event.correlation);
    sum.vote(event.name, event.duration);
    sum.consider_longest(first + static_cast<EventIndex>(&event - events.data()), event.duration);
  }
  if (sum.longest_duration > part_.longest_duration) part_longest_name_ = events[sum.longest - first].name;
  for (const Event& event : events) sums_.add(event.name, event.duration);
  busy_ += busy;
  part_busy_ += busy;
  least_correlation_ = least;
  greatest_correlation_ = greatest;
  part_ = sum;
}

SegmentHead::Part SegmentEncoder::part() const {
  return {part_start_, part_busy_, part_.dominant, part_.weight, part_.longest_duration, last_.end(), part_.longest, part_longest_name_};
}

std::size_t SegmentEncoder::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + aside_.capacity() * sizeof(Piece) + sums_.memory_bytes() + parts_.capacity() * sizeof(SegmentHead::Part);
  for (const Column& column : columns_) bytes += column.capacity();
  return bytes;
}

std::size_t SegmentEncoder::frame_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Column& column : columns_) bytes += column.bytes().size();
  return bytes;
}

Result<void> SegmentEncoder::set_aside(ScratchFile& file) {
  Piece piece{file.size(), {}};
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::string_view bytes = columns_[i].bytes();
    piece.bytes[i] = static_cast<std::uint32_t>(bytes.size());
    if (auto written = file.append(std::as_bytes(std::span(bytes))); !written) return written;
    columns_[i].give_up();
  }
  aside_.push_back(piece);
  return {};
}

Result<void> SegmentEncoder::bring_back(const ScratchFile& file) {
  std::array<char*, kColumns> into{};
  for (std::size_t i = 0; i < kColumns && !aside_.empty(); ++i) {
    std::size_t size = 0;
    for (const Piece& piece : aside_) size += piece.bytes[i];
    into[i] = columns_[i].make_room_in_front(size);
  }
  for (const Piece& piece : aside_) {
    std::uint64_t offset = piece.offset;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const std::span bytes(into[i], piece.bytes[i]);
      if (auto read = file.read(offset, std::as_writable_bytes(bytes)); !read) return read;
      offset += bytes.size();
      into[i] += bytes.size();
    }
  }
  aside_.clear();
  return {};
}

std::string SegmentEncoder::payload(FileLane lane, Nanoseconds epoch) const {
  using Fields = proto::LaneSegment;
  constexpr std::size_t kOfOthers = 128;  // bytes of numbers, tags and lengths
  std::string bytes;
  bytes.reserve(frame_bytes() + kOfOthers);
  append_field(Fields::kTrackFieldNumber, lane.track, bytes);
  append_field(Fields::kLaneFieldNumber, lane.lane, bytes);
  append_field(Fields::kFirstStartFieldNumber, zigzag(first_start_ + epoch), bytes);
  const auto& [gaps, durations, names, correlations, details] = columns_;
  append_field(Fields::kGapFieldNumber, gaps.bytes(), bytes);
  const auto append_unless_zero = [&](std::uint32_t field, const Column& column) {
    if (!column.is_zero()) append_field(field, column.bytes(), bytes);
  };
  append_unless_zero(Fields::kDurationFieldNumber, durations);
  append_unless_zero(Fields::kNameFieldNumber, names);
  append_unless_zero(Fields::kCorrelationDeltaFieldNumber, correlations);
  append_unless_zero(Fields::kDetailDeltaFieldNumber, details);
  return bytes;
}

SegmentHead SegmentEncoder::head(FileLane lane, Nanoseconds epoch) const {
  SegmentHead head;
  head.lane = lane;
  head.first_start = first_start_ + epoch;
  head.last_start = last_.start + epoch;
  head.end = last_.end() + epoch;
  head.busy = busy_;
  head.least_correlation = least_correlation_;
  head.greatest_correlation = greatest_correlation_;
  if (size_ >= SegmentHead::kPartEvents) head.names = sums_.most(SegmentHead::kMostNames);
  if (size_ <= SegmentHead::kPartEvents) return head;
  head.parts = parts_;
  head.parts.push_back(part());
  for (SegmentHead::Part& part : head.parts) {
    part.start += epoch;
    part.end += epoch;
  }
  return head;
}

void SegmentEncoder::clear() {
  size_ = 0;
  for (Column& column : columns_) column.clear();
  aside_.clear();
  busy_ = 0;
  sums_.clear();
  parts_.clear();
}

}  // namespace lanescope

#include "model/trace/compact/lane_frames.h"

#include <algorithm>
#include <utility>

#include "ingest/columns.h"
#include "ingest/packed.h"
#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "model/file/wire.h"
#include "segment_encoder.h"

namespace lanescope {
namespace {

// True if no column is longer than allowed. This is known before any column is decoded.
bool is_within_limits(std::string_view payload) {
  std::uint64_t numbers = 0;
  WireReader reader(payload);
  while (const auto field = reader.next()) {
    const std::uint64_t more = field->type == WireField::kBytes ? varints_in(field->bytes) : 1;
    if (more > limits::kChunkRows || (numbers += more) > limits::kChunkNumbers) return false;
  }
  return reader.sound();
}

// True if the columns can be events: they have one length, and the first event has a possible time.
bool may_be_events(const LaneSegmentColumns& columns) {
  const int n = columns.gap.size();
  return n > 0 && static_cast<std::uint64_t>(n) <= limits::kChunkRows && is_near(columns.first_start) &&
         same_length_or_empty(n, columns.duration, columns.name, columns.correlation_delta, columns.detail_delta);
}

constexpr std::uint64_t kLongest = std::uint64_t{1} << 61;  // as in is_near()

// Calls use(i, start, duration) for each event. Returns false if one lies too far from the machine's start.
template <typename Use>
bool for_times(const LaneSegmentColumns& columns, Use use) {
  Nanoseconds end = columns.first_start;
  for (int i = 0; i < columns.gap.size(); ++i) {
    const std::uint64_t gap = i == 0 ? 0 : columns.gap[i];
    const std::uint64_t duration = optional_value(columns.duration, i);
    if (gap > kLongest || duration > kLongest) return false;
    const Nanoseconds start = end + static_cast<Nanoseconds>(gap);
    if (!is_near(start)) return false;
    end = start + static_cast<Nanoseconds>(duration);
    if (!is_near(end)) return false;
    use(i, start, static_cast<Nanoseconds>(duration));
  }
  return true;
}

// Puts the times of all events there. Returns false if one lies too far from the machine's start.
bool take_times(const LaneSegmentColumns& columns, std::vector<Nanoseconds>& starts, std::vector<Nanoseconds>& durations) {
  constexpr int kMost = 65'536;
  constexpr std::uint64_t kShort = std::uint64_t{1} << 40;
  const int n = columns.gap.size();
  starts.resize(static_cast<std::size_t>(n));
  durations.resize(static_cast<std::size_t>(n));
  std::uint64_t any = 0;
  for (const std::uint64_t gap : columns.gap) any |= gap;
  for (const std::uint64_t duration : columns.duration) any |= duration;
  if (n > kMost || any >= kShort)
    return for_times(columns, [&](int i, Nanoseconds start, Nanoseconds duration) {
      starts[static_cast<std::size_t>(i)] = start;
      durations[static_cast<std::size_t>(i)] = duration;
    });
  // No sum overflows, and no event lies farther away than the last.
  const std::uint64_t* const gaps = columns.gap.begin();
  Nanoseconds* const start = starts.data();
  Nanoseconds* const duration = durations.data();
  if (columns.duration.empty())
    std::fill(durations.begin(), durations.end(), 0);
  else
    std::copy(columns.duration.begin(), columns.duration.end(), durations.begin());
  Nanoseconds end = columns.first_start - static_cast<Nanoseconds>(gaps[0]);
  for (int i = 0; i < n; ++i) {
    start[i] = end + static_cast<Nanoseconds>(gaps[i]);
    end = start[i] + duration[i];
  }
  return is_near(end);
}

// Puts the sums of differences there.
void add_up(const Column<std::int64_t>& differences, std::size_t count, std::vector<std::uint32_t>& into) {
  into.resize(count);
  if (differences.empty()) return std::fill(into.begin(), into.end(), 0);
  std::uint32_t value = 0;  // sums wrap around, and only their last 32 bits are ids
  for (std::size_t i = 0; i < count; ++i) into[i] = value += static_cast<std::uint32_t>(differences.begin()[i]);
}

std::uint64_t unsigned_of(Nanoseconds value) { return static_cast<std::uint64_t>(value); }

}  // namespace

std::string encode_lane_segment(FileLane lane, std::span<const Event> events, Nanoseconds epoch) {
  SegmentEncoder encoder;
  encoder.add(events);
  return encoder.payload(lane, epoch);
}

std::optional<LaneSegmentEvents> decode_lane_segment(std::string_view payload, std::vector<Event> memory) {
  if (!is_within_limits(payload)) return std::nullopt;
  thread_local LaneSegmentColumns columns;  // its memory is used again for the next payload
  LaneSegmentColumns& c = columns;
  c.clear();
  if (!c.parse(payload) || !may_be_events(c)) return std::nullopt;
  LaneSegmentEvents segment{{c.track, c.lane}, std::move(memory)};
  segment.events.resize(static_cast<std::size_t>(c.gap.size()));
  std::int64_t correlation = 0, detail = 0;
  const bool are_near = for_times(c, [&](int i, Nanoseconds start, Nanoseconds duration) {
    segment.events[static_cast<std::size_t>(i)] = {start, duration, optional_value(c.name, i),
                                                   static_cast<std::uint32_t>(correlation = sum(correlation, optional_value(c.correlation_delta, i))),
                                                   static_cast<DetailId>(detail = sum(detail, optional_value(c.detail_delta, i)))};
  });
  if (!are_near) return std::nullopt;
  return segment;
}

std::optional<LaneSegmentInColumns> decode_lane_columns(std::string_view payload, EventColumns memory) {
  if (!is_within_limits(payload)) return std::nullopt;
  thread_local LaneSegmentColumns columns;
  columns.clear();
  if (!columns.parse(payload) || !may_be_events(columns)) return std::nullopt;
  LaneSegmentInColumns segment{{columns.track, columns.lane}, std::move(memory)};
  EventColumns& events = segment.events;
  if (!take_times(columns, events.starts, events.durations)) return std::nullopt;
  const std::size_t n = events.starts.size();
  if (columns.name.empty())
    events.names.assign(n, 0);
  else
    events.names.assign(columns.name.begin(), columns.name.end());
  add_up(columns.correlation_delta, n, events.correlations);
  add_up(columns.detail_delta, n, events.details);
  return segment;
}

std::optional<LaneSegmentTimes> decode_lane_times(std::string_view payload, LaneSegmentTimes memory) {
  if (!is_within_limits(payload)) return std::nullopt;
  thread_local LaneSegmentColumns columns;
  columns.clear();
  if (!columns.parse_times(payload) || !may_be_events(columns)) return std::nullopt;
  LaneSegmentTimes times = std::move(memory);
  times.lane = {columns.track, columns.lane};
  if (!take_times(columns, times.starts, times.durations)) return std::nullopt;
  return times;
}

std::optional<LaneSegmentParts> LaneSegmentParts::of(std::string payload, EventIndex events) {
  using Fields = proto::LaneSegment;
  LaneSegmentParts parts;
  parts.payload_ = std::move(payload);
  parts.events_ = events;
  const char* const begin = parts.payload_.data();
  WireReader reader(parts.payload_);
  while (const auto field = reader.next()) {
    Place* column = nullptr;
    switch (field->number) {
      case Fields::kTrackFieldNumber:
        if (field->type == WireField::kVarint) parts.lane_.track = static_cast<std::uint32_t>(field->value);
        break;
      case Fields::kLaneFieldNumber:
        if (field->type == WireField::kVarint) parts.lane_.lane = static_cast<std::uint32_t>(field->value);
        break;
      case Fields::kFirstStartFieldNumber:
        if (field->type == WireField::kVarint) parts.first_start_ = static_cast<Nanoseconds>(field->value >> 1 ^ (~(field->value & 1) + 1));
        break;
      case Fields::kGapFieldNumber:
        column = &parts.gaps_;
        break;
      case Fields::kDurationFieldNumber:
        column = &parts.durations_;
        break;
      case Fields::kNameFieldNumber:
        column = &parts.names_;
        break;
      case Fields::kDetailDeltaFieldNumber:
        column = &parts.details_;
        break;
      default:
        break;
    }
    if (column == nullptr) continue;
    if (field->type != WireField::kBytes || column->size > 0) return std::nullopt;
    column->begin = static_cast<std::size_t>(field->bytes.data() - begin);
    column->size = field->bytes.size();
  }
  if (!reader.sound() || parts.gaps_.size == 0) return std::nullopt;
  for (Place* column : {&parts.gaps_, &parts.durations_, &parts.names_})
    if (!parts.find_parts(*column, column->parts)) return std::nullopt;
  return parts;
}

bool LaneSegmentParts::find_parts(const Place& column, std::vector<std::uint32_t>& parts) const {
  if (column.size == 0) return true;
  auto found = offsets_of_every(kPart, std::string_view(payload_).substr(column.begin, column.size), events_);
  if (found) parts = *std::move(found);
  return found.has_value();
}

std::string_view LaneSegmentParts::bytes_of(const Place& column, std::span<const std::uint32_t> parts, std::size_t part) const {
  return std::string_view(payload_).substr(column.begin + parts[part], parts[part + 1] - parts[part]);
}

EventIndex LaneSegmentParts::size_of(std::size_t part) const noexcept { return std::min(kPart, events_ - static_cast<EventIndex>(part) * kPart); }

template <typename Number>
bool LaneSegmentParts::read(const Place& column, std::size_t part, std::span<Number> into) const {
  if (column.size > 0) return unpack(bytes_of(column, column.parts, part), into);
  std::fill(into.begin(), into.end(), Number{0});
  return true;
}

bool LaneSegmentParts::decode(std::size_t part, Nanoseconds start, Times& into) const {
  into.size = size_of(part);
  into.longest_at = 0;
  std::array<std::uint64_t, kPart> gaps, durations;
  if (!read(gaps_, part, std::span(gaps).first(into.size)) || !read(durations_, part, std::span(durations).first(into.size))) return false;
  Nanoseconds end = start, busy = 0, longest = 0;
  gaps[0] = 0;
  for (EventIndex i = 0; i < into.size; ++i) {
    if (gaps[i] > kLongest || durations[i] > kLongest) return false;
    into.starts[i] = end + static_cast<Nanoseconds>(gaps[i]);
    if (!is_near(into.starts[i])) return false;
    const Nanoseconds duration = into.durations[i] = static_cast<Nanoseconds>(durations[i]);
    end = into.starts[i] + duration;
    if (!is_near(end)) return false;
    busy += duration;  // less than from its first start to its end
    if (duration > longest) into.longest_at = i;
    longest = std::max(longest, duration);
  }
  into.busy = busy;
  into.longest = longest;
  return true;
}

bool LaneSegmentParts::decode(std::size_t part, Nanoseconds start, Events& into) const {
  return decode(part, start, static_cast<Times&>(into)) && read(names_, part, std::span(into.names).first(into.size));
}

std::optional<DetailId> LaneSegmentParts::detail(EventIndex event, Details& known) const {
  if (details_.size == 0) return 0;
  std::array<std::int64_t, kPart> differences;
  const auto read = [&](std::size_t part) {
    const std::span wanted(differences.data(), size_of(part));
    return unpack_zigzag(bytes_of(details_, known.parts, part), wanted);
  };
  if (known.before.empty()) {
    if (!find_parts(details_, known.parts)) return std::nullopt;
    std::vector<std::int64_t> before{0};
    for (std::size_t part = 0; part + 1 < count(); ++part) {
      if (!read(part)) return std::nullopt;
      std::int64_t id = before.back();
      for (EventIndex i = 0; i < kPart; ++i) id = sum(id, differences[i]);
      before.push_back(id);
    }
    known.before = std::move(before);
  }
  const std::size_t part = event / kPart;
  if (!read(part)) return std::nullopt;
  std::int64_t id = known.before[part];
  for (EventIndex i = 0; i <= event % kPart; ++i) id = sum(id, differences[i]);
  return static_cast<DetailId>(id);
}

SegmentHead head_of(FileLane lane, std::span<const Event> events, Nanoseconds epoch) {
  SegmentEncoder encoder;
  encoder.add(events);
  return encoder.head(lane, epoch);
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
  const bool knows_all = std::all_of(head.parts.begin(), head.parts.end(), [](const SegmentHead::Part& part) { return part.is_fully_known(); });
  for (std::size_t i = 0; i < head.parts.size() && knows_all; ++i) {
    message.add_part_rest(i + 1 < head.parts.size() ? unsigned_of(head.parts[i + 1].start) - unsigned_of(head.parts[i].end) : 0);
    message.add_part_longest_at(head.parts[i].longest_at);
    message.add_part_longest_name(head.parts[i].longest_name);
  }
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
  thread_local proto::SegmentHead message;  // its memory is used again for the next head
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
  Nanoseconds of_others = head.busy;  // what is left for later names
  for (const proto::NameSum& sum : message.names()) {
    head.names.push_back(
        {sum.name(), sum.count(), static_cast<Nanoseconds>(sum.total()), static_cast<Nanoseconds>(sum.least()), static_cast<Nanoseconds>(sum.greatest())});
    const SegmentHead::NameSum& added = head.names.back();
    if (!is_length(added.total) || added.total > of_others || !is_length(added.least) || !is_length(added.greatest)) return std::nullopt;
    of_others -= added.total;
  }
  const int parts = message.part_start_delta_size();
  if (!same_length(parts, message.part_busy(), message.part_name(), message.part_weight(), message.part_longest())) return std::nullopt;
  const bool knows_all = message.part_longest_at_size() > 0;
  if (knows_all && !same_length(parts, message.part_rest(), message.part_longest_at(), message.part_longest_name())) return std::nullopt;
  Nanoseconds start = head.first_start, of_other_parts = head.busy;
  for (int i = 0; i < parts; ++i) {
    start = sum(start, static_cast<std::int64_t>(message.part_start_delta(i)));
    SegmentHead::Part part{start,
                           static_cast<Nanoseconds>(message.part_busy(i)),
                           message.part_name(i),
                           static_cast<Nanoseconds>(message.part_weight(i)),
                           static_cast<Nanoseconds>(message.part_longest(i)),
                           head.end,
                           knows_all ? message.part_longest_at(i) : kNone,
                           knows_all ? message.part_longest_name(i) : 0};
    if (i + 1 < parts) part.end = sum(start, static_cast<std::int64_t>(message.part_start_delta(i + 1)));
    if (i + 1 < parts && knows_all) {
      const auto rest = static_cast<Nanoseconds>(message.part_rest(i));
      if (rest < 0 || rest > head.end - head.first_start) return std::nullopt;
      part.end -= rest;
    }
    if (part.end < part.start || part.end > head.end || (knows_all && part.longest_at >= SegmentHead::kPartEvents)) return std::nullopt;
    const bool is_behind = part.start >= (head.parts.empty() ? head.first_start : head.parts.back().start) && part.start <= head.last_start;
    if (!is_behind || !is_length(part.busy) || part.busy > of_other_parts) return std::nullopt;
    if (part.weight < 0 || part.weight > part.busy || part.longest < 0 || part.longest > part.busy) return std::nullopt;
    of_other_parts -= part.busy;
    head.parts.push_back(part);
  }
  return head;
}

}  // namespace lanescope

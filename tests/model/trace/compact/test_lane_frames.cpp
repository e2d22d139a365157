#include <limits>
#include <map>
#include <memory>
#include <random>

#include "compact/segment_encoder.h"
#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/lane_frames.h"
#include "model/trace/lane.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using lanescope::test::TemporaryFolder;

namespace {

constexpr Nanoseconds kEpoch = 5'000'000'000;

std::vector<Event> random_events(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<Event> events;
  Nanoseconds end = static_cast<Nanoseconds>(random() % 1'000);
  for (std::size_t i = 0; i < count; ++i) {
    Event event;
    event.start = end + static_cast<Nanoseconds>(random() % 3 == 0 ? 0 : random() % 100'000);
    event.duration = random() % 50 == 0 ? Nanoseconds{7'000'000'000} : static_cast<Nanoseconds>(random() % 5'000);
    event.name = static_cast<NameId>(random() % 40);
    event.correlation = static_cast<std::uint32_t>(random());
    event.detail = static_cast<DetailId>(random() % 3);
    end = event.end();
    events.push_back(event);
  }
  return events;
}

}  // namespace

TEST_CASE("a segment comes back event by event") {
  for (const std::size_t count : {1u, 2u, 1'023u, 1'025u, 65'536u}) {
    const std::vector<Event> events = random_events(static_cast<unsigned>(count), count);
    const auto decoded = decode_lane_segment(encode_lane_segment({3, 7}, events, kEpoch));
    REQUIRE(decoded.has_value());
    CHECK(decoded->lane == FileLane{3, 7});
    REQUIRE(decoded->events.size() == count);
    const auto times = decode_lane_times(encode_lane_segment({3, 7}, events, kEpoch));
    REQUIRE((times && times->lane == FileLane{3, 7} && times->starts.size() == count && times->durations.size() == count));
    const auto in_columns = decode_lane_columns(encode_lane_segment({3, 7}, events, kEpoch));
    REQUIRE((in_columns && in_columns->lane == FileLane{3, 7} && in_columns->events.starts.size() == count));
    for (std::size_t i = 0; i < count; ++i) {
      Event expected = events[i];
      expected.start += kEpoch;
      REQUIRE(decoded->events[i] == expected);
      REQUIRE((times->starts[i] == expected.start && times->durations[i] == expected.duration));
      const EventColumns& columns = in_columns->events;
      REQUIRE(Event{columns.starts[i], columns.durations[i], columns.names[i], columns.correlations[i], columns.details[i]} == expected);
    }
  }
}

TEST_CASE("a segment that is made of columns answers as one that is made of events") {
  // Durations of at most 32 bits, and of more; ids that ascend, and that do not.
  const std::size_t count = GENERATE(1u, 15u, 16u, 17u, 129u, 1'025u, 20'001u, 65'536u);
  const bool is_plain = GENERATE(true, false);
  INFO(count << (is_plain ? " plain" : ""));
  std::vector<Event> events = random_events(static_cast<unsigned>(count), count);
  Nanoseconds end = 0;
  for (std::size_t i = 0; i < count && is_plain; ++i) {
    events[i] = {end + 3, static_cast<Nanoseconds>(i * 7 % 900), static_cast<NameId>(i % 5), static_cast<std::uint32_t>(i / 2), 0};
    end = events[i].end();
  }
  EventColumns columns;
  for (const Event& event : events) {
    columns.starts.push_back(event.start);
    columns.durations.push_back(event.duration);
    columns.names.push_back(event.name);
    columns.correlations.push_back(event.correlation);
    columns.details.push_back(event.detail);
  }
  const LaneSegment of_events(events), of_columns(columns);
  REQUIRE(of_columns.size() == count);
  REQUIRE(of_columns.memory_bytes() == of_events.memory_bytes());
  REQUIRE(of_columns.busy_total() == of_events.busy_total());
  REQUIRE(of_columns.smallest_correlation() == of_events.smallest_correlation());
  REQUIRE(of_columns.largest_correlation() == of_events.largest_correlation());
  for (EventIndex i = 0; i < count; ++i) {
    const Event event{of_columns.start(i), of_columns.duration(i), of_columns.name(i), of_columns.correlation(i), of_columns.detail(i)};
    REQUIRE(event == events[i]);
    REQUIRE(of_columns.busy_before(i) == of_events.busy_before(i));
  }
  std::mt19937 random(3);
  for (int times = 0; times < 200; ++times) {
    const auto first = static_cast<EventIndex>(random() % count), last = first + 1 + static_cast<EventIndex>(random() % (count - first));
    LaneSummary expected, summary;
    of_events.summarize(first, last, expected, 10);
    of_columns.summarize(first, last, summary, 10);
    REQUIRE((summary.count == expected.count && summary.dominant == expected.dominant && summary.weight == expected.weight));
    REQUIRE((summary.longest == expected.longest && summary.longest_duration == expected.longest_duration));
    REQUIRE(of_columns.find_correlation(events[first].correlation, 0) == of_events.find_correlation(events[first].correlation, 0));
  }
}

TEST_CASE("a part of a segment is decoded without the others, and is what they have together") {
  const std::size_t count = GENERATE(1u, 2u, 1'023u, 1'024u, 1'025u, 5'000u, 65'536u);
  // Numbers of one byte only, and of any length.
  const bool are_short = GENERATE(false, true);
  std::vector<Event> events = random_events(static_cast<unsigned>(count), count);
  if (are_short)
    for (std::size_t i = 0; i < count; ++i) events[i] = {static_cast<Nanoseconds>(40 * i), 20, static_cast<NameId>(i % 5), 0, static_cast<DetailId>(i % 7 * 4)};
  const auto parts = LaneSegmentParts::of(encode_lane_segment({3, 7}, events, kEpoch), static_cast<EventIndex>(count));
  REQUIRE(parts);
  CHECK(parts->lane() == FileLane{3, 7});
  CHECK(parts->first_start() == events.front().start + kEpoch);
  REQUIRE(parts->count() == (count + 1'023) / 1'024);
  const auto decoded = std::make_unique<LaneSegmentParts::Events>();
  LaneSegmentParts::Details details;
  std::size_t wrong = 0;
  for (std::size_t part = parts->count(); part-- > 0;) {
    const std::size_t first = part * 1'024;
    REQUIRE(parts->decode(part, events[first].start, *decoded));
    REQUIRE(decoded->size == std::min<std::size_t>(1'024, count - first));
    for (std::size_t i = 0; i < decoded->size; ++i) {
      const Event& event = events[first + i];
      wrong += decoded->starts[i] != event.start || decoded->durations[i] != event.duration || decoded->names[i] != event.name;
      if (i % 97 == 0) wrong += parts->detail(static_cast<EventIndex>(first + i), details) != event.detail;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("parts are refused where columns are not what they should be") {
  const std::vector<Event> events = random_events(5, 3'000);
  const std::string payload = encode_lane_segment({0, 0}, events, kEpoch);
  CHECK(LaneSegmentParts::of(payload, 3'000));
  CHECK_FALSE(LaneSegmentParts::of(payload, 2'999));
  CHECK_FALSE(LaneSegmentParts::of(payload, 3'001));
  for (std::size_t size = 0; size + 1 < payload.size(); size += 101) CHECK_FALSE(LaneSegmentParts::of(payload.substr(0, size), 3'000));
  proto::LaneSegment message;
  REQUIRE(message.ParseFromString(payload));
  const auto decodes = [&](std::size_t part) {
    const auto parts = LaneSegmentParts::of(message.SerializeAsString(), 3'000);
    const auto into = std::make_unique<LaneSegmentParts::Events>();
    return parts && parts->decode(part, 0, *into);
  };
  CHECK(decodes(1));
  message.set_gap(1'500, std::uint64_t{1} << 62);
  CHECK_FALSE(decodes(1));
  CHECK(decodes(2));
  message.clear_detail_delta();
  message.add_detail_delta(3);  // one number, but there are 3,000 events
  const auto parts = LaneSegmentParts::of(message.SerializeAsString(), 3'000);
  REQUIRE(parts);
  LaneSegmentParts::Details unknown;
  CHECK_FALSE(parts->detail(2'000, unknown));
  // A column in two pieces is one that decode_lane_segment() reads.
  proto::LaneSegment more;
  more.add_duration(7);
  message = {};
  REQUIRE(message.ParseFromString(encode_lane_segment({0, 0}, std::span(events).first(2), kEpoch)));
  message.mutable_duration()->Truncate(1);
  CHECK(decode_lane_segment(message.SerializeAsString() + more.SerializeAsString()));
  CHECK_FALSE(LaneSegmentParts::of(message.SerializeAsString() + more.SerializeAsString(), 2));
}

TEST_CASE("times alone are refused where they lie too far from the machine's start, or columns of them differ in length") {
  proto::LaneSegment message;
  const auto is_refused = [&] {
    const std::string payload = message.SerializeAsString();
    return !decode_lane_times(payload) && !decode_lane_segment(payload) && !decode_lane_columns(payload);
  };
  CHECK(is_refused());  // without an event
  message.set_first_start(1'000);
  for (const std::uint64_t gap : {0u, 5u, 7u}) message.add_gap(gap);
  CHECK_FALSE(is_refused());
  message.add_duration(3);
  CHECK(is_refused());
  for (const std::uint64_t duration : {0u, 4u}) message.add_duration(duration);
  CHECK_FALSE(is_refused());
  message.set_gap(1, std::uint64_t{1} << 62);
  CHECK(is_refused());
}

TEST_CASE("no segment is longer than any may be") {
  for (const std::uint32_t count : {1u, 2u, 1'000u, 65'536u}) {
    std::vector<Event> events(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool odd = i % 2 == 1;
      events[i] = {(Nanoseconds{1} << 44) * i, Nanoseconds{1} << 43, odd ? kNone : 0, odd ? kNone : 0, odd ? kNone : 0};
    }
    CHECK(encode_lane_segment({kNone, kNone}, events, kEpoch).size() <= most_segment_bytes(count));
  }
}

TEST_CASE("a segment that is made in pieces, some of them set aside, is the same") {
  const TemporaryFolder folder;
  const std::vector<Event> events = random_events(9, 9'000);
  SegmentEncoder encoder;
  ScratchFile file(folder.path(), "");
  for (const int round : {1, 2}) {
    INFO(round);
    std::span rest(events);
    for (const std::size_t count : {1u, 1'023u, 3'000u, 5u, 4'971u}) {
      encoder.add(rest.first(count));
      rest = rest.subspan(count);
      if (count == 5) continue;
      REQUIRE(encoder.set_aside(file));
      CHECK(encoder.memory_bytes() < 16'384);
    }
    REQUIRE(rest.empty());
    REQUIRE(encoder.bring_back(file));
    CHECK(encoder.size() == events.size());
    const auto decoded = decode_lane_segment(encoder.payload({3, 7}, kEpoch));
    REQUIRE(decoded);
    REQUIRE(decoded->events.size() == events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      Event event = decoded->events[i];
      event.start -= kEpoch;
      REQUIRE(event == events[i]);
    }
    CHECK(encoder.head({3, 7}, kEpoch) == head_of({3, 7}, events, kEpoch));
    encoder.clear();
  }
}

TEST_CASE("a head that says what no segment can be is refused") {
  const std::vector<Event> events = random_events(7, 5'000);
  const SegmentHead sound = head_of({0, 0}, events, kEpoch);
  REQUIRE(decode_segment_head(encode_segment_head(sound)) == sound);
  const Nanoseconds too_long = sound.end - sound.first_start + 1;
  const auto is_refused = [&](auto change) {
    SegmentHead head = sound;
    change(head);
    return !decode_segment_head(encode_segment_head(head)).has_value();
  };
  CHECK(is_refused([&](SegmentHead& head) { head.busy = too_long; }));
  CHECK(is_refused([&](SegmentHead& head) { head.busy = -1; }));
  CHECK(is_refused([&](SegmentHead& head) { head.least_correlation = head.greatest_correlation + 1; }));
  CHECK(is_refused([&](SegmentHead& head) { head.end = head.last_start - 1; }));
  CHECK(is_refused([&](SegmentHead& head) { head.names[0].total = head.busy; }));  // this leaves nothing for the other names
  CHECK(is_refused([&](SegmentHead& head) { head.names[0].least = -1; }));
  CHECK(is_refused([&](SegmentHead& head) { head.names.resize(SegmentHead::kMostNames + 1); }));
  CHECK(is_refused([&](SegmentHead& head) { head.parts[1].start = head.parts[0].start - 1; }));
  CHECK(is_refused([&](SegmentHead& head) { head.parts.back().start = head.last_start + 1; }));
  CHECK(is_refused([&](SegmentHead& head) { head.parts[2].busy = too_long; }));
  CHECK(is_refused([&](SegmentHead& head) { head.parts[2].weight = too_long; }));
  CHECK(is_refused([&](SegmentHead& head) { head.parts[2].longest = std::numeric_limits<Nanoseconds>::max(); }));
  CHECK(is_refused([&](SegmentHead& head) { head.parts[2].longest = head.parts[2].busy + 1; }));
  CHECK(is_refused([&](SegmentHead& head) { head.parts[3].busy = head.busy; }));  // this leaves nothing for the other parts
}

TEST_CASE("columns of zeros take no room") {
  std::vector<Event> events(1'000);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].start = static_cast<Nanoseconds>(i);
  proto::LaneSegment message;
  REQUIRE(message.ParseFromString(encode_lane_segment({}, events, 0)));
  CHECK(message.gap_size() == 1'000);
  CHECK(message.duration_size() + message.name_size() + message.correlation_delta_size() + message.detail_delta_size() == 0);
}

TEST_CASE("the index takes as many frames as its heads need, and goes on when the file does") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.trace";
  constexpr std::size_t kFrames = 4'000, kBytes = 3'000;
  std::mt19937_64 random(4);
  const auto noise = [&] {
    std::string text(kBytes, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    return text;
  };
  std::vector<std::string> heads;
  {
    auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
    REQUIRE(writer);
    FrameHeader header;
    header.type = proto::FRAME_LANE_SEGMENT;
    header.event_count = 3;
    for (std::size_t i = 0; i < kFrames; ++i) {
      std::vector<std::byte> frame;
      const std::string payload = noise();
      append_frame(header, payload, frame);
      heads.push_back(noise().substr(100));
      REQUIRE(writer->append_segment(frame, content_of(header.type, payload), heads.back()));
    }
    const std::uint64_t at_most = writer->finished_size();
    REQUIRE(writer->finish());
    CHECK(writer->size() <= at_most);
    CHECK(writer->size() > kFrames * 2 * (kBytes - 200));  // 12 MB of frames, and an index of nearly the same size
  }
  for (const std::size_t more : {0u, 1u}) {
    const auto reader = TraceFileReader::open(path);
    REQUIRE(reader);
    CHECK(reader->indexed_events() == 3 * (kFrames + more));
    const std::vector<IndexedFrame> index = reader->index();
    REQUIRE(index.size() == kFrames + more);
    for (std::size_t i = 0; i < kFrames; ++i) REQUIRE((index[i].segment_head == heads[i]));
    CHECK(reader->read(index[kFrames - 1]));
    auto writer = TraceFileWriter::reopen(path);
    REQUIRE(writer);
    std::vector<std::byte> frame;
    FrameHeader header;
    header.type = proto::FRAME_LANE_SEGMENT;
    header.event_count = 3;
    append_frame(header, "more", frame);
    REQUIRE(writer->append(frame));
    REQUIRE(writer->finish());
  }
}

TEST_CASE("what is no segment is refused") {
  proto::LaneSegment message;
  CHECK_FALSE(decode_lane_segment(message.SerializeAsString()).has_value());  // of no events
  message.add_gap(0);
  CHECK(decode_lane_segment(message.SerializeAsString()).has_value());
  message.add_duration(1);
  message.add_duration(1);
  CHECK_FALSE(decode_lane_segment(message.SerializeAsString()).has_value());  // columns with different lengths
  message.clear_duration();
  message.add_duration(std::uint64_t{1} << 63);
  CHECK_FALSE(decode_lane_segment(message.SerializeAsString()).has_value());  // longer than any recording
  message.clear_duration();
  message.set_first_start(std::numeric_limits<std::int64_t>::max());
  CHECK_FALSE(decode_lane_segment(message.SerializeAsString()).has_value());
  message.set_first_start(0);
  for (int i = 0; i < 65'536; ++i) message.add_gap(1);
  CHECK_FALSE(decode_lane_segment(message.SerializeAsString()).has_value());  // one more than there may be
  CHECK_FALSE(decode_lane_segment("\x22\x05").has_value());
}

TEST_CASE("a head says what its events say") {
  const std::size_t count = GENERATE(1u, 1'023u, 1'024u, 5'000u, 65'536u);
  const std::vector<Event> events = random_events(11, count);
  const SegmentHead head = head_of({1, 2}, events, kEpoch);
  CHECK(head.first_start == events.front().start + kEpoch);
  CHECK(head.last_start == events.back().start + kEpoch);
  CHECK(head.end == events.back().end() + kEpoch);
  const LaneSegment segment(events);
  CHECK(head.busy == segment.busy_total());
  CHECK(head.least_correlation == segment.smallest_correlation());
  CHECK(head.greatest_correlation == segment.largest_correlation());

  // By name, by looking at every event.
  std::map<NameId, SegmentHead::NameSum> sums;
  for (const Event& event : events) {
    auto& sum = sums.try_emplace(event.name, SegmentHead::NameSum{event.name, 0, 0, event.duration, event.duration}).first->second;
    ++sum.count;
    sum.total += event.duration;
    sum.least = std::min(sum.least, event.duration);
    sum.greatest = std::max(sum.greatest, event.duration);
  }
  if (count < SegmentHead::kPartEvents) {
    CHECK(head.names.empty());
  } else {
    REQUIRE(head.names.size() == SegmentHead::kMostNames);
    Nanoseconds least_shown = head.names.front().total;
    for (const SegmentHead::NameSum& sum : head.names) {
      CHECK(sum == sums.at(sum.name));
      CHECK(sum.total <= least_shown);
      least_shown = sum.total;
      sums.erase(sum.name);
    }
    for (const auto& [name, sum] : sums) CHECK(sum.total <= least_shown);
  }

  CHECK(head.parts.size() == (count > SegmentHead::kPartEvents ? (count + 1'023) / 1'024 : 0));
  for (std::size_t part = 0; part < head.parts.size(); ++part) {
    const EventIndex first = static_cast<EventIndex>(part * 1'024), last = std::min<EventIndex>(first + 1'024, static_cast<EventIndex>(count));
    LaneSummary sum;
    Nanoseconds busy = 0;
    EventIndex longest = first;
    for (EventIndex i = first; i < last; ++i) {
      sum.vote(events[i].name, events[i].duration);
      busy += events[i].duration;
      if (events[i].duration > events[longest].duration) longest = i;
    }
    CHECK(head.parts[part] == SegmentHead::Part{events[first].start + kEpoch, busy, sum.dominant, sum.weight, events[longest].duration,
                                                events[last - 1].end() + kEpoch, longest - first, events[longest].name});
  }
  const std::string bytes = encode_segment_head(head);
  CHECK(decode_segment_head(bytes) == head);

  // Before version 1.8 of the format, a part was known to end before the next one begins, and its longest event was not known.
  proto::SegmentHead message;
  REQUIRE(message.ParseFromString(bytes));
  const auto changed = [&](auto change) {
    proto::SegmentHead copy = message;
    change(copy);
    return decode_segment_head(copy.SerializeAsString());
  };
  const auto old = changed([](proto::SegmentHead& copy) {
    copy.clear_part_rest();
    copy.clear_part_longest_at();
    copy.clear_part_longest_name();
  });
  REQUIRE(old.has_value());
  SegmentHead expected = head;
  for (std::size_t part = 0; part < expected.parts.size(); ++part) {
    const bool is_last = part + 1 == expected.parts.size();
    SegmentHead::Part& each = expected.parts[part];
    each = {each.start, each.busy, each.dominant, each.weight, each.longest, is_last ? expected.end : expected.parts[part + 1].start, kNone, 0};
  }
  CHECK(*old == expected);
  CHECK(decode_segment_head(encode_segment_head(*old)) == old);
  if (!head.parts.empty()) {
    CHECK_FALSE(changed([](proto::SegmentHead& copy) { copy.set_part_longest_at(0, 1'024); }));
    CHECK_FALSE(changed([](proto::SegmentHead& copy) { copy.set_part_rest(0, ~std::uint64_t{0}); }));
    CHECK_FALSE(changed([](proto::SegmentHead& copy) { copy.set_part_rest(0, copy.part_start_delta(1) + 1); }));
    CHECK_FALSE(changed([](proto::SegmentHead& copy) { copy.mutable_part_rest()->RemoveLast(); }));
    CHECK_FALSE(changed([](proto::SegmentHead& copy) { copy.clear_part_longest_name(); }));
  }
  CHECK(bytes.size() <= 2'900);  // random durations up to 7 s; recorded ones take half
}

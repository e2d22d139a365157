// A segment that is decoded alone has the same contents as that part of the whole trace.
#include <random>
#include <thread>

#include "described.h"
#include "long_recording.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/compact/segment_reader.h"
#include "recordings.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

SegmentReader opened(const fs::path& path) {
  auto reader = SegmentReader::open(path);
  if (!reader) FAIL(reader.error().text);
  return std::move(*reader);
}

}  // namespace

TEST_CASE("all segments together are the trace, for every recording") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  compacted(recording, folder.path() / "compact.trace");
  const auto trace = loaded(folder.path() / "compact.trace");
  const SegmentReader reader = opened(folder.path() / "compact.trace");
  CHECK(reader.event_count() == trace->event_count());
  REQUIRE(reader.tracks().size() == trace->tracks().size());
  for (std::uint32_t track = 0; track < reader.tracks().size(); ++track) {
    const Track& whole = trace->tracks()[track];
    REQUIRE(described_track(*reader.surroundings(), reader.tracks()[track]) == described_track(*trace, whole.key));
    REQUIRE(reader.lane_count(track) == whole.lanes.size());
    for (std::uint32_t lane = 0; lane < whole.lanes.size(); ++lane) {
      const Lane& events = trace->lane(whole.lanes[lane]);
      EventIndex next = 0;
      for (const SegmentReader::Segment& segment : reader.segments({track, lane})) {
        REQUIRE(segment.first == next);
        const auto decoded = reader.decode(segment);
        REQUIRE(decoded);
        REQUIRE((*decoded)->size() == segment.count);
        CHECK(segment.head.busy == (*decoded)->busy_total());
        for (EventIndex i = 0; i < segment.count; ++i) {
          const Event event{(*decoded)->start(i), (*decoded)->duration(i), (*decoded)->name(i), (*decoded)->correlation(i), (*decoded)->detail(i)};
          REQUIRE(described_event(*reader.surroundings(), whole.key.kind, event) == described_event(*trace, whole.key.kind, events.event(next + i)));
        }
        next += segment.count;
      }
      REQUIRE(next == events.size());
    }
  }
}

TEST_CASE("a recording of equal events is read by segments, though its file is shorter than what its index says") {
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log.trace", compact = folder.path() / "compact.trace";
  constexpr std::uint32_t kEvents = 2'500'000;
  write_long_recording(log, kEvents, Calls::kEqual);
  compacted(log, compact);
  CHECK(fs::file_size(compact) < 20'000);
  const auto form = form_of(compact);
  REQUIRE(form);
  CHECK(*form == FileForm::kCompacted);
  CHECK(opened(compact).event_count() == kEvents);
  CHECK(loaded(compact)->provenance().finished);
}

TEST_CASE("a window of a long lane takes the segments that it cuts, and no other") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 300'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto trace = loaded(folder.path() / "compact.trace");
  const Lane& lane = trace->lane(trace->tracks()[0].lanes[0]);
  const SegmentReader reader = opened(folder.path() / "compact.trace");
  const auto all = reader.segments({0, 0});
  REQUIRE(all.size() == 5);  // 4 of 65,536, and the rest
  for (const SegmentReader::Segment& segment : all.first(4)) CHECK(segment.count == LaneSegment::kCapacity);
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const auto begin = static_cast<Nanoseconds>(random() % 600'000'000);
    const TimeRange window{begin, begin + static_cast<Nanoseconds>(random() % 100'000'000)};
    const auto [first, last] = lane.overlapping(window);
    const auto segments = reader.overlapping({0, 0}, window);
    if (first == last) continue;
    REQUIRE(!segments.empty());
    CHECK(segments.front().first / LaneSegment::kCapacity == first / LaneSegment::kCapacity);
    CHECK(segments.back().first / LaneSegment::kCapacity == (last - 1) / LaneSegment::kCapacity);
  }
  CHECK(reader.overlapping({0, 0}, {-100, -50}).empty());
  CHECK(reader.overlapping({0, 0}, {700'000'000, 800'000'000}).empty());
  CHECK(reader.segments({1, 0}).empty());
  CHECK(reader.segments({0, 9}).empty());

  // The totals of its names agree with its head.
  const SegmentHead& head = all.front().head;
  REQUIRE(head.names.size() == 2);
  for (const SegmentHead::NameSum& sum : head.names) {
    Nanoseconds total = 0;
    for (EventIndex i = 0; i < LaneSegment::kCapacity; ++i)
      if (trace->name(lane.name(i)) == reader.surroundings()->name(sum.name)) total += lane.duration(i);
    CHECK(sum.total == total);
  }
  CHECK(head.parts.size() == 64);
}

TEST_CASE("segments are decoded by many threads at once, and without the frames of others") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 300'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const SegmentReader reader = opened(folder.path() / "compact.trace");
  const auto all = reader.segments({0, 0});
  std::vector<std::jthread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (const SegmentReader::Segment& segment : all)
        if (const auto decoded = reader.decode(segment); !decoded || (*decoded)->busy_total() != segment.head.busy) ++failures;
    });
  threads.clear();
  CHECK(failures == 0);

  // A segment can be decoded although the segments beside it are damaged.
  {
    std::fstream file(folder.path() / "compact.trace", std::ios::in | std::ios::out | std::ios::binary);
    for (const std::size_t damaged : {0u, 2u, 4u}) {
      file.seekp(static_cast<std::streamoff>(all[damaged].offset + 100));
      file.write("damage", 6);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto decoded = reader.decode(all[i]);
    CHECK(decoded.has_value() == (i % 2 == 1));
    CHECK(reader.decode_times(all[i]).has_value() == decoded.has_value());
    if (!decoded) CHECK(decoded.error().text.find("damaged") != std::string::npos);
  }
}

TEST_CASE("a file that is not compacted, or was cut, is told") {
  const TemporaryFolder folder;
  const auto log = SegmentReader::open(data_file("cuda_streams.trace"));
  REQUIRE_FALSE(log);
  CHECK(log.error().text.find("--form compact") != std::string::npos);
  compacted(data_file("cuda_streams.trace"), folder.path() / "compact.trace");
  fs::resize_file(folder.path() / "compact.trace", fs::file_size(folder.path() / "compact.trace") - 1);
  CHECK_FALSE(SegmentReader::open(folder.path() / "compact.trace"));
}

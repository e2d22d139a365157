// A lane that is read in parts answers as the same lane in memory.
#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

#include "in_file.h"
#include "long_recording.h"
#include "model/trace/combining/combine.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/segments/lane_in_parts.h"
#include "recordings.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

bool are_same(const LaneSummary& a, const LaneSummary& b) {
  return a.count == b.count && a.dominant == b.dominant && a.weight == b.weight && a.longest == b.longest && a.longest_duration == b.longest_duration;
}

// The same for LaneTimes: after a time, events are asked for in order, as those do who go through them.
int wrong_times(const Lane& memory, LaneTimes times, std::mt19937& random, int questions) {
  int wrong = 0;
  const TimeRange extent = memory.extent();
  for (int i = 0; i < questions; ++i) {
    const auto some = static_cast<EventIndex>(random() % memory.size());
    Nanoseconds t = extent.begin - 10 + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length() + 20));
    if (random() % 2 == 0) t = memory.start(some / SegmentParts::kPart * SegmentParts::kPart) + static_cast<Nanoseconds>(random() % 3) - 1;
    const EventIndex first = times.lower_bound(t);
    wrong += first != memory.lower_bound(t);
    const EventIndex last = std::min(memory.size(), first + static_cast<EventIndex>(random() % 1'500));
    if (const EventIndex begin = some / SegmentParts::kPart * SegmentParts::kPart; const auto part = times.part_from(begin)) {
      Nanoseconds busy = 0;
      for (EventIndex event = begin; event < part->end; ++event) busy += memory.duration(event);
      const bool ends = part->end == memory.size() || memory.start(part->end) >= part->until;
      wrong += part->start != memory.start(begin) || part->busy != busy || part->until < memory.end(part->end - 1) || !ends;
      wrong += part->end != std::min(memory.size(), begin + SegmentParts::kPart);
    }
    for (EventIndex event = first > 0 ? first - 1 : 0; event < last; ++event)
      wrong += times.end(event) != memory.end(event) || times.start(event) != memory.start(event) || times.duration(event) != memory.duration(event);
  }
  return wrong;
}

// The number of answers that differ from those of a lane in memory.
int wrong_answers(const Lane& memory, const LaneInParts& parts, std::mt19937& random, int questions) {
  int wrong = 0;
  const TimeRange extent = memory.extent();
  const auto some_time = [&] {
    const auto event = static_cast<EventIndex>(random() % memory.size());
    switch (random() % 4) {
      case 0:
        return memory.start(event);
      case 1:
        return memory.end(event);
      case 2:
        return memory.start(event / SegmentParts::kPart * SegmentParts::kPart) + static_cast<Nanoseconds>(random() % 3) - 1;
      default:
        return extent.begin - 10 + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length() + 20));
    }
  };
  const auto some_index = [&] {
    auto index = static_cast<EventIndex>(random() % (memory.size() + 1));
    if (random() % 2 == 0) index = index / SegmentParts::kPart * SegmentParts::kPart;
    return index;
  };
  for (int i = 0; i < questions; ++i) {
    const auto event = static_cast<EventIndex>(random() % memory.size());
    wrong += memory.start(event) != parts.start(event) || memory.duration(event) != parts.duration(event) || memory.end(event) != parts.end(event) ||
             memory.name(event) != parts.name(event) || memory.detail(event) != parts.detail(event);
    const Nanoseconds t = some_time();
    wrong += memory.lower_bound(t) != parts.lower_bound(t) || memory.busy_before(t) != parts.busy_before(t, parts.lower_bound(t));
    EventIndex first = some_index(), last = some_index();
    if (first > last) std::swap(first, last);
    wrong += !are_same(memory.summarize(first, last), parts.summarize(first, last));
  }
  return wrong;
}

int wrong_answers(const Trace& memory, const Trace& file, int questions) {
  std::mt19937 random(3);
  int wrong = 0;
  for (LaneId id = 0; id < memory.lanes().size(); ++id) {
    const Lane& lane = memory.lane(id);
    if (lane.empty() || file.lane(id).holds_segments()) continue;
    wrong += wrong_answers(lane, LaneInParts(file.lane(id)), random, questions);
    wrong += wrong_times(lane, LaneTimes(file.lane(id)), random, questions / 10);
  }
  return wrong;
}

}  // namespace

TEST_CASE("every lane of every recording answers the same in parts as in memory") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  compacted(recording, folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const MemoryBudget budget(0);  // what is asked for again is not decoded whole
  CHECK(wrong_answers(*memory, *file, 40) == 0);
}

TEST_CASE("long lanes answer the same in parts as in memory, and hardly any segment is decoded whole") {
  const TemporaryFolder folder;
  if (GENERATE(true, false))
    write_long_recording(folder.path() / "log.trace", 300'000);
  else
    write_long_program(folder.path() / "log.trace", 300'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  const fs::path of_version_7 = without_ends_of_parts(folder.path() / "compact.trace", folder.path() / "old.trace");
  std::shared_ptr<const Trace> file;
  const fs::path opened = GENERATE(true, false) ? folder.path() / "compact.trace" : of_version_7;
  std::jthread([&] { file = opened_in_file(opened); }).join();
  const MemoryBudget budget(0);
  const SegmentCache::Use before = SegmentCache::of_process().use();
  CHECK(wrong_answers(*memory, *file, 500) == 0);
  const SegmentCache::Use after = SegmentCache::of_process().use();
  CHECK(after.decoded == before.decoded);
  CHECK(after.times == before.times);
  CHECK(after.in_parts > before.in_parts);
}

TEST_CASE("lanes of several files answer the same in parts as in memory, and hardly any segment is decoded whole") {
  const TemporaryFolder folder;
  write_long_program(folder.path() / "log.trace", 300'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto first = loaded(fs::path(LANESCOPE_TEST_DATA) / "ranks_late0.trace");  // has names and details of its own
  const auto beside = [&](const std::shared_ptr<const Trace>& second) {
    return combine_traces(std::vector<TraceSource>{{first, "a", 0}, {second, "b", -3'000'000}});
  };
  const auto memory = beside(loaded(folder.path() / "compact.trace"));
  std::shared_ptr<const Trace> file;
  std::jthread([&] { file = beside(opened_in_file(folder.path() / "compact.trace")); }).join();
  {  // that has room for all: each segment is read once for both traces
    const MemoryBudget budget(20 * file->event_count());
    std::uint64_t segments = 0;
    for (const Lane& lane : file->lanes()) segments += lane.holds_segments() ? 0 : lane.segment_count();
    const std::uint64_t before = SegmentCache::of_process().use().in_parts;
    CHECK(wrong_answers(*memory, *file, 20) == 0);
    CHECK(SegmentCache::of_process().use().in_parts > before);
    CHECK(SegmentCache::of_process().use().in_parts <= before + segments);
  }
  const MemoryBudget budget(0);
  const SegmentCache::Use before = SegmentCache::of_process().use();
  CHECK(wrong_answers(*memory, *file, 200) == 0);
  const SegmentCache::Use after = SegmentCache::of_process().use();
  CHECK(after.decoded == before.decoded);
  CHECK(after.times == before.times);
  CHECK(after.in_parts > before.in_parts);
}

TEST_CASE("who goes through the times of a lane reads each segment once, and takes what the cache has") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 150'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const Lane& lane = file->lane(0);
  REQUIRE(lane.segment_count() == 3);
  const MemoryBudget budget(64 << 20);
  const auto go_through = [&] {
    LaneTimes times(lane);
    Nanoseconds sum = 0;
    for (EventIndex i = 0; i < lane.size(); ++i) sum += times.start(i) ^ times.duration(i) ^ times.end(i);
    return sum;
  };
  Nanoseconds expected = 0;
  for (EventIndex i = 0; i < lane.size(); ++i) expected += memory->lane(0).start(i) ^ memory->lane(0).duration(i) ^ memory->lane(0).end(i);
  const SegmentCache::Use before = SegmentCache::of_process().use();
  CHECK(go_through() == expected);
  CHECK(go_through() == expected);
  CHECK(SegmentCache::of_process().use().in_parts == before.in_parts + 3);
  CHECK(SegmentCache::of_process().use().decoded == before.decoded);
  SegmentCache::of_process().set_budget(0);  // so that nothing stays undecoded
  CHECK(go_through() == expected);
  CHECK(SegmentCache::of_process().use().in_parts == before.in_parts + 6);
  SegmentCache::of_process().set_budget(64 << 20);
  std::jthread([&] { (void)lane.segment(1); }).join();
  CHECK(go_through() == expected);
  CHECK(SegmentCache::of_process().use().in_parts == before.in_parts + 8);
}

TEST_CASE("a segment whose parts are asked for again is read again only if others needed its room, and is decoded whole for nobody") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 300'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  const Lane& expected = memory->lane(0);
  REQUIRE(expected.segment_count() == 5);
  const MemoryBudget budget(64 << 20);
  {
    auto file = opened_in_file(folder.path() / "compact.trace");
    const Lane& lane = file->lane(0);
    const SegmentCache::Use before = SegmentCache::of_process().use();
    const auto reads = [&] { return SegmentCache::of_process().use().in_parts - before.in_parts; };
    const auto look = [&](std::size_t segment) {
      const auto event = static_cast<EventIndex>(segment * LaneSegment::kCapacity + 5'000);
      CHECK(LaneInParts(lane).start(event) == expected.start(event));
      CHECK(LaneTimes(lane).end(event) == expected.end(event));
    };
    for (int times = 0; times < 3; ++times)
      for (std::size_t segment = 0; segment < 4; ++segment) look(segment);
    CHECK(reads() == 4);
    // Each takes a fourth of what all take.
    const std::uint64_t of_four = SegmentCache::of_process().use().used - before.used;
    CHECK(of_four > 4 * LaneSegment::kCapacity);
    SegmentCache::of_process().set_budget(before.used + of_four * 9 / 10);
    CHECK(SegmentCache::of_process().use().used - before.used < of_four * 8 / 10);
    look(3);
    look(2);
    look(1);
    CHECK(reads() == 4);
    look(0);  // which was unused longest
    CHECK(reads() == 5);
    look(1);
    look(2);
    CHECK(reads() == 5);
    look(3);
    CHECK(reads() == 6);
    CHECK(SegmentCache::of_process().use().decoded == before.decoded);
    SegmentCache::of_process().set_budget(64 << 20);
    (void)lane.segment(3);
    CHECK(SegmentCache::of_process().use().decoded == before.decoded + 1);
    look(3);  // from what is decoded
    CHECK(reads() == 6);
  }
  CHECK(SegmentCache::of_process().use().used < 4 * LaneSegment::kCapacity);  // nothing stays of a file that is closed
}

TEST_CASE("parts of a segment that can't be read are what stands for it") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 150'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto file = opened_in_file(folder.path() / "compact.trace");
  const MemoryBudget budget(64 << 20);
  const Lane& lane = file->lane(0);
  const LaneInParts parts(lane);
  (void)parts.start(5'000);
  LaneTimes times(lane);
  (void)times.start(5'000);
  fs::resize_file(folder.path() / "compact.trace", 100);
  CHECK(parts.start(6'000) < parts.start(7'000));  // from the bytes that were read before
  for (const EventIndex event : {70'000u, 100'000u, 149'999u}) {
    CHECK(parts.start(event) == lane.start(event));
    CHECK(parts.duration(event) == lane.duration(event));
    CHECK(parts.name(event) == lane.name(event));
    CHECK(times.start(event) == lane.start(event));
    CHECK(times.end(event) == lane.end(event));
  }
  CHECK(has_substitutes(*file));
  CHECK_FALSE(SegmentCache::of_process().take_problems().empty());
}

TEST_CASE("what a head says of the end of a part and its longest event is not believed once the part is decoded") {
  const TemporaryFolder folder;
  write_long_recording(folder.path() / "log.trace", 150'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto memory = loaded(folder.path() / "compact.trace");
  const int wrong = GENERATE(0, 1, 2);
  with_other_heads(folder.path() / "compact.trace", folder.path() / "wrong.trace", [&](proto::SegmentHead& head) {
    for (int part = 0; part < head.part_rest_size(); ++part) {
      if (wrong == 0) head.set_part_rest(part, head.part_rest(part) / 2);
      if (wrong == 1) head.set_part_longest_at(part, head.part_longest_at(part) ^ 1);
      if (wrong == 2) head.set_part_longest_name(part, 1'000'000);
    }
  });
  std::shared_ptr<const Trace> file;
  std::jthread([&] { file = opened_in_file(folder.path() / "wrong.trace"); }).join();
  const MemoryBudget budget(0);
  const LaneInParts parts(file->lane(0));
  const std::uint64_t before = SegmentCache::of_process().use().decoded;
  for (EventIndex i = 5'000; i < memory->event_count(); i += 9'999) {
    CHECK(parts.name(i) == memory->lane(0).name(i));
    CHECK(parts.start(i) == memory->lane(0).start(i));
    CHECK(parts.duration(i) == memory->lane(0).duration(i));
  }
  CHECK(SegmentCache::of_process().use().decoded > before);  // whole, because its parts are not what was said of them
  CHECK(SegmentCache::of_process().take_problems().empty());
}

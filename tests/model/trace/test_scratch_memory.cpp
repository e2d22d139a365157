#include "model/trace/segments/scratch_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "model/trace/segments/demanded_segments.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/small_files.h"

using namespace lanescope;
namespace fs = std::filesystem;

namespace {

class Budget {
 public:
  explicit Budget(std::uint64_t bytes) { SegmentCache::of_process().set_budget(bytes); }
  ~Budget() { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); }
};

// Sets an environment variable for the lifetime of the object.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TrackKey stream(std::uint32_t number) {
  TrackKey key{TrackKind::kKernels, 0};
  key.gpu = 0;
  key.stream = number;
  return key;
}

TrackKey ranges() { return {TrackKind::kNvtxRanges, 0}; }

void require_same(const Lane& lane, const Lane& expected, std::mt19937& random) {
  REQUIRE(lane.size() == expected.size());
  for (EventIndex i = 0; i < lane.size(); ++i)
    if (lane.event(i) != expected.event(i)) REQUIRE(lane.event(i) == expected.event(i));
  REQUIRE(lane.extent() == expected.extent());
  REQUIRE(lane.common_prefix(expected) == lane.size());
  if (lane.empty()) return;
  for (int i = 0; i < 200; ++i) {
    const TimeRange extent = lane.extent();
    const Nanoseconds t = extent.begin - 10 + static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(extent.length() + 20));
    REQUIRE(lane.lower_bound(t) == expected.lower_bound(t));
    REQUIRE(lane.at(t) == expected.at(t));
    REQUIRE(lane.busy_before(t) == expected.busy_before(t));
    const EventIndex first = random() % lane.size(), last = first + random() % (lane.size() - first);
    const LaneSummary own = lane.summarize(first, last), other = expected.summarize(first, last);
    REQUIRE((own.count == other.count && own.dominant == other.dominant && own.weight == other.weight && own.longest == other.longest));
    const std::uint32_t correlation = lane.correlation(first);
    REQUIRE(lane.find_correlation(correlation) == expected.find_correlation(correlation));
  }
}

// A recording that comes in chunks, some of them late: kernels of two streams, and nested ranges.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {}

  template <typename Add>
  void run_on(Add add) {
    std::vector<Event> kernels, others, nested;
    std::vector<std::uint32_t> depths;
    for (int i = 0; i < 9'000; ++i) {
      const auto id = static_cast<std::uint32_t>(++count_);
      now_ += static_cast<Nanoseconds>(200 + random_() % 800);
      const Event event{now_, static_cast<Nanoseconds>(random_() % 900), static_cast<NameId>(1 + random_() % 40), id, static_cast<DetailId>(random_() % 5)};
      (random_() % 3 == 0 ? others : kernels).push_back(event);
      nested.push_back({now_, 100, 7, id, 0});
      depths.push_back(static_cast<std::uint32_t>(random_() % 2));
    }
    // Parts of a chunk come later, up to a long time: a buffer was withheld.
    if (random_() % 4 == 0) std::swap(kernels, withheld_);
    if (random_() % 8 == 0) std::shuffle(others.begin(), others.end(), random_);
    if (!kernels.empty()) add(stream(1), kernels, std::vector<std::uint32_t>());
    add(stream(2), others, std::vector<std::uint32_t>());
    add(ranges(), nested, depths);
  }

 private:
  std::mt19937 random_;
  Nanoseconds now_ = 0;
  std::uint64_t count_ = 0;
  std::vector<Event> withheld_;
};

ScratchMemory::Use used() { return ScratchMemory::of_process().use(); }

std::shared_ptr<const Trace> recording_of(std::uint32_t events, TraceBuilder& builder, Nanoseconds from = 0) {
  std::vector<Event> chunk;
  for (std::uint32_t i = 0; i < events; ++i) chunk.push_back({from + i * Nanoseconds{1'000}, 1 + i % 700, 1 + i % 90, i, i % 300});
  builder.process_of_instance(1);
  builder.add(stream(1), std::move(chunk));
  return builder.snapshot();
}

}  // namespace

TEST_CASE("a recording beyond its budget answers at each snapshot as one in memory does, whatever comes late") {
  const Budget budget(2 << 20);
  const auto seed = GENERATE(range(1u, 4u));
  const auto work = seed % 2 == 0 ? TraceBuilder::LaneWork::kWhereAdded : TraceBuilder::LaneWork::kOnAnotherThread;
  std::mt19937 random(seed);
  Program program(seed);
  TraceBuilder in_memory(work), spilling(work, EventMemory::kBudget);
  for (TraceBuilder* builder : {&in_memory, &spilling}) builder->process_of_instance(1);
  std::vector<std::pair<std::shared_ptr<const Trace>, std::shared_ptr<const Trace>>> snapshots;
  for (int chunk = 0; chunk < 42; ++chunk) {
    program.run_on([&](const TrackKey& key, const std::vector<Event>& events, const std::vector<std::uint32_t>& depths) {
      in_memory.add(key, events, depths);
      spilling.add(key, events, depths);
    });
    if (chunk % 6 != 5) continue;
    snapshots.emplace_back(spilling.snapshot(), in_memory.snapshot());
    if (chunk % 12 == 5) ScratchMemory::of_process().settle();
    const auto& [trace, expected] = snapshots.back();
    REQUIRE(trace->lanes().size() == expected->lanes().size());
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane) require_same(trace->lane(lane), expected->lane(lane), random);
  }
  ScratchMemory::of_process().settle();
  CHECK(used().in_memory <= 2 << 20);
  CHECK(used().in_file > 0);
  // Snapshots from before late events are unchanged.
  for (const auto& [trace, expected] : snapshots)
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane) require_same(trace->lane(lane), expected->lane(lane), random);
  const Trace& last = *snapshots.back().first;
  CHECK(holds_events(last));
  CHECK_FALSE(has_memory_for_events(last));
  CHECK(has_memory_for_events(*snapshots.back().second));
  CHECK(last.memory_bytes() < snapshots.back().second->memory_bytes() / 3 * 2);
}

TEST_CASE("who reads segments while they go to the file finds what is in them") {
  const Budget budget(1 << 20);
  TraceBuilder builder(TraceBuilder::LaneWork::kWhereAdded, EventMemory::kBudget);
  std::atomic<bool> ends = false;
  std::atomic<std::uint64_t> wrong = 0, passes = 0;
  std::atomic<const Lane*> shown = nullptr;
  std::vector<std::jthread> readers;
  std::vector<std::shared_ptr<const Trace>> kept;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      while (!ends) {
        const Lane* const lane = shown;
        for (EventIndex event = 0; lane != nullptr && event < lane->size(); event += 97)
          if (lane->start(event) != event * Nanoseconds{1'000} || lane->name(event) != 1 + event % 90) ++wrong;
        ++passes;
      }
    });
  builder.process_of_instance(1);
  for (std::uint32_t chunk = 0; chunk < 24; ++chunk) {
    std::vector<Event> events;
    for (std::uint32_t i = chunk * 66'000; i < (chunk + 1) * 66'000; ++i) events.push_back({i * Nanoseconds{1'000}, 1 + i % 700, 1 + i % 90, i, i % 300});
    builder.add(stream(1), std::move(events));
    kept.push_back(builder.snapshot());
    shown = &kept.back()->lane(0);
  }
  ScratchMemory::of_process().settle();
  const std::uint64_t until = passes + 4;
  while (passes < until) std::this_thread::yield();
  ends = true;
  readers.clear();
  CHECK(wrong == 0);
  CHECK(kept.back()->lane(0).is_spilled());
}

TEST_CASE("a recording that fits into the budget goes to no file, and nothing is left of one that did not") {
  const std::uint64_t written = used().written;
  {
    const Budget budget(64 << 20);
    TraceBuilder builder(TraceBuilder::LaneWork::kWhereAdded, EventMemory::kBudget);
    const auto trace = recording_of(2'000'000, builder);
    ScratchMemory::of_process().settle();
    CHECK(used().written == written);
    CHECK(used().in_memory > 20 << 20);
    CHECK(has_memory_for_events(*trace));
    SegmentCache::of_process().set_budget(8 << 20);
    ScratchMemory::of_process().settle();
    CHECK(used().written > written);
    CHECK(used().in_memory <= 8 << 20);
    CHECK_FALSE(has_memory_for_events(*trace));
  }
  CHECK(used().in_memory == 0);
  CHECK(used().in_file == 0);
}

TEST_CASE("where the temporary file can't be written, a recording stays in memory, says so once, and goes on to the file when it can") {
  const Budget budget(1 << 20);
  const std::size_t told = SegmentCache::of_process().problems().size();
  TraceBuilder builder(TraceBuilder::LaneWork::kWhereAdded, EventMemory::kBudget), other;
  const auto expected = recording_of(1'000'000, other);
  std::string sentence;
  bool is_tried_again = true;
  SECTION("as there is no such folder") {
    const Environment folder("TMPDIR", "/nowhere/at/all");
    (void)recording_of(1'000'000, builder);
    ScratchMemory::of_process().settle();
    sentence = "A temporary file can't be made in /nowhere/at/all";
  }
  SECTION("as the folder is memory") {
    if (!fs::exists("/dev/shm")) return;
    const Environment folder("TMPDIR", "/dev/shm");
    (void)recording_of(1'000'000, builder);
    ScratchMemory::of_process().settle();
    is_tried_again = false;  // trying again in one section is enough
    sentence = "Temporary files in /dev/shm take memory, not room on a disk.";
  }
  SECTION("as it is full after some") {
    const test::SmallFiles small(5 << 20);
    (void)recording_of(1'000'000, builder);
    ScratchMemory::of_process().settle();
    is_tried_again = false;
    sentence = "can't be written: File too large.";
  }
  CHECK(used().in_file <= 5 << 20);
  CHECK(used().in_memory + used().in_file > 13 << 20);
  const auto problems = SegmentCache::of_process().problems();
  REQUIRE(problems.size() == told + 1);
  CHECK(problems.back().find(sentence) != std::string::npos);
  std::mt19937 random(1);
  require_same(builder.snapshot()->lane(0), expected->lane(0), random);
  if (!is_tried_again) return;
  // After 64 MiB it is tried again.
  const auto whole = recording_of(5'000'000, builder, 1'000'000 * Nanoseconds{1'000});
  ScratchMemory::of_process().settle();
  CHECK(used().in_file > 60 << 20);
  CHECK(used().in_memory <= 1 << 20);
  CHECK(SegmentCache::of_process().problems().size() == told + 1);
  CHECK(whole->lane(0).size() == 6'000'000);
  CHECK(whole->lane(0).common_prefix(expected->lane(0)) == 1'000'000);
}

TEST_CASE("late events give back the room in the file that what they replace took") {
  const Budget budget(1 << 20);
  TraceBuilder builder(TraceBuilder::LaneWork::kWhereAdded, EventMemory::kBudget);
  (void)recording_of(1'000'000, builder);
  ScratchMemory::of_process().settle();
  const std::uint64_t before = used().in_file;
  for (std::uint32_t late = 0; late < 3; ++late) {
    builder.add(stream(1), {{500 + late * Nanoseconds{1'000}, 1, 1, 5'000'000 + late, 0}});
    (void)builder.snapshot();
  }
  ScratchMemory::of_process().settle();
  CHECK(builder.snapshot()->lanes().size() >= 1);
  CHECK(used().in_file < before + (4 << 20));
}

TEST_CASE("a temporary file that can't be read back gives zeros and a sentence, and ends nothing") {
  const Budget budget(1 << 20);
  TraceBuilder builder(TraceBuilder::LaneWork::kWhereAdded, EventMemory::kBudget);
  const auto trace = recording_of(1'000'000, builder);
  ScratchMemory::of_process().settle();
  REQUIRE(trace->lane(0).is_spilled());
  // The unnamed file that this process has open loses all its contents.
  int cut = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink(entry.path(), error).string();
    if (target.find("(deleted)") == std::string::npos || !target.starts_with(fs::path(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/var/tmp").string()))
      continue;
    const int descriptor = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) continue;
    cut += ftruncate(descriptor, 0) == 0 ? 1 : 0;
    close(descriptor);
  }
  REQUIRE(cut == 1);
  const Lane& lane = trace->lane(0);
  std::uint64_t without_name = 0;
  for (EventIndex i = 0; i < lane.size(); ++i) without_name += lane.name(i) == 0 || lane.duration(i) == 0 ? 1 : 0;
  CHECK(without_name > 0);
  (void)lane.summarize(0, lane.size());
  (void)lane.busy({0, lane.size() * Nanoseconds{1'000}});
  const auto is_told = [] {
    const auto problems = SegmentCache::of_process().problems();
    return std::any_of(problems.begin(), problems.end(), [](const std::string& problem) { return problem.find("can't be read back") != std::string::npos; });
  };
  for (int i = 0; i < 200 && !is_told(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(is_told());
}

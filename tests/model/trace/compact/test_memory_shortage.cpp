// How much memory traces take while they are built. If memory runs out while segments are decoded, the process does not end and no thread waits forever.
//
// A program of its own: it counts allocations and makes them fail.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "long_recording.h"
#include "model/trace/combining/combine.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/trace_builder.h"
#include "recordings.h"

namespace {

std::atomic<long> allocations{0};
std::atomic<long> fails_from{-1}, fails_to{-1};  // numbers of the allocations that fail; none if below 0

std::atomic<std::size_t> live_bytes{0}, most_bytes{0};  // allocated and not yet freed
std::atomic<std::size_t> all_bytes{0};                  // allocated in total

bool fails() noexcept {
  if (fails_from.load(std::memory_order_relaxed) < 0) return false;
  const long number = ++allocations;
  return number >= fails_from && number < fails_to;
}

// Starts to count here, and makes `count` allocations fail from number `first` on.
struct Shortage {
  Shortage(long first, long count) {
    allocations = 0;
    fails_to = first + count;
    fails_from = first;
  }
  ~Shortage() { fails_from = -1; }
};

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t bytes_taken = malloc_usable_size(memory);
  all_bytes += bytes_taken;
  const std::size_t now = live_bytes += bytes_taken;
  for (std::size_t most = most_bytes; now > most && !most_bytes.compare_exchange_weak(most, now);) continue;
  return memory;
}
void operator delete(void* memory) noexcept {
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

using namespace lanescope;
using namespace lanescope::test;

namespace {

constexpr std::uint32_t kEvents = 70'000;  // two segments

struct Sums {
  Nanoseconds starts = 0;
  Nanoseconds durations = 0;
  std::uint64_t named = 0;
  bool operator==(const Sums&) const = default;
};

// The sums of all events of a lane, as each of several threads reads them, every other thread from the end. Allocations start to fail when all threads run. The
// threads are new, so none has a segment yet.
std::vector<Sums> read_by(unsigned threads, const Lane& lane, long first, long count) {
  std::vector<Sums> sums(threads);
  std::vector<std::thread> readers;
  std::atomic<bool> go{false};
  for (unsigned number = 0; number < threads; ++number)
    readers.emplace_back([&, number] {
      go.wait(false);
      for (EventIndex i = 0; i < kEvents; ++i) {
        const EventIndex event = number % 2 == 0 ? i : kEvents - 1 - i;
        sums[number].starts += lane.start(event);
        sums[number].durations += lane.duration(event);
        sums[number].named += lane.name(event) != 0 ? 1 : 0;
      }
    });
  const Shortage shortage(first, count);
  go = true;
  go.notify_all();
  for (std::thread& reader : readers) reader.join();
  return sums;
}

// A trace whose events are read from the file, with too little memory for a whole segment.
std::shared_ptr<const Trace> opened_in_file(const std::filesystem::path& folder) {
  write_long_recording(folder / "log.trace", kEvents);
  compacted(folder / "log.trace", folder / "compact.trace");
  SegmentCache::of_process().set_budget(256 << 10);
  const auto opened = load_trace(folder / "compact.trace", {}, EventPlace::kInFile);
  if (!opened) FAIL(opened.error().text);
  return *opened;
}

}  // namespace

TEST_CASE("events whose chunks come in falling order are put in place in little more memory than they take") {
  constexpr std::size_t kChunks = 40, kRows = 65'536;
  TraceBuilder builder;
  TrackKey key{TrackKind::kKernels, builder.process_of_instance(1)};
  const std::size_t before = live_bytes;
  most_bytes = before;
  for (std::size_t chunk = kChunks; chunk > 0; --chunk) {
    std::vector<Event> events;
    events.reserve(kRows);
    for (std::size_t row = 0; row < kRows; ++row) events.push_back({static_cast<Nanoseconds>((chunk * kRows + row) * 4), 2, 1, 0, 0});
    builder.add(key, std::move(events));
  }
  const auto trace = builder.snapshot();
  REQUIRE(trace->lanes().size() == 1);
  REQUIRE(trace->lane(0).size() == kChunks * kRows);
  CHECK(trace->lane(0).lower_bound(trace->lane(0).start(kRows)) == kRows);
  // A lane takes 24 bytes for each event, and an event that waits for its place takes 32.
  CHECK(most_bytes - before < 45 * kChunks * kRows);
}

TEST_CASE("totals of memory that is used take little beside the events that they are made of") {
  constexpr std::size_t kEvents = 2'600'000;
  TraceBuilder builder;
  const TrackKey key{TrackKind::kMemoryUsage, builder.process_of_instance(1)};
  const DetailId allocation = builder.intern(MemoryUsageDetail{.operation = MemoryUsageOperation::kAllocation, .bytes = 4096});
  for (std::size_t done = 0; done < kEvents; done += 65'000) {
    std::vector<Event> events;
    for (std::uint32_t i = 0; i < 65'000; ++i) events.push_back({1'000, 0, 0, i, allocation});  // all at once
    builder.add(key, std::move(events));
  }
  const std::size_t before = live_bytes;
  most_bytes = before;
  const auto trace = builder.snapshot();
  REQUIRE(trace->counters().size() == 1);
  // Each event has a stand-in of 8 bytes while events of one time are sorted; a copy of all events took 77.
  CHECK(most_bytes - before < 56 * kEvents);
}

TEST_CASE("what combining copies of each trace does not grow with the traces before it") {
  // One rank with everything that a trace keeps in tables: sampled code, code of kernels and its sources, counters of kernels.
  constexpr std::uint32_t kPlaces = 1'000;
  TraceBuilder builder;
  const TrackKey key{TrackKind::kKernels, builder.process_of_instance(1)};
  builder.add(key, {{1'000, 10, builder.intern("kernel"), 1, 0}});
  for (std::uint32_t i = 0; i < kPlaces; ++i) {
    const std::string number = std::to_string(i);
    const CodeLocationId location = builder.code_location({CodeKind::kNative, builder.intern("program"), 0, 16 * (i + std::uint64_t{1})},
                                                          {builder.intern("function_with_a_long_name_" + number), builder.intern("file.cpp"), i});
    (void)builder.call_node({0, location});
    builder.add(SourceText{"/a/long/path/of/a/source/file_" + number + ".cu", "text"});
    (void)builder.gpu_function({key.process, i, 1, builder.intern("kernel " + number), 0});
    (void)builder.kernel_metric("metric__with_a_long_name_" + number + ".avg");
    builder.set_stream({key.process, 1, i, 0, 0, "stream"});
  }
  const auto rank = builder.snapshot();
  const auto cost = [&](std::size_t ranks) {
    std::vector<TraceSource> sources;
    for (std::size_t i = 0; i < ranks; ++i) sources.push_back({rank, "rank", static_cast<Nanoseconds>(i)});
    const std::size_t before = all_bytes;
    const auto trace = combine_traces(sources);
    const std::size_t bytes = all_bytes - before;
    CHECK(trace->call_stacks().location_count() == 1 + ranks * kPlaces);
    CHECK(trace->name(trace->call_stacks().functions(static_cast<CodeLocationId>(ranks * kPlaces)).front().function) == "function_with_a_long_name_999");
    CHECK(trace->kernel_records().functions.size() == ranks * kPlaces);
    CHECK(trace->kernel_records().metrics.size() == kPlaces);
    CHECK(trace->kernel_records().sources.size() == kPlaces);
    CHECK(trace->streams().size() == ranks * kPlaces);
    return static_cast<double>(bytes);
  };
  // The cost grows along a straight line: the first trace costs more than each further one.
  const double few = cost(8), many = cost(64);
  INFO(few << " and " << many << " bytes");
  CHECK(many < 8.5 * few);
}

TEST_CASE("an allocation that fails while segments are decoded changes nothing") {
  const TemporaryFolder folder;
  const auto trace = opened_in_file(folder.path());
  const Lane& lane = trace->lane(0);
  REQUIRE_FALSE(lane.holds_segments());
  const std::vector<Sums> whole = read_by(1, lane, 0, 0);
  CHECK(whole.front().named == kEvents);
  const long all = allocations;
  REQUIRE(all > 20);
  for (long number = 1; number <= all; ++number) REQUIRE((read_by(1, lane, number, 1) == whole));
  for (long number = 1; number <= 2 * all; number += 5)
    for (const Sums& sums : read_by(4, lane, number, 1)) REQUIRE((sums == whole.front()));
  CHECK(SegmentCache::of_process().problems().empty());
}

TEST_CASE("where memory lacks for longer, events stand without names, and the cache says so") {
  const TemporaryFolder folder;
  const auto trace = opened_in_file(folder.path());
  const Lane& lane = trace->lane(0);
  SegmentCache& cache = SegmentCache::of_process();
  for (long count = 1; cache.problems().empty() && count < 10; ++count) (void)read_by(1, lane, 1, count);
  REQUIRE(cache.problems().size() == 1);
  CHECK(cache.problems().front().find("not enough memory") != std::string::npos);
  CHECK(read_by(1, lane, 0, 0).front().named == kEvents);  // as soon as there is memory again
}

// Counters of allocated memory, against sums made by hand.
#include "model/trace/trace_builder.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

struct Usage {
  Nanoseconds time;
  MemoryUsageDetail detail;
};

MemoryUsageDetail usage(MemoryUsageOperation operation, MemoryKind kind, std::uint64_t address, std::uint64_t bytes) {
  MemoryUsageDetail detail;
  detail.operation = operation;
  detail.memory_kind = kind;
  detail.address = address;
  detail.bytes = bytes;
  return detail;
}

std::shared_ptr<const Trace> traced(const std::vector<Usage>& events) {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kMemoryUsage, process};
  key.gpu = builder.gpu_of_device(process, 0);
  for (const Usage& event : events)
    builder.add(key, {{event.time, 0, builder.intern(memory_usage_name(event.detail.operation)), 0, builder.intern(event.detail)}});
  return builder.snapshot();
}

std::optional<std::int64_t> value_at(const Trace& trace, std::string_view counter, Nanoseconds time) {
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    if (trace.counters()[id].name != counter) continue;
    const auto sample = trace.counter_series(id).at(time);
    return sample ? std::optional(sample->value) : std::nullopt;
  }
  return std::nullopt;
}

constexpr auto kAllocation = MemoryUsageOperation::kAllocation;
constexpr auto kRelease = MemoryUsageOperation::kRelease;
constexpr auto kDevice = MemoryKind::kDevice;
constexpr auto kPinned = MemoryKind::kPinned;

}  // namespace

TEST_CASE("what is allocated adds up, by kind of memory, and a release takes away what its allocation brought") {
  const auto trace = traced({{100, usage(kAllocation, kDevice, 0x1000, 64)},
                             {200, usage(kAllocation, kPinned, 0x2000, 7)},
                             {300, usage(kAllocation, kDevice, 0x3000, 100)},
                             {400, usage(kRelease, kDevice, 0x1000, 0)},        // without a size
                             {500, usage(kRelease, kDevice, 0x9000, 1'000)}});  // allocated before the recording started
  CHECK_FALSE(value_at(*trace, "Device memory", 50));
  CHECK(value_at(*trace, "Device memory", 100) == 64);
  CHECK(value_at(*trace, "Device memory", 299) == 64);
  CHECK(value_at(*trace, "Device memory", 300) == 164);
  CHECK(value_at(*trace, "Device memory", 499) == 100);
  CHECK(value_at(*trace, "Device memory", 500) == std::nullopt);  // the trace ends there
  CHECK(value_at(*trace, "Pinned memory", 450) == 7);
  for (const Counter& counter : trace->counters()) {
    CHECK(counter.unit == "B");
    CHECK(counter.process == 0);
    CHECK(counter.gpu == 0);
  }
}

TEST_CASE("an address that is allocated again without a release counts once") {
  const auto trace =
      traced({{100, usage(kAllocation, kDevice, 0x1000, 64)}, {200, usage(kAllocation, kDevice, 0x1000, 10)}, {300, usage(kAllocation, kDevice, 0x2000, 1)}});
  CHECK(value_at(*trace, "Device memory", 200) == 10);
  CHECK(value_at(*trace, "Device memory", 300) == 11);
}

TEST_CASE("pools are summed by what they hold and what of it is in use") {
  const auto of_pool = [](MemoryUsageOperation operation, std::uint64_t pool, std::uint64_t size, std::uint64_t utilized) {
    MemoryUsageDetail detail = usage(operation, kDevice, 0x1000 + utilized, 5);
    detail.pool = pool;
    detail.pool_size = size;
    detail.pool_utilized = utilized;
    return detail;
  };
  const auto trace = traced({{100, of_pool(kAllocation, 0xa, 1'000, 300)},
                             {200, of_pool(kAllocation, 0xb, 500, 500)},
                             {300, of_pool(kRelease, 0xa, 1'000, 100)},
                             {400, of_pool(MemoryUsageOperation::kPoolDestruction, 0xb, 500, 0)},
                             {500, of_pool(kAllocation, 0xa, 1'000, 101)}});
  CHECK(value_at(*trace, "Memory pools", 100) == 1'000);
  CHECK(value_at(*trace, "Memory pools", 200) == 1'500);
  CHECK(value_at(*trace, "Memory pools in use", 250) == 800);
  CHECK(value_at(*trace, "Memory pools in use", 350) == 600);
  CHECK(value_at(*trace, "Memory pools", 450) == 1'000);
  CHECK(value_at(*trace, "Memory pools in use", 450) == 100);
}

TEST_CASE("a synchronization knows the recording of the event that it waited for") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kCudaEvents, process};
  key.gpu = builder.gpu_of_device(process, 0);
  key.context = 1;
  key.stream = 7;
  builder.add(key, {{100, 0, builder.intern("CUDA event 3"), 1, builder.intern(CudaEventDetail{3, 11})},
                    {200, 0, builder.intern("CUDA event 3"), 2, builder.intern(CudaEventDetail{3, 12})}});
  key.kind = TrackKind::kSynchronizations;
  key.stream = 13;
  builder.add(key, {{150, 60, builder.intern("wait"), 3, builder.intern(SynchronizationDetail{2, 3, 12})},
                    {300, 10, builder.intern("wait"), 4, builder.intern(SynchronizationDetail{2, 3, 99})},
                    {400, 10, builder.intern("wait"), 5, builder.intern(SynchronizationDetail{3, 0, 0})}});
  const auto trace = builder.snapshot();
  const LaneId waits = trace->tracks()[1].lanes[0];
  const auto awaited = trace->awaited_event({waits, 0});
  REQUIRE(awaited);
  CHECK(trace->event(*awaited).start == 200);
  CHECK_FALSE(trace->awaited_event({waits, 1}));
  CHECK_FALSE(trace->awaited_event({waits, 2}));
}

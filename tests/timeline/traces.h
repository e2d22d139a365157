// Small traces with known content.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model/trace/trace_builder.h"

namespace lanescope::test {

// One process with one thread and one GPU; tests add what they need.
class SmallTrace {
 public:
  explicit SmallTrace(EventMemory memory = EventMemory::kAll) : builder(TraceBuilder::LaneWork::kWhereAdded, memory) {
    process = builder.process_of_instance(1);
    builder.process(process).pid = 4711;
    builder.process(process).name = "python";
    thread = builder.thread(process, 4711);
    builder.name_thread(thread, "main");
    Gpu description;
    description.name = "NVIDIA H200";
    description.multiprocessor_count = 132;
    description.max_warps_per_multiprocessor = 64;
    description.max_blocks_per_multiprocessor = 32;
    description.max_registers_per_multiprocessor = 65536;
    description.max_shared_memory_per_multiprocessor = 233472;
    description.compute_major = 9;
    builder.set_device(process, 0, description);
    gpu = builder.gpu_of_device(process, 0);
  }

  [[nodiscard]] TrackKey on_gpu(TrackKind kind, std::uint32_t stream = 7) const {
    return {.kind = kind, .process = process, .gpu = gpu, .context = 1, .stream = stream};
  }
  [[nodiscard]] TrackKey on_thread(TrackKind kind, std::uint32_t domain = 0) const {
    return {.kind = kind, .process = process, .thread = thread, .domain = domain};
  }
  Event event(Nanoseconds start, Nanoseconds end, const std::string& name, std::uint32_t correlation = 0, DetailId detail = 0) {
    return {.start = start, .duration = end - start, .name = builder.intern(name), .correlation = correlation, .detail = detail};
  }
  Event copy(Nanoseconds start, Nanoseconds end, CopyKind kind, std::uint64_t bytes, std::uint32_t correlation = 0) {
    MemoryDetail detail;
    detail.copy_kind = kind;
    detail.bytes = bytes;
    detail.source_memory = MemoryKind::kPageable;
    detail.destination_memory = MemoryKind::kDevice;
    return event(start, end, std::string(memory_operation_name(detail)), correlation, builder.intern(detail));
  }

  TraceBuilder builder;
  ProcessId process = kNone;
  ThreadId thread = kNone;
  GpuId gpu = kNone;
};

// `count` events that don't overlap, of a few names, with gaps, within about [0, span).
inline std::vector<Event> random_events(SmallTrace& trace, std::mt19937& random, std::size_t count, Nanoseconds span) {
  const Nanoseconds room = std::max<Nanoseconds>(2, span / static_cast<Nanoseconds>(count));
  std::vector<Event> events;
  Nanoseconds time = 0;
  for (std::size_t index = 0; index < count; ++index) {
    time += static_cast<Nanoseconds>(random() % static_cast<unsigned>(room));
    const auto duration = static_cast<Nanoseconds>(random() % 5 == 0 ? 0 : random() % static_cast<unsigned>(room));
    events.push_back(trace.event(time, time + duration, "kernel " + std::to_string(random() % 4)));
    time += duration;
  }
  return events;
}

}  // namespace lanescope::test

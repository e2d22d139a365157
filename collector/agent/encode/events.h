// Events as the encoder takes them: CUPTI's records, independent of CUPTI's version. Times are CLOCK_MONOTONIC ns. Ids of strings, shapes and queues are those
// of the encoder's dictionaries.
#pragma once

#include <cstdint>

namespace lanescope::agent::encode {

struct Interval {
  std::int64_t start = 0;
  std::uint64_t duration = 0;
};

// Members of the dictionaries have no padding, so equal values have equal bytes.
struct LaunchShape {
  std::uint64_t local_memory_total = 0;
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_memory = 0;
  std::uint32_t dynamic_shared_memory = 0;
  std::uint32_t local_memory_per_thread = 0;
  std::uint32_t shared_memory_executed = 0;
  std::uint32_t launch_type = 0;
  std::uint32_t cluster[3] = {};
  std::uint32_t cache_config = 0;
};

struct Queue {
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
};

struct CopyShape {
  std::uint32_t kind = 0;
  std::uint32_t source_memory = 0;
  std::uint32_t destination_memory = 0;
  std::uint32_t source_device = 0;
  std::uint32_t destination_device = 0;
  std::uint32_t source_context = 0;
  std::uint32_t destination_context = 0;
  std::uint32_t asynchronous = 0;
};

struct GraphPlace {
  std::uint64_t node = 0;
  std::uint32_t graph = 0;
};

enum class Completion { kFinished, kUnfinished };

struct Kernel {
  Interval time;
  std::uint32_t name = 0;
  std::uint32_t queue = 0;
  std::uint32_t correlation = 0;
  std::uint32_t shape = 0;
  GraphPlace graph;
  Completion completion = Completion::kFinished;
};

struct Copy {
  Interval time;
  std::uint64_t bytes = 0;
  std::uint32_t queue = 0;
  std::uint32_t correlation = 0;
  std::uint32_t shape = 0;
  GraphPlace graph;
  std::uint64_t virtual_address = 0;  // of unified memory
  std::uint32_t migration_cause = 0;
};

struct Set {
  Interval time;
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;
  std::uint32_t queue = 0;
  std::uint32_t correlation = 0;
  std::uint32_t memory_kind = 0;
  GraphPlace graph;
};

enum class Api : std::uint32_t { kRuntime = 0, kDriver = 1 };

struct ApiCall {
  Interval time;
  Api api = Api::kRuntime;
  std::uint32_t thread = 0;
  std::uint32_t name = 0;
  std::uint32_t correlation = 0;
  std::uint32_t result = 0;
};

struct Synchronization {
  Interval time;
  std::uint32_t type = 0;
  std::uint32_t queue = 0;
  std::uint32_t event = 0;
  std::uint32_t correlation = 0;
  std::uint64_t event_record = 0;
};

struct CudaEvent {
  Interval time;  // an instant
  std::uint32_t queue = 0;
  std::uint32_t event = 0;
  std::uint64_t record = 0;
  std::uint32_t correlation = 0;
};

// As numbered in trace.proto.
enum class MemoryUsageOperation : std::uint32_t { kAllocation = 1, kRelease = 2, kPoolCreation = 3, kPoolDestruction = 4, kPoolTrim = 5 };

struct MemoryUsage {
  Interval time;  // an instant
  MemoryUsageOperation operation = MemoryUsageOperation::kAllocation;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t memory_kind = 0;
  std::uint32_t queue = 0;
  std::uint32_t correlation = 0;
  std::uint32_t name = 0;
  std::uint64_t pool = 0;
  std::uint64_t pool_size = 0;
  std::uint64_t pool_utilized = 0;
  std::uint64_t pool_release_threshold = 0;
};

struct PageFault {
  Interval time;
  std::uint32_t device = 0;  // 1 + the device that faulted; 0 for the CPU
  std::uint64_t address = 0;
  std::uint64_t count = 1;
  std::uint32_t access = 0;
  std::uint64_t program_counter = 0;
  std::uint32_t function = 0;
  std::uint32_t module = 0;
};

struct Span {
  Interval time;
  std::uint32_t name = 0;
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;
};

struct GraphLaunch {
  Interval time;
  std::uint32_t queue = 0;
  std::uint32_t correlation = 0;
  std::uint32_t graph = 0;
};

}  // namespace lanescope::agent::encode

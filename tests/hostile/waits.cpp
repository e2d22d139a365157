// Hostile files: very many objects that wait for each other.
#include "chunks.h"
#include "kinds.h"
#include "model/trace/measured_calls.h"

namespace lanescope::test {
namespace {

constexpr std::size_t kFew = 8'192;  // rows of a chunk
constexpr std::uint32_t kThread = 5;
enum Call : std::uint32_t { kLaunch = 1, kDeviceWait, kCopy };  // their string ids

// Calls in succession, with correlation ids from `id` on.
proto::EventChunk calls_named(std::int64_t time, Call name, std::int64_t id, std::int64_t apart = 2, std::size_t rows = kFew) {
  proto::EventChunk chunk = chunk_at(time);
  chunk.set_first_string(1);
  for (const char* each : {"cudaLaunchKernel", "cudaDeviceSynchronize", "cudaMemcpy"}) chunk.add_strings(each);
  proto::ApiCalls& calls = calls_in(chunk, rows);
  repeat(*calls.mutable_start_delta(), apart, rows);
  repeat(*calls.mutable_name(), std::uint32_t{name}, rows);
  repeat(*calls.mutable_correlation_delta(), std::int64_t{1}, rows);
  calls.set_correlation_delta(0, id);
  return chunk;
}
proto::EventChunk kernels_of(std::int64_t time, std::int64_t id, std::int64_t apart = 2, std::size_t rows = kFew) {
  proto::EventChunk chunk = chunk_at(time);
  proto::Kernels& kernels = kernels_in(chunk, rows);
  repeat(*kernels.mutable_start_delta(), apart, rows);
  repeat(*kernels.mutable_correlation_delta(), std::int64_t{1}, rows);
  kernels.set_correlation_delta(0, id);
  return chunk;
}
void add_events(FileOfFrames& file, const proto::EventChunk& chunk, std::size_t rows = kFew, std::uint32_t process = kProcess) {
  file.add(proto::FRAME_EVENTS, chunk, process, 0, static_cast<std::uint32_t>(rows));
}
constexpr std::int64_t span_of(std::int64_t apart, std::size_t rows = kFew) { return apart * static_cast<std::int64_t>(rows + 1); }

// Launches in nested ranges that stay open all the time.
void launches_in_deep_ranges(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::size_t kDepth = 500;
  constexpr std::int64_t kApart = 20;
  proto::EventChunk around = chunk_at(0);
  around.set_first_string(2);
  for (std::size_t i = 0; i < kDepth; ++i) around.add_strings("range " + std::to_string(i) + "a");
  proto::NvtxRanges& ranges = ranges_in(around, proto::NVTX_PUSH_POP, kDepth);
  repeat(*ranges.mutable_start_delta(), std::int64_t{1}, kDepth);
  count_up(*ranges.mutable_name(), 2, kDepth);
  count_up(*ranges.mutable_depth(), 0, kDepth);
  for (std::size_t i = 0; i < kDepth; ++i) ranges.set_duration(static_cast<int>(i), 4'000'000'000 - 2 * i);
  add_events(file, around, kDepth);
  std::int64_t id = 1;
  for (std::int64_t time = 1'000; !file.is_full(); time += span_of(kApart), id += static_cast<std::int64_t>(kFew)) {
    add_events(file, calls_named(time, kLaunch, id, kApart));
    add_events(file, kernels_of(time + 5, id, kApart));
  }
}

proto::EventChunk readings_of_counters(std::int64_t time, std::int64_t id) {
  proto::EventChunk overheads = chunk_at(time);
  overheads.set_first_string(4);
  overheads.add_strings(std::string(kReadingOfCounters));
  proto::Spans& spans = *overheads.mutable_overheads();
  repeat(*spans.mutable_thread(), kThread, kFew);
  repeat(*spans.mutable_start_delta(), std::int64_t{2}, kFew);
  repeat(*spans.mutable_duration(), std::uint64_t{1}, kFew);
  repeat(*spans.mutable_name(), 4u, kFew);
  repeat(*spans.mutable_correlation_delta(), std::int64_t{1}, kFew);
  spans.set_correlation_delta(0, id);
  return overheads;
}

// Launches of which each has its time as one in which counters were read, as imports have it (measured_calls.h).
void launches_that_read_counters(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::int64_t id = 1;
  for (std::int64_t time = 0; !file.is_full(); time += span_of(2), id += static_cast<std::int64_t>(kFew)) {
    add_events(file, calls_named(time, kLaunch, id));
    add_events(file, kernels_of(time + 1, id));
    add_events(file, readings_of_counters(time, id));
  }
}

// Processes without GPU work, with slow iterations, beside millions of times in which counters were read.
void slow_iterations_beside_readings(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::uint32_t kProcesses = 20;
  constexpr std::size_t kSteps = 820;
  constexpr std::int64_t kApart = 300'000;
  constexpr std::int64_t kReadings = 1'500'000;
  for (std::uint32_t process = 2; process < 2 + kProcesses; ++process) {
    proto::EventChunk steps = chunk_at(process);
    steps.set_first_string(10);
    steps.add_strings("step 1");
    proto::NvtxRanges& ranges = ranges_in(steps, proto::NVTX_PUSH_POP, kSteps);
    repeat(*ranges.mutable_start_delta(), kApart, kSteps);
    repeat(*ranges.mutable_name(), 10u, kSteps);
    for (std::size_t i = 0; i < kSteps; ++i) ranges.set_duration(static_cast<int>(i), i % 4 == 0 ? 200'000 : 100'000);
    add_events(file, steps, kSteps, process);
  }
  for (std::int64_t id = 1; id < kReadings && !file.is_full(); id += static_cast<std::int64_t>(kFew)) add_events(file, readings_of_counters(2 * id, id));
}

// Waits for the device, while very many streams have work.
void waits_beside_many_streams(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::int64_t kApart = 2'000;
  std::int64_t id = 1;
  for (std::int64_t time = 0; !file.is_full(); time += span_of(kApart)) {
    proto::EventChunk kernels = kernels_of(time, id, kApart);
    kernels.set_first_queue(1);
    for (std::uint32_t stream = 1; stream <= kFew; ++stream) kernels.add_queues()->set_stream(stream);
    count_up(*kernels.mutable_kernels()->mutable_queue(), 1, kFew);
    repeat(*kernels.mutable_kernels()->mutable_duration(), std::uint64_t{10'000'000}, kFew);
    add_events(file, calls_named(time, kLaunch, id, kApart));
    add_events(file, kernels);
    id += static_cast<std::int64_t>(kFew);
    proto::EventChunk waits = calls_named(time + 700, kDeviceWait, id, kApart);
    waits.mutable_api_calls()->set_thread(kThread + 1);
    repeat(*waits.mutable_api_calls()->mutable_duration(), std::uint64_t{1'500}, kFew);
    id += static_cast<std::int64_t>(kFew);
    add_events(file, waits);
  }
}

// Streams that wait for events; all waits are for recordings of one event.
void waits_for_one_event(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::int64_t kApart = 4'000;
  std::int64_t id = 1;
  std::uint64_t record = 1;
  for (std::int64_t time = 0; !file.is_full(); time += span_of(kApart)) {
    const auto with_queues = [&](proto::EventChunk& chunk) {
      chunk.set_first_queue(1);
      for (std::uint32_t stream = 1; stream <= 64; ++stream) chunk.add_queues()->set_stream(stream);
    };
    const auto queue_of = [](std::size_t i) { return 1 + static_cast<std::uint32_t>(i % 64); };
    proto::EventChunk records = chunk_at(time + 5), waits = chunk_at(time + 10), kernels = kernels_of(time + 100, id, kApart);
    for (proto::EventChunk* chunk : {&records, &waits, &kernels}) with_queues(*chunk);
    proto::CudaEvents& recorded = *records.mutable_cuda_events();
    proto::Synchronizations& waiting = *waits.mutable_synchronizations();
    for (std::size_t i = 0; i < kFew; ++i) {
      recorded.add_time_delta(kApart);
      recorded.add_queue(queue_of(i + 1));
      recorded.add_event(1);
      recorded.add_record(record);
      recorded.add_correlation_delta(0);
      waiting.add_start_delta(kApart);
      waiting.add_duration(50);
      waiting.add_type(2);
      waiting.add_queue(queue_of(i));
      waiting.add_event(1);
      waiting.add_event_record(record++);
      waiting.add_correlation_delta(0);
      kernels.mutable_kernels()->set_queue(static_cast<int>(i), queue_of(i));
    }
    add_events(file, calls_named(time, kLaunch, id, kApart));
    for (const proto::EventChunk* chunk : {&records, &waits, &kernels}) add_events(file, *chunk);
    id += static_cast<std::int64_t>(kFew);
  }
}

// All launches come before the first kernel runs.
void launches_far_ahead(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::int64_t kApart = 1'000, kLater = 4'000'000'000;
  std::int64_t id = 1;
  for (std::int64_t time = 0; !file.is_full(); time += span_of(kApart), id += static_cast<std::int64_t>(kFew)) {
    add_events(file, calls_named(time, kLaunch, id, kApart));
    add_events(file, kernels_of(time + kLater, id, kApart));
  }
}

// Processes with very many iterations each, and a launch in each.
void iterations_of_many_ranks(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::uint32_t kRanks = 500;
  constexpr std::size_t kSteps = 64;
  constexpr std::int64_t kApart = 100'000;
  std::int64_t id = 1;
  for (std::int64_t time = 0; !file.is_full(); time += span_of(kApart, kSteps), id += static_cast<std::int64_t>(kSteps))
    for (std::uint32_t rank = 2; rank < 2 + kRanks && !file.is_full(); ++rank) {
      proto::EventChunk steps = chunk_at(time);
      steps.set_first_string(10);
      steps.add_strings("step 1");
      proto::NvtxRanges& ranges = ranges_in(steps, proto::NVTX_PUSH_POP, kSteps);
      repeat(*ranges.mutable_start_delta(), kApart, kSteps);
      repeat(*ranges.mutable_duration(), std::uint64_t{90'000}, kSteps);
      repeat(*ranges.mutable_name(), 10u, kSteps);
      add_events(file, steps, kSteps, rank);
      add_events(file, calls_named(time + 10, kLaunch, id, kApart, kSteps), kSteps, rank);
      add_events(file, kernels_of(time + 50'000, id, kApart, kSteps), kSteps, rank);
    }
}

// Ranges one after the other that are open together on the GPU: each has a kernel soon and one at the end. Their process uses hundreds of GPUs.
void ranges_open_on_many_gpus(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::uint32_t kGpus = 400;
  constexpr std::int64_t kApart = 100, kRanges = 1'000'000, kLater = kApart * kRanges + 1'000'000;
  proto::EventChunk of_gpus = kernels_of(0, 3 * kRanges, 1, kGpus);
  of_gpus.set_first_queue(1);
  for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) of_gpus.add_queues()->set_device(gpu);
  count_up(*of_gpus.mutable_kernels()->mutable_queue(), 1, kGpus);
  add_events(file, of_gpus, kGpus);
  for (std::int64_t range = 0; range < kRanges && !file.is_full(); range += static_cast<std::int64_t>(kFew)) {
    const std::int64_t time = 1'000'000 + kApart * range;
    proto::EventChunk steps = chunk_at(time);
    proto::NvtxRanges& ranges = ranges_in(steps, proto::NVTX_PUSH_POP, kFew);
    steps.set_first_string(10);
    steps.add_strings("step 1");
    repeat(*ranges.mutable_start_delta(), kApart, kFew);
    repeat(*ranges.mutable_duration(), std::uint64_t{90}, kFew);
    repeat(*ranges.mutable_name(), 10u, kFew);
    add_events(file, steps);
    for (const std::int64_t half : {0, 1}) {
      const std::int64_t id = 1 + range + half * kRanges;
      add_events(file, calls_named(time + 10 + 20 * half, kLaunch, id, kApart));
      proto::EventChunk kernels = kernels_of(time + 200 + half * kLater, id, kApart);
      repeat(*kernels.mutable_kernels()->mutable_queue(), static_cast<std::uint32_t>(1 + half), kFew);
      add_events(file, kernels);
    }
  }
}

// Calls with a backtrace each, at the same time on very many threads.
void backtraces_of_many_threads(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t thread = 10; !file.is_full(); ++thread) {
    constexpr std::size_t kCalls = 16;
    proto::EventChunk calls = chunk_at(0), chains = chunk_at(0);
    proto::Spans& spans = *calls.mutable_os_runtime();
    proto::Samples& samples = *chains.mutable_samples();
    calls.set_first_string(1);
    calls.add_strings("futex");
    chains.set_first_string(1);
    chains.add_strings("f");
    chains.set_first_code_location(1);
    chains.add_code_locations()->set_function(1);
    chains.set_first_call_node(1);
    chains.add_call_nodes()->set_location(1);
    samples.set_thread(thread);
    samples.set_origin(proto::SAMPLE_OS_CALL);
    for (std::size_t i = 0; i < kCalls; ++i) {
      spans.add_thread(thread);
      spans.add_start_delta(1'000'000);
      spans.add_duration(900'000);
      spans.add_name(1);
      samples.add_time_delta(1'000'000);
      samples.add_duration(900'000);
      samples.add_call_node(1);
    }
    add_events(file, calls, kCalls);
    add_events(file, chains, kCalls);
  }
}

// Copies, calls that wait for them, and memory that is allocated and never released.
void copies_that_are_waited_for(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::int64_t kApart = 5'000;
  std::int64_t id = 1;
  for (std::int64_t time = 0; !file.is_full(); time += span_of(kApart)) {
    proto::EventChunk calls = calls_named(time, kCopy, id, kApart), copies = chunk_at(time + 100), usage = chunk_at(time + 1);
    repeat(*calls.mutable_api_calls()->mutable_duration(), std::uint64_t{4'000}, kFew);
    copies.set_first_copy_shape(1);
    copies.add_copy_shapes()->set_kind(static_cast<proto::CopyKind>(1));
    proto::Copies& copy = *copies.mutable_copies();
    repeat(*copy.mutable_start_delta(), kApart, kFew);
    repeat(*copy.mutable_duration(), std::uint64_t{3'000}, kFew);
    repeat(*copy.mutable_shape(), 1u, kFew);
    repeat(*copy.mutable_bytes(), std::uint64_t{1} << 12, kFew);
    repeat(*copy.mutable_queue(), 0u, kFew);
    repeat(*copy.mutable_correlation_delta(), std::int64_t{1}, kFew);
    copy.set_correlation_delta(0, id);
    proto::MemoryUsage& memory = *usage.mutable_memory_usage();
    repeat(*memory.mutable_time_delta(), kApart, kFew);
    repeat(*memory.mutable_operation(), 1u, kFew);
    repeat(*memory.mutable_address_delta(), std::int64_t{4'096}, kFew);
    memory.set_address_delta(0, 4'096 * id);
    repeat(*memory.mutable_bytes(), std::uint64_t{4'096}, kFew);
    repeat(*memory.mutable_memory_kind(), 3u, kFew);
    repeat(*memory.mutable_queue(), 0u, kFew);
    repeat(*memory.mutable_correlation_delta(), std::int64_t{0}, kFew);
    for (const proto::EventChunk* chunk : {&calls, &copies, &usage}) add_events(file, *chunk);
    id += static_cast<std::int64_t>(kFew);
  }
}

}  // namespace

std::vector<HostileFile> waits() {
  return {
      {"launches_in_deep_ranges", &launches_in_deep_ranges},
      {"launches_that_read_counters", &launches_that_read_counters},
      {"slow_iterations_beside_readings", &slow_iterations_beside_readings},
      {"waits_beside_many_streams", &waits_beside_many_streams},
      {"waits_for_one_event", &waits_for_one_event},
      {"launches_far_ahead", &launches_far_ahead},
      {"iterations_of_many_ranks", &iterations_of_many_ranks},
      {"ranges_open_on_many_gpus", &ranges_open_on_many_gpus},
      {"backtraces_of_many_threads", &backtraces_of_many_threads},
      {"copies_that_are_waited_for", &copies_that_are_waited_for},
  };
}

}  // namespace lanescope::test

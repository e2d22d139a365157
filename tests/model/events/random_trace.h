// Random traces of two processes with kernels, copies, nested calls and nested ranges.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model/trace/trace_builder.h"

namespace lanescope::test {

class RandomTrace {
 public:
  explicit RandomTrace(unsigned seed) : random_(seed) {}

  std::shared_ptr<const Trace> build() {
    for (std::uint32_t instance = 1; instance <= 2; ++instance) add_process(instance);
    return builder_.snapshot();
  }

 private:
  Nanoseconds between(Nanoseconds low, Nanoseconds high) { return std::uniform_int_distribution<Nanoseconds>(low, high)(random_); }
  NameId name(const std::string& stem) { return builder_.intern(stem + std::to_string(between(0, 4))); }

  // Calls that nest at random: every third has an inner call, which lies within it and may share its start.
  void add_calls(ProcessId process, ThreadId thread, std::vector<Event>& launches) {
    std::vector<Event> calls;
    Nanoseconds time = 0;
    for (std::uint32_t i = 0; i < 40; ++i) {
      time += between(0, 30);
      const Event outer{time, between(3, 20), name("cudaLaunchKernel"), next_correlation_++, 0};
      calls.push_back(outer);
      if (i % 3 == 0) calls.push_back({time + between(0, 1), 1, name("cuLaunchKernel"), outer.correlation, 0});
      launches.push_back(outer);
      time = outer.end();
    }
    builder_.add({.kind = TrackKind::kCudaApi, .process = process, .thread = thread}, calls);
  }

  void add_ranges(ProcessId process, ThreadId thread) {
    std::vector<Event> ranges;
    std::vector<std::uint32_t> depths;
    Nanoseconds time = 0;
    for (int i = 0; i < 12; ++i) {
      time += between(0, 40);
      const Nanoseconds length = between(20, 90);
      ranges.push_back({time, length, name("step_"), 0, 0});
      depths.push_back(0);
      ranges.push_back({time + between(0, 5), between(5, length - 6), name("Forward"), 0, 0});
      depths.push_back(1);
      time += length;
    }
    builder_.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread}, ranges, depths);
  }

  void add_process(std::uint32_t instance) {
    const ProcessId process = builder_.process_of_instance(instance);
    builder_.process(process).pid = 4000 + instance;
    builder_.process(process).name = "python";
    const GpuId gpu = builder_.gpu(Gpu{.name = "NVIDIA H200", .ordinal = 0, .multiprocessor_count = 132, .compute_major = 9});
    const ThreadId thread = builder_.thread(process, 4000 + instance);
    std::vector<Event> launches;
    add_ranges(process, thread);
    add_calls(process, thread, launches);
    for (const std::uint32_t stream : {7u, 13u}) {
      std::vector<Event> kernels, copies;
      for (const Event& launch : launches) {
        if (between(0, 2) == 0) continue;
        const Event work{launch.end() + between(-2, 60), between(0, 25), 0, launch.correlation, 0};
        if (between(0, 3) > 0) {
          KernelDetail detail;
          detail.grid[0] = static_cast<std::uint32_t>(between(1, 8));
          detail.grid[1] = detail.grid[2] = 1;
          detail.block[0] = 128;
          detail.block[1] = detail.block[2] = 1;
          detail.registers_per_thread = static_cast<std::uint32_t>(between(16, 64));
          kernels.push_back({work.start, work.duration, name("gemm"), work.correlation, builder_.intern(detail)});
        } else {
          MemoryDetail detail;
          detail.operation = between(0, 1) == 0 ? MemoryOperation::kCopy : MemoryOperation::kSet;
          detail.copy_kind = CopyKind::kHostToDevice;
          detail.bytes = static_cast<std::uint64_t>(between(1, 1 << 20));
          copies.push_back({work.start, work.duration, name("memory"), work.correlation, builder_.intern(detail)});
        }
      }
      const TrackKey key{.process = process, .gpu = gpu, .context = 1, .stream = stream};
      TrackKey kernel_key = key, memory_key = key;
      kernel_key.kind = TrackKind::kKernels;
      memory_key.kind = TrackKind::kMemory;
      builder_.add(kernel_key, kernels);
      builder_.add(memory_key, copies);
    }
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  std::uint32_t next_correlation_ = 1;
};

inline std::shared_ptr<const Trace> random_trace(unsigned seed) { return RandomTrace(seed).build(); }

}  // namespace lanescope::test

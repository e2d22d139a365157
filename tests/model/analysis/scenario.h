// A trace made by hand: one process, one launching thread, one GPU. The functions use the words of the manual.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/trace/trace_builder.h"

namespace lanescope::test {

class Scenario {
 public:
  explicit Scenario(std::uint32_t pid = 100) : Scenario(std::make_shared<TraceBuilder>(), pid) {}
  // Another process in the same trace.
  Scenario(std::shared_ptr<TraceBuilder> builder, std::uint32_t pid) : builder_(std::move(builder)) {
    process_ = builder_->process_of_instance(pid);
    builder_->process(process_).pid = pid;
    builder_->process(process_).name = "program";
    thread_ = builder_->thread(process_, pid);
    gpu_ = builder_->gpu_of_device(process_, 0);
  }
  [[nodiscard]] std::shared_ptr<TraceBuilder> builder() const { return builder_; }
  [[nodiscard]] ProcessId process() const { return process_; }
  [[nodiscard]] ThreadId thread() const { return thread_; }

  // The same process, but calls and ranges are made by another thread.
  [[nodiscard]] Scenario on_another_thread() const {
    Scenario other = *this;
    other.thread_ = builder_->thread(process_, builder_->process(process_).pid + ++other.threads_);
    other.correlation_ = other.threads_ << 20;
    return other;
  }
  Scenario& on_gpu(std::uint32_t ordinal) {
    gpu_ = builder_->gpu_of_device(process_, ordinal);
    return *this;
  }

  // A call that enqueues nothing.
  void call(const std::string& name, Nanoseconds begin, Nanoseconds end) { add(cpu_key(TrackKind::kCudaApi), {begin, end - begin, id(name), 0, 0}); }
  void os_call(const std::string& name, Nanoseconds begin, Nanoseconds end) { add(cpu_key(TrackKind::kOsRuntime), {begin, end - begin, id(name), 0, 0}); }
  void state(ThreadState state, Nanoseconds begin, Nanoseconds end, std::uint32_t waker = 0) {
    add(cpu_key(TrackKind::kThreadStates),
        {begin, end - begin, id(std::string(thread_state_name(state))), 0, builder_->intern(ThreadStateDetail{.state = state, .waker = waker})});
  }
  void overhead(Nanoseconds begin, Nanoseconds end) { add(cpu_key(TrackKind::kOverhead), {begin, end - begin, id("Buffer flush"), 0, 0}); }
  void range(const std::string& name, Nanoseconds begin, Nanoseconds end, std::uint32_t depth = 0, std::uint32_t domain = 0) {
    TrackKey key = cpu_key(TrackKind::kNvtxRanges);
    key.domain = domain;
    builder_->add(key, {Event{begin, end - begin, id(name), 0, 0}}, std::vector<std::uint32_t>{depth});
  }

  // A kernel, with the call that launched it.
  void kernel(const std::string& name, Nanoseconds call_begin, Nanoseconds call_end, Nanoseconds begin, Nanoseconds end, std::uint32_t stream = 7) {
    add(cpu_key(TrackKind::kCudaApi), {call_begin, call_end - call_begin, id("cudaLaunchKernel"), ++correlation_, 0});
    add(gpu_key(TrackKind::kKernels, stream), {begin, end - begin, id(name), correlation_, 0});
  }
  // A kernel with a shape, on an H200 whose properties are in the trace; with the call that launched it, if `call` is not empty.
  void shaped_kernel(const std::string& name, const KernelDetail& detail, Nanoseconds begin, Nanoseconds end, std::uint32_t stream = 7, TimeRange call = {}) {
    Gpu gpu;
    gpu.name = "NVIDIA H200";
    gpu.compute_major = 9;
    gpu.multiprocessor_count = 132;
    builder_->set_device(process_, 0, gpu);
    gpu_ = builder_->gpu_of_device(process_, 0);
    if (!call.empty()) add(cpu_key(TrackKind::kCudaApi), {call.begin, call.length(), id("cudaLaunchKernel"), ++correlation_, 0});
    add(gpu_key(TrackKind::kKernels, stream), {begin, end - begin, id(name), call.empty() ? 0 : correlation_, builder_->intern(detail)});
  }
  // A CUDA graph, and the kernels of its nodes.
  void graph(Nanoseconds call_begin, Nanoseconds call_end, const std::vector<TimeRange>& kernels, std::uint32_t stream = 7) {
    add(cpu_key(TrackKind::kCudaApi), {call_begin, call_end - call_begin, id("cudaGraphLaunch"), ++correlation_, 0});
    KernelDetail detail;
    detail.graph = 1;
    for (const TimeRange& kernel : kernels) {
      ++detail.graph_node;
      add(gpu_key(TrackKind::kKernels, stream), {kernel.begin, kernel.length(), id("node"), correlation_, builder_->intern(detail)});
    }
  }
  // A kernel whose launch was not recorded.
  void orphan_kernel(const std::string& name, Nanoseconds begin, Nanoseconds end, std::uint32_t stream = 7) {
    add(gpu_key(TrackKind::kKernels, stream), {begin, end - begin, id(name), 0, 0});
  }
  void copy(const std::string& call_name, MemoryKind host_memory, std::uint64_t bytes, Nanoseconds call_begin, Nanoseconds call_end, Nanoseconds begin,
            Nanoseconds end, std::uint32_t stream = 7) {
    MemoryDetail detail;
    detail.copy_kind = CopyKind::kHostToDevice;
    detail.source_memory = host_memory;
    detail.destination_memory = MemoryKind::kDevice;
    detail.bytes = bytes;
    copy(detail, "[CUDA memcpy Host-to-Device]", call_name, call_begin, call_end, begin, end, stream);
  }
  // A copy from the GPU.
  void copy_back(const std::string& call_name, MemoryKind host_memory, std::uint64_t bytes, Nanoseconds call_begin, Nanoseconds call_end, Nanoseconds begin,
                 Nanoseconds end, std::uint32_t stream = 7) {
    MemoryDetail detail;
    detail.copy_kind = CopyKind::kDeviceToHost;
    detail.source_memory = MemoryKind::kDevice;
    detail.destination_memory = host_memory;
    detail.bytes = bytes;
    copy(detail, "[CUDA memcpy Device-to-Host]", call_name, call_begin, call_end, begin, end, stream);
  }

  std::shared_ptr<const Trace> trace() { return builder_->snapshot(); }

 private:
  void copy(const MemoryDetail& detail, const std::string& name, const std::string& call_name, Nanoseconds call_begin, Nanoseconds call_end, Nanoseconds begin,
            Nanoseconds end, std::uint32_t stream) {
    add(cpu_key(TrackKind::kCudaApi), {call_begin, call_end - call_begin, id(call_name), ++correlation_, 0});
    add(gpu_key(TrackKind::kMemory, stream), {begin, end - begin, id(name), correlation_, builder_->intern(detail)});
  }

  NameId id(const std::string& name) { return builder_->intern(name); }
  void add(const TrackKey& key, const Event& event) { builder_->add(key, {event}); }
  [[nodiscard]] TrackKey cpu_key(TrackKind kind) const { return {.kind = kind, .process = process_, .thread = thread_}; }
  [[nodiscard]] TrackKey gpu_key(TrackKind kind, std::uint32_t stream) const {
    return {.kind = kind, .process = process_, .gpu = gpu_, .context = 1, .stream = stream};
  }

  std::shared_ptr<TraceBuilder> builder_;
  ProcessId process_ = 0;
  ThreadId thread_ = 0;
  GpuId gpu_ = 0;
  std::uint32_t correlation_ = 0;
  std::uint32_t threads_ = 0;  // besides the first
};

}  // namespace lanescope::test

// A small trace with one of everything: two processes that see one GPU under different numbers, and each kind of event.
#pragma once

#include <bit>

#include "model/trace/building/thread_states.h"

namespace lanescope::test {

inline std::shared_ptr<const Trace> sample_trace() {
  TraceBuilder builder;
  Provenance& from = builder.provenance();
  from.format = "Some Format";
  from.producer = "Some Tool 1.2";
  from.host_name = "gpu01";
  from.operating_system = "Linux 6.1.0 x86_64";
  from.processor = "AMD EPYC 9454 48-Core Processor";
  from.processor_count = 16;
  from.driver_version = "580.65.06";
  from.options = "--cpuctxsw=process-tree --sample=none";
  from.working_directory = "/home/user";
  from.command = {"python", "train.py", "--fast"};
  from.utc_epoch = 1'711'964'646'000'000'123;
  from.monotonic_epoch = 5'000'000'000;
  from.finished = true;

  Gpu gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = std::string("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10", 16);
  gpu.bus_id = "0000:17:00.0";
  gpu.multiprocessor_count = 132;
  gpu.compute_major = 9;
  gpu.memory_bytes = 141ull << 30;
  gpu.memory_bandwidth = 4'800'000'000'000;
  gpu.core_clock_khz = 1'980'000;
  gpu.max_warps_per_multiprocessor = 64;
  gpu.max_blocks_per_multiprocessor = 32;
  gpu.max_registers_per_multiprocessor = 65'536;
  gpu.max_shared_memory_per_multiprocessor = 233'472;

  const ProcessId first = builder.process_of_instance(1);
  const ProcessId second = builder.process_of_instance(2);
  builder.process(first).pid = 4711;
  builder.process(first).executable = "/usr/bin/python3";
  builder.process(second).pid = 4712;
  builder.process(second).executable = "worker";
  builder.set_device(first, 0, gpu);
  builder.set_context({first, 1, 0, 7});
  builder.set_stream({first, 1, 7, 0, 3, {}});
  builder.set_stream({first, 1, 13, -5, 2, {}});
  const ThreadId main = builder.thread(first, 4711);
  const ThreadId loader = builder.thread(first, 4800);
  const ThreadId worker = builder.thread(second, 4712);
  builder.name_thread(main, "main");
  builder.set_thread_priority(main, 20);
  builder.name_thread(loader, "loader \"A\"\n");
  builder.set_domain(first, 3, "data");
  builder.set_category(first, 3, 8, "io");

  KernelDetail kernel;
  kernel.mangled_name = builder.intern("_Z4axpyPfif");
  kernel.short_name = builder.intern("axpy");
  kernel.grid[0] = 256;
  kernel.grid[1] = kernel.grid[2] = 1;
  kernel.block[0] = 64;
  kernel.block[1] = kernel.block[2] = 1;
  kernel.registers_per_thread = 16;
  kernel.static_shared_memory = 100;
  kernel.dynamic_shared_memory = 28;
  kernel.local_memory_total = 30'081'024;
  KernelDetail node = kernel;
  node.cluster[0] = 2;
  node.cluster[1] = node.cluster[2] = 1;
  node.graph = 4;
  node.graph_node = (1ull << 32) + 5;
  const NameId axpy = builder.intern("axpy(float*, int, float)");
  TrackKey stream{TrackKind::kKernels, first};
  stream.gpu = builder.gpu_of_device(first, 0);
  stream.context = 1;
  stream.stream = 7;
  builder.add(stream, {{2'000, 500, axpy, 11, builder.intern(kernel)},
                       {2'200, 500, axpy, 12, builder.intern(node)},  // overlaps: a lane of its own
                       {3'000, 10, axpy, 12, builder.intern(node)}});
  stream.kind = TrackKind::kMemory;
  stream.stream = 13;
  MemoryDetail copy;
  copy.copy_kind = CopyKind::kHostToDevice;
  copy.source_memory = MemoryKind::kPinned;
  copy.destination_memory = MemoryKind::kDevice;
  copy.bytes = 4096;
  MemoryDetail migration = copy;
  migration.copy_kind = CopyKind::kUnifiedHostToDevice;
  migration.virtual_address = 0x7f00'0000'0000;
  migration.migration_cause = 2;
  MemoryDetail set;
  set.operation = MemoryOperation::kSet;
  set.destination_memory = MemoryKind::kDevice;
  set.value = 255;
  set.bytes = 64;
  builder.add(stream, {{4'000, 100, builder.intern(memory_operation_name(copy)), 13, builder.intern(copy)},
                       {4'300, 10, builder.intern(memory_operation_name(migration)), 0, builder.intern(migration)},
                       {4'200, 50, builder.intern(memory_operation_name(set)), 14, builder.intern(set)}});
  stream.kind = TrackKind::kGraphLaunches;
  builder.add(stream, {{5'000, 900, builder.intern("CUDA graph 4"), 15, builder.intern(GraphLaunchDetail{4, 9})}});
  stream.kind = TrackKind::kSynchronizations;
  builder.add(stream, {{5'900, 100, builder.intern(synchronization_name(3)), 16, builder.intern(SynchronizationDetail{3, 0})},
                       {6'100, 100, builder.intern(synchronization_name(2)), 17, builder.intern(SynchronizationDetail{2, 77, 5})}});
  stream.kind = TrackKind::kCudaEvents;
  stream.stream = 7;
  builder.add(stream, {{6'050, 0, builder.intern("CUDA event 77"), 18, builder.intern(CudaEventDetail{77, 5})}});
  TrackKey usage{TrackKind::kMemoryUsage, first};
  usage.gpu = builder.gpu_of_device(first, 0);
  MemoryUsageDetail allocated;
  allocated.operation = MemoryUsageOperation::kAllocation;
  allocated.memory_kind = MemoryKind::kDevice;
  allocated.address = 0x7f00'0000'0000;
  allocated.bytes = 4096;
  allocated.context = 1;
  MemoryUsageDetail pooled = allocated;
  pooled.address += 4096;
  pooled.stream = 13;
  pooled.pool = 0x55aa'0000'1000;
  pooled.pool_size = 32 << 20;
  pooled.pool_utilized = 4096;
  pooled.pool_release_threshold = 1 << 20;
  MemoryUsageDetail released = allocated;
  released.operation = MemoryUsageOperation::kRelease;
  MemoryUsageDetail trimmed;
  trimmed.operation = MemoryUsageOperation::kPoolTrim;
  trimmed.memory_kind = MemoryKind::kDevice;
  trimmed.address = trimmed.pool = pooled.pool;
  trimmed.bytes = 100;
  trimmed.pool_size = 16 << 20;
  builder.add(usage, {{1'010, 0, builder.intern(memory_usage_name(allocated.operation)), 31, builder.intern(allocated)},
                      {1'020, 0, builder.intern(memory_usage_name(pooled.operation)), 32, builder.intern(pooled)},
                      {1'030, 0, builder.intern(memory_usage_name(released.operation)), 33, builder.intern(released)},
                      {1'040, 0, builder.intern(memory_usage_name(trimmed.operation)), 34, builder.intern(trimmed)}});

  TrackKey thread{TrackKind::kCudaApi, first};
  thread.thread = main;
  const DetailId runtime = builder.intern(ApiDetail{ApiDomain::kRuntime, 0});
  const DetailId driver = builder.intern(ApiDetail{ApiDomain::kDriver, 0});
  const DetailId failed = builder.intern(ApiDetail{ApiDomain::kRuntime, 700});
  builder.add(thread, {{1'000, 300, builder.intern("cudaLaunchKernel_v7000"), 11, runtime},
                       {1'100, 100, builder.intern("cuLaunchKernel"), 11, driver},  // nested
                       {1'500, 300, builder.intern("cudaGraphLaunch_v10000"), 12, runtime},
                       {1'900, 50, builder.intern("cudaMemcpyAsync_v3020"), 13, failed}});
  thread.kind = TrackKind::kNvtxRanges;
  thread.domain = 3;
  NvtxDetail colored;
  colored.category = 8;
  colored.color = 0xff00ff00;
  colored.payload_type = PayloadType::kSigned;
  colored.payload = std::bit_cast<std::uint64_t>(std::int64_t{-3});
  NvtxDetail real;
  real.payload_type = PayloadType::kReal;
  real.payload = std::bit_cast<std::uint64_t>(0.25);
  real.payload_json = builder.intern(R"({"Message size [bytes]":4096,"Reduction operation":"Sum"})");
  builder.add(thread, {{900, 5'000, builder.intern("step"), 1, builder.intern(colored)}, {950, 1'000, builder.intern("forward"), 2, builder.intern(real)}});
  thread.kind = TrackKind::kNvtxProcessRanges;
  thread.domain = 0;
  NvtxDetail elsewhere;
  elsewhere.end_thread = loader;
  builder.add(thread, {{800, 700, builder.intern("load"), 3, builder.intern(elsewhere)}, {1'200, 700, builder.intern("load"), 4, 0}});
  thread.kind = TrackKind::kNvtxMarks;
  builder.add(thread, {{1'234, 0, builder.intern("epoch"), 5, 0}});
  thread.kind = TrackKind::kOsRuntime;
  thread.thread = worker;
  thread.process = second;
  builder.add(thread, {{100, 5'000, builder.intern("pthread_cond_wait"), 0, kWholeCall}, {5'500, 500, builder.intern("poll"), 0, kPartialCall}});
  thread.kind = TrackKind::kOverhead;
  builder.add(thread, {{7'000, 10, builder.intern("Buffer flush"), 0, 0}});
  thread.kind = TrackKind::kCompilation;
  builder.add(thread, {{7'100, 10, builder.intern("Lazy function loading"), 21, 0}});
  PageFaultDetail of_cpu;
  of_cpu.address = 0x7f00'0000'1000;
  of_cpu.program_counter = 0x55aa'0000'0123;
  of_cpu.function = builder.intern("fill(float*, int)");
  of_cpu.module = builder.intern("/usr/bin/program");
  of_cpu.source_file = builder.intern("fill.cpp");
  of_cpu.source_line = 12;
  PageFaultDetail of_gpu;
  of_gpu.address = 0xffff'f000'0000'2000;  // in the upper half, because addresses are unsigned
  of_gpu.count = 42;
  of_gpu.access = 2;
  TrackKey faults{TrackKind::kPageFaults, first};
  builder.add(faults, {{3'950, 0, builder.intern(page_fault_name(PageFaultOf::kCpu)), 0, builder.intern(of_cpu)}});
  faults.gpu = builder.gpu_of_device(first, 0);
  builder.add(faults, {{4'290, 30, builder.intern(page_fault_name(PageFaultOf::kGpu)), 0, builder.intern(of_gpu)}});
  const ThreadStateSpan states[] = {{1'000, 400, {ThreadState::kRunning, 3}},
                                    {1'400, 100, {ThreadState::kRunnable, kNone}},
                                    {1'500, 300, {ThreadState::kRunning, 0}},
                                    {1'800, 200, {ThreadState::kBlocked, kNone}},
                                    {2'000, 5, {ThreadState::kRunning, 1}}};
  add_thread_states(builder, first, 4711, states);
  const NameId program = builder.intern("/usr/bin/python3");
  const NameId build_id = builder.intern("0badcafe");
  const CodeLocationId outer = builder.code_location({CodeKind::kNative, program, build_id, 0x1000}, {});  // without a known function
  const CodeLocationId inlined = builder.code_location({CodeKind::kNative, program, build_id, 0x2000}, {});
  builder.set_functions(inlined, {{builder.intern("inner"), builder.intern("inner.h"), 7}, {builder.intern("middle"), 0, 0}});
  const CodeLocationId python = builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern("load"), builder.intern("train.py"), 30});
  const CodeLocationId kernel_code =
      builder.code_location({CodeKind::kKernel, builder.intern("[kernel]"), 0, 0xffff'ffff'8000'0000}, {builder.intern("futex_wait"), 0, 0});
  const CallNodeId of_outer = builder.call_node({0, outer});
  const CallNodeId of_inlined = builder.call_node({of_outer, inlined});
  const CallNodeId of_python = builder.call_node({of_inlined, python});
  const CallNodeId of_kernel = builder.call_node({of_outer, kernel_code});
  const SampleEvent samples[] = {{1'100, 0, {of_python, SampleOrigin::kTimer, 3, 1'000'000}},
                                 {1'200, 0, {of_inlined, SampleOrigin::kTimer, 3, 1'000'000}},
                                 {1'600, 0, {of_python, SampleOrigin::kTimer, 0, 2'000'000}},
                                 {1'700, 0, {0, SampleOrigin::kTimer, kNone, 2'000'000}}};  // without a readable chain
  add_samples(builder, first, 4711, samples);
  const SampleEvent backtraces[] = {{1'000, 300, {of_inlined, SampleOrigin::kCudaCall}}, {1'900, 50, {of_python, SampleOrigin::kCudaCall}}};
  add_samples(builder, first, 4711, backtraces);
  const SampleEvent waits[] = {{100, 5'000, {of_kernel, SampleOrigin::kOsCall}}};
  add_samples(builder, second, 4712, waits);
  builder.add_diagnostic({1'000, first, 1, 1, 2, "No driver answers."});
  return builder.snapshot();
}

}  // namespace lanescope::test

// A trace that is small enough to compute every report by hand.
//
// One thread (process 100, thread 101) calls CUDA inside NVTX ranges; one stream of one GPU works:
//
//   NVTX   step                     [90                              350)
//          net:forward                        [195        240)
//   calls  cudaLaunchKernel_v7000     [100,110)  [200,230)
//          cudaMemcpyAsync_v3020 [300,320), cudaMemset_v3020 [400,410)
//   GPU    add [105,155), add [260,410), copy of 2,000,000 bytes [500,600), set of 512 bytes [620,640)
//   C library  poll [0,1000), and a read that was under way when the recording began
#pragma once

#include <memory>

#include "model/trace/trace_builder.h"

namespace lanescope::test {

inline constexpr std::uint32_t kFirstKernel = 1, kSecondKernel = 2, kCopy = 3, kSet = 4;  // correlation ids

inline std::shared_ptr<const Trace> hand_made() {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 100;
  const ThreadId thread = builder.thread(process, 101);
  builder.name_thread(thread, "main");
  builder.set_thread_priority(thread, 20);
  Gpu gpu;
  gpu.name = "NVIDIA H200";
  builder.set_device(process, 0, gpu);

  TrackKey calls{.kind = TrackKind::kCudaApi, .process = process, .thread = thread};
  builder.add(calls, {{100, 10, builder.intern("cudaLaunchKernel_v7000"), kFirstKernel, 0},
                      {200, 30, builder.intern("cudaLaunchKernel_v7000"), kSecondKernel, 0},
                      {300, 20, builder.intern("cudaMemcpyAsync_v3020"), kCopy, 0},
                      {400, 10, builder.intern("cudaMemset_v3020"), kSet, 0}});

  KernelDetail shape;
  shape.short_name = builder.intern("add");
  shape.mangled_name = builder.intern("_Z3addIfEvPT_");
  shape.grid[0] = 1024, shape.grid[1] = 1, shape.grid[2] = 1;
  shape.block[0] = 128, shape.block[1] = 1, shape.block[2] = 1;
  shape.registers_per_thread = 16;
  const NameId add = builder.intern("void add<float>(float*)");
  TrackKey stream{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7};
  const DetailId kernel = builder.intern(shape);
  builder.add(stream, {{105, 50, add, kFirstKernel, kernel}, {260, 150, add, kSecondKernel, kernel}});

  MemoryDetail copy;
  copy.copy_kind = CopyKind::kHostToDevice;
  copy.source_memory = MemoryKind::kPageable;
  copy.destination_memory = MemoryKind::kDevice;
  copy.bytes = 2'000'000;
  MemoryDetail set;
  set.operation = MemoryOperation::kSet;
  set.destination_memory = MemoryKind::kDevice;
  set.bytes = 512;
  stream.kind = TrackKind::kMemory;
  builder.add(stream, {{500, 100, builder.intern(memory_operation_name(copy)), kCopy, builder.intern(copy)},
                       {620, 20, builder.intern(memory_operation_name(set)), kSet, builder.intern(set)}});

  builder.set_domain(process, 5, "net");
  TrackKey ranges{.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread};
  builder.add(ranges, {{90, 260, builder.intern("step"), 0, 0}});
  ranges.domain = 5;
  builder.add(ranges, {{195, 45, builder.intern("forward"), 0, 0}});

  TrackKey library{.kind = TrackKind::kOsRuntime, .process = process, .thread = thread};
  builder.add(library, {{-50, 60, builder.intern("read"), 0, kPartialCall}, {0, 1000, builder.intern("poll"), 0, kWholeCall}});
  return builder.snapshot();
}

}  // namespace lanescope::test

// Which launches are measured, and that each runs alone while it is measured.
#include <atomic>
#include <thread>

#include "agent/kernel_counters/choice/kernel_name.h"
#include "agent/kernel_counters/choice/launch.h"
#include "agent/kernel_counters/choice/launch_table.h"
#include "agent/kernel_counters/counting/gate.h"
#include "support/catch.h"

using namespace lanescope::agent::kernel_counters;

TEST_CASE("a kernel is called by its function's name") {
  // Mangled by GCC of these declarations.
  CHECK(function_name("_Z5saxpyifPKfPf") == "saxpy");
  CHECK(function_name("_ZL6staticPf") == "static");
  CHECK(function_name("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_") == "reduce_kernel");
  CHECK(function_name("_ZN12_GLOBAL__N_16hiddenEv") == "hidden");
  CHECK(function_name("_ZSt4swapIiEvRT_S1_") == "swap");
  CHECK(function_name("triton_poi_fused_0") == "triton_poi_fused_0");
  CHECK(function_name("_Z99short") == "_Z99short");
  CHECK(function_name("_Z") == "_Z");
}

TEST_CASE("collectives are told by their names") {
  CHECK(is_collective("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
  CHECK(is_collective("_Z33ncclKernel_AllGather_RING_LL_Sum_i8v"));
  // Names from PyTorch's symmetric memory, TensorRT-LLM and FlashInfer; blocks of these kernels wait for blocks of other ranks.
  CHECK(is_collective("_ZN49_GLOBAL__N__29e5ae9d_24_CUDASymmetricMemoryOps_cu26multimem_all_reduce_kernelIN3c108BFloat16ELi16EEEvPT_mPPjmm"));
  CHECK(is_collective("_Z34two_shot_all_reduce_kernel_inplaceIfLi16ELi2EEvPPT_mm"));
  CHECK(is_collective("_ZN12tensorrt_llm7kernelsL22oneShotAllReduceKernelI6__halfLi8EEEvNS0_15AllReduceParamsE"));
  CHECK(is_collective("_ZN10flashinfer23trtllm_allreduce_fusion39allreduce_fusion_kernel_oneshot_lamportILNS0_22AllReduceFusionPatternE1EEEvv"));
  CHECK_FALSE(is_collective("_Z5saxpyifPKfPf"));
}

TEST_CASE("calls of the driver that launch are told by their names") {
  for (const char* name : {"cuLaunchKernel", "cuLaunchKernelEx_ptsz", "cuLaunchCooperativeKernel", "cuGraphLaunch"})
    CHECK(call_kind(name) == CallKind::kLaunch);
  for (const char* name : {"cuLaunchHostFunc", "cuMemcpyAsync", "cuGraphInstantiate"}) CHECK(call_kind(name) == CallKind::kOther);
  CHECK(call_kind("cuStreamBeginCapture_v2") == CallKind::kBeginCapture);
  CHECK(call_kind("cuStreamEndCapture_ptsz") == CallKind::kEndCapture);
}

TEST_CASE("launches of a kernel and shape have one entry") {
  LaunchTable table;
  Launch launch;
  launch.name = "_Z5saxpyv";
  launch.shape[0] = 128;
  LaunchEntry* entry = table.find(launch);
  REQUIRE(entry != nullptr);
  entry->seen = 5;
  CHECK(table.find(launch) == entry);
  launch.shape[6] = 1024;
  REQUIRE(table.find(launch) != nullptr);
  CHECK(table.find(launch) != entry);
  CHECK(table.find(launch)->seen == 0);
  std::size_t found = 0;
  for (std::uint32_t i = 0; i < LaunchTable::kPlaces; ++i) {
    launch.shape[0] = i;
    found += table.find(launch) != nullptr;
  }
  CHECK(found < LaunchTable::kPlaces);  // launches that do not fit are reported, and nothing is lost
  launch.shape[0] = 128;
  launch.shape[6] = 0;
  CHECK(table.find(launch) == entry);
}

TEST_CASE("while a launch is alone, no other is under way") {
  Gate gate;
  std::atomic<int> under_way = 0, alone = 0, mistakes = 0;
  std::atomic<int> times_alone = 0;
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!ends) {
        if (!gate.enter()) ++mistakes;
        ++under_way;
        if (alone != 0) ++mistakes;
        --under_way;
        gate.leave();
        std::this_thread::yield();
      }
    });
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!ends) {
        if (!gate.close()) continue;
        if (++alone != 1 || under_way != 0) ++mistakes;
        --alone;
        if (++times_alone == 200) ends = true;
        gate.open();
        std::this_thread::yield();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(mistakes == 0);
}

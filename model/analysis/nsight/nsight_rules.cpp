#include "nsight_rules.h"

#include <array>

namespace lanescope::analysis {
namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

constexpr int kAll = -1;

constexpr RuleOption kRows{"rows", OptionType::kInteger, "50", "At most so many rows; -1 for all", 1, kAll};
constexpr RuleOption kStart{"start", OptionType::kDuration, "0", "Only events that reach past this time (ns without a unit)"};
constexpr RuleOption kEnd{"end", OptionType::kDuration, "9e18", "Only events that start before this time (ns without a unit)"};
constexpr RuleOption kRange{"nvtx", OptionType::kText, "", "Only what happened in this NVTX range: range[@domain][/index]"};

constexpr std::array kCommonOptions = {kRows, kStart, kEnd, kRange};
constexpr std::array kCallOptions = {kRows,
                                     kStart,
                                     kEnd,
                                     kRange,
                                     RuleOption{"process", OptionType::kInteger, "-1", "Only calls of this process id; -1 for all", 1, kAll},
                                     RuleOption{"thread", OptionType::kInteger, "-1", "Only calls of this thread id; -1 for all", 1, kAll}};
constexpr std::array kGapOptions = {kRows, kStart, kEnd, kRange,
                                    RuleOption{"gap", OptionType::kDuration, "500", "Only gaps longer than this (ms without a unit)", kMillisecond}};
constexpr std::array kUseOptions = {kRows,
                                    kStart,
                                    kEnd,
                                    kRange,
                                    RuleOption{"threshold", OptionType::kReal, "50", "Only parts of the time that are used less than this (percent)"},
                                    RuleOption{"chunks", OptionType::kInteger, "30", "Parts that the time is cut into, 1 to 1000"}};

}  // namespace

std::span<const Rule> nsight_rules() {
  static constexpr std::array kRules = {
      Rule{"cuda_memcpy_async", "Asynchronous copies of pageable memory",
           "An asynchronous copy from or to pageable memory waits like a synchronous one. Allocate the host's side pinned: cudaMallocHost, "
           "cudaHostRegister, or "
           "pin_memory=True.",
           RuleOrigin::kNsight, kCommonOptions, find_pageable_async_copies},
      Rule{"cuda_memcpy_sync", "Synchronous copies",
           "A synchronous copy holds its thread until the copy is done. Use cudaMemcpyAsync with pinned memory. Copies of at most 64 KB to "
           "the device, and copies "
           "within one device, are left out: they do not hold the thread for long.",
           RuleOrigin::kNsight, kCommonOptions, find_synchronous_copies},
      Rule{"cuda_memset_sync", "Synchronous sets", "A synchronous set of pinned or managed memory holds its thread. Use cudaMemsetAsync.", RuleOrigin::kNsight,
           kCommonOptions, find_synchronous_sets},
      Rule{"cuda_api_sync", "Synchronizing calls",
           "These calls hold their thread until the GPU has finished all that was enqueued. Wait for the one result that is needed, with a "
           "CUDA event, and as late "
           "as possible.",
           RuleOrigin::kNsight, kCallOptions, find_synchronizing_calls},
      Rule{"gpu_gaps", "Gaps on GPUs",
           "Time between the first and the last operation of a process on a GPU in which it had none there; other processes may have used the GPU. "
           "gpu_bubbles tells when a GPU was idle, and why.",
           RuleOrigin::kNsight, kGapOptions, find_gpu_gaps},
      Rule{"gpu_time_util", "Low use of GPUs",
           "Parts of the time between the first and the last operation of a process on a GPU in which little of it was running; other processes may have "
           "used the GPU. Concurrent operations add up. gpu_bubbles tells the causes of idle time.",
           RuleOrigin::kNsight, kUseOptions, find_low_gpu_use},
  };
  return kRules;
}

}  // namespace lanescope::analysis

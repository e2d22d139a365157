#include "own_rules.h"

#include <array>

#include "collectors.h"
#include "idle/shared_idle.h"
#include "loop/loop_work.h"

namespace lanescope::analysis {
namespace {

constexpr RuleOption kShareToWin{"share", OptionType::kReal, "1", "percent of the GPU's time that there must be to win"};

constexpr std::array kBubbleOptions{
    RuleOption{"gap", OptionType::kDuration, "10us", "gaps from this length on are attributed"},
    RuleOption{"share", OptionType::kReal, "1", "percent of the time that a cause must take"},
    RuleOption{"rows", OptionType::kInteger, "50", "rows of the table of causes; -1 for all", 1, -1},
};
constexpr std::array kSmallKernelOptions{
    RuleOption{"duration", OptionType::kDuration, "10us", "kernels up to this long are small"},
    RuleOption{"gap", OptionType::kDuration, "20us", "longer gaps end a sequence"},
    RuleOption{"run", OptionType::kInteger, "20", "kernels that make a sequence"},
    kShareToWin,
};
constexpr std::array kStaircaseOptions{
    RuleOption{"latency", OptionType::kDuration, "10us", "an operation that starts within this of its launch started at once"},
    RuleOption{"gap", OptionType::kDuration, "500us", "longer gaps end a stretch"},
    RuleOption{"run", OptionType::kInteger, "50", "operations that make a stretch"},
    RuleOption{"share", OptionType::kReal, "1", "percent of the GPU's time that must be lost"},
};
constexpr std::array kNoOverlapOptions{
    kShareToWin,
    RuleOption{"hidden", OptionType::kReal, "50", "percent of the copy time that may be hidden at most"},
    RuleOption{"most", OptionType::kReal, "50", "percent of the time that copies must take where kernels are too short to hide half of them"},
};
constexpr std::array kPageableOptions{
    RuleOption{"bytes", OptionType::kInteger, "65536", "copies below this size do not count"},
    kShareToWin,
};
constexpr std::array kOneStreamOptions{
    RuleOption{"rounds", OptionType::kInteger, "4", "chunks (copy to the GPU, kernels, copy back) that make a pipeline"},
    RuleOption{"share", OptionType::kReal, "1", "percent of the pipeline's time that there must be to win"},
};
constexpr std::array kSyncStormOptions{
    RuleOption{"calls", OptionType::kInteger, "10", "waiting calls that there must be"},
    RuleOption{"per_operation", OptionType::kReal, "0.2", "waiting calls for each GPU operation"},
    RuleOption{"share", OptionType::kReal, "1", "percent of the GPU's time that the waits must have left it idle"},
};
constexpr std::array kCommOptions{
    RuleOption{"share", OptionType::kReal, "1", "percent of the time that exposed communication must take"},
};
constexpr std::array kImbalanceOptions{
    RuleOption{"excess", OptionType::kReal, "10", "percent by which a rank's computation must exceed the mean"},
    RuleOption{"waiting", OptionType::kReal, "5",
               "percent of the time that the others must wait for a rank that comes last, with nothing to compute, longer than for the rest"},
};
constexpr std::array kPipelineOptions{
    RuleOption{"share", OptionType::kReal, "1", "percent of the time that each stage must wait in sends and receives"},
};
constexpr std::array kTailOptions{
    RuleOption{"slower", OptionType::kReal, "20", "percent above the median from which an iteration is slow"},
    RuleOption{"share", OptionType::kReal, "1", "percent of all iterations' time that slow ones must take more"},
    RuleOption{"range", OptionType::kText, "", "NVTX range of the iterations; the one that covers most time when empty"},
};

constexpr std::array kSmallGridOptions{
    RuleOption{"duration", OptionType::kDuration, "5us", "shorter launches do not count: more blocks would not make them shorter"},
    kShareToWin,
};
constexpr std::array kTailWaveOptions{
    RuleOption{"duration", OptionType::kDuration, "5us", "shorter launches do not count"},
    RuleOption{"waves", OptionType::kInteger, "4", "full waves in front of the last one at most; of more, the last one is a small part"},
    kShareToWin,
};
constexpr std::array kLowOccupancyOptions{
    RuleOption{"occupancy", OptionType::kReal, "25", "percent of the warps that a multiprocessor could hold; kernels below it count"},
    RuleOption{"share", OptionType::kReal, "5", "percent of the GPU's time that the launches must take"},
};
constexpr std::array kKernelBoundOptions{
    RuleOption{"share", OptionType::kReal, "1", "percent of the time of all kernels that there must be to win"},
};
constexpr std::array kFp32ProductOptions{
    RuleOption{"share", OptionType::kReal, "1", "percent of the time of all kernels that there must be to win"},
};
constexpr std::array kKernelStallOptions{
    RuleOption{"samples", OptionType::kInteger, "200", "PC samples that a kernel must have"},
    RuleOption{"issued", OptionType::kReal, "80", "percent of the samples at most in which something was issued"},
    RuleOption{"stalled", OptionType::kReal, "30", "percent of a kernel's samples that one reason must have"},
    RuleOption{"share", OptionType::kReal, "1", "percent of the time of all kernels that there must be to win"},
};

const std::array kRules{
    Rule{"gpu_bubbles", "Idle time of GPUs and its causes",
         "Every gap in which a GPU had nothing to do, with what the launching thread did meanwhile. The causes add up to the idle time "
         "exactly.",
         RuleOrigin::kLanescope, kBubbleOptions, find_gpu_bubbles, Rule::Needs::kIdleTime},
    Rule{"small_kernels", "Dense sequences of small kernels",
         "Kernels so short that the gaps between them take much of the time: candidates for fusion or CUDA graphs.", RuleOrigin::kLanescope,
         kSmallKernelOptions, find_small_kernels, Rule::Needs::kEvents, collect_small_kernels},
    Rule{"staircase", "GPU at the pace of launches", "Stretches in which each operation starts as soon as it is enqueued: the CPU bounds the GPU.",
         RuleOrigin::kLanescope, kStaircaseOptions, find_staircase, Rule::Needs::kIdleTime, collect_staircase},
    Rule{"no_overlap", "Copies serial with kernels", "Copies from pinned memory or between GPUs that run while no kernel does, though they could.",
         RuleOrigin::kLanescope, kNoOverlapOptions, find_no_overlap, Rule::Needs::kEvents, collect_ranks},
    Rule{"pageable", "Copies of pageable memory", "Copies that are slow, and block the CPU, because their host memory is not pinned.", RuleOrigin::kLanescope,
         kPageableOptions, find_pageable, Rule::Needs::kEvents, collect_ranks},
    Rule{"one_stream", "Streams that are not used",
         "Processes that create several streams and put all work on one, or that copy chunks to the GPU and back on one stream only.", RuleOrigin::kLanescope,
         kOneStreamOptions, find_one_stream, Rule::Needs::kEvents, collect_one_stream},
    Rule{"sync_storm", "Waiting for the GPU again and again", "Calls that wait for the GPU so often that they keep it from working ahead.",
         RuleOrigin::kLanescope, kSyncStormOptions, find_sync_storm, Rule::Needs::kIdleTime},
    Rule{"comm_overlap", "Communication that does not hide",
         "For each rank, communication and how much of it hides behind computation, without waiting for ranks that come later.", RuleOrigin::kLanescope,
         kCommOptions, find_comm_overlap, Rule::Needs::kEvents, collect_ranks},
    Rule{"imbalance", "Ranks with unequal work", "Ranks that compute longer than the others, or come later to collectives, where the others wait for them.",
         RuleOrigin::kLanescope, kImbalanceOptions, find_imbalance, Rule::Needs::kEvents, collect_ranks},
    Rule{"pipeline_bubbles", "Stages of a pipeline that wait for each other",
         "Ranks that send and receive in a pipeline, and wait while it fills and drains, or for a stage that takes longer.", RuleOrigin::kLanescope,
         kPipelineOptions, find_pipeline_bubbles},
    Rule{"tail", "Slow iterations",
         "Iterations (NVTX ranges that repeat) that take longer than the median, or become longer and longer, and what differs in them.",
         RuleOrigin::kLanescope, kTailOptions, find_tail, Rule::Needs::kIdleTime},
    Rule{"small_grid", "Kernels with fewer blocks than multiprocessors",
         "Kernels that ran alone, with so few blocks that some multiprocessors of the GPU had none.", RuleOrigin::kLanescope, kSmallGridOptions,
         find_small_grids, Rule::Needs::kEvents, collect_launch_shapes},
    Rule{"tail_wave", "Last waves that fill little of the GPU", "Kernels whose blocks come in a few waves, of which the last one leaves most of the GPU empty.",
         RuleOrigin::kLanescope, kTailWaveOptions, find_tail_waves, Rule::Needs::kEvents, collect_launch_shapes},
    Rule{"low_occupancy", "Kernels of which a multiprocessor holds few warps",
         "Kernels whose registers, shared memory or block size let a multiprocessor hold few of the warps that it could, and what would lift "
         "that.",
         RuleOrigin::kLanescope, kLowOccupancyOptions, find_low_occupancy, Rule::Needs::kEvents, collect_low_occupancy},
    Rule{"kernel_bounds", "What bounds kernels, and what they could win",
         "Kernels whose hardware counters were read, with what bounds them, and the cause that could win most in all their launches. From "
         "counters (--kernels=counters).",
         RuleOrigin::kLanescope, kKernelBoundOptions, find_kernel_bounds, Rule::Needs::kEvents, collect_kernel_bounds},
    Rule{"fp32_products", "Matrix products in FP32 that tensor cores could take",
         "Matrix products and convolutions of cuBLAS, cuDNN and CUTLASS, by their names, that run on FP32 units of a GPU with tensor cores.",
         RuleOrigin::kLanescope, kFp32ProductOptions, find_fp32_products, Rule::Needs::kEvents, collect_fp32_products},
    Rule{"kernel_stalls", "What the warps of kernels wait for",
         "Kernels whose warps mostly stand still for one reason while nothing is issued, and the source line where they do. From PC samples "
         "(--kernels=pc).",
         RuleOrigin::kLanescope, kKernelStallOptions, find_kernel_stalls, Rule::Needs::kEvents, collect_kernel_stalls},
    Rule{"step_breakdown",
         "What the time of a step is made of",
         "CPU time, projected GPU time, idle time inside and communication of each NVTX range.",
         RuleOrigin::kLanescope,
         {},
         break_down_steps},
};

}  // namespace

std::vector<GpuIdle> visit_idle(const RuleContext& context, Nanoseconds threshold, const IdleVisitor& asked, std::span<OperationVisitor* const> beside) {
  std::vector<IdlePart> laid;
  const IdleVisitor beside_readings = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    loop_work(context).lay_to_reading(gap, parts, laid);
    asked(gap, laid);
  };
  const IdleVisitor& visitor = loop_work(context).disturbed_iterations() > 0 ? beside_readings : asked;
  if (context.shared_idle) return context.shared_idle->visit(context, threshold, visitor, beside);
  if (context.time == kWholeTrace) return visit_idle_beside(context.trace, context.launches(), threshold, {&visitor, 1}, beside, context.stop);
  visit_operations(context.trace, GpuOperations::kEver, beside, context.stop);
  return visit_idle_within(context.trace, context.launches(), context.time, threshold, visitor, context.stop);
}

void collect_ranks(const RuleContext& context, const RuleArguments&) { context.collectors->want(loop_work(context).collect_ranks()); }

void collect_readings(const RuleContext& context) {
  if (OperationVisitor* const readings = loop_work(context).collect_readings()) context.collectors->want(*readings);
}

std::span<const Rule> own_rules() { return kRules; }

}  // namespace lanescope::analysis

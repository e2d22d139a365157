// Our own rules, one function each.
#pragma once

#include <span>
#include <vector>

#include "idle/gpu_operations.h"
#include "model/analysis/families.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/loop/loop.h"
#include "model/analysis/rule.h"

namespace lanescope::analysis {

[[nodiscard]] std::span<const Rule> own_rules();

// Idle time in the time that counts; visited together with the other rules that look at it, if there are any. In iterations that readings of counters
// disturbed (LoopWork::disturbed) all idle time is `overhead`. The visitors in `beside` are also shown all operations of the trace.
std::vector<GpuIdle> visit_idle(const RuleContext& context, Nanoseconds threshold, const IdleVisitor& asked, std::span<OperationVisitor* const> beside = {});

// Register what rules will need of all work (Rule::collect).
void collect_ranks(const RuleContext& context, const RuleArguments& arguments);  // LoopWork::of_ranks()
void collect_readings(const RuleContext& context);                               // LoopWork::span()
void collect_small_kernels(const RuleContext& context, const RuleArguments& arguments);
void collect_staircase(const RuleContext& context, const RuleArguments& arguments);
void collect_one_stream(const RuleContext& context, const RuleArguments& arguments);
void collect_launch_shapes(const RuleContext& context, const RuleArguments& arguments);
void collect_low_occupancy(const RuleContext& context, const RuleArguments& arguments);
void collect_kernel_bounds(const RuleContext& context, const RuleArguments& arguments);
void collect_kernel_stalls(const RuleContext& context, const RuleArguments& arguments);
void collect_fp32_products(const RuleContext& context, const RuleArguments& arguments);

Result<RuleAnswer> find_gpu_bubbles(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_small_kernels(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_staircase(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_no_overlap(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_pageable(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_one_stream(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_sync_storm(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_comm_overlap(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_imbalance(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_pipeline_bubbles(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_tail(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_small_grids(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_tail_waves(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_low_occupancy(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_kernel_bounds(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_fp32_products(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_kernel_stalls(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> break_down_steps(const RuleContext& context, const RuleArguments& arguments);

}  // namespace lanescope::analysis

// Our own rules, one function each.
#pragma once

#include <span>

#include "model/analysis/rule.h"

namespace lanescope::analysis {

[[nodiscard]] std::span<const Rule> own_rules();

Result<RuleAnswer> find_gpu_bubbles(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_small_kernels(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_staircase(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_no_overlap(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_pageable(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_one_stream(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_sync_storm(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_comm_overlap(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_imbalance(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_tail(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> break_down_steps(const RuleContext& context, const RuleArguments& arguments);

}  // namespace lanescope::analysis

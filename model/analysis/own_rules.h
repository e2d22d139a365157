// Our own rules, one function each.
#pragma once

#include <span>

#include "model/analysis/rule.h"

namespace lanescope::analysis {

[[nodiscard]] std::span<const Rule> own_rules();

Result<RuleAnswer> find_gpu_bubbles(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_small_kernels(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_staircase(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_no_overlap(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_pageable(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_one_stream(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_sync_storm(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_comm_overlap(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_imbalance(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> find_tail(const Trace& trace, const RuleArguments& arguments);
Result<RuleAnswer> break_down_steps(const Trace& trace, const RuleArguments& arguments);

}  // namespace lanescope::analysis

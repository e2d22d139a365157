// The rules of `nsys analyze`: same names, columns and arithmetic. Our own rules cover what they lack (driver calls, CUDA graphs, overlap counted
// once).
#pragma once

#include <span>

#include "model/analysis/rule.h"

namespace lanescope::analysis {

[[nodiscard]] std::span<const Rule> nsight_rules();

Result<RuleAnswer> find_pageable_async_copies(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_synchronous_copies(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_synchronous_sets(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_synchronizing_calls(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_gpu_gaps(const RuleContext& context, const RuleArguments& arguments);
Result<RuleAnswer> find_low_gpu_use(const RuleContext& context, const RuleArguments& arguments);

}  // namespace lanescope::analysis

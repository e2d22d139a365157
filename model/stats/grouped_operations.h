// Durations of calls, kernels and memory operations by their names in reports. Internal to reports.
#pragma once

#include "label_groups.h"

namespace lanescope::stats {

// Each function adds the selected events under `labels` followed by their name.
void add_api_calls(const Selection& selection, const std::vector<std::string_view>& labels, LabelGroups& groups);
void add_kernels(const Selection& selection, const ReportOptions& options, const std::vector<std::string_view>& labels, LabelGroups& groups);
void add_memory_operations(const Selection& selection, const std::vector<std::string_view>& labels, LabelGroups& groups);

}  // namespace lanescope::stats

// cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_gpu_sum, cuda_api_gpu_sum: where the time of calls and of GPU work goes.
#include "../grouped_operations.h"
#include "../report_functions.h"

namespace lanescope::stats {

Table cuda_api_sum(const Selection& selection, const ReportOptions& options) {
  LabelGroups groups;
  add_api_calls(selection, {}, groups);
  return groups.time_summary("Num Calls", {"Name"}, options.percentiles);
}

Table cuda_gpu_kern_sum(const Selection& selection, const ReportOptions& options) {
  LabelGroups groups;
  add_kernels(selection, options, {}, groups);
  return groups.time_summary("Instances", {"Name"}, options.percentiles);
}

Table cuda_gpu_mem_time_sum(const Selection& selection, const ReportOptions& options) {
  LabelGroups groups;
  add_memory_operations(selection, {}, groups);
  return groups.time_summary("Count", {"Operation"}, options.percentiles);
}

Table cuda_gpu_sum(const Selection& selection, const ReportOptions& options) {
  LabelGroups groups;
  add_kernels(selection, options, {"CUDA_KERNEL"}, groups);
  add_memory_operations(selection, {"MEMORY_OPER"}, groups);
  return groups.time_summary("Instances", {"Category", "Operation"}, options.percentiles);
}

Table cuda_api_gpu_sum(const Selection& selection, const ReportOptions& options) {
  LabelGroups groups;
  add_api_calls(selection, {"CUDA_API"}, groups);
  add_kernels(selection, options, {"CUDA_KERNEL"}, groups);
  add_memory_operations(selection, {"MEMORY_OPER"}, groups);
  return groups.time_summary("Instances", {"Category", "Operation"}, options.percentiles);
}

}  // namespace lanescope::stats

// One function a report; report.cpp gives them their public names. Internal to model/stats.
#pragma once

#include "model/stats/selection.h"

namespace lanescope::stats {

Table cuda_api_sum(const Selection& selection, const ReportOptions& options);
Table cuda_api_trace(const Selection& selection, const ReportOptions& options);
Table cuda_gpu_kern_sum(const Selection& selection, const ReportOptions& options);
Table cuda_gpu_kern_gb_sum(const Selection& selection, const ReportOptions& options);
Table cuda_gpu_mem_time_sum(const Selection& selection, const ReportOptions& options);
Table cuda_gpu_mem_size_sum(const Selection& selection, const ReportOptions& options);
Table cuda_gpu_sum(const Selection& selection, const ReportOptions& options);
Table cuda_api_gpu_sum(const Selection& selection, const ReportOptions& options);
Table cuda_gpu_trace(const Selection& selection, const ReportOptions& options);
Table cuda_kern_exec_sum(const Selection& selection, const ReportOptions& options);
Table cuda_kern_exec_trace(const Selection& selection, const ReportOptions& options);
Table nvtx_sum(const Selection& selection, const ReportOptions& options);
Table nvtx_pushpop_sum(const Selection& selection, const ReportOptions& options);
Table nvtx_startend_sum(const Selection& selection, const ReportOptions& options);
Table nvtx_pushpop_trace(const Selection& selection, const ReportOptions& options);
Table nvtx_gpu_proj_sum(const Selection& selection, const ReportOptions& options);
Table nvtx_gpu_proj_trace(const Selection& selection, const ReportOptions& options);
Table nvtx_kern_sum(const Selection& selection, const ReportOptions& options);
Table nccl_sum(const Selection& selection, const ReportOptions& options);
Table mpi_event_sum(const Selection& selection, const ReportOptions& options);
Table mpi_event_trace(const Selection& selection, const ReportOptions& options);
Table gpu_idle_sum(const Selection& selection, const ReportOptions& options);
Table gpu_metric_sum(const Selection& selection, const ReportOptions& options);
Table machine_metric_sum(const Selection& selection, const ReportOptions& options);
Table um_sum(const Selection& selection, const ReportOptions& options);
Table um_total_sum(const Selection& selection, const ReportOptions& options);
Table um_cpu_page_faults_sum(const Selection& selection, const ReportOptions& options);
Table cpu_samples(const Selection& selection, const ReportOptions& options);
Table thread_states(const Selection& selection, const ReportOptions& options);
Table event_sum(const Selection& selection, const ReportOptions& options);
Table occupancy_sum(const Selection& selection, const ReportOptions& options);
Table kernel_pc_sum(const Selection& selection, const ReportOptions& options);
Table kernel_metrics(const Selection& selection, const ReportOptions& options);
Table kernel_line_sum(const Selection& selection, const ReportOptions& options);
Table instruction_count_sum(const Selection& selection, const ReportOptions& options);
Table opcode_count_sum(const Selection& selection, const ReportOptions& options);
Table line_count_sum(const Selection& selection, const ReportOptions& options);
Table kernel_instruction_sum(const Selection& selection, const ReportOptions& options);
Table osrt_sum(const Selection& selection, const ReportOptions& options);
Table file_access_sum(const Selection& selection, const ReportOptions& options);

}  // namespace lanescope::stats

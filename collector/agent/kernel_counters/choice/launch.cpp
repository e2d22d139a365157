#include "agent/kernel_counters/choice/launch.h"

#include <algorithm>
#include <iterator>

namespace lanescope::agent::kernel_counters {
namespace {

template <typename Parameters>
void read(const void* parameters, Launch& launch) noexcept {
  const auto& p = *static_cast<const Parameters*>(parameters);
  const std::uint32_t shape[] = {p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ, p.sharedMemBytes};
  std::copy(std::begin(shape), std::end(shape), launch.shape);
  launch.stream = p.hStream;
}

void read(const CUlaunchConfig* config, Launch& launch) noexcept {
  if (config == nullptr) return;
  read<CUlaunchConfig>(config, launch);
  for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && config->attrs[i].value.cooperative != 0) launch.kind = LaunchKind::kCooperative;
}

}  // namespace

Launch read_launch(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  Launch launch;
  launch.context = call.context;
  launch.correlation = call.correlationId;
  if (call.symbolName != nullptr) launch.name = call.symbolName;
  if (call.functionParams == nullptr) return launch;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      read<cuLaunchKernel_params>(call.functionParams, launch);
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      read<cuLaunchKernel_ptsz_params>(call.functionParams, launch);
      if (launch.stream == nullptr) launch.stream = CU_STREAM_PER_THREAD;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      read(static_cast<const cuLaunchKernelEx_params*>(call.functionParams)->config, launch);
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      read(static_cast<const cuLaunchKernelEx_ptsz_params*>(call.functionParams)->config, launch);
      if (launch.stream == nullptr) launch.stream = CU_STREAM_PER_THREAD;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      launch.kind = LaunchKind::kGraph;
      break;
    default:
      launch.kind = LaunchKind::kCooperative;  // cuLaunchCooperativeKernel and similar calls, and calls from before CUDA 4
  }
  return launch;
}

CallKind call_kind(const char* name) noexcept {
  const std::string_view text(name);
  if (text.starts_with("cuStreamBeginCapture")) return CallKind::kBeginCapture;
  if (text.starts_with("cuStreamEndCapture")) return CallKind::kEndCapture;
  if (text == "cuProfilerStart") return CallKind::kProfilerStart;
  if (text == "cuProfilerStop") return CallKind::kProfilerStop;
  if (text.starts_with("cuLaunchHostFunc")) return CallKind::kOther;
  return text.starts_with("cuLaunch") || text.starts_with("cuGraphLaunch") ? CallKind::kLaunch : CallKind::kOther;
}

bool has_failed(const CUpti_CallbackData& call) noexcept {
  return call.functionReturnValue != nullptr && *static_cast<const CUresult*>(call.functionReturnValue) != CUDA_SUCCESS;
}

bool has_ended_capture(const CUpti_CallbackData& call) noexcept {
  if (!has_failed(call)) return true;
  const CUresult result = *static_cast<const CUresult*>(call.functionReturnValue);
  return result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

}  // namespace lanescope::agent::kernel_counters

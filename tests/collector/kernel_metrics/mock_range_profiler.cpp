#include "mock_range_profiler.h"

#include <cstring>

#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace {

constexpr std::size_t kImageBytes = 16;

MockRangeProfiler mock;
std::uint8_t* image = nullptr;
bool is_configured = false;
std::uint8_t asked = 0;       // first byte of the metrics whose size was queried last: images are laid out for these
std::uint8_t configured = 0;  // first byte of the first configuration since Enable: as on an H200, others have no effect

CUptiResult answer(const char* function) { return std::strcmp(mock.refused, function) == 0 ? static_cast<CUptiResult>(mock.result) : CUPTI_SUCCESS; }

}  // namespace

extern "C" {

MockRangeProfiler* mock_range_profiler() { return &mock; }

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "MOCK_RESULT";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t id, const char** name) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      *name = "cuLaunchKernel";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      *name = "cuLaunchKernel_ptsz";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      *name = "cuLaunchCooperativeKernel";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
      *name = "cuGraphLaunch";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuProfilerStart:
      *name = "cuProfilerStart";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuProfilerStop:
      *name = "cuProfilerStop";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
      *name = "cuStreamBeginCapture_v2";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
      *name = "cuStreamEndCapture";
      break;
    default:
      *name = "cuSomethingElse";
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) { return CUPTI_SUCCESS; }
CUptiResult cuptiGetDeviceId(CUcontext, std::uint32_t* device) {
  *device = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t of_thread, std::uint32_t* id) {
  mock.stream = stream;
  mock.is_stream_of_thread = of_thread != 0;
  *id = 14;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* parameters) {
  parameters->pChipName = "GH100";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return answer("cuptiProfilerInitialize"); }
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* parameters) {
  parameters->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  return answer("cuptiProfilerDeviceSupported");
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* parameters) {
  if (answer("cuptiRangeProfilerEnable") != CUPTI_SUCCESS) return answer("cuptiRangeProfilerEnable");
  ++mock.enabled;
  configured = 0;
  parameters->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&mock);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
  --mock.enabled;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* parameters) {
  parameters->counterDataSize = kImageBytes;
  asked = static_cast<std::uint8_t>(parameters->pMetricNames[0][0]);
  return answer("cuptiRangeProfilerGetCounterDataSize");
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* parameters) {
  std::memset(parameters->pCounterData, 0, parameters->counterDataSize);
  parameters->pCounterData[2] = asked;
  return answer("cuptiRangeProfilerCounterDataImageInitialize");
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* parameters) {
  mock.counts_ranges = parameters->range == CUPTI_UserRange;
  if (mock.is_started || parameters->replayMode != (mock.counts_ranges ? CUPTI_UserReplay : CUPTI_KernelReplay)) ++mock.mistakes;
  image = parameters->pCounterDataImage;
  if (configured == 0) configured = parameters->pConfig[0];
  image[1] = configured;
  is_configured = true;
  return answer("cuptiRangeProfilerSetConfig");
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  if (mock.is_started || !is_configured) ++mock.mistakes;
  ++mock.starts;
  if (answer("cuptiRangeProfilerStart") != CUPTI_SUCCESS) return answer("cuptiRangeProfilerStart");
  mock.is_started = true;
  mock.kernels = mock.ranges = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* parameters) {
  if (!mock.is_started || mock.is_in_range || !mock.counts_ranges || parameters->pRangeName == nullptr) ++mock.mistakes;
  mock.is_in_range = true;
  return answer("cuptiRangeProfilerPushRange");
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) {
  if (!mock.is_in_range) ++mock.mistakes;
  mock.is_in_range = false;
  ++mock.ranges;
  return answer("cuptiRangeProfilerPopRange");
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* parameters) {
  if (!mock.is_started || mock.is_in_range) ++mock.mistakes;
  ++mock.stops;
  mock.is_started = false;
  is_configured = false;
  parameters->isAllPassSubmitted = mock.leaves_passes ? 0 : 1;
  return answer("cuptiRangeProfilerStop");
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* parameters) {
  const std::uint32_t ranges = mock.counts_ranges ? mock.ranges : mock.kernels;
  image[0] = ranges != 0 ? 1 : 0;
  image[3] = static_cast<std::uint8_t>(mock.kernels);
  parameters->numOfRangeDropped = ranges > 1 ? ranges - 1 : 0;
  return answer("cuptiRangeProfilerDecodeData");
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* parameters) {
  parameters->numTotalRanges = parameters->pCounterDataImage[0];
  return CUPTI_SUCCESS;
}

}  // extern "C"

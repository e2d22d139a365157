// CUPTI's SASS Metrics API without a GPU, as in CUDA 13.0 on an H200: it counts one kernel in a process, the first that is launched while counting is on, and
// nothing after the first flush. Each metric has its own record for each instruction.
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_sass_metrics.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "mock_range_profiler.h"

namespace {

constexpr std::uint64_t kFirstId = 100;
constexpr const char* kMetrics[] = {"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed", "smsp__sass_sectors_mem_global"};

// A record: 1,024 warps of 32 threads execute three instructions; the second is a load.
struct Record {
  std::uint32_t pc;
  std::size_t metric;
  std::uint64_t value;
};
constexpr Record kRecords[] = {{0, 0, 1024},     {0x10, 0, 1024},  {0x20, 0, 1024}, {0, 1, 32768},
                               {0x10, 1, 32768}, {0x20, 1, 32768}, {0x10, 2, 8192}, {0x30, 0, 0}};

MockRangeProfiler& mock() { return *mock_range_profiler(); }
std::string counted;  // its name outlives the flush
bool was_flushed = false;
bool is_on = false;

CUptiResult answer(const char* function) { return std::strcmp(mock().refused, function) == 0 ? static_cast<CUptiResult>(mock().result) : CUPTI_SUCCESS; }

std::size_t records() {
  if (!is_on || was_flushed || counted.empty()) return 0;
  return static_cast<std::size_t>(
      std::count_if(std::begin(kRecords), std::end(kRecords), [](const Record& each) { return (mock().sass_metrics >> each.metric & 1) != 0; }));
}

}  // namespace

extern "C" {

void mock_sass_launch(const char* kernel) {
  if (is_on && !was_flushed && counted.empty()) counted = kernel;
}
void mock_sass_begin_process() {
  counted.clear();
  was_flushed = is_on = false;
}

CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams* parameters) {
  parameters->cubinCrc = kMockCrc + parameters->cubinSize;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params* parameters) {
  const auto found = std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](const char* name) { return std::strcmp(name, parameters->pMetricName) == 0; });
  if (found == std::end(kMetrics)) return CUPTI_ERROR_INVALID_PARAMETER;
  parameters->metric.metricId = kFirstId + static_cast<std::uint64_t>(found - std::begin(kMetrics));
  return answer("cuptiSassMetricsGetProperties");
}
CUptiResult cuptiSassMetricsSetConfig(CUpti_SassMetricsSetConfig_Params* parameters) {
  if (mock().sass_metrics != 0) return CUPTI_ERROR_INVALID_OPERATION;
  for (std::size_t i = 0; i < parameters->numOfMetricConfig; ++i) mock().sass_metrics |= 1u << (parameters->pConfigs[i].metricId - kFirstId);
  return answer("cuptiSassMetricsSetConfig");
}
CUptiResult cuptiSassMetricsEnable(CUpti_SassMetricsEnable_Params*) {
  if (is_on || mock().sass_metrics == 0) return CUPTI_ERROR_INVALID_OPERATION;
  if (answer("cuptiSassMetricsEnable") != CUPTI_SUCCESS) return answer("cuptiSassMetricsEnable");
  is_on = mock().is_started = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params*) {
  if (!is_on) return CUPTI_ERROR_INVALID_OPERATION;
  is_on = mock().is_started = false;
  return answer("cuptiSassMetricsDisable");
}
CUptiResult cuptiSassMetricsGetDataProperties(CUpti_SassMetricsGetDataProperties_Params* parameters) {
  if (!is_on) return CUPTI_ERROR_INVALID_OPERATION;
  parameters->numOfPatchedInstructionRecords = records();
  parameters->numOfInstances = records() == 0 ? 0 : 1;
  return answer("cuptiSassMetricsGetDataProperties");
}
CUptiResult cuptiSassMetricsFlushData(CUpti_SassMetricsFlushData_Params* parameters) {
  if (!is_on || parameters->numOfPatchedInstructionRecords != records()) return CUPTI_ERROR_INVALID_OPERATION;
  // As on an H200, a larger size is refused as well.
  if (parameters->structSize != CUpti_SassMetricsFlushData_Params_STRUCT_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
  CUpti_SassMetrics_Data* to = parameters->pMetricsData;
  for (const Record& each : kRecords) {
    if ((mock().sass_metrics >> each.metric & 1) == 0) continue;
    to->cubinCrc = static_cast<std::uint32_t>(kMockCrc + kMockCodeBytes);
    to->functionIndex = 0;  // the same for all functions
    to->functionName = counted.c_str();
    to->pcOffset = each.pc;
    to->pInstanceValues[0] = {kFirstId + each.metric, each.value};
    ++to;
  }
  was_flushed = true;
  return answer("cuptiSassMetricsFlushData");
}

}  // extern "C"

#include "agent/kernel_counters/counting/instruction_counters.h"

#include <algorithm>
#include <cstring>

namespace lanescope::agent::kernel_counters {

Refusal InstructionCounters::open(const Functions& functions, CUcontext context, std::uint32_t device, const char* chip, const Set& set,
                                  kernels::CodeObjects& code) noexcept {
  if (!has_sass_metrics(functions)) return {"cuptiSassMetricsGetProperties", CUPTI_ERROR_NOT_SUPPORTED};
  functions_ = &functions;
  code_ = &code;
  context_ = context;
  metrics_ = static_cast<std::uint32_t>(std::min(set.count, kMostMetrics));
  known_ = known_count_ = 0;
  CUpti_SassMetrics_Config configs[kMostMetrics] = {};
  CUptiResult last = CUPTI_SUCCESS;
  for (std::uint32_t i = 0; i < metrics_; ++i) {
    CUpti_SassMetrics_GetProperties_Params asked{CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE};
    asked.pChipName = chip;
    asked.pMetricName = set.names[i];
    if (const CUptiResult result = functions.sass_properties(&asked); result != CUPTI_SUCCESS) {
      last = result;
      continue;
    }
    ids_[i] = asked.metric.metricId;
    known_ |= std::uint64_t{1} << i;
    configs[known_count_].metricId = asked.metric.metricId;
    configs[known_count_++].outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU;
  }
  if (known_count_ == 0) return {"cuptiSassMetricsGetProperties", last};
  CUpti_SassMetricsSetConfig_Params config{CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE};
  config.numOfMetricConfig = known_count_;
  config.pConfigs = configs;
  config.deviceIndex = device;
  const CUptiResult result = functions.sass_set_config(&config);
  // It was set before for another context of the device.
  if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_INVALID_OPERATION) return {"cuptiSassMetricsSetConfig", result};
  return {};
}

Refusal InstructionCounters::begin() noexcept {
  // If a kernel is still running, CUPTI enables the counting but counts nothing.
  if (functions_->synchronize() != CUDA_SUCCESS) return {"cuCtxSynchronize", CUPTI_ERROR_UNKNOWN};
  CUpti_SassMetricsEnable_Params enable{CUpti_SassMetricsEnable_Params_STRUCT_SIZE};
  enable.ctx = context_;
  enable.enableLazyPatching = 1;
  if (const CUptiResult result = functions_->sass_enable(&enable); result != CUPTI_SUCCESS) return {"cuptiSassMetricsEnable", result};
  return {};
}

Refusal InstructionCounters::end() noexcept {
  image_.clear();
  Refusal refusal;
  if (functions_->synchronize() != CUDA_SUCCESS)
    refusal = {"cuCtxSynchronize", CUPTI_ERROR_UNKNOWN};
  else
    refusal = take();
  CUpti_SassMetricsDisable_Params disable{CUpti_SassMetricsDisable_Params_STRUCT_SIZE};
  disable.ctx = context_;
  const CUptiResult result = functions_->sass_disable(&disable);
  if (!refusal && result != CUPTI_SUCCESS) refusal = {"cuptiSassMetricsDisable", result};
  return refusal;
}

Refusal InstructionCounters::take() noexcept {
  CUpti_SassMetricsGetDataProperties_Params asked{CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE};
  asked.ctx = context_;
  if (const CUptiResult result = functions_->sass_data_properties(&asked); result != CUPTI_SUCCESS) return {"cuptiSassMetricsGetDataProperties", result};
  const std::size_t count = asked.numOfPatchedInstructionRecords;
  const std::size_t values = asked.numOfInstances * known_count_;
  if (count == 0 || values == 0) return {};
  instructions_.clear();
  values_.clear();
  if (count > kMostInstructions || values > kMostMetrics || !instructions_.resize(count) || !values_.resize(count * values))
    return {"cuptiSassMetricsGetDataProperties", CUPTI_ERROR_OUT_OF_MEMORY};
  for (std::size_t i = 0; i < count; ++i) {
    instructions_[i].structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE;
    instructions_[i].pInstanceValues = &values_[i * values];
  }
  CUpti_SassMetricsFlushData_Params flush{CUpti_SassMetricsFlushData_Params_STRUCT_SIZE};  // this size ends before pMetricsData, but is required
  flush.ctx = context_;
  flush.numOfPatchedInstructionRecords = count;
  flush.numOfInstances = asked.numOfInstances;
  flush.pMetricsData = &instructions_[0];
  if (const CUptiResult result = functions_->sass_flush(&flush); result != CUPTI_SUCCESS) return {"cuptiSassMetricsFlushData", result};
  read({&instructions_[0], count}, values);
  return image_.failed() ? Refusal{"mmap", CUPTI_ERROR_OUT_OF_MEMORY} : Refusal();
}

std::uint32_t InstructionCounters::function(const CUpti_SassMetrics_Data& instruction) noexcept {
  const std::uint64_t crc = code_->crc_that_ends_in(instruction.cubinCrc);
  for (std::size_t i = counted_functions_.size(); i-- > 0;)
    if (counted_functions_[i].key.crc == crc && counted_functions_[i].key.index == instruction.functionIndex) return static_cast<std::uint32_t>(i);
  const char* const name = instruction.functionName != nullptr ? instruction.functionName : "";
  counted_functions_.push_back({{crc, instruction.functionIndex, static_cast<std::uint32_t>(std::strlen(name))}, name});
  code_->want(crc);
  return static_cast<std::uint32_t>(counted_functions_.size() - 1);
}

void InstructionCounters::read(std::span<const CUpti_SassMetrics_Data> instructions, std::size_t values) noexcept {
  counted_functions_.clear();
  rows_.clear();
  sums_.clear();
  std::uint64_t sums[kMostMetrics];
  for (const CUpti_SassMetrics_Data& instruction : instructions) {
    std::fill_n(sums, metrics_, 0);
    bool has_any = false;
    for (std::size_t i = 0; i < values; ++i) {
      const CUpti_SassMetrics_InstanceValue& value = instruction.pInstanceValues[i];
      for (std::uint32_t metric = 0; metric < metrics_ && value.value != 0; ++metric)
        if ((known_ >> metric & 1) != 0 && ids_[metric] == value.metricId) {
          sums[metric] += value.value;
          has_any = true;
        }
    }
    if (!has_any) continue;
    rows_.push_back({function(instruction), instruction.pcOffset});
    for (std::uint32_t metric = 0; metric < metrics_; ++metric) sums_.push_back(sums[metric]);
  }
  if (rows_.size() == 0) return;
  const channel::InstructionImage head{metrics_, static_cast<std::uint32_t>(counted_functions_.size()), rows_.size(), known_};
  image_.append(&head, sizeof(head));
  for (std::size_t i = 0; i < counted_functions_.size(); ++i) {
    image_.append(&counted_functions_[i].key, sizeof(channel::CountedFunction));
    image_.append(counted_functions_[i].name, counted_functions_[i].key.name_bytes);
  }
  image_.append(&rows_[0], rows_.size() * sizeof(channel::InstructionRow));
  image_.append(&sums_[0], sums_.size() * sizeof(std::uint64_t));
}

}  // namespace lanescope::agent::kernel_counters

#include "agent/kernel_counters/counting/context_counters.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lanescope::agent::kernel_counters {
namespace {

constexpr std::size_t kRanges = 1;  // in an image: one launch, or one range
constexpr char kRangeName[] = "range";

}  // namespace

Refusal ContextCounters::open(const Functions& functions, const Plan& plan, CUcontext context, kernels::CodeObjects& code) noexcept {
  functions_ = &functions;
  context_ = context;
  count_ = 0;
  std::uint32_t device = 0;
  if (const CUptiResult result = functions.get_device_id(context, &device); result != CUPTI_SUCCESS) return {"cuptiGetDeviceId", result};
  CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
  chip.deviceIndex = device;
  if (const CUptiResult result = functions.get_chip_name(&chip); result != CUPTI_SUCCESS) return {"cuptiDeviceGetChipName", result};
  std::snprintf(chip_, sizeof(chip_), "%s", chip.pChipName);
  kind_ = plan.kind();
  if (kind_ == channel::CounterKind::kInstructions) {
    count_ = plan.sets_for(chip_, sets_);
    is_planned_ = count_ != 0;
    return count_ == 0 ? Refusal() : instructions_.open(functions, context, device, chip_, sets_[0], code);
  }
  CUpti_Profiler_DeviceSupported_Params supported{CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE};
  supported.cuDevice = static_cast<CUdevice>(device);
  supported.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (const CUptiResult result = functions.device_supported(&supported); result != CUPTI_SUCCESS) return {"cuptiProfilerDeviceSupported", result};
  if (supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return {"cuptiProfilerDeviceSupported", CUPTI_ERROR_NOT_SUPPORTED};
  if (const Refusal refusal = enable()) return refusal;
  count_ = plan.sets_for(chip_, sets_);
  is_planned_ = count_ != 0;
  counts_ranges_ = plan.replay() == channel::CounterReplay::kRange;
  if (counts_ranges_ || plan.replay() == channel::CounterReplay::kApplication) keep_set_of_run();
  return {};
}

void ContextCounters::keep_set_of_run() noexcept {
  const char* const text = std::getenv(channel::kKernelRunVariable);
  std::size_t run = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), run);
  if (run < count_) sets_[0] = sets_[run];
  count_ = run < count_ ? 1 : 0;
}

Refusal ContextCounters::enable() noexcept {
  CUpti_RangeProfiler_Enable_Params enable{CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
  enable.ctx = context_;
  if (const CUptiResult result = functions_->enable(&enable); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerEnable", result};
  profiler_ = enable.pRangeProfilerObject;
  configured_ = nullptr;
  return {};
}

void ContextCounters::disable() noexcept {
  if (profiler_ == nullptr) return;
  CUpti_RangeProfiler_Disable_Params disable{CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
  disable.pRangeProfilerObject = profiler_;
  functions_->disable(&disable);
  profiler_ = nullptr;
}

void ContextCounters::close() noexcept {
  disable();
  context_ = nullptr;
}

Refusal ContextCounters::configure(const Set& set) noexcept {
  // CUPTI 13.0 accepts the configuration of another set, but goes on counting the first one (H200).
  if (configured_ != nullptr && configured_ != &set) {
    disable();
    if (const Refusal refusal = enable()) return refusal;
  }
  configured_ = &set;
  // Asked again each time, because an image is laid out for the metrics whose size was asked last.
  CUpti_RangeProfiler_GetCounterDataSize_Params asked{CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
  asked.pRangeProfilerObject = profiler_;
  asked.pMetricNames = const_cast<const char**>(set.names);
  asked.numMetrics = set.count;
  asked.maxNumOfRanges = kRanges;
  asked.maxNumRangeTreeNodes = kRanges;
  if (const CUptiResult result = functions_->get_data_size(&asked); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerGetCounterDataSize", result};
  const std::size_t size = asked.counterDataSize;
  image_.clear();
  if (!image_.reserve(size)) return {"mmap", CUPTI_ERROR_OUT_OF_MEMORY};
  image_.extend(size);
  auto* bytes = reinterpret_cast<std::uint8_t*>(image_.data());
  CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialize{CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
  initialize.pRangeProfilerObject = profiler_;
  initialize.counterDataSize = size;
  initialize.pCounterData = bytes;
  if (const CUptiResult result = functions_->initialize_data(&initialize); result != CUPTI_SUCCESS)
    return {"cuptiRangeProfilerCounterDataImageInitialize", result};
  CUpti_RangeProfiler_SetConfig_Params config{CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};
  config.pRangeProfilerObject = profiler_;
  config.configSize = set.config.size();
  config.pConfig = set.config.data();
  config.counterDataImageSize = size;
  config.pCounterDataImage = bytes;
  config.range = counts_ranges_ ? CUPTI_UserRange : CUPTI_AutoRange;
  // Also for launches of one pass: in the other modes, kernels run with the instructions that the recording of kernels adds, and these are counted.
  config.replayMode = counts_ranges_ ? CUPTI_UserReplay : CUPTI_KernelReplay;
  config.maxRangesPerPass = kRanges;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = 1;
  if (const CUptiResult result = functions_->set_config(&config); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerSetConfig", result};
  return {};
}

Refusal ContextCounters::begin(const Set& set) noexcept {
  if (kind_ == channel::CounterKind::kInstructions) {
    configured_ = &set;
    return instructions_.begin();
  }
  if (const Refusal refusal = configure(set)) return refusal;
  CUpti_RangeProfiler_Start_Params start{CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
  start.pRangeProfilerObject = profiler_;
  if (const CUptiResult result = functions_->start(&start); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerStart", result};
  if (!counts_ranges_) return {};
  CUpti_RangeProfiler_PushRange_Params push{CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE};
  push.pRangeProfilerObject = profiler_;
  push.pRangeName = kRangeName;
  if (const CUptiResult result = functions_->push_range(&push); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerPushRange", result};
  return {};
}

Refusal ContextCounters::end() noexcept {
  if (kind_ == channel::CounterKind::kInstructions) return instructions_.end();
  has_one_range_ = false;
  CUpti_RangeProfiler_PopRange_Params pop{CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE};
  pop.pRangeProfilerObject = profiler_;
  if (counts_ranges_)
    if (const CUptiResult result = functions_->pop_range(&pop); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerPopRange", result};
  CUpti_RangeProfiler_Stop_Params stop{CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};
  stop.pRangeProfilerObject = profiler_;
  if (const CUptiResult result = functions_->stop(&stop); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerStop", result};
  CUpti_RangeProfiler_DecodeData_Params decode{CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
  decode.pRangeProfilerObject = profiler_;
  if (const CUptiResult result = functions_->decode(&decode); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerDecodeData", result};
  CUpti_RangeProfiler_GetCounterDataInfo_Params info{CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};
  info.pCounterDataImage = reinterpret_cast<const std::uint8_t*>(image_.bytes().data());
  info.counterDataImageSize = image_.size();
  if (const CUptiResult result = functions_->get_data_info(&info); result != CUPTI_SUCCESS) return {"cuptiRangeProfilerGetCounterDataInfo", result};
  has_one_range_ = stop.isAllPassSubmitted != 0 && info.numTotalRanges == kRanges && decode.numOfRangeDropped == 0;
  return {};
}

std::span<const std::byte> ContextCounters::image() const noexcept {
  if (kind_ == channel::CounterKind::kInstructions) return instructions_.image();
  if (!has_one_range_) return {};
  return const_cast<PageBuffer&>(image_).bytes();
}

}  // namespace lanescope::agent::kernel_counters

#include "agent/kernels/pc_sampler.h"

#include <string_view>

#include <sys/mman.h>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"
#include "agent/kernels/driver.h"

namespace lanescope::agent::kernels {
namespace {

// A reason is counted twice, for all its samples and for those in cycles in which nothing was issued: "..._stalled_wait" and "..._stalled_wait_not_issued".
// CUPTI's list also contains sums, which are left out.
constexpr std::string_view kReason = "warps_issue_stalled_";
constexpr std::string_view kNotIssued = "_not_issued";

// Of 2^n cycles. At 2^15 CUPTI's worker can't keep up with a busy large GPU (8 million samples a second); at 2^20 it takes a tenth of a core.
constexpr std::uint32_t kUsualPeriod = 20;
// From this compute capability on, setting a period explicitly yields no samples.
constexpr int kFirstWithoutPeriods = 10;
constexpr int kMostFetches = 256;  // in one call: a million PCs

}  // namespace

PcSampler::PcSampler(const Functions& functions, CUcontext context, PcDictionary& dictionary, CodeObjects& code) noexcept
    : functions_(functions), context_(context), dictionary_(dictionary), code_(code) {
  functions_.get_context_id(context_, &context_id_);
  functions_.get_device_id(context_, &device_);
}

PcSampler::~PcSampler() {
  release(fetched_);
  release(remaining_);
}

bool PcSampler::prepare(Buffer& buffer, std::size_t pcs) noexcept {
  if (buffer.bytes != 0) return true;  // kept from an earlier attempt that was refused after this step
  const std::size_t reasons_bytes = reason_count_ * sizeof(CUpti_PCSamplingStallReason);
  const std::size_t bytes = pcs * (sizeof(CUpti_PCSamplingPCData) + reasons_bytes);
  void* const place = system::map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (place == nullptr) return false;
  auto* const rows = static_cast<CUpti_PCSamplingPCData*>(place);
  auto* reasons = reinterpret_cast<CUpti_PCSamplingStallReason*>(rows + pcs);
  for (std::size_t i = 0; i < pcs; ++i, reasons += reason_count_) {
    rows[i].size = sizeof(CUpti_PCSamplingPCData);
    rows[i].stallReason = reasons;
  }
  buffer.data = {};
  buffer.data.size = sizeof(CUpti_PCSamplingData);
  buffer.data.collectNumPcs = pcs;
  buffer.data.pPcData = rows;
  buffer.bytes = bytes;
  return true;
}

void PcSampler::release(Buffer& buffer) noexcept {
  if (buffer.bytes != 0) system::unmap(buffer.data.pPcData, buffer.bytes);
  buffer = {};
}

CUptiResult PcSampler::find_reasons() noexcept {
  std::size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams counted{};
  counted.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  counted.ctx = context_;
  counted.numStallReasons = &count;
  if (const CUptiResult result = functions_.get_reason_count(&counted); result != CUPTI_SUCCESS) return result;
  if (count > kMostReasons) return CUPTI_ERROR_NOT_SUPPORTED;
  char names[kMostReasons][CUPTI_STALL_REASON_STRING_SIZE] = {};
  std::uint32_t indexes[kMostReasons] = {};
  char* places[kMostReasons];
  for (std::size_t i = 0; i < kMostReasons; ++i) places[i] = names[i];
  CUpti_PCSamplingGetStallReasonsParams asked{};
  asked.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  asked.ctx = context_;
  asked.numStallReasons = count;
  asked.stallReasonIndex = indexes;
  asked.stallReasons = places;
  if (const CUptiResult result = functions_.get_reasons(&asked); result != CUPTI_SUCCESS) return result;
  reason_count_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    names[i][CUPTI_STALL_REASON_STRING_SIZE - 1] = '\0';
    std::string_view name(names[i]);
    if (name.find(kReason) == std::string_view::npos) continue;
    const bool is_not_issued = name.ends_with(kNotIssued);
    if (is_not_issued) name.remove_suffix(kNotIssued.size());
    reasons_[reason_count_++] = {indexes[i], dictionary_.reason(name), is_not_issued};
  }
  return reason_count_ == 0 ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

CUptiResult PcSampler::configure(std::uint32_t period, Times times) noexcept {
  std::uint32_t indexes[kMostReasons] = {};
  for (std::size_t i = 0; i < reason_count_; ++i) indexes[i] = reasons_[i].index;
  CUpti_PCSamplingConfigurationInfo attributes[5] = {};
  std::size_t count = 0;
  const auto add = [&](CUpti_PCSamplingConfigurationAttributeType type) -> CUpti_PCSamplingConfigurationInfo& {
    attributes[count].attributeType = type;
    return attributes[count++];
  };
  add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE).attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  auto& reasons = add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON).attributeData.stallReasonData;
  reasons.stallReasonCount = reason_count_;
  reasons.pStallReasonIndex = indexes;
  add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER).attributeData.samplingDataBufferData.samplingDataBuffer = &remaining_.data;
  if (period != 0) add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD).attributeData.samplingPeriodData.samplingPeriod = period;
  if (times == Times::kWindows)
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL).attributeData.enableStartStopControlData.enableStartStopControl = 1;
  CUpti_PCSamplingConfigurationInfoParams parameters{};
  parameters.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  parameters.ctx = context_;
  parameters.numAttributes = count;
  parameters.pPCSamplingConfigurationInfo = attributes;
  if (const CUptiResult result = functions_.configure(&parameters); result != CUPTI_SUCCESS) return result;

  CUpti_PCSamplingConfigurationInfo in_force{};
  in_force.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
  parameters.numAttributes = 1;
  parameters.pPCSamplingConfigurationInfo = &in_force;
  period_ = period;
  if (functions_.get_configuration(&parameters) == CUPTI_SUCCESS && in_force.attributeData.samplingPeriodData.samplingPeriod < 32 &&
      in_force.attributeData.samplingPeriodData.samplingPeriod != 0)
    period_ = in_force.attributeData.samplingPeriodData.samplingPeriod;
  return CUPTI_SUCCESS;
}

PcSampler::Begin PcSampler::begin(std::uint32_t period, Times times) noexcept {
  is_expected_ = false;
  const Driver driver = Driver::find();
  char bus_id[32] = {};
  if (driver.bus_id(static_cast<int>(device_), bus_id) && !claim_.take(bus_id)) return Begin::kGpuInUse;
  const bool takes_periods = driver.compute_major(static_cast<int>(device_)) < kFirstWithoutPeriods;
  refusal_ = switch_on(takes_periods && period == 0 ? kUsualPeriod : takes_periods ? period : 0, times);
  if (refusal_ == CUPTI_SUCCESS) return Begin::kSampled;
  claim_.give_back();
  return Begin::kRefused;
}

CUptiResult PcSampler::switch_on(std::uint32_t period, Times times) noexcept {
  CUpti_PCSamplingEnableParams parameters{};
  parameters.size = CUpti_PCSamplingEnableParamsSize;
  parameters.ctx = context_;
  if (const CUptiResult result = functions_.enable(&parameters); result != CUPTI_SUCCESS) return result;
  is_on_ = true;
  CUptiResult result = find_reasons();
  if (result == CUPTI_SUCCESS && !(prepare(fetched_, kFetchedPcs) && prepare(remaining_, kRemainingPcs))) result = CUPTI_ERROR_OUT_OF_MEMORY;
  if (result == CUPTI_SUCCESS) result = configure(period, times);
  if (result == CUPTI_SUCCESS)
    chunk_.begin(monotonic_now());
  else
    switch_off();
  return result;
}

CUptiResult PcSampler::begin_window() noexcept {
  CUpti_PCSamplingStartParams parameters{};
  parameters.size = CUpti_PCSamplingStartParamsSize;
  parameters.ctx = context_;
  const CUptiResult result = functions_.start(&parameters);
  if (result != CUPTI_SUCCESS) {
    switch_off();
    return result;
  }
  window_ = {monotonic_now(), 0};
  chunk_.begin(window_.begin);
  return CUPTI_SUCCESS;
}

CUptiResult PcSampler::end_window() noexcept {
  CUpti_PCSamplingStopParams parameters{};
  parameters.size = CUpti_PCSamplingStopParamsSize;
  parameters.ctx = context_;
  const CUptiResult result = functions_.stop(&parameters);
  window_.end = monotonic_now();
  if (result != CUPTI_SUCCESS) switch_off();
  return result;
}

CUptiResult PcSampler::take() noexcept {
  CUptiResult result = CUPTI_SUCCESS;
  for (int fetches = 0; is_on_ && fetches < kMostFetches && !chunk_.full(); ++fetches) {
    CUpti_PCSamplingGetDataParams parameters{};
    parameters.size = CUpti_PCSamplingGetDataParamsSize;
    parameters.ctx = context_;
    parameters.pcSamplingData = &fetched_.data;
    result = functions_.get_data(&parameters);
    // The hardware's buffer was full: it is not known how much was lost; sampling goes on.
    if (result == CUPTI_ERROR_OUT_OF_MEMORY) {
      chunk_.add_losses({0, 0, true});
      return CUPTI_SUCCESS;
    }
    if (result != CUPTI_SUCCESS) {
      switch_off();
      return result;
    }
    read(fetched_.data);
    if (fetched_.data.remainingNumPcs == 0) break;
  }
  return result;
}

CUptiResult PcSampler::end() noexcept {
  if (is_on_ && is_in_window())
    if (const CUptiResult result = end_window(); result != CUPTI_SUCCESS) return result;
  if (!is_on_) return CUPTI_SUCCESS;
  const CUptiResult taken = take();
  if (!is_on_) return taken;
  const CUptiResult result = switch_off();
  if (result != CUPTI_SUCCESS) return result;  // CUPTI may still write into the buffers
  read(remaining_.data);
  release(fetched_);
  release(remaining_);
  return CUPTI_SUCCESS;
}

CUptiResult PcSampler::leave_context() noexcept {
  const CUptiResult result = end();
  context_ = nullptr;
  return result;
}

void PcSampler::lose_context() noexcept {
  if (is_on_) fetched_ = remaining_ = {};
  is_on_ = false;
  context_ = nullptr;
  claim_.give_back();
}

CUptiResult PcSampler::switch_off() noexcept {
  is_on_ = false;
  CUpti_PCSamplingDisableParams parameters{};
  parameters.size = CUpti_PCSamplingDisableParamsSize;
  parameters.ctx = context_;
  const CUptiResult result = functions_.disable(&parameters);
  claim_.give_back();
  return result;
}

void PcSampler::read(const CUpti_PCSamplingData& data) noexcept {
  chunk_.add_losses({data.droppedSamples, data.nonUsrKernelsTotalSamples, data.hardwareBufferFull != 0});
  for (std::size_t i = 0; i < data.totalNumPcs && i < data.collectNumPcs; ++i) read(data.pPcData[i]);
}

void PcSampler::read(const CUpti_PCSamplingPCData& pc) noexcept {
  struct Sum {
    std::uint32_t id = 0;
    std::uint32_t samples = 0;
    std::uint32_t not_issued = 0;
  };
  Sum sums[kMostReasons];
  std::size_t count = 0;
  for (std::size_t i = 0; i < pc.stallReasonCount && i < reason_count_; ++i) {
    const CUpti_PCSamplingStallReason& sampled = pc.stallReason[i];
    for (std::size_t known = 0; known < reason_count_; ++known) {
      const Reason& reason = reasons_[known];
      if (reason.index != sampled.pcSamplingStallReasonIndex) continue;
      std::size_t place = 0;
      while (place < count && sums[place].id != reason.id) ++place;
      if (place == count) sums[count++] = {reason.id, 0, 0};
      (reason.is_not_issued ? sums[place].not_issued : sums[place].samples) += sampled.samples;
      break;
    }
  }
  const std::uint32_t function = dictionary_.function(pc.cubinCrc, pc.functionIndex, pc.functionName != nullptr ? pc.functionName : "");
  bool has_any = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (sums[i].samples == 0) continue;
    has_any = true;
    chunk_.add({function, pc.pcOffset, sums[i].id, sums[i].samples, sums[i].not_issued});
  }
  if (has_any) code_.want(pc.cubinCrc, pc.functionIndex);
}

}  // namespace lanescope::agent::kernels

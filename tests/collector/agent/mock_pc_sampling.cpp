// PC sampling of the mock CUPTI (mock_cupti.h). As on an H200, sampling two contexts of one GPU at once breaks it for good.
#include <cupti.h>
#include <cupti_pcsampling.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "mock_cupti.h"

using namespace lanescope::test::mock_cupti;

namespace {

constexpr const char* kPrefix = "smsp__pcsamp_warps_issue_stalled_";
struct Reason {
  std::uint32_t index;
  const char* name;
};
constexpr Reason kReasons[] = {{14, "long_scoreboard"}, {15, "long_scoreboard_not_issued"}, {36, "wait"}, {26, "selected"}};
constexpr std::uint32_t kSum = 0;  // not a reason, but listed among them

struct Sampling {
  std::mutex mutex;
  CUcontext on = nullptr;
  bool is_broken = false;
  CUpti_PCSamplingData* remaining = nullptr;
  std::uint32_t waiting = 0;   // rounds of samples that were not fetched
  bool is_configured = false;  // nothing is sampled before
  bool has_control = false;    // start and stop control when it samples
  bool is_started = false;
  bool is_worker_late = true;
  std::uint64_t crc = 0;
};
Sampling& sampling() {
  static Sampling* instance = new Sampling;
  return *instance;
}

char function_name[] = "_Z3foov";

void set(CUpti_PCSamplingPCData& row, std::uint64_t pc, std::initializer_list<CUpti_PCSamplingStallReason> reasons) {
  row.cubinCrc = sampling().crc;
  row.pcOffset = pc;
  row.functionIndex = kSampledFunction;
  row.functionName = function_name;  // shared by all rows; must not be freed
  row.stallReasonCount = 0;
  for (const auto& reason : reasons) row.stallReason[row.stallReasonCount++] = reason;
}

// Fills in this number of rounds, as mock_cupti.h describes them.
void fill(CUpti_PCSamplingData& data, std::uint32_t rounds) {
  set(data.pPcData[0], kSampledPc, {{14, rounds * kLongScoreboard}, {15, rounds * kLongScoreboardNotIssued}, {36, rounds * kWait}});
  set(data.pPcData[1], 0, {{26, rounds * kSelected}});
  data.totalNumPcs = 2;
  data.remainingNumPcs = 0;
  data.droppedSamples = rounds * kDroppedSamples;
  data.nonUsrKernelsTotalSamples = rounds * kOtherSamples;
  data.totalSamples = rounds * (kLongScoreboard + kWait + kSelected + kDroppedSamples + kOtherSamples);
  data.hardwareBufferFull = 0;
}

// Waits until nobody launches, as starting and ending of sampling require on an H200.
CUptiResult await_break() {
  using namespace std::chrono_literals;
  const auto begin = std::chrono::steady_clock::now();
  const auto since_launch = [] { return std::chrono::steady_clock::now().time_since_epoch() - std::chrono::nanoseconds(mock_cupti_last_launch()); };
  for (; since_launch() < 20ms; std::this_thread::sleep_for(1ms))
    if (std::chrono::steady_clock::now() - begin > 60s) return CUPTI_ERROR_UNKNOWN;
  return CUPTI_SUCCESS;
}

std::uint64_t sum_of(const void* bytes, std::size_t size) {
  std::uint64_t sum = 1;
  for (std::size_t i = 0; i < size; ++i) sum = sum * 31 + static_cast<const unsigned char*>(bytes)[i];
  return sum;
}

}  // namespace

extern "C" {

int mock_cupti_make_samples() {
  const std::lock_guard lock(sampling().mutex);
  if (!sampling().is_configured || (sampling().has_control && !sampling().is_started)) return 0;
  ++sampling().waiting;
  sampling().is_worker_late = true;
  return 1;
}

CUptiResult cuptiGetDeviceId(CUcontext, std::uint32_t* device) {
  *device = kDevice;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams* parameters) {
  parameters->cubinCrc = sampling().crc = sum_of(parameters->cubin, parameters->cubinSize);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams* parameters) {
  const std::lock_guard lock(sampling().mutex);
  if (const char* refusal = std::getenv("MOCK_CUPTI_PC_SAMPLING")) return static_cast<CUptiResult>(std::atoi(refusal));
  sampling().is_broken |= sampling().on != nullptr;
  sampling().on = parameters->ctx;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams* parameters) {
  *parameters->numStallReasons = 1 + std::size(kReasons);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams* parameters) {
  parameters->stallReasonIndex[0] = kSum;
  std::strcpy(parameters->stallReasons[0], "smsp__pcsamp_sample_count");
  for (std::size_t i = 0; i < std::size(kReasons); ++i) {
    parameters->stallReasonIndex[i + 1] = kReasons[i].index;
    std::strcpy(parameters->stallReasons[i + 1], kPrefix);
    std::strcat(parameters->stallReasons[i + 1], kReasons[i].name);
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams* parameters) {
  for (std::size_t i = 0; i < parameters->numAttributes; ++i) {
    const CUpti_PCSamplingConfigurationInfo& one = parameters->pPCSamplingConfigurationInfo[i];
    if (one.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE &&
        one.attributeData.collectionModeData.collectionMode != CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS)
      return CUPTI_ERROR_INVALID_PARAMETER;  // the program's kernels must not be serialised
    if (one.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON)
      for (std::size_t k = 0; k < one.attributeData.stallReasonData.stallReasonCount; ++k)
        if (one.attributeData.stallReasonData.pStallReasonIndex[k] == kSum) return CUPTI_ERROR_INVALID_PARAMETER;
    if (one.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL)
      sampling().has_control = one.attributeData.enableStartStopControlData.enableStartStopControl != 0;
    if (one.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
      sampling().remaining = static_cast<CUpti_PCSamplingData*>(one.attributeData.samplingDataBufferData.samplingDataBuffer);
  }
  const std::lock_guard lock(sampling().mutex);
  sampling().is_configured = sampling().on != nullptr && sampling().remaining != nullptr;
  return sampling().is_configured ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiPCSamplingGetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams* parameters) {
  parameters->pPCSamplingConfigurationInfo[0].attributeData.samplingPeriodData.samplingPeriod = kPeriod;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams* parameters) {
  const std::lock_guard lock(sampling().mutex);
  auto& data = *static_cast<CUpti_PCSamplingData*>(parameters->pcSamplingData);
  if (std::getenv("MOCK_CUPTI_PC_FAULTS") != nullptr) *reinterpret_cast<volatile int*>(kNowhere) = 1;
  if (sampling().is_broken || parameters->ctx != sampling().on || &data == sampling().remaining) return CUPTI_ERROR_UNKNOWN;
  if (std::getenv("MOCK_CUPTI_PC_FULL") != nullptr) return CUPTI_ERROR_OUT_OF_MEMORY;
  data.totalNumPcs = data.remainingNumPcs = 0;
  data.totalSamples = data.droppedSamples = data.nonUsrKernelsTotalSamples = 0;
  // The last round is kept until the end, like samples that CUPTI's worker has not taken by then.
  const std::uint32_t kept = sampling().is_worker_late ? 1 : 0;
  if (sampling().waiting <= kept) return CUPTI_SUCCESS;
  fill(data, sampling().waiting - kept);
  sampling().waiting = kept;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingStart(CUpti_PCSamplingStartParams* parameters) {
  if (const CUptiResult result = await_break(); result != CUPTI_SUCCESS) return result;
  const std::lock_guard lock(sampling().mutex);
  if (parameters->ctx != sampling().on || !sampling().has_control || sampling().is_started) return CUPTI_ERROR_INVALID_OPERATION;
  sampling().is_started = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingStop(CUpti_PCSamplingStopParams* parameters) {
  if (const CUptiResult result = await_break(); result != CUPTI_SUCCESS) return result;
  const std::lock_guard lock(sampling().mutex);
  if (parameters->ctx != sampling().on || !sampling().is_started) return CUPTI_ERROR_INVALID_OPERATION;
  sampling().is_started = sampling().is_worker_late = false;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams* parameters) {
  if (const CUptiResult result = await_break(); result != CUPTI_SUCCESS) return result;
  const std::lock_guard lock(sampling().mutex);
  if (parameters->ctx != sampling().on) return CUPTI_ERROR_UNKNOWN;
  if (sampling().waiting > 0) fill(*sampling().remaining, sampling().waiting);
  sampling().waiting = 0;
  sampling().on = nullptr;
  sampling().is_configured = sampling().has_control = sampling().is_started = false;
  return CUPTI_SUCCESS;
}

}  // extern "C"

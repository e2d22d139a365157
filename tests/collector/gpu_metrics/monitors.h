// The performance monitors of an imaginary GPU behind CUPTI's functions. What they count is known, and a call that CUPTI would refuse is counted as a
// mistake. For test programs with one thread that fetches; values may be evaluated on any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "collector/channel/clock.h"
#include "values/chip_metrics.h"

namespace lanescope::gpu_metrics {

struct Monitors {
  static constexpr std::size_t kSampleBytes = 700;
  static constexpr std::size_t kHeaderBytes = 64;
  static constexpr std::int64_t kInterval = 100'000;  // ns

  // What tests may set.
  std::size_t hardware_samples = 1 << 20;  // capacity of the hardware's buffer
  std::function<void()> before_evaluation = [] {};
  int failures = 0;  // this number of calls that ask for an image's content fails

  // What tests can read.
  std::atomic<int> mistakes = 0;
  std::atomic<int> evaluations = 0;
  std::vector<std::size_t> buffers_asked_for;  // bytes
  std::set<std::size_t> images;                // samples
  int images_made_fresh = 0;
  std::size_t most_memory = SIZE_MAX;  // limit of the hardware's buffer
  int starts = 0;

  // Makes this number of samples.
  void count(std::size_t samples) {
    for (std::size_t i = 0; i < samples; ++i, ++next) {
      if (held.size() + unacknowledged < hardware_samples && !overflowed)
        held.push_back(next);
      else
        overflowed = true;
    }
  }
  // Start of a sample, CLOCK_REALTIME ns.
  [[nodiscard]] std::uint64_t begin_of(std::uint64_t sample) const { return epoch + sample * kInterval; }
  // The value of a metric in a sample.
  [[nodiscard]] static double value(std::uint64_t sample, std::size_t metric) { return static_cast<double>(sample % 1000 * 10 + metric); }

  std::vector<std::uint64_t> held;  // in the hardware's buffer
  std::size_t unacknowledged = 0;   // samples that were decoded and whose room is not free yet
  std::uint64_t next = 0;
  bool overflowed = false;
  bool enabled = false;
  bool configured = false;
  bool started = false;
  std::uint64_t epoch = static_cast<std::uint64_t>(channel::realtime_now());
};

inline Monitors* monitors = nullptr;

// An image: the number of samples for which it has room, the number that it holds, and the samples.
struct ImageHeader {
  std::uint64_t magic;
  std::uint64_t room;
  std::uint64_t held;
  std::uint64_t size;
  std::uint64_t part = 0;  // 1 + the sample of which it holds a part after the others; 0: none
  static constexpr std::uint64_t kMagic = 0x53454c504d415331;
};
inline ImageHeader header_of(const std::uint8_t* image, std::size_t size) {
  ImageHeader header;
  std::memcpy(&header, image, sizeof(header));
  if (header.magic != ImageHeader::kMagic || header.size != size) ++monitors->mistakes;
  return header;
}

inline CUptiResult require(bool holds) {
  if (!holds) ++monitors->mistakes;
  return holds ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

inline CuptiFunctions functions_of_monitors() {
  CuptiFunctions f{};
  f.get_result_string = [](CUptiResult, const char** text) {
    *text = "CUPTI_ERROR_OF_A_TEST";
    return CUPTI_SUCCESS;
  };
  f.get_chip_name = [](CUpti_Device_GetChipName_Params* p) {
    p->pChipName = "GH100";
    return CUPTI_SUCCESS;
  };
  f.get_availability = [](CUpti_PmSampling_GetCounterAvailability_Params* p) {
    p->counterAvailabilityImageSize = 16;
    return CUPTI_SUCCESS;
  };
  f.host_initialize = [](CUpti_Profiler_Host_Initialize_Params* p) {
    p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new int{0});
    return CUPTI_SUCCESS;
  };
  f.host_deinitialize = [](CUpti_Profiler_Host_Deinitialize_Params* p) {
    delete reinterpret_cast<int*>(p->pHostObject);
    return CUPTI_SUCCESS;
  };
  f.add_metrics = [](CUpti_Profiler_Host_ConfigAddMetrics_Params*) { return CUPTI_SUCCESS; };
  f.get_config_size = [](CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
    p->configImageSize = 16;
    return CUPTI_SUCCESS;
  };
  f.get_config = [](CUpti_Profiler_Host_GetConfigImage_Params*) { return CUPTI_SUCCESS; };
  f.get_passes = [](CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
    p->numOfPasses = 1;
    return CUPTI_SUCCESS;
  };
  f.evaluate = [](CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
    monitors->before_evaluation();
    ++monitors->evaluations;
    const ImageHeader header = header_of(p->pCounterDataImage, p->counterDataImageSize);
    if (p->rangeIndex >= header.held) return require(false);
    std::uint64_t sample = 0;
    const std::uint8_t* bytes = p->pCounterDataImage + Monitors::kHeaderBytes + p->rangeIndex * Monitors::kSampleBytes;
    std::memcpy(&sample, bytes, sizeof(sample));
    for (std::size_t i = sizeof(sample); i < Monitors::kSampleBytes; ++i)
      if (bytes[i] != static_cast<std::uint8_t>(sample + i)) return require(false);
    for (std::size_t metric = 0; metric < p->numMetrics; ++metric) p->pMetricValues[metric] = Monitors::value(sample, metric);
    return CUPTI_SUCCESS;
  };
  f.enable = [](CUpti_PmSampling_Enable_Params* p) {
    const CUptiResult result = require(!monitors->enabled);
    monitors->enabled = true;
    p->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(monitors);
    return result;
  };
  f.disable = [](CUpti_PmSampling_Disable_Params*) {
    const CUptiResult result = require(monitors->enabled && !monitors->started);
    monitors->enabled = false;
    return result;
  };
  f.set_config = [](CUpti_PmSampling_SetConfig_Params* p) {
    monitors->buffers_asked_for.push_back(p->hardwareBufferSize);
    if (p->hardwareBufferSize > monitors->most_memory) return CUPTI_ERROR_OUT_OF_MEMORY;
    monitors->configured = true;
    return require(monitors->enabled && p->samplingInterval == Monitors::kInterval);
  };
  f.start = [](CUpti_PmSampling_Start_Params*) {
    const CUptiResult result = require(monitors->configured && !monitors->started);
    monitors->started = true;
    ++monitors->starts;
    return result;
  };
  f.stop = [](CUpti_PmSampling_Stop_Params*) {
    const CUptiResult result = require(monitors->started);
    monitors->started = false;
    monitors->held.clear();
    return result;
  };
  f.get_data_size = [](CUpti_PmSampling_GetCounterDataSize_Params* p) {
    monitors->images.insert(p->maxSamples);
    p->counterDataSize = Monitors::kHeaderBytes + p->maxSamples * Monitors::kSampleBytes;
    return require(monitors->configured && p->numMetrics > 0);
  };
  f.initialize_data = [](CUpti_PmSampling_CounterDataImage_Initialize_Params* p) {
    ++monitors->images_made_fresh;
    std::memset(p->pCounterData, 0xA5, p->counterDataSize);
    const ImageHeader header{ImageHeader::kMagic, (p->counterDataSize - Monitors::kHeaderBytes) / Monitors::kSampleBytes, 0, p->counterDataSize};
    std::memcpy(p->pCounterData, &header, sizeof(header));
    return require(monitors->enabled);
  };
  f.decode = [](CUpti_PmSampling_DecodeData_Params* p) {
    if (!monitors->started) return require(false);
    ImageHeader header = header_of(p->pCounterDataImage, p->counterDataImageSize);
    std::size_t taken = 0;
    for (; taken < monitors->held.size() && header.held < header.room; ++taken, ++header.held) {
      const std::uint64_t sample = monitors->held[taken];
      std::uint8_t* bytes = p->pCounterDataImage + Monitors::kHeaderBytes + header.held * Monitors::kSampleBytes;
      std::memcpy(bytes, &sample, sizeof(sample));
      for (std::size_t i = sizeof(sample); i < Monitors::kSampleBytes; ++i) bytes[i] = static_cast<std::uint8_t>(sample + i);
    }
    std::memcpy(p->pCounterDataImage, &header, sizeof(header));
    p->decodeStopReason =
        taken < monitors->held.size() ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
    monitors->held.clear();  // what does not fit into the image is lost
    p->overflow = monitors->overflowed ? 1 : 0;
    monitors->overflowed = false;
    return CUPTI_SUCCESS;
  };
  f.get_data_info = [](CUpti_PmSampling_GetCounterDataInfo_Params* p) {
    if (monitors->failures > 0) {
      --monitors->failures;
      return CUPTI_ERROR_UNKNOWN;
    }
    const ImageHeader header = header_of(p->pCounterDataImage, p->counterDataImageSize);
    p->numTotalSamples = header.room;
    p->numPopulatedSamples = p->numCompletedSamples = header.held;
    return CUPTI_SUCCESS;
  };
  f.get_sample_info = [](CUpti_PmSampling_CounterData_GetSampleInfo_Params* p) {
    const ImageHeader header = header_of(p->pCounterDataImage, p->counterDataImageSize);
    if (!monitors->enabled || p->sampleIndex >= header.held) return require(false);
    std::uint64_t sample = 0;
    std::memcpy(&sample, p->pCounterDataImage + Monitors::kHeaderBytes + p->sampleIndex * Monitors::kSampleBytes, sizeof(sample));
    p->startTimestamp = monitors->begin_of(sample);
    p->endTimestamp = monitors->begin_of(sample + 1);
    return CUPTI_SUCCESS;
  };
  return f;
}

}  // namespace lanescope::gpu_metrics

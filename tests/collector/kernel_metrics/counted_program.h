// A program whose launches are counted by the agent, with a range profiler that a test controls.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <cupti.h>

#include "agent/kernel_counters/collection.h"
#include "kernel_metrics/records.h"
#include "mock_range_profiler.h"
#include "plan_file.h"
#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

inline constexpr CUpti_CallbackId kLaunch = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
inline const auto kContext = reinterpret_cast<CUcontext>(0x10);

inline channel::LaunchChoice all_launches() { return channel::LaunchChoice{}; }

// A program that counts: the agent gets its launches as CUPTI's callbacks.
class Program {
 public:
  Program(const channel::LaunchChoice& choice, const std::vector<PlannedBytes>& sets, channel::CounterReplay replay = channel::CounterReplay::kSpread) {
    write_plan(folder_.path(), choice, sets, replay);
    setenv(channel::kKernelCountersVariable, folder_.path().c_str(), 1);
    if (replay == channel::CounterReplay::kRange) {
      std::ofstream(folder_.path() / channel::kCounterRangesFile).close();
      REQUIRE(dlopen(LANESCOPE_MOCK_DRIVER, RTLD_NOW | RTLD_GLOBAL) != nullptr);
    }
    void* library = dlopen(LANESCOPE_MOCK_RANGE_PROFILER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    mock_ = reinterpret_cast<MockRangeProfiler* (*)()>(dlsym(library, "mock_range_profiler"))();
    *mock_ = {};
    agent::kernel_counters::begin(dlsym(library, "cuptiGetResultString"), nullptr);
  }
  ~Program() { agent::kernel_counters::forget_all(); }

  [[nodiscard]] MockRangeProfiler& mock() { return *mock_; }

  // `kernels`: number of kernels that run on the GPU for this launch.
  void launch(const char* name, CUpti_CallbackId id = kLaunch, std::uint32_t kernels = 1, CUstream stream = nullptr) {
    cuLaunchKernel_params parameters{};
    parameters.gridDimX = 128;
    parameters.hStream = stream;
    call(id, CUPTI_API_ENTER, name, &parameters, ++correlation_);
    was_counted_ = mock_->is_started;
    if (mock_->is_started) mock_->kernels += kernels;
    call(id, CUPTI_API_EXIT, name, &parameters, correlation_);
    CHECK(mock_->is_started == mock_->is_in_range);
  }
  void call(CUpti_CallbackId id, CUpti_ApiCallbackSite site, const char* name = nullptr, const void* parameters = nullptr, std::uint32_t correlation = 0) {
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.symbolName = name;
    data.functionParams = parameters;
    data.correlationId = correlation;
    data.context = context;
    agent::kernel_counters::follow_call(id, data);
  }
  CUcontext context = kContext;  // of the next launches

  [[nodiscard]] bool was_counted() const { return was_counted_; }
  [[nodiscard]] std::uint32_t last() const { return correlation_; }
  [[nodiscard]] ProcessRecords records() const {
    for (const auto& file : std::filesystem::directory_iterator(record_folder())) return read_records(file.path());
    return {};
  }
  [[nodiscard]] std::filesystem::path record_folder() const { return folder_.path() / channel::kCounterRecordFolder; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::vector<std::uint32_t> counted() const {
    std::vector<std::uint32_t> ids;
    for (const kernel_metrics::Counted& each : records().counted)
      if (each.record.outcome == channel::CounterOutcome::kMeasured) ids.push_back(each.record.correlation);
    return ids;
  }

 private:
  TemporaryFolder folder_;
  MockRangeProfiler* mock_ = nullptr;
  std::uint32_t correlation_ = 0;
  bool was_counted_ = false;
};

}  // namespace lanescope::test

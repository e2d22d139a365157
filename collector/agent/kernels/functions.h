// Functions of libcupti that the library uses in addition to the agent's.
#pragma once

#include <cupti.h>
#include <cupti_pcsampling.h>

namespace lanescope::agent::kernels {

struct Functions {
  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiGetResultString) get_result_string = nullptr;
  decltype(&::cuptiGetContextId) get_context_id = nullptr;
  decltype(&::cuptiGetDeviceId) get_device_id = nullptr;
  decltype(&::cuptiGetCubinCrc) get_cubin_crc = nullptr;
  decltype(&::cuptiPCSamplingEnable) enable = nullptr;
  decltype(&::cuptiPCSamplingDisable) disable = nullptr;
  decltype(&::cuptiPCSamplingStart) start = nullptr;
  decltype(&::cuptiPCSamplingStop) stop = nullptr;
  decltype(&::cuptiPCSamplingGetData) get_data = nullptr;
  decltype(&::cuptiPCSamplingGetNumStallReasons) get_reason_count = nullptr;
  decltype(&::cuptiPCSamplingGetStallReasons) get_reasons = nullptr;
  decltype(&::cuptiPCSamplingSetConfigurationAttribute) configure = nullptr;
  decltype(&::cuptiPCSamplingGetConfigurationAttribute) get_configuration = nullptr;
};

// False if one is missing.
bool resolve(void* cupti, Functions& functions) noexcept;

}  // namespace lanescope::agent::kernels

#include "agent/kernels/functions.h"

#include <dlfcn.h>

namespace lanescope::agent::kernels {

bool resolve(void* cupti, Functions& functions) noexcept {
  const auto find = [cupti]<typename Function>(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(cupti, name));
    return function != nullptr;
  };
  return find("cuptiGetVersion", functions.get_version) && find("cuptiGetResultString", functions.get_result_string) &&
         find("cuptiGetContextId", functions.get_context_id) && find("cuptiGetDeviceId", functions.get_device_id) &&
         find("cuptiGetCubinCrc", functions.get_cubin_crc) && find("cuptiPCSamplingEnable", functions.enable) &&
         find("cuptiPCSamplingDisable", functions.disable) && find("cuptiPCSamplingStart", functions.start) && find("cuptiPCSamplingStop", functions.stop) &&
         find("cuptiPCSamplingGetData", functions.get_data) && find("cuptiPCSamplingGetNumStallReasons", functions.get_reason_count) &&
         find("cuptiPCSamplingGetStallReasons", functions.get_reasons) && find("cuptiPCSamplingSetConfigurationAttribute", functions.configure) &&
         find("cuptiPCSamplingGetConfigurationAttribute", functions.get_configuration);
}

}  // namespace lanescope::agent::kernels

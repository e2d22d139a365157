// libcupti, found and loaded while the target runs: the agent is not linked to it, so that one agent serves every machine.
#pragma once

#include <cstdint>

#include <cupti.h>

namespace lanescope::agent::cupti {

// The functions that the agent uses. Those marked optional are null if this libcupti does not have them.
struct Functions {
  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiGetResultString) get_result_string = nullptr;
  decltype(&::cuptiSubscribe) subscribe = nullptr;
  decltype(&::cuptiSubscribe_v2) subscribe_v2 = nullptr;  // optional
  decltype(&::cuptiUnsubscribe) unsubscribe = nullptr;    // optional
  decltype(&::cuptiEnableCallback) enable_callback = nullptr;
  decltype(&::cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&::cuptiGetCallbackState) get_callback_state = nullptr;  // optional
  decltype(&::cuptiSetThreadIdType) set_thread_id_type = nullptr;   // optional
  decltype(&::cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) enable = nullptr;
  decltype(&::cuptiActivityDisable) disable = nullptr;
  decltype(&::cuptiActivityEnableAndDump) enable_and_dump = nullptr;                            // optional
  decltype(&::cuptiActivityEnableRuntimeApi) enable_runtime_api = nullptr;                      // optional
  decltype(&::cuptiActivityEnableDriverApi) enable_driver_api = nullptr;                        // optional
  decltype(&::cuptiActivityEnableAllSyncRecords) enable_all_sync_records = nullptr;             // optional
  decltype(&::cuptiActivityConfigureUnifiedMemoryCounter) configure_unified_memory = nullptr;   // optional
  decltype(&::cuptiActivityEnableCudaEventDeviceTimestamps) enable_event_timestamps = nullptr;  // optional; CUDA 12.8 and up
  decltype(&::cuptiGetContextId) get_context_id = nullptr;                                      // optional
  decltype(&::cuptiGetStreamIdEx) get_stream_id = nullptr;                                      // optional
  decltype(&::cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&::cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&::cuptiActivityGetNumDroppedRecords) get_dropped_records = nullptr;
};

enum class LoadResult {
  kLoaded,
  kNoDriver,      // there is no libcuda in this process
  kNotFound,      // no libcupti in any of its possible places
  kDamaged,       // the file that exists was cut short or overwritten
  kUnknownMajor,  // its records are unknown to this agent
  kFaulted,       // at the first call
};

// The first file that was skipped because it is damaged; empty if none was.
struct DamagedFile {
  char path[1024] = {};
};

struct Library {
  LoadResult result = LoadResult::kNotFound;
  Functions functions;
  std::uint32_t version = 0;         // from cuptiGetVersion: 19 to 28 for CUDA 12, 130000 and up for CUDA 13
  std::uint32_t driver_version = 0;  // from cuDriverGetVersion: 13000 for 13.0; 0 if unknown
  DamagedFile damaged;
};

// Uses the libcupti that LANESCOPE_CUPTI_LIBRARY names, else the one that the process has loaded already, else one that fits the driver.
Library load_library() noexcept;

// Only libcupti, for a driver of this CUDA major version, from the same places; a handle of dlopen, null if there is none. Files that would end the process
// that loads them are skipped.
void* open_library(int driver_major, DamagedFile& damaged) noexcept;

}  // namespace lanescope::agent::cupti

// The part of the schema of Nsight Systems' SQLite exports that traces fill. Internal to model/export.
#pragma once

#include <cstddef>
#include <span>

namespace lanescope::exporters {

struct EnumEntry {
  int id;
  const char* name;
  const char* label;
};
struct EnumTable {
  const char* name;
  std::span<const EnumEntry> entries;
};
[[nodiscard]] std::span<const EnumTable> enum_tables() noexcept;

enum class NsysTable : unsigned char {
  kStrings,           // StringIds
  kSessionStart,      // TARGET_INFO_SESSION_START_TIME
  kAnalysisDetails,   // ANALYSIS_DETAILS
  kDiagnostics,       // DIAGNOSTIC_EVENT
  kKernels,           // CUPTI_ACTIVITY_KIND_KERNEL
  kCopies,            // CUPTI_ACTIVITY_KIND_MEMCPY
  kSets,              // CUPTI_ACTIVITY_KIND_MEMSET
  kGraphLaunches,     // CUPTI_ACTIVITY_KIND_GRAPH_TRACE
  kSynchronizations,  // CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
  kApiCalls,          // CUPTI_ACTIVITY_KIND_RUNTIME
  kCudaOverhead,      // CUPTI_ACTIVITY_KIND_OVERHEAD
  kProfilerOverhead,  // PROFILER_OVERHEAD
  kNvtx,              // NVTX_EVENTS
  kMpiMessages,       // MPI_P2P_EVENTS
  kMpiCollectives,    // MPI_COLLECTIVES_EVENTS
  kMpiWaits,          // MPI_START_WAIT_EVENTS
  kMpiOthers,         // MPI_OTHER_EVENTS
  kMpiRanks,          // MPI_RANKS
  kOsRuntime,         // OSRT_API
  kOsRuntimeChains,   // OSRT_CALLCHAINS
  kCudaChains,        // CUDA_CALLCHAINS
  kScheduling,        // SCHED_EVENTS
  kSamples,           // COMPOSITE_EVENTS
  kSampleChains,      // SAMPLING_CALLCHAINS
  kCpuPageFaults,     // CUDA_UM_CPU_PAGE_FAULT_EVENTS
  kGpuPageFaults,     // CUDA_UM_GPU_PAGE_FAULT_EVENTS
  kMemoryUsage,       // CUDA_GPU_MEMORY_USAGE_EVENTS
  kMemoryPools,       // CUDA_GPU_MEMORY_POOL_EVENTS
  kCudaEvents,        // CUPTI_ACTIVITY_KIND_CUDA_EVENT
  kGpuMetrics,        // GPU_METRICS
  kGpuMetricNames,    // TARGET_INFO_GPU_METRICS
  kProcesses,         // PROCESSES
  kThreadNames,       // ThreadNames
  kGpus,              // TARGET_INFO_GPU
  kDevices,           // TARGET_INFO_CUDA_DEVICE
  kContexts,          // TARGET_INFO_CUDA_CONTEXT_INFO
  kStreams,           // TARGET_INFO_CUDA_STREAM
  kCaptureMetadata,   // META_DATA_CAPTURE
  kExportMetadata,    // META_DATA_EXPORT
  // Not in Nsight's schema: call chains that share their outer calls (NsysCalls), if views replace its tables.
  kCalls,           // LANESCOPE_CALLS
  kCallFunctions,   // LANESCOPE_CALL_FUNCTIONS
  kOsRuntimeCalls,  // LANESCOPE_OSRT_CALLCHAINS
  kCudaCalls,       // LANESCOPE_CUDA_CALLCHAINS
  kSampleCalls,     // LANESCOPE_SAMPLING_CALLCHAINS
  // Nor this: until when ranges and kernels were seen that had not ended with the recording.
  kUnfinished,  // LANESCOPE_UNFINISHED
};
inline constexpr std::size_t kNsysTableCount = 39;  // of Nsight's schema
inline constexpr std::size_t kAllTableCount = 45;

struct TableSchema {
  const char* name;
  const char* columns;  // as in CREATE TABLE
  int column_count;
};
[[nodiscard]] const TableSchema& table_schema(NsysTable table) noexcept;

}  // namespace lanescope::exporters

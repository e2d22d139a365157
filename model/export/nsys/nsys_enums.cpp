// The enumerations of an Nsight Systems export: the meaning of numbers in its tables.
#include "nsys_schema.h"

namespace lanescope::exporters {
namespace {

constexpr EnumEntry kNsysEventType[] = {
    {33, "NvtxCategory", "NvtxCategory"},
    {34, "NvtxMark", "NvtxMark"},
    {39, "NvtxThread", "NvtxThread"},
    {59, "NvtxPushPopRange", "NvtxPushPopRange"},
    {60, "NvtxStartEndRange", "NvtxStartEndRange"},
    {70, "NvtxtPushPopRange", "NvtxtPushPopRange"},
    {71, "NvtxtStartEndRange", "NvtxtStartEndRange"},
    {75, "NvtxDomainCreate", "NvtxDomainCreate"},
    {76, "NvtxDomainDestroy", "NvtxDomainDestroy"},
};
constexpr EnumEntry kNsysEventClass[] = {
    {0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},      {1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
    {27, "TRACE_PROCESS_EVENT_OS_RUNTIME", "OSRT runtime"},       {31, "TRACE_PROCESS_EVENT_OS_RUNTIME_START", "OSRT start"},
    {32, "TRACE_PROCESS_EVENT_OS_RUNTIME_FINISH", "OSRT finish"}, {103, "TRACE_PROCESS_EVENT_CUDA_OVERHEAD", "CUDA overhead"},
};
constexpr EnumEntry kCudaMemcpyOper[] = {
    {0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
    {1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
    {2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
    {3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
    {4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
    {5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
    {6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
    {7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
    {8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
    {9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
    {10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
    {11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
    {12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
    {13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"},
};
constexpr EnumEntry kCudaMemKind[] = {
    {0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
    {1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
    {2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
    {3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
    {4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
    {5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
    {6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
    {7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
};
constexpr EnumEntry kCudaDevMemEventOper[] = {
    {0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"},
    {1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation"},
};
constexpr EnumEntry kCudaKernelLaunchType[] = {
    {0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"},
    {1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"},
    {2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
    {3, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"},
};
constexpr EnumEntry kCudaFuncCacheConfig[] = {
    {0, "CU_FUNC_CACHE_PREFER_NONE", "None"},
    {1, "CU_FUNC_CACHE_PREFER_SHARED", "Shared"},
    {2, "CU_FUNC_CACHE_PREFER_L1", "L1"},
    {3, "CU_FUNC_CACHE_PREFER_EQUAL", "Equal"},
};
constexpr EnumEntry kCuptiStreamType[] = {
    {0, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN", "Unknown stream type"},
    {1, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT", "Default stream"},
    {2, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING", "Non-blocking stream"},
    {3, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL", "Null stream"},
};
constexpr EnumEntry kCuptiSyncType[] = {
    {0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
    {1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
    {2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
    {3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
    {4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
};
constexpr EnumEntry kCuptiOverheadType[] = {
    {0, "OVERHEAD_UNDEFINED", "Undefined"},
    {1, "OVERHEAD_UNKNOWN", "Unknown"},
    {2, "OVERHEAD_DRIVER_COMPILER", "Driver JIT compiler (CUDA)"},
    {3, "OVERHEAD_CUPTI_BUFFER_FLUSH", "Buffer flush (Profiler)"},
    {4, "OVERHEAD_CUPTI_INSTRUMENTATION", "Instrumentation (Profiler)"},
    {5, "OVERHEAD_CUPTI_RESOURCE", "Resource creation/destruction (Profiler)"},
    {6, "OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime module loading (CUDA)"},
    {7, "OVERHEAD_LAZY_FUNCTION_LOADING", "Lazy function loading (CUDA)"},
    {8, "OVERHEAD_COMMAND_BUFFER_FULL", "Command buffer full (CUDA)"},
};
constexpr EnumEntry kDiagnosticSeverityLevel[] = {
    {0, "UnknownLevel", "Unknown"}, {1, "Info", "Info"}, {2, "Warning", "Warning"}, {3, "Error", "Error"}, {4, "Verbose", "Verbose"},
};
constexpr EnumEntry kDiagnosticSourceType[] = {
    {0, "UnknownSource", "Unknown source"},
    {1, "Injection", "Injection"},
    {2, "Daemon", "Daemon"},
    {3, "Analysis", "Analysis"},
};
constexpr EnumEntry kDiagnosticTimestampSource[] = {
    {0, "UnknownTimestamp", "Unknown timestamp"},
    {1, "TargetTimestamp", "Target timestamp"},
    {2, "HostTimestamp", "Host timestamp"},
};

constexpr EnumEntry kSamplingThreadState[] = {
    {0, "Unknown", "Unknown"},      {1, "Running", "Running"},         {2, "Interruptible", "Interruptible"}, {3, "Uninterruptible", "Uninterruptible"},
    {4, "Stopped", "Stopped"},      {5, "Terminated", "Terminated"},   {6, "Unscheduled", "Unscheduled"},     {7, "Waiting", "Waiting"},
    {8, "OSRuntime", "OS runtime"}, {9, "Initialized", "Initialized"}, {10, "Transition", "Transition"},
};
constexpr EnumEntry kStackUnwindMethod[] = {
    {0, "Unknown", "Unknown"},
    {1, "FramePointer", "Frame pointer"},
    {2, "UnwindTable", "Unwind table"},
    {3, "LR_FramePointer", "LR frame pointer"},
    {4, "LR_UnwindTable", "LR unwind table"},
    {5, "KernelContext", "Kernel context"},
    {6, "DWARF_EH", "DWARF EH"},
    {7, "DWARF_DF", "DWARF DF"},
    {8, "LBR", "LBR"},
};

constexpr EnumTable kTables[] = {
    {"ENUM_NSYS_EVENT_TYPE", kNsysEventType},
    {"ENUM_NSYS_EVENT_CLASS", kNsysEventClass},
    {"ENUM_CUDA_MEMCPY_OPER", kCudaMemcpyOper},
    {"ENUM_CUDA_MEM_KIND", kCudaMemKind},
    {"ENUM_CUDA_DEV_MEM_EVENT_OPER", kCudaDevMemEventOper},
    {"ENUM_CUDA_KERNEL_LAUNCH_TYPE", kCudaKernelLaunchType},
    {"ENUM_CUDA_FUNC_CACHE_CONFIG", kCudaFuncCacheConfig},
    {"ENUM_CUPTI_STREAM_TYPE", kCuptiStreamType},
    {"ENUM_CUPTI_SYNC_TYPE", kCuptiSyncType},
    {"ENUM_CUPTI_OVERHEAD_TYPE", kCuptiOverheadType},
    {"ENUM_SAMPLING_THREAD_STATE", kSamplingThreadState},
    {"ENUM_STACK_UNWIND_METHOD", kStackUnwindMethod},
    {"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", kDiagnosticSeverityLevel},
    {"ENUM_DIAGNOSTIC_SOURCE_TYPE", kDiagnosticSourceType},
    {"ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", kDiagnosticTimestampSource},
};

}  // namespace

std::span<const EnumTable> enum_tables() noexcept { return kTables; }

}  // namespace lanescope::exporters

// The tables of an Nsight Systems export, schema 3.20, with the columns that later schemas added for graphs and clusters.
#include "nsys_schema.h"

#include <iterator>

namespace lanescope::exporters {
namespace {

// Columns for one call of a chain; depth 0 is the innermost.
constexpr const char* kChainColumns =
    "id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, kernelMode INTEGER, thumbCode INTEGER, "
    "unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER, unwindMethod INTEGER, stackDepth INTEGER NOT NULL";

// Columns for a chain: its id in Nsight's table, and its innermost call in LANESCOPE_CALLS.
constexpr const char* kInnermostCallColumns = "id INTEGER NOT NULL PRIMARY KEY, callId INTEGER NOT NULL";

constexpr TableSchema kTables[] = {
    {"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL", 2},
    {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER", 4},
    {"ANALYSIS_DETAILS", "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL", 4},
    {"DIAGNOSTIC_EVENT",
     "timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, source INTEGER NOT NULL, severity INTEGER NOT NULL, "
     "text TEXT NOT NULL, globalPid INTEGER",
     6},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
     "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
     "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, "
     "cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, "
     "gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
     "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, "
     "localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, "
     "sharedMemoryLimitConfig INTEGER, graphId INTEGER, clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER",
     32},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
     "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
     "bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, "
     "srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, "
     "graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER",
     21},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
     "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
     "value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER",
     12},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
     "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
     "graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL",
     10},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
     "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
     "deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER",
     12},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
     "correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER",
     8},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
     "correlationId INTEGER, nameId INTEGER, overheadType INTEGER NOT NULL",
     7},
    {"PROFILER_OVERHEAD",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL, "
     "returnValue INTEGER NOT NULL, overheadType INTEGER",
     6},
    {"NVTX_EVENTS",
     "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, "
     "text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, "
     "int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, "
     "jsonTextId INTEGER, jsonText TEXT, binaryData TEXT",
     20},
    {"MPI_P2P_EVENTS",
     "start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId INTEGER, commHandle INTEGER, tag INTEGER, remoteRank INTEGER, "
     "size INTEGER, requestHandle INTEGER",
     9},
    {"MPI_COLLECTIVES_EVENTS",
     "start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId INTEGER, commHandle INTEGER, rootRank INTEGER, size INTEGER, "
     "recvSize INTEGER, requestHandle INTEGER",
     9},
    {"MPI_START_WAIT_EVENTS", "start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId INTEGER, requestHandle INTEGER", 5},
    {"MPI_OTHER_EVENTS", "start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId INTEGER", 4},
    {"MPI_RANKS", "globalTid INTEGER, rank INTEGER NOT NULL", 2},
    {"OSRT_API",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
     "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER NOT NULL",
     8},
    {"OSRT_CALLCHAINS", kChainColumns, 10},
    {"CUDA_CALLCHAINS",
     "id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, unresolved INTEGER, originalIP INTEGER, "
     "stackDepth INTEGER NOT NULL",
     6},
    {"SCHED_EVENTS",
     "start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER NOT NULL, globalTid INTEGER, threadState INTEGER, "
     "threadBlock INTEGER",
     6},
    {"COMPOSITE_EVENTS", "id INTEGER NOT NULL, start INTEGER NOT NULL, cpu INTEGER, threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL", 6},
    {"SAMPLING_CALLCHAINS", kChainColumns, 10},
    {"CUDA_UM_CPU_PAGE_FAULT_EVENTS",
     "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, address INTEGER NOT NULL, originalFaultPc INTEGER, "
     "CpuInstruction INTEGER NOT NULL, module INTEGER, unresolvedFaultPc INTEGER, sourceFile INTEGER, sourceLine INTEGER",
     9},
    {"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
     "start INTEGER NOT NULL, end INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
     "address INTEGER NOT NULL, numberOfPageFaults INTEGER NOT NULL, faultAccessType INTEGER NOT NULL",
     7},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS",
     "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
     "address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, "
     "memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, streamId INTEGER, "
     "localMemoryPoolAddress INTEGER, localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, "
     "localMemoryPoolUtilizedSize INTEGER, importedMemoryPoolAddress INTEGER, importedMemoryPoolProcessId INTEGER",
     18},
    {"CUDA_GPU_MEMORY_POOL_EVENTS",
     "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, address INTEGER NOT NULL, "
     "operationType INTEGER NOT NULL, poolType INTEGER NOT NULL, correlationId INTEGER, minBytesToKeep INTEGER, "
     "localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER",
     11},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     "timestamp INTEGER, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, "
     "streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER",
     9},
    {"GPU_METRICS",
     "rawTimestamp INTEGER NOT NULL, timestamp INTEGER NOT NULL, typeId INTEGER NOT NULL, metricId INTEGER NOT NULL, "
     "value INTEGER NOT NULL",
     5},
    {"TARGET_INFO_GPU_METRICS",
     "typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL, typeName TEXT NOT NULL, metricId INTEGER NOT NULL, metricName TEXT NOT NULL", 5},
    {"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT", 3},
    {"ThreadNames", "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER", 3},
    {"TARGET_INFO_GPU",
     "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER, "
     "totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT, "
     "luid INTEGER, chipName TEXT, cuDevice INTEGER, ctxswDevPath TEXT, ctrlDevPath TEXT, revision INTEGER, "
     "nodeMask INTEGER, constantMemory INTEGER, maxIPC INTEGER, maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER, "
     "maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, threadsPerWarp INTEGER, "
     "asyncEngines INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER, "
     "maxBlockDimX INTEGER, maxBlockDimY INTEGER, maxBlockDimZ INTEGER, maxGridDimX INTEGER, maxGridDimY INTEGER, "
     "maxGridDimZ INTEGER, computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER",
     41},
    {"TARGET_INFO_CUDA_DEVICE", "gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL", 3},
    {"TARGET_INFO_CUDA_CONTEXT_INFO",
     "nullStreamId INTEGER NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, processId INTEGER NOT NULL, "
     "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, parentContextId INTEGER, isGreenContext INTEGER",
     8},
    {"TARGET_INFO_CUDA_STREAM",
     "streamId INTEGER NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, processId INTEGER NOT NULL, "
     "contextId INTEGER NOT NULL, priority INTEGER NOT NULL, flag INTEGER NOT NULL",
     7},
    {"META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT", 2},
    {"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT", 2},
    {"LANESCOPE_CALLS",
     "id INTEGER NOT NULL PRIMARY KEY, callerId INTEGER NOT NULL, firstFunctionId INTEGER NOT NULL, lastFunctionId INTEGER NOT NULL, "
     "depth INTEGER NOT NULL",
     5},
    {"LANESCOPE_CALL_FUNCTIONS",
     "id INTEGER NOT NULL PRIMARY KEY, symbol INTEGER NOT NULL, module INTEGER NOT NULL, kernelMode INTEGER, unresolved INTEGER, originalIP INTEGER", 6},
    {"LANESCOPE_OSRT_CALLCHAINS", kInnermostCallColumns, 2},
    {"LANESCOPE_CUDA_CALLCHAINS", kInnermostCallColumns, 2},
    {"LANESCOPE_SAMPLING_CALLCHAINS", kInnermostCallColumns, 2},
    {"LANESCOPE_UNFINISHED", "tableName TEXT NOT NULL, eventId INTEGER NOT NULL, seenUntil INTEGER NOT NULL", 3},
};
static_assert(std::size(kTables) == kAllTableCount);

}  // namespace

const TableSchema& table_schema(NsysTable table) noexcept { return kTables[static_cast<std::size_t>(table)]; }

}  // namespace lanescope::exporters

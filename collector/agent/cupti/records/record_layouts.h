// Proves that records of CUDA 12 and 13 can be read through the structures of one version: each structure begins like its predecessors.
//
// CUDA 12.0 to 12.9 deliver Kernel8 and 9, Memcpy5, Device4, Context and 2, Synchronization, Overhead and 2, Jit, GraphTrace, Memory3, MemoryPool2 and
// UnifiedMemoryCounter2. Members that an older Synchronization lacks are not read (has_event_records).
#pragma once

#include <cstddef>

#include <cupti.h>
#include <cupti_activity_deprecated.h>

#define LANESCOPE_SAME_OFFSET(OLD, NEW, FIELD) static_assert(offsetof(OLD, FIELD) == offsetof(NEW, FIELD))

#define LANESCOPE_SAME_KERNEL(OLD)                                          \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, cacheConfig);          \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, registersPerThread);   \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, start);                \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, end);                  \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, deviceId);             \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, streamId);             \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, gridX);                \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, blockZ);               \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, dynamicSharedMemory);  \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, localMemoryPerThread); \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, correlationId);        \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, name);                 \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, launchType);           \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, sharedMemoryExecuted); \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, graphNodeId);          \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, graphId);              \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, clusterX);             \
  LANESCOPE_SAME_OFFSET(OLD, CUpti_ActivityKernel10, localMemoryTotal_v2)
LANESCOPE_SAME_KERNEL(CUpti_ActivityKernel8);
LANESCOPE_SAME_KERNEL(CUpti_ActivityKernel9);
#undef LANESCOPE_SAME_KERNEL

LANESCOPE_SAME_OFFSET(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, flags);
LANESCOPE_SAME_OFFSET(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, bytes);
LANESCOPE_SAME_OFFSET(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, end);
LANESCOPE_SAME_OFFSET(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, correlationId);
LANESCOPE_SAME_OFFSET(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, graphNodeId);
LANESCOPE_SAME_OFFSET(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, graphId);

LANESCOPE_SAME_OFFSET(CUpti_ActivityDevice4, CUpti_ActivityDevice5, globalMemoryBandwidth);
LANESCOPE_SAME_OFFSET(CUpti_ActivityDevice4, CUpti_ActivityDevice5, coreClockRate);
LANESCOPE_SAME_OFFSET(CUpti_ActivityDevice4, CUpti_ActivityDevice5, maxRegistersPerMultiprocessor);
LANESCOPE_SAME_OFFSET(CUpti_ActivityDevice4, CUpti_ActivityDevice5, computeCapabilityMinor);
LANESCOPE_SAME_OFFSET(CUpti_ActivityDevice4, CUpti_ActivityDevice5, id);
LANESCOPE_SAME_OFFSET(CUpti_ActivityDevice4, CUpti_ActivityDevice5, uuid);
LANESCOPE_SAME_OFFSET(CUpti_ActivityDevice4, CUpti_ActivityDevice5, name);

LANESCOPE_SAME_OFFSET(CUpti_ActivityContext, CUpti_ActivityContext3, deviceId);
LANESCOPE_SAME_OFFSET(CUpti_ActivityContext, CUpti_ActivityContext3, nullStreamId);
LANESCOPE_SAME_OFFSET(CUpti_ActivityContext2, CUpti_ActivityContext3, nullStreamId);

LANESCOPE_SAME_OFFSET(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, end);
LANESCOPE_SAME_OFFSET(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, streamId);
LANESCOPE_SAME_OFFSET(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, cudaEventId);

LANESCOPE_SAME_OFFSET(CUpti_ActivityOverhead, CUpti_ActivityOverhead3, objectId);
LANESCOPE_SAME_OFFSET(CUpti_ActivityOverhead, CUpti_ActivityOverhead3, end);
LANESCOPE_SAME_OFFSET(CUpti_ActivityOverhead2, CUpti_ActivityOverhead3, end);

LANESCOPE_SAME_OFFSET(CUpti_ActivityJit, CUpti_ActivityJit2, jitOperationType);
LANESCOPE_SAME_OFFSET(CUpti_ActivityJit, CUpti_ActivityJit2, end);
LANESCOPE_SAME_OFFSET(CUpti_ActivityJit, CUpti_ActivityJit2, correlationId);

LANESCOPE_SAME_OFFSET(CUpti_ActivityGraphTrace, CUpti_ActivityGraphTrace2, end);
LANESCOPE_SAME_OFFSET(CUpti_ActivityGraphTrace, CUpti_ActivityGraphTrace2, graphId);
LANESCOPE_SAME_OFFSET(CUpti_ActivityGraphTrace, CUpti_ActivityGraphTrace2, streamId);

LANESCOPE_SAME_OFFSET(CUpti_ActivityMemory3, CUpti_ActivityMemory4, name);
LANESCOPE_SAME_OFFSET(CUpti_ActivityMemory3, CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize);

LANESCOPE_SAME_OFFSET(CUpti_ActivityMemoryPool2, CUpti_ActivityMemoryPool3, timestamp);
LANESCOPE_SAME_OFFSET(CUpti_ActivityMemoryPool2, CUpti_ActivityMemoryPool3, utilizedSize);

LANESCOPE_SAME_OFFSET(CUpti_ActivityUnifiedMemoryCounter2, CUpti_ActivityUnifiedMemoryCounter3, end);
LANESCOPE_SAME_OFFSET(CUpti_ActivityUnifiedMemoryCounter2, CUpti_ActivityUnifiedMemoryCounter3, dstId);
LANESCOPE_SAME_OFFSET(CUpti_ActivityUnifiedMemoryCounter2, CUpti_ActivityUnifiedMemoryCounter3, flags);

#undef LANESCOPE_SAME_OFFSET

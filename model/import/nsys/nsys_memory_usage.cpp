// Allocations and releases of memory, and memory pools.
#include <array>

#include "nsys_context.h"

namespace lanescope::importers {
namespace {

std::uint64_t unsigned_at(const TableRows& rows, int column) { return static_cast<std::uint64_t>(rows.integer(column)); }

void add(NsysContext& context, EventGroups& groups, std::int64_t process, std::int64_t device, Nanoseconds start, std::int64_t correlation,
         const MemoryUsageDetail& detail) {
  TrackKey key{TrackKind::kMemoryUsage, context.process(process)};
  key.gpu = context.device(process, static_cast<std::uint32_t>(device));
  groups.add(key,
             {start, 0, context.builder.intern(memory_usage_name(detail.operation)), static_cast<std::uint32_t>(correlation), context.builder.intern(detail)});
}

Result<void> finish(EventGroups& groups, std::string_view table, const TableRows& rows) {
  if (!rows.failure().empty()) return unreadable(table, rows);
  groups.flush();
  return {};
}

}  // namespace

Result<void> import_memory_usage(NsysContext& context) {
  constexpr std::string_view kTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";
  enum Column {
    kStart,
    kGlobalPid,
    kDevice,
    kContext,
    kAddress,
    kBytes,
    kMemoryKind,
    kOperation,
    kName,
    kCorrelation,
    kStream,
    kPool,
    kThreshold,
    kSize,
    kUtilized
  };
  constexpr std::array<std::string_view, kUtilized + 1> kColumns = {"start",
                                                                    "globalPid",
                                                                    "deviceId",
                                                                    "contextId",
                                                                    "address",
                                                                    "bytes",
                                                                    "memKind",
                                                                    "memoryOperationType",
                                                                    "name",
                                                                    "correlationId",
                                                                    "streamId",
                                                                    "localMemoryPoolAddress",
                                                                    "localMemoryPoolReleaseThreshold",
                                                                    "localMemoryPoolSize",
                                                                    "localMemoryPoolUtilizedSize"};
  constexpr std::int64_t kDeallocation = 1;
  constexpr std::int64_t kLastMemoryKind = 6;  // 7 is "unknown"; they start at 0, ours at 1
  EventGroups groups(context);
  TableRows rows = context.database.rows(kTable, kColumns);
  while (rows.next()) {
    MemoryUsageDetail detail;
    detail.operation = rows.integer(kOperation) == kDeallocation ? MemoryUsageOperation::kRelease : MemoryUsageOperation::kAllocation;
    if (rows.integer(kMemoryKind) >= 0 && rows.integer(kMemoryKind) <= kLastMemoryKind)
      detail.memory_kind = static_cast<MemoryKind>(rows.integer(kMemoryKind) + 1);
    detail.address = unsigned_at(rows, kAddress);
    detail.bytes = unsigned_at(rows, kBytes);
    detail.context = static_cast<std::uint32_t>(rows.integer(kContext));
    detail.stream = static_cast<std::uint32_t>(rows.integer(kStream));
    if (!rows.is_null(kName)) detail.variable = context.builder.intern(rows.text(kName));
    detail.pool = unsigned_at(rows, kPool);
    detail.pool_size = unsigned_at(rows, kSize);
    detail.pool_utilized = unsigned_at(rows, kUtilized);
    detail.pool_release_threshold = unsigned_at(rows, kThreshold);
    add(context, groups, rows.integer(kGlobalPid), rows.integer(kDevice), rows.integer(kStart), rows.integer(kCorrelation), detail);
    if (!context.count_row()) break;
  }
  return finish(groups, kTable, rows);
}

Result<void> import_memory_pools(NsysContext& context) {
  constexpr std::string_view kTable = "CUDA_GPU_MEMORY_POOL_EVENTS";
  enum Column { kStart, kGlobalPid, kDevice, kAddress, kOperation, kCorrelation, kKeep, kThreshold, kSize, kUtilized };
  constexpr std::array<std::string_view, kUtilized + 1> kColumns = {"start",
                                                                    "globalPid",
                                                                    "deviceId",
                                                                    "address",
                                                                    "operationType",
                                                                    "correlationId",
                                                                    "minBytesToKeep",
                                                                    "localMemoryPoolReleaseThreshold",
                                                                    "localMemoryPoolSize",
                                                                    "localMemoryPoolUtilizedSize"};
  constexpr int kFirst = static_cast<int>(MemoryUsageOperation::kPoolCreation);  // 0 in Nsight Systems
  EventGroups groups(context);
  TableRows rows = context.database.rows(kTable, kColumns);
  while (rows.next()) {
    if (rows.integer(kOperation) < 0 || rows.integer(kOperation) > 2) continue;
    MemoryUsageDetail detail;
    detail.operation = static_cast<MemoryUsageOperation>(kFirst + rows.integer(kOperation));
    detail.memory_kind = MemoryKind::kDevice;
    detail.address = detail.pool = unsigned_at(rows, kAddress);
    detail.bytes = unsigned_at(rows, kKeep);
    detail.pool_size = unsigned_at(rows, kSize);
    detail.pool_utilized = unsigned_at(rows, kUtilized);
    detail.pool_release_threshold = unsigned_at(rows, kThreshold);
    add(context, groups, rows.integer(kGlobalPid), rows.integer(kDevice), rows.integer(kStart), rows.integer(kCorrelation), detail);
    if (!context.count_row()) break;
  }
  return finish(groups, kTable, rows);
}

}  // namespace lanescope::importers

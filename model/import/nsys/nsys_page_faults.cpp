// Faults on pages of unified memory.
#include <array>

#include "model/trace/text/hexadecimal.h"
#include "nsys_context.h"

namespace lanescope::importers {
namespace {

Event fault(NsysContext& context, PageFaultOf side, Nanoseconds start, Nanoseconds duration, const PageFaultDetail& detail) {
  return {start, duration, context.builder.intern(page_fault_name(side)), 0, context.builder.intern(detail)};
}

}  // namespace

Result<void> import_cpu_page_faults(NsysContext& context) {
  constexpr std::string_view kTable = "CUDA_UM_CPU_PAGE_FAULT_EVENTS";
  enum Column { kStart, kGlobalPid, kAddress, kProgramCounter, kFunction, kModule, kSourceFile, kSourceLine };
  constexpr std::array<std::string_view, kSourceLine + 1> kColumns = {"start",          "globalPid", "address",    "originalFaultPc",
                                                                      "CpuInstruction", "module",    "sourceFile", "sourceLine"};
  EventGroups groups(context);
  TableRows rows = context.database.rows(kTable, kColumns);
  const auto text = [&](int column) { return rows.is_null(column) ? NameId{0} : context.name(rows.integer(column)); };
  while (rows.next()) {
    PageFaultDetail detail;
    detail.address = static_cast<std::uint64_t>(rows.integer(kAddress));
    detail.program_counter = static_cast<std::uint64_t>(rows.integer(kProgramCounter));
    detail.function = text(kFunction);
    if (detail.function == context.builder.intern(hexadecimal(detail.program_counter))) detail.function = 0;
    detail.module = text(kModule);
    detail.source_file = text(kSourceFile);
    detail.source_line = static_cast<std::uint32_t>(rows.integer(kSourceLine));
    const TrackKey key{TrackKind::kPageFaults, context.process(rows.integer(kGlobalPid))};
    groups.add(key, fault(context, PageFaultOf::kCpu, rows.integer(kStart), 0, detail));
    if (!context.count_row()) break;
  }
  if (!rows.failure().empty()) return unreadable(kTable, rows);
  groups.flush();
  return {};
}

Result<void> import_gpu_page_faults(NsysContext& context) {
  constexpr std::string_view kTable = "CUDA_UM_GPU_PAGE_FAULT_EVENTS";
  enum Column { kStart, kEnd, kGlobalPid, kDevice, kAddress, kCount, kAccess };
  constexpr std::array<std::string_view, kAccess + 1> kColumns = {"start", "end", "globalPid", "deviceId", "address", "numberOfPageFaults", "faultAccessType"};
  EventGroups groups(context);
  TableRows rows = context.database.rows(kTable, kColumns);
  while (rows.next()) {
    PageFaultDetail detail;
    detail.address = static_cast<std::uint64_t>(rows.integer(kAddress));
    detail.count = static_cast<std::uint32_t>(rows.integer(kCount));
    detail.access = static_cast<std::uint32_t>(rows.integer(kAccess));
    TrackKey key{TrackKind::kPageFaults, context.process(rows.integer(kGlobalPid))};
    key.gpu = context.device(rows.integer(kGlobalPid), static_cast<std::uint32_t>(rows.integer(kDevice)));
    groups.add(key, fault(context, PageFaultOf::kGpu, rows.integer(kStart), duration_between(rows, kStart, kEnd), detail));
    if (!context.count_row()) break;
  }
  if (!rows.failure().empty()) return unreadable(kTable, rows);
  groups.flush();
  return {};
}

}  // namespace lanescope::importers

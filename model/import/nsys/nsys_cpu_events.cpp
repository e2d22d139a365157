// Events of threads: calls of the CUDA API and of the C library, and profiling overhead.
#include <array>

#include "nsys_context.h"

namespace lanescope::importers {
namespace {

#define LANESCOPE_THREAD_COLUMNS "start", "end", "globalTid", "nameId"
enum ThreadColumn { kStart, kEnd, kGlobalTid, kName, kFirstOwn };

// Reads a table of intervals of threads. `complete` reads the table's own columns and returns the track's kind.
template <std::size_t N, typename Complete>
Result<void> read_thread_table(NsysContext& context, std::string_view table, const std::array<std::string_view, N>& columns, Complete complete) {
  EventGroups groups(context);
  TableRows rows = context.database.rows(table, columns);
  while (rows.next()) {
    Event event;
    event.start = rows.integer(kStart);
    event.duration = duration_between(rows, kStart, kEnd);
    event.name = context.name(rows.integer(kName));
    const std::int64_t global_tid = rows.integer(kGlobalTid);
    TrackKey key;
    key.process = context.process(global_tid);
    key.kind = complete(rows, event);
    // Calls always belong to a thread. Overhead of the profiler, and of CUDA for the profiler, may belong to a whole process: thread 0.
    const bool of_process = tid_of(global_tid) == 0 && (key.kind == TrackKind::kOverhead || key.kind == TrackKind::kCompilation);
    if (!of_process) key.thread = context.thread(global_tid);
    groups.add(key, event);
    if (!context.count_row()) break;
  }
  if (!rows.failure().empty()) return unreadable(table, rows);
  groups.flush();
  return {};
}

}  // namespace

Result<void> import_api_calls(NsysContext& context) {
  constexpr std::int64_t kDriverCall = 1;  // event class; the runtime has 0
  enum Column { kClass = kFirstOwn, kCorrelation, kResult };
  constexpr std::array<std::string_view, kResult + 1> kColumns = {LANESCOPE_THREAD_COLUMNS, "eventClass", "correlationId", "returnValue"};
  return read_thread_table(context, "CUPTI_ACTIVITY_KIND_RUNTIME", kColumns, [&](const TableRows& rows, Event& event) {
    ApiDetail detail;
    detail.domain = rows.integer(kClass) == kDriverCall ? ApiDomain::kDriver : ApiDomain::kRuntime;
    detail.result = static_cast<std::uint32_t>(rows.integer(kResult));
    event.correlation = static_cast<std::uint32_t>(rows.integer(kCorrelation));
    event.detail = context.builder.intern(detail);
    return TrackKind::kCudaApi;
  });
}

Result<void> import_os_runtime(NsysContext& context) {
  constexpr std::int64_t kCompleteCall = 27;  // event class; other calls were cut at the beginning or end of the recording
  enum Column { kClass = kFirstOwn };
  constexpr std::array<std::string_view, kClass + 1> kColumns = {LANESCOPE_THREAD_COLUMNS, "eventClass"};
  return read_thread_table(context, "OSRT_API", kColumns, [&](const TableRows& rows, Event& event) {
    event.detail = rows.is_null(kClass) || rows.integer(kClass) == kCompleteCall ? kWholeCall : kPartialCall;
    return TrackKind::kOsRuntime;
  });
}

Result<void> import_profiler_overhead(NsysContext& context) {
  constexpr std::array<std::string_view, kFirstOwn> kColumns = {LANESCOPE_THREAD_COLUMNS};
  return read_thread_table(context, "PROFILER_OVERHEAD", kColumns, [](const TableRows&, Event&) { return TrackKind::kOverhead; });
}

Result<void> import_cuda_overhead(NsysContext& context) {
  constexpr std::int64_t kDriverCompiler = 2, kModuleLoading = 6, kLazyLoading = 7;  // ENUM_CUPTI_OVERHEAD_TYPE
  enum Column { kCorrelation = kFirstOwn, kType };
  constexpr std::array<std::string_view, kType + 1> kColumns = {LANESCOPE_THREAD_COLUMNS, "correlationId", "overheadType"};
  return read_thread_table(context, "CUPTI_ACTIVITY_KIND_OVERHEAD", kColumns, [](const TableRows& rows, Event& event) {
    event.correlation = static_cast<std::uint32_t>(rows.integer(kCorrelation));
    const std::int64_t type = rows.integer(kType);
    return type == kDriverCompiler || type == kModuleLoading || type == kLazyLoading ? TrackKind::kCompilation : TrackKind::kOverhead;
  });
}

#undef LANESCOPE_THREAD_COLUMNS

}  // namespace lanescope::importers

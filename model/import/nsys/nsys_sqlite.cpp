#include "model/import/nsys_sqlite.h"

#include <array>

#include "nsys_context.h"

namespace lanescope {
namespace {

using namespace importers;

constexpr std::array<std::string_view, 14> kEventTables = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                                           "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                           "CUPTI_ACTIVITY_KIND_MEMSET",
                                                           "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                           "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                                           "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                           "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                                           "PROFILER_OVERHEAD",
                                                           "OSRT_API",
                                                           "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                                                           "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                                                           "NVTX_EVENTS",
                                                           "SCHED_EVENTS",
                                                           "COMPOSITE_EVENTS"};

bool has_nsys_tables(const Database& database) {
  // Every export has strings and a table on the recorded machine or the analysis.
  if (!database.has_table("StringIds")) return false;
  constexpr std::string_view kSigns[] = {"TARGET_INFO_SESSION_START_TIME", "META_DATA_EXPORT", "EXPORT_META_DATA", "ANALYSIS_DETAILS"};
  for (const std::string_view table : kSigns)
    if (database.has_table(table)) return true;
  for (const std::string_view table : kEventTables)
    if (database.has_table(table)) return true;
  return false;
}

}  // namespace

bool may_be_nsys_sqlite(const std::filesystem::path& path) {
  const auto database = Database::open(path);
  return !database || has_nsys_tables(*database);
}

Result<std::shared_ptr<const Trace>> import_nsys_sqlite(const std::filesystem::path& path, const LoadProgress& progress) {
  const auto database = Database::open(path);
  if (!database) return database.error();
  if (!has_nsys_tables(*database))
    return Error{path.string() + " is a SQLite database, but not an export of Nsight Systems: it has no table StringIds beside tables of events."};

  TraceBuilder builder;
  NsysContext context(*database, builder, progress);
  std::uint64_t rows = 0;
  for (const std::string_view table : kEventTables) rows += database->row_bound(table);
  context.expect_rows(rows);

  const auto too_much = [&] {
    return Error{path.string() + " names more threads, queues and counters than a file of its size can be read with: more than " +
                 std::to_string(database->limits().memory() / 1'000'000) + " MB of them. It is no sound export."};
  };
  const auto damaged = [&](const Error& error) {
    return Error{path.string() + " is damaged: " + error.text + ". Export the report again with: nsys export -t sqlite"};
  };
  if (const auto read = context.read_dictionaries(); !read) return damaged(read.error());
  constexpr std::array kImporters = {import_kernels,
                                     import_copies,
                                     import_sets,
                                     import_graph_launches,
                                     import_synchronizations,
                                     import_api_calls,
                                     import_os_runtime,
                                     import_profiler_overhead,
                                     import_cuda_overhead,
                                     import_nvtx,
                                     import_mpi,
                                     import_cpu_page_faults,
                                     import_gpu_page_faults,
                                     import_memory_usage,
                                     import_memory_pools,
                                     import_cuda_events,
                                     import_scheduling,
                                     import_samples,
                                     import_cuda_backtraces,
                                     import_os_runtime_backtraces};
  for (const auto import_table : kImporters) {
    if (const auto read = import_table(context); !read) return damaged(read.error());
    if (context.is_too_much()) return too_much();
    if (context.cancelled()) return Error{"Reading " + path.string() + " was cancelled."};
  }
  import_resources(context);
  if (const auto read = import_gpu_metrics(context); !read) return damaged(read.error());
  if (context.is_too_much()) return too_much();
  for (const std::string& table : database->computed_tables()) {
    DiagnosticMessage message;
    message.severity = 1;
    message.text = table + " is a view in this file, which is not read: only tables are.";
    builder.add_diagnostic(std::move(message));
  }
  for (const auto& [global_tid, states] : context.thread_states) add_thread_states(builder, context.process(global_tid), tid_of(global_tid), states);
  return builder.snapshot();
}

}  // namespace lanescope

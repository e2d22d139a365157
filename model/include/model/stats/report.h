// Reports: questions about a trace that are answered by a table. Names, columns and arithmetic are those of Nsight Systems.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/events/event_column.h"
#include "model/events/pivot_column.h"
#include "model/file/result.h"
#include "model/samples/shown_calls.h"
#include "model/stats/table.h"
#include "model/trace/trace.h"

namespace lanescope {
class SharedLaunchIndex;
}

namespace lanescope::stats {

enum class KernelNames { kDemangled, kBase, kMangled };  // with parameters; the bare name; as the linker names it
enum class RangePrefix { kNone, kInnermostRange };       // kernel names as "range/kernel"

// Restricts a report to what happened in one NVTX range: the calls of all threads of its process within it, and the GPU work that those enqueued.
struct RangeFilter {
  std::string range;
  std::optional<std::string> domain;  // absent: the default domain
  std::size_t index = 0;              // which of the ranges of this name, by start
};

struct ReportOptions {
  KernelNames kernel_names = KernelNames::kDemangled;
  RangePrefix range_prefix = RangePrefix::kNone;
  samples::CallChoice calls = samples::CallChoice::kAll;
  std::vector<PivotColumn> by;            // the columns by which events are grouped; empty: the report's own grouping
  std::vector<EventKind> kinds;           // kinds of events that are summed; empty: all that the report counts
  std::vector<std::uint8_t> percentiles;  // 95: a column P95 in summaries (linear between two values)
  std::optional<std::size_t> rows;        // the largest number of rows
  std::optional<TimeRange> time_range;    // only events that overlap it
  std::optional<RangeFilter> range;
  std::stop_token stop = {};  // when asked to stop, a report ends soon, with a table that is of no use
};

class Selection;  // the events that a report looks at

struct Report {
  std::string_view name;         // "cuda_gpu_kern_sum"
  std::string_view title;        // "CUDA GPU Kernel Summary"
  std::string_view data;         // the data that a trace lacks if the table is empty: "CUDA kernel data"
  std::string_view modifiers;    // the modifiers it takes, as usage text: "[:nvtx-name][:base|:mangled]"; empty if none
  std::string_view description;  // what the columns mean
  Table (*make)(const Selection& selection, const ReportOptions& options);
  std::size_t default_rows = 0;  // how many rows parse_report() asks for if the request does not say; 0: all
};
[[nodiscard]] std::span<const Report> reports() noexcept;
// The reports that are printed when none is asked for.
[[nodiscard]] std::span<const std::string_view> default_reports() noexcept;
[[nodiscard]] const Report* find_report(std::string_view name) noexcept;

// Makes a report. Fails if options.range names no range of the trace. An empty table means that the trace has no such data.
[[nodiscard]] Result<Table> make_report(const Report& report, const Trace& trace, const ReportOptions& options = {});

// Makes several reports of one trace, which must outlive this object. What the reports have in common is computed once.
class ReportSeries {
 public:
  explicit ReportSeries(const Trace& trace);
  // As make_report(). Any thread.
  [[nodiscard]] Result<Table> make(const Report& report, const ReportOptions& options = {}) const;

 private:
  const Trace& trace_;
  std::shared_ptr<SharedLaunchIndex> index_;
};

// "cuda_gpu_kern_sum:base:nvtx-name": a report and its modifiers, applied to `options`.
struct ReportRequest {
  const Report* report = nullptr;
  ReportOptions options;
};
[[nodiscard]] Result<ReportRequest> parse_report(std::string_view text, const ReportOptions& options = {});

// "start/end" with units (ns if none): "1ms/2.5s", "/3s", "100us/". Either side may be empty.
[[nodiscard]] Result<TimeRange> parse_time_range(std::string_view text);
// "range[@domain][/index]"; after a backslash, @, / and \ are part of the name. "@*" means any domain.
[[nodiscard]] Result<RangeFilter> parse_range_filter(std::string_view text);

}  // namespace lanescope::stats

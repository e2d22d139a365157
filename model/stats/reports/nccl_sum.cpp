// Kernels of NCCL, by the collective that enqueued them.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "../call_ranges.h"
#include "../kernel_names.h"
#include "../label_groups.h"
#include "model/trace/nvtx_payload.h"
#include "../report_functions.h"

namespace lanescope::stats {
namespace {

constexpr std::string_view kNccl = "nccl";
constexpr std::string_view kNcclDomain = "NCCL";
constexpr std::string_view kMessageSize = "Message size [bytes]";  // fields of its payloads
constexpr std::string_view kCommunicator = "NCCL communicator ID";
// So many kernels are matched with those of other ranks.
constexpr std::size_t kMostMatched = 4'000'000;

// Kernels of one name under ranges of one name; 0: no range.
struct Group {
  Samples durations;
  std::int64_t bytes = kNoInteger;  // sum over those that have a size
  Nanoseconds time_of_bytes = 0;    // what these took, without what they waited for other ranks
};
using Groups = GroupsByIds<2, Group>;

class NcclKernels {
 public:
  NcclKernels(const Selection& selection, const ReportOptions& options)
      : trace_(selection.trace()), options_(options), is_nccl_(trace_.name_count(), Answer::kUnknown), ranges_(selection) {
    const LaunchIndex& index = selection.launch_index();
    selection.for_each(TrackKind::kKernels, [&](const Track& track, const EventView& kernel) {
      if (is_nccl(kernel.name())) add(track.key, kernel, index.find(track.key.process, kernel.correlation(), kernel.start()));
    });
    take_out_waiting();
  }

  [[nodiscard]] Groups& groups() noexcept { return groups_; }

 private:
  enum class Answer : std::uint8_t { kUnknown, kYes, kNo };
  using Key = std::array<NameId, 2>;
  // A kernel with a size, of a collective that other ranks may have, too.
  struct Transfer {
    std::uint32_t communicator = 0;
    ProcessId process = kNone;
    GpuId gpu = kNone;  // a rank is a process, or a GPU of one
    Nanoseconds called = 0;
    TimeRange kernel;
    Key group;
    std::size_t number = 0;  // of its call, among those of the rank in the communicator
  };

  [[nodiscard]] bool is_nccl(NameId kernel) {
    Answer& answer = is_nccl_[kernel];
    if (answer == Answer::kUnknown) answer = trace_.name(kernel).starts_with(kNccl) ? Answer::kYes : Answer::kNo;
    return answer == Answer::kYes;
  }

  // The size that NCCL gives its ranges as payload.
  [[nodiscard]] std::int64_t bytes_of(const NvtxRange& range) const {
    const NvtxDetail& detail = trace_.nvtx_detail(range.detail);
    if (detail.payload_json != 0) return payload_integer(trace_.name(detail.payload_json), kMessageSize).value_or(kNoInteger);
    const bool whole = detail.payload_type == PayloadType::kUnsigned || detail.payload_type == PayloadType::kSigned;
    return whole ? static_cast<std::int64_t>(detail.payload) : kNoInteger;
  }

  // 0: not known.
  [[nodiscard]] std::uint32_t communicator_of(const NvtxRange& range) {
    const NameId json = trace_.nvtx_detail(range.detail).payload_json;
    if (json == 0) return 0;
    const auto [known, is_new] = communicators_of_payloads_.try_emplace(json, 0);
    if (!is_new) return known->second;
    for (const PayloadField& field : payload_fields(trace_.name(json)))
      if (field.name == kCommunicator)
        known->second = communicators_.try_emplace(field.value, static_cast<std::uint32_t>(communicators_.size() + 1)).first->second;
    return known->second;
  }

  // NCCL demands one order of all ranks of a communicator. A collective ends on all at once, so the shortest of its kernels is that of the rank that
  // came last, and the transfer; the others take longer by what they waited for it.
  void take_out_waiting() {
    std::sort(transfers_.begin(), transfers_.end(), [](const Transfer& a, const Transfer& b) {
      return std::tie(a.communicator, a.process, a.gpu, a.called) < std::tie(b.communicator, b.process, b.gpu, b.called);
    });
    for (std::size_t i = 1; i < transfers_.size(); ++i) {
      const Transfer& before = transfers_[i - 1];
      if (before.communicator == transfers_[i].communicator && before.process == transfers_[i].process && before.gpu == transfers_[i].gpu)
        transfers_[i].number = before.number + (before.called == transfers_[i].called ? 0 : 1);
    }
    const auto is_before = [](const Transfer& a, const Transfer& b) { return std::tie(a.communicator, a.number) < std::tie(b.communicator, b.number); };
    std::stable_sort(transfers_.begin(), transfers_.end(), is_before);
    for (auto first = transfers_.begin(); first != transfers_.end();) {
      const auto end = std::upper_bound(first, transfers_.end(), *first, is_before);
      const TimeRange shortest =
          std::min_element(first, end, [](const Transfer& a, const Transfer& b) { return a.kernel.length() < b.kernel.length(); })->kernel;
      for (; first != end; ++first)  // what runs at another time is another collective
        if (!first->kernel.intersected(shortest).empty()) groups_[first->group].time_of_bytes -= first->kernel.length() - shortest.length();
    }
  }

  void add(const TrackKey& track, const EventView& kernel, EventRef call) {
    const NvtxRange* collective = nullptr;
    for (const NvtxRange* range : ranges_.around(call))
      if (trace_.domain_name(track.process, range->domain) == kNcclDomain) collective = range;
    const Key key{collective ? collective->name : NameId{0}, kernel_name(trace_, kernel, options_.kernel_names)};
    Group& group = groups_[key];
    group.durations.push_back(kernel.duration());
    const std::int64_t bytes = collective ? bytes_of(*collective) : kNoInteger;
    if (bytes == kNoInteger) return;
    group.bytes = (group.bytes == kNoInteger ? 0 : group.bytes) + bytes;
    group.time_of_bytes += kernel.duration();
    const std::uint32_t communicator = communicator_of(*collective);
    if (communicator == 0 || transfers_.size() == kMostMatched) return;
    transfers_.push_back({communicator, track.process, track.gpu, collective->time.begin, {kernel.start(), kernel.start() + kernel.duration()}, key});
  }

  const Trace& trace_;
  const ReportOptions& options_;
  std::vector<Answer> is_nccl_;  // by name
  CallRanges ranges_;
  Groups groups_;
  std::map<NameId, std::uint32_t> communicators_of_payloads_;
  std::map<std::string, std::uint32_t> communicators_;
  std::vector<Transfer> transfers_;
};

}  // namespace

Table nccl_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  NcclKernels kernels(selection, options);
  struct Row {
    NameId collective, kernel;
    std::int64_t bytes;
    Nanoseconds time_of_bytes;
    Summary summary;
  };
  std::vector<Row> rows;
  std::int64_t everything = 0;
  for (auto& [ids, group] : kernels.groups()) {
    rows.push_back({ids[0], ids[1], group.bytes, group.time_of_bytes, summarize(group.durations, options.percentiles)});
    everything += rows.back().summary.total;
  }
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.summary.total != b.summary.total) return a.summary.total > b.summary.total;
    return std::pair(trace.name(a.collective), trace.name(a.kernel)) < std::pair(trace.name(b.collective), trace.name(b.kernel));
  });

  std::vector<Column> columns = {reals("Time", Unit::kPercent), integers("Total Time", Unit::kNanoseconds), integers("Instances")};
  append_summary_columns(columns, "", Unit::kNanoseconds, options.percentiles);
  for (Column column :
       {integers("Total", Unit::kBytes), reals("Algorithm Bandwidth", Unit::kBytesPerSecond), texts("Collective"), texts("Name")})
    columns.push_back(std::move(column));
  Table table(std::move(columns));
  for (const auto& [collective, kernel, bytes, time_of_bytes, summary] : rows) {
    std::vector<Cell> cells = {everything > 0 ? 100.0 * static_cast<double>(summary.total) / static_cast<double>(everything) : 0.0,
                               summary.total, summary.count};
    append_summary_cells(cells, summary, options.percentiles);
    cells.emplace_back(bytes);
    cells.emplace_back(bytes == kNoInteger || time_of_bytes == 0 ? kNoReal
                                                                 : 1e9 * static_cast<double>(bytes) / static_cast<double>(time_of_bytes));
    cells.emplace_back(table.add_text(std::string(trace.name(collective))));
    cells.emplace_back(table.add_text(std::string(trace.name(kernel))));
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats

// Kernels of NCCL, by the collective that enqueued them.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "../columns/kernel_names.h"
#include "../label_groups.h"
#include "../ranges/call_ranges.h"
#include "../report_functions.h"
#include "model/trace/domains/nvtx_payload.h"

namespace lanescope::stats {
namespace {

constexpr std::string_view kNccl = "nccl";
constexpr std::string_view kNcclDomain = "NCCL";
constexpr std::string_view kMessageSize = "Message size [bytes]";  // fields of NCCL's payloads
constexpr std::string_view kCommunicator = "NCCL communicator ID";
constexpr std::array<std::string_view, 2> kBetweenTwo{"ncclSend", "ncclRecv"};  // other ranks of the communicator have no part in these
// At most this many kernels are matched with those of other ranks.
constexpr std::size_t kMostMatched = 4'000'000;

// Kernels of one name under ranges of one name; 0: no range.
struct Group {
  Samples durations;
  std::int64_t bytes = kNoInteger;  // sum over the kernels that have a size
  std::int64_t timed_bytes = 0;     // of these, the bytes of kernels whose transfer time is known
  Nanoseconds time_of_bytes = 0;    // the time of these transfers, without the time in which kernels waited for other ranks
  std::int64_t unmatched = 0;       // number of kernels with a size whose transfer time is not known
};
using Groups = GroupsByIds<2, Group>;

class NcclKernels {
 public:
  NcclKernels(const Selection& selection, const ReportOptions& options)
      : trace_(selection.trace()), options_(options), is_nccl_(trace_.name_count(), Answer::kUnknown), ranges_(selection.whole()) {
    const LaunchIndex& index = selection.launch_index();
    std::vector<EventRef> counted;
    selection.for_each(TrackKind::kKernels, [&](const Track& track, const EventView& kernel) {
      if (!is_nccl(kernel.name())) return;
      counted.push_back(kernel.ref);
      add(track.key, kernel, index.find(track.key.process, kernel.correlation(), kernel.start()));
    });
    if (selection.time() && !transfers_.empty()) {  // kernels outside of the selection also tell how long the selected ones waited
      std::sort(counted.begin(), counted.end());
      selection.whole().for_each(TrackKind::kKernels, [&](const Track& track, const EventView& kernel) {
        if (is_nccl(kernel.name()) && !std::binary_search(counted.begin(), counted.end(), kernel.ref))
          add_beside(track.key, kernel, index.find(track.key.process, kernel.correlation(), kernel.start()));
      });
    }
    take_out_waiting();
  }

  [[nodiscard]] Groups& groups() noexcept { return groups_; }

 private:
  enum class Answer : std::uint8_t { kUnknown, kYes, kNo };
  using Key = std::array<NameId, 2>;
  // A kernel with a size, of a collective in which other ranks may take part, too.
  struct Transfer {
    std::uint32_t communicator = 0;
    ProcessId process = kNone;
    GpuId gpu = kNone;  // a rank is a process, or a GPU of a process
    Nanoseconds called = 0;
    TimeRange kernel;
    Key group;
    std::int64_t bytes = 0;
    bool counts = true;       // false: only used for matching with those that count
    std::int64_t number = 0;  // number of its call within the communicator
    [[nodiscard]] bool is_of_rank_of(const Transfer& other) const noexcept {
      return std::tie(communicator, process, gpu) == std::tie(other.communicator, other.process, other.gpu);
    }
  };
  using Transfers = std::span<Transfer>;

  [[nodiscard]] bool is_nccl(NameId kernel) {
    Answer& answer = is_nccl_[kernel];
    if (answer == Answer::kUnknown) answer = trace_.name(kernel).starts_with(kNccl) ? Answer::kYes : Answer::kNo;
    return answer == Answer::kYes;
  }

  // The size that NCCL's ranges have in their payload.
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

  // NCCL requires one order of collectives for all ranks of a communicator. A collective ends on all ranks at once. So the shortest of its kernels
  // belongs to the rank that came last, and is the transfer; the others take longer by the time that they waited for it.
  void take_out_waiting() {
    std::sort(transfers_.begin(), transfers_.end(), [](const Transfer& a, const Transfer& b) {
      return std::tie(a.communicator, a.process, a.gpu, a.called, a.kernel.begin) < std::tie(b.communicator, b.process, b.gpu, b.called, b.kernel.begin);
    });
    for (auto first = transfers_.begin(); first != transfers_.end();) {
      const auto end = std::find_if(first, transfers_.end(), [&](const Transfer& each) { return each.communicator != first->communicator; });
      take_out_waiting({first, end});
      first = end;
    }
  }

  // For one communicator.
  void take_out_waiting(Transfers transfers) {
    std::vector<Transfers> ranks;
    for (auto first = transfers.begin(); first != transfers.end();) {
      const auto end = std::find_if(first, transfers.end(), [&](const Transfer& each) { return !each.is_of_rank_of(*first); });
      ranks.emplace_back(first, end);
      first = end;
    }
    if (ranks.size() == 1) {  // nobody knows how long they waited
      for (const Transfer& each : transfers) count(each, each.kernel.length());
      return;
    }
    number(ranks);
    std::stable_sort(transfers.begin(), transfers.end(), [](const Transfer& a, const Transfer& b) { return a.number < b.number; });
    for (auto first = transfers.begin(); first != transfers.end();) {
      const auto end = std::find_if(first, transfers.end(), [&](const Transfer& each) { return each.number != first->number; });
      match({first, end});
      first = end;
    }
  }

  // Captures of a job come one after the other, each with processes of its own. Ranks that ran together are numbered together, and ranks of different
  // captures separately.
  static void number(std::span<Transfers> ranks) {
    constexpr std::int64_t kApart = 4 * static_cast<std::int64_t>(kMostMatched);
    const auto begin_of = [](Transfers rank) { return rank.front().kernel.begin; };
    std::sort(ranks.begin(), ranks.end(), [&](Transfers a, Transfers b) { return begin_of(a) < begin_of(b); });
    std::int64_t apart = 0;
    for (auto first = ranks.begin(); first != ranks.end(); apart += kApart) {
      auto end = first;
      for (Nanoseconds until = begin_of(*first) + 1; end != ranks.end() && begin_of(*end) < until; ++end)
        for (const Transfer& each : *end) until = std::max(until, each.kernel.end);
      std::stable_sort(first, end, [](Transfers a, Transfers b) { return a.size() > b.size(); });
      for (auto rank = first; rank != end; ++rank) number(*rank, *first);
      for (auto rank = first; rank != end; ++rank)
        for (Transfer& each : *rank) each.number += apart;
      first = end;
    }
  }

  // Numbers the calls of a rank to match those of another rank. The recording of one may start later, or miss some calls in between. So calls are
  // matched by kernels that run at the same time. Kernels of tiny collectives may not overlap, or overlap with the one before, so the majority of the
  // surrounding calls decides.
  static void number(Transfers rank, Transfers other) {
    const auto count_up = [](Transfers of) {
      for (std::size_t i = 1; i < of.size(); ++i) of[i].number = of[i - 1].number + (of[i].called == of[i - 1].called ? 0 : 1);
    };
    count_up(rank);
    if (rank.data() == other.data()) return;
    constexpr std::size_t kAround = 16;    // on each side
    constexpr std::size_t kLookedAt = 32;  // kernels of a rank run one after the other, except for inexact clocks
    std::vector<std::optional<std::int64_t>> ahead(rank.size());
    std::size_t behind = 0;
    for (std::size_t i = 0; i < rank.size(); ++i) {
      while (behind < other.size() && other[behind].kernel.begin < rank[i].kernel.end) ++behind;
      Nanoseconds longest = 0;
      for (std::size_t k = behind - std::min(behind, kLookedAt); k < behind; ++k) {
        const Nanoseconds together = rank[i].kernel.intersected(other[k].kernel).length();
        if (together <= longest) continue;
        longest = together;
        ahead[i] = other[k].number - rank[i].number;
      }
    }
    std::map<std::int64_t, std::size_t> votes;
    const auto vote = [&](std::size_t i) {
      if (i < ahead.size() && ahead[i]) ++votes[*ahead[i]];
    };
    for (std::size_t i = 0; i < kAround; ++i) vote(i);
    std::int64_t chosen = 0;
    for (std::size_t i = 0; i < rank.size(); ++i) {
      vote(i + kAround);
      if (i > kAround && ahead[i - kAround - 1])
        if (const auto gone = votes.find(*ahead[i - kAround - 1]); --gone->second == 0) votes.erase(gone);
      const auto most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      const auto as_before = votes.find(chosen);
      if (most != votes.end() && (as_before == votes.end() || as_before->second < most->second)) chosen = most->first;
      rank[i].number += chosen;
    }
  }

  // Kernels of one collective, of several ranks or of one. A kernel that runs at another time belongs to another collective.
  void match(Transfers transfers) {
    const Transfer& shortest =
        *std::min_element(transfers.begin(), transfers.end(), [](const Transfer& a, const Transfer& b) { return a.kernel.length() < b.kernel.length(); });
    const auto is_beside = [&](const Transfer& each) { return !each.kernel.intersected(shortest.kernel).empty(); };
    const bool has_others =
        std::any_of(transfers.begin(), transfers.end(), [&](const Transfer& each) { return !each.is_of_rank_of(shortest) && is_beside(each); });
    for (const Transfer& each : transfers) count(each, has_others && is_beside(each) ? std::optional(shortest.kernel.length()) : std::nullopt);
  }

  void count(const Transfer& transfer, std::optional<Nanoseconds> took) {
    if (!transfer.counts) return;
    Group& group = groups_[transfer.group];
    if (!took) {
      ++group.unmatched;
      return;
    }
    group.timed_bytes += transfer.bytes;
    group.time_of_bytes += *took;
  }

  // The range of the collective around the call, if any.
  [[nodiscard]] const NvtxRange* collective_of(ProcessId process, EventRef call) const {
    const NvtxRange* collective = nullptr;
    for (const NvtxRange* range : ranges_.around(call))
      if (trace_.domain_name(process, range->domain) == kNcclDomain) collective = range;
    return collective;
  }

  [[nodiscard]] Transfer transfer_of(const TrackKey& track, const EventView& kernel, const NvtxRange& collective) {
    const std::string_view name = trace_.name(collective.name);
    const bool is_between_two = std::any_of(kBetweenTwo.begin(), kBetweenTwo.end(), [name](std::string_view other) { return name.starts_with(other); });
    Transfer transfer;
    transfer.communicator = is_between_two ? 0 : communicator_of(collective);
    transfer.process = track.process;
    transfer.gpu = track.gpu;
    transfer.called = collective.time.begin;
    transfer.kernel = {kernel.start(), kernel.start() + kernel.duration()};
    return transfer;
  }

  void add(const TrackKey& track, const EventView& kernel, EventRef call) {
    const NvtxRange* const collective = collective_of(track.process, call);
    const Key key{collective ? collective->name : NameId{0}, kernel_name(trace_, kernel, options_.kernel_names)};
    Group& group = groups_[key];
    group.durations.push_back(kernel.duration());
    const std::int64_t bytes = collective ? bytes_of(*collective) : kNoInteger;
    if (bytes == kNoInteger) return;
    group.bytes = (group.bytes == kNoInteger ? 0 : group.bytes) + bytes;
    Transfer transfer = transfer_of(track, kernel, *collective);
    transfer.group = key;
    transfer.bytes = bytes;
    if (transfer.communicator == 0)
      count(transfer, kernel.duration());
    else if (transfers_.size() == kMostMatched)
      count(transfer, std::nullopt);
    else
      transfers_.push_back(transfer);
  }

  // Adds a kernel that does not count.
  void add_beside(const TrackKey& track, const EventView& kernel, EventRef call) {
    const NvtxRange* const collective = collective_of(track.process, call);
    if (collective == nullptr || bytes_of(*collective) == kNoInteger || transfers_.size() == kMostMatched) return;
    Transfer transfer = transfer_of(track, kernel, *collective);
    transfer.counts = false;
    if (transfer.communicator != 0) transfers_.push_back(transfer);
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
    std::int64_t bytes, timed_bytes;
    Nanoseconds time_of_bytes;
    std::int64_t unmatched;
    Summary summary;
  };
  std::vector<Row> rows;
  double everything = 0;
  for (auto& [ids, group] : kernels.groups()) {
    rows.push_back({ids[0], ids[1], group.bytes, group.timed_bytes, group.time_of_bytes, group.unmatched, summarize(group.durations, options.percentiles)});
    everything += static_cast<double>(rows.back().summary.total);
  }
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.summary.total != b.summary.total) return a.summary.total > b.summary.total;
    return std::pair(trace.name(a.collective), trace.name(a.kernel)) < std::pair(trace.name(b.collective), trace.name(b.kernel));
  });

  std::vector<Column> columns = {reals("Time", Unit::kPercent), integers("Total Time", Unit::kNanoseconds), integers("Instances")};
  append_summary_columns(columns, "", Unit::kNanoseconds, options.percentiles);
  for (Column column :
       {integers("Total", Unit::kBytes), reals("Algorithm Bandwidth", Unit::kBytesPerSecond), integers("Unmatched"), texts("Collective"), texts("Name")})
    columns.push_back(std::move(column));
  Table table(std::move(columns));
  for (const auto& [collective, kernel, bytes, timed_bytes, time_of_bytes, unmatched, summary] : rows) {
    std::vector<Cell> cells = {everything > 0 ? 100.0 * static_cast<double>(summary.total) / everything : 0.0, summary.total, summary.count};
    append_summary_cells(cells, summary, options.percentiles);
    cells.emplace_back(bytes);
    cells.emplace_back(time_of_bytes == 0 ? kNoReal : 1e9 * static_cast<double>(timed_bytes) / static_cast<double>(time_of_bytes));
    cells.emplace_back(bytes == kNoInteger ? kNoInteger : unmatched);
    cells.emplace_back(table.add_text(std::string(trace.name(collective))));
    cells.emplace_back(table.add_text(std::string(trace.name(kernel))));
    table.add_cells(cells);
  }
  return table;
}

}  // namespace lanescope::stats

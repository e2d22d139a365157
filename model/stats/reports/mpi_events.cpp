// mpi_event_sum, mpi_event_trace: calls of MPI.
#include <algorithm>
#include <unordered_map>

#include "../by_start.h"
#include "../columns/run_column.h"
#include "../label_groups.h"
#include "../report_functions.h"
#include "model/trace/domains/mpi_call.h"

namespace lanescope::stats {
namespace {

constexpr std::string_view source_name(MpiKind kind) {
  switch (kind) {
    case MpiKind::kPointToPoint:
      return "p2p";
    case MpiKind::kCollective:
      return "coll";
    case MpiKind::kStartAndWait:
      return "startwait";
    case MpiKind::kOther:
      return "other";
  }
  return {};
}

// The data of ranges, read once for all ranges with the same data.
class Calls {
 public:
  explicit Calls(const Trace& trace) : trace_(trace) {}
  const MpiCall& operator()(const TrackKey& key, DetailId detail) {
    const auto [found, inserted] = calls_.try_emplace(detail);
    if (inserted) found->second = mpi_call(trace_, key, detail);
    return found->second;
  }

 private:
  const Trace& trace_;
  std::unordered_map<DetailId, MpiCall> calls_;
};

// Details are shared by processes whose domains may number their categories differently, so the calls of each process are read separately.
class CallsByProcess {
 public:
  explicit CallsByProcess(const Trace& trace) : trace_(trace) {}
  const MpiCall& operator()(const TrackKey& key, DetailId detail) { return calls_.try_emplace(key.process, trace_).first->second(key, detail); }

 private:
  const Trace& trace_;
  std::unordered_map<ProcessId, Calls> calls_;
};

}  // namespace

Table mpi_event_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  CallsByProcess calls(trace);
  SamplesByIds<2> samples;
  selection.for_each(TrackKind::kNvtxRanges, [&](const Track& track, const EventView& range) {
    if (!holds_mpi_calls(trace, track.key)) return;
    const MpiKind kind = calls(track.key, range.detail()).kind;
    samples.add({static_cast<std::uint32_t>(kind), range.name()}, range.duration());
  });
  LabelGroups groups;
  samples.for_each([&](const std::array<std::uint32_t, 2>& ids, Samples durations) {
    groups.add({source_name(static_cast<MpiKind>(ids[0])), trace.name(ids[1])}, std::move(durations));
  });
  return groups.time_summary("Instances", {"Source", "Name"}, options.percentiles);
}

Table mpi_event_trace(const Selection& selection, const ReportOptions&) {
  const Trace& trace = selection.trace();
  CallsByProcess calls(trace);
  Table table({integers("Start", Unit::kNanoseconds), integers("End", Unit::kNanoseconds), integers("Duration", Unit::kNanoseconds), texts("Event"),
               identifiers("Pid"), identifiers("Tid"), identifiers("Tag"), identifiers("Rank"), identifiers("PeerRank"), identifiers("RootRank"),
               integers("Size", Unit::kBytes), integers("CollSendSize", Unit::kBytes), integers("CollRecvSize", Unit::kBytes)});
  std::unordered_map<NameId, TextId> names;
  std::vector<ProcessId> processes;  // by row
  for (const EventRef ref : events_by_start(selection, {TrackKind::kNvtxRanges})) {
    const TrackKey& key = trace.track_of(ref.lane).key;
    if (!holds_mpi_calls(trace, key)) continue;
    const Event range = trace.event(ref);
    const MpiCall& call = calls(key, range.detail);
    const auto cell = [](const std::optional<std::int64_t>& value) { return value.value_or(kNoInteger); };
    const Thread& thread = trace.threads()[key.thread];
    const auto [name, is_new] = names.try_emplace(range.name);
    if (is_new) name->second = table.add_text(std::string(trace.name(range.name)));
    const TextId text = name->second;
    table.add_row(range.start, range.end(), range.duration, text, std::int64_t{trace.processes()[key.process].pid}, std::int64_t{thread.tid}, cell(call.tag),
                  cell(call.rank), cell(call.peer), cell(call.root), cell(call.bytes), cell(call.sent_bytes), cell(call.received_bytes));
    processes.push_back(key.process);
  }
  add_origins(trace, table, [&](std::size_t row) { return processes[row]; });
  return table;
}

}  // namespace lanescope::stats

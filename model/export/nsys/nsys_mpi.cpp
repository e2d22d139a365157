#include "nsys_mpi.h"

#include <set>

#include "../event_order.h"
#include "model/trace/domains/mpi_call.h"

namespace lanescope::exporters {
namespace {

void write_call(const Trace& trace, const Track& track, const Event& event, NsysDatabase& database, std::int64_t thread, NsysStrings& strings) {
  const MpiCall call = mpi_call(trace, track.key, event.detail);
  std::optional<Nanoseconds> end;
  if (trace.nvtx_detail(event.detail).finished == Finished::kYes) end = event.end();
  const std::int64_t name = strings.id(event.name);
  switch (call.kind) {
    case MpiKind::kPointToPoint:
      return database.insert(NsysTable::kMpiMessages, event.start, end, thread, name, call.communicator, call.tag, call.peer, call.bytes, call.request);
    case MpiKind::kCollective:
      return database.insert(NsysTable::kMpiCollectives, event.start, end, thread, name, call.communicator, call.root, call.sent_bytes, call.received_bytes,
                             call.request);
    case MpiKind::kStartAndWait:
      return database.insert(NsysTable::kMpiWaits, event.start, end, thread, name, call.request);
    case MpiKind::kOther:
      return database.insert(NsysTable::kMpiOthers, event.start, end, thread, name);
  }
}

}  // namespace

void write_mpi(const Trace& trace, const ExportSelection& selection, NsysDatabase& database, const NsysIds& ids, NsysStrings& strings) {
  for (const Track& track : trace.tracks()) {
    if (!holds_mpi_calls(trace, track.key)) continue;
    const std::int64_t thread = ids.global_tid(track.key);
    std::set<std::int64_t> ranks;
    for (const EventRef ref : events_in_order(trace, track, selection)) {
      const Event event = trace.event(ref);
      write_call(trace, track, event, database, thread, strings);
      if (const auto rank = mpi_call(trace, track.key, event.detail).rank; rank && ranks.insert(*rank).second)
        database.insert(NsysTable::kMpiRanks, thread, *rank);
    }
  }
}

}  // namespace lanescope::exporters

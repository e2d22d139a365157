// Calls of MPI. They become ranges of the NVTX domain "MPI", as in our own recordings.
#include <array>
#include <map>

#include "model/trace/domains/mpi_call.h"
#include "nsys_context.h"

namespace lanescope::importers {
namespace {

constexpr std::uint32_t kDomain = 0x4d504900;  // "MPI": not used by programs, whose domains count from 1

enum Column { kStart, kEnd, kGlobalTid, kText, kCommunicator, kTag, kPeer, kRoot, kSize, kReceivedSize, kRequest };
constexpr std::array<std::string_view, kRequest + 1> kColumns = {"start",      "end",      "globalTid", "textId",   "commHandle",   "tag",
                                                                 "remoteRank", "rootRank", "size",      "recvSize", "requestHandle"};

struct CallTable {
  std::string_view name;
  MpiKind kind;
};
constexpr std::array kTables{CallTable{"MPI_P2P_EVENTS", MpiKind::kPointToPoint}, CallTable{"MPI_COLLECTIVES_EVENTS", MpiKind::kCollective},
                             CallTable{"MPI_START_WAIT_EVENTS", MpiKind::kStartAndWait}, CallTable{"MPI_OTHER_EVENTS", MpiKind::kOther}};

Result<std::map<std::int64_t, std::int64_t>> ranks_by_process(NsysContext& context) {
  std::map<std::int64_t, std::int64_t> ranks;
  constexpr std::array<std::string_view, 2> kRankColumns = {"globalTid", "rank"};
  TableRows rows = context.database.rows("MPI_RANKS", kRankColumns);
  while (rows.next()) ranks.emplace(without_thread(rows.integer(0)), rows.integer(1));
  if (!rows.failure().empty()) return unreadable("MPI_RANKS", rows);
  return ranks;
}

// Our own exports also have the calls in NVTX_EVENTS.
bool has_ranges_of_mpi(const NsysContext& context) {
  constexpr std::array<std::string_view, 2> kNames = {"eventType", "text"};
  constexpr std::int64_t kDomainCreate = 75;
  TableRows rows = context.database.rows("NVTX_EVENTS", kNames);
  while (rows.next())
    if (rows.integer(0) == kDomainCreate && rows.text(1) == kMpiDomain) return true;
  return false;
}

}  // namespace

Result<void> import_mpi(NsysContext& context) {
  const auto ranks = ranks_by_process(context);
  if (!ranks) return ranks.error();
  EventGroups groups(context);
  std::optional<bool> known;
  for (const CallTable& table : kTables) {
    TableRows rows = context.database.rows(table.name, kColumns);
    while (rows.next()) {
      if (!known) known = has_ranges_of_mpi(context);
      if (*known) return {};
      const std::int64_t global_tid = rows.integer(kGlobalTid);
      const auto value = [&](Column column) { return rows.is_null(column) ? std::nullopt : std::optional<std::int64_t>(rows.integer(column)); };
      MpiCall call;
      if (const auto rank = ranks->find(without_thread(global_tid)); rank != ranks->end()) call.rank = rank->second;
      const bool is_message = table.kind == MpiKind::kPointToPoint;
      call.peer = value(kPeer);
      call.tag = value(kTag);
      call.root = value(kRoot);
      (is_message ? call.bytes : call.sent_bytes) = value(kSize);
      call.received_bytes = value(kReceivedSize);
      call.communicator = value(kCommunicator);
      call.request = value(kRequest);
      const TrackKey key{.kind = TrackKind::kNvtxRanges, .process = context.process(global_tid), .thread = context.thread(global_tid), .domain = kDomain};
      const auto category = static_cast<std::uint32_t>(table.kind) + 1;
      NvtxDetail detail;
      detail.category = category;
      if (rows.is_null(kEnd)) detail.finished = Finished::kNo;
      detail.payload_json = context.builder.intern(mpi_payload(call));
      context.builder.set_domain(key.process, kDomain, std::string(kMpiDomain));
      context.builder.set_category(key.process, kDomain, category, std::string(kMpiCategories[static_cast<std::size_t>(table.kind)]));
      Event event;
      event.start = rows.integer(kStart);
      event.duration = duration_between(rows, kStart, kEnd);
      event.name = context.name(rows.integer(kText));
      event.detail = context.builder.intern(detail);
      groups.add(key, event);
      if (!context.count_row()) break;
    }
    if (!rows.failure().empty()) return unreadable(table.name, rows);
  }
  groups.flush();
  return {};
}

}  // namespace lanescope::importers

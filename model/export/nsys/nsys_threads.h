// Writes threads' data except calls in Nsight Systems' tables: scheduling, samples, call chains. Internal to model/export.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "model/export/selection.h"
#include "nsys_calls.h"
#include "nsys_database.h"
#include "nsys_ids.h"

namespace lanescope::exporters {

class NsysThreads {
 public:
  NsysThreads(const Trace& trace, const ExportSelection& selection, NsysDatabase& database, const NsysIds& ids, NsysStrings& strings);

  // Requires: a track of the kind.
  void write_states(const Track& track);   // SCHED_EVENTS
  void write_samples(const Track& track);  // COMPOSITE_EVENTS, SAMPLING_CALLCHAINS

  // Upper bound for rows in the tables of call chains if calls are not shared. O(samples, and n log n of backtraces).
  [[nodiscard]] std::uint64_t chain_rows() const;
  // From now on chains share their calls (NsysCalls). Call write_views() after all chains are written.
  void share_calls();
  void write_views();

  // The id of the call chain that was recorded at this call of the thread; nothing if there is none. Writes the chain at its first use (OSRT_CALLCHAINS,
  // CUDA_CALLCHAINS).
  std::optional<std::int64_t> chain_of(SampleOrigin origin, ThreadId thread, const Event& call);

 private:
  void write_chain(NsysTable table, std::int64_t id, CallNodeId chain);

  const Trace& trace_;
  const ExportSelection& selection_;
  NsysDatabase& database_;
  const NsysIds& ids_;
  NsysStrings& strings_;
  std::map<std::tuple<SampleOrigin, ThreadId, Nanoseconds, Nanoseconds>, CallNodeId> backtraces_;
  std::map<std::pair<ThreadId, std::uint32_t>, CallNodeId> of_cuda_calls_;  // by correlation id
  std::map<std::pair<SampleOrigin, CallNodeId>, std::int64_t> chain_ids_;
  std::optional<NsysCalls> shared_;
  std::int64_t samples_ = 0;  // so far
};

}  // namespace lanescope::exporters

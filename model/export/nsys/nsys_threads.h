// What threads did beside calls, in Nsight Systems' tables: scheduling, samples, call chains. Internal to model/export.
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

  // How many rows the tables of call chains get at most, where they share no calls. O(samples, and n log n of backtraces).
  [[nodiscard]] std::uint64_t chain_rows() const;
  // From here on chains share their calls (NsysCalls); write_views() once all are written.
  void share_calls();
  void write_views();

  // The id of the call chain that was taken at this call of the thread; none where none was. Writes the chain where it is
  // the first call that has it (OSRT_CALLCHAINS, CUDA_CALLCHAINS).
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

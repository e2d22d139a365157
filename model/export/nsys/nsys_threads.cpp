#include "nsys_threads.h"

#include <set>

#include "../event_order.h"

namespace lanescope::exporters {
namespace {

// Constants of Nsight Systems' enumerations (nsys_enums.cpp).
enum SamplingThreadState { kUnknownState = 0, kRunningState = 1, kInterruptibleState = 2, kUnscheduledState = 6 };

// The state in which the scheduler left a thread that stopped running.
SamplingThreadState state_after(ThreadState next) {
  if (next == ThreadState::kRunnable) return kUnscheduledState;
  return next == ThreadState::kBlocked ? kInterruptibleState : kUnknownState;
}

NsysTable table_of(SampleOrigin origin) { return origin == SampleOrigin::kCudaCall ? NsysTable::kCudaChains : NsysTable::kOsRuntimeChains; }

}  // namespace

NsysThreads::NsysThreads(const Trace& trace, const ExportSelection& selection, NsysDatabase& database, const NsysIds& ids, NsysStrings& strings)
    : trace_(trace), selection_(selection), database_(database), ids_(ids), strings_(strings) {
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kBacktraces) continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i) {
        const SampleDetail& detail = trace.sample_detail(trace.lane(id).detail(i));
        const Lane& lane = trace.lane(id);
        if (detail.call_node == 0) continue;
        if (lane.correlation(i) != 0)
          of_cuda_calls_[{track.key.thread, lane.correlation(i)}] = detail.call_node;
        else
          backtraces_[{detail.origin, track.key.thread, lane.start(i), lane.duration(i)}] = detail.call_node;
      }
  }
}

void NsysThreads::write_states(const Track& track) {
  if (!database_.wants(NsysTable::kScheduling)) return;
  const std::int64_t thread = ids_.global_tid(track.key);
  std::vector<Event> spans;
  for (const EventRef ref : events_in_order(trace_, track, selection_)) spans.push_back(trace_.event(ref));
  const auto detail = [&](std::size_t i) -> const ThreadStateDetail& { return trace_.thread_state_detail(spans[i].detail); };
  const auto runs = [&](std::size_t i) { return detail(i).state == ThreadState::kRunning; };
  const auto processor = [&](std::size_t i) { return detail(i).processor == kNone ? 0 : detail(i).processor; };
  const auto joined = [&](std::size_t i) { return i + 1 < spans.size() && spans[i].end() == spans[i + 1].start; };  // true if the next span follows directly
  const auto put_in = [&](Nanoseconds time, std::uint32_t on) { database_.insert(NsysTable::kScheduling, time, on, 1, thread, kNull, 0); };
  const auto put_out = [&](Nanoseconds time, std::uint32_t from, ThreadState next) {
    database_.insert(NsysTable::kScheduling, time, from, 0, thread, state_after(next), 0);
  };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (runs(i)) {
      put_in(spans[i].start, processor(i));
      if (!joined(i)) put_out(spans[i].end(), processor(i), ThreadState::kUnknown);
      if (joined(i) && !runs(i + 1)) put_out(spans[i].end(), processor(i), detail(i + 1).state);
    } else {
      const bool was_put_out = i > 0 && joined(i - 1) && runs(i - 1);
      if (!was_put_out) put_out(spans[i].start, 0, detail(i).state);
      if (!joined(i)) put_in(spans[i].end(), 0);
    }
  }
}

void NsysThreads::write_samples(const Track& track) {
  if (!database_.wants(NsysTable::kSamples) && !database_.wants(NsysTable::kSampleChains)) return;
  const std::int64_t thread = ids_.global_tid(track.key);
  for (const EventRef ref : events_in_order(trace_, track, selection_)) {
    const Event event = trace_.event(ref);
    const SampleDetail& detail = trace_.sample_detail(event.detail);
    std::optional<std::uint32_t> processor;
    if (detail.processor != kNone) processor = detail.processor;
    ++samples_;
    if (database_.wants(NsysTable::kSamples)) database_.insert(NsysTable::kSamples, samples_, event.start, processor, kRunningState, thread, detail.period);
    if (database_.wants(NsysTable::kSampleChains)) write_chain(NsysTable::kSampleChains, samples_, detail.call_node);
  }
}

std::uint64_t NsysThreads::chain_rows() const {
  const CallStacks& stacks = trace_.call_stacks();
  std::vector<std::uint64_t> of_chain(stacks.node_count());
  for (CallNodeId id = 1; id < of_chain.size(); ++id) of_chain[id] = of_chain[stacks.node(id).parent] + stacks.functions(stacks.node(id).location).size();
  std::uint64_t rows = 0;
  std::set<std::pair<SampleOrigin, CallNodeId>> counted;  // chains of calls, because each is written once
  for (const Track& track : trace_.tracks()) {
    const bool has_samples = track.key.kind == TrackKind::kCpuSamples && database_.wants(NsysTable::kSampleChains);
    const bool has_backtraces = track.key.kind == TrackKind::kBacktraces;
    if (!has_samples && !has_backtraces) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace_.lane(id);
      const auto [first, end] = selection_.window ? lane.overlapping(*selection_.window) : std::pair<EventIndex, EventIndex>{0, lane.size()};
      for (EventIndex i = first; i < end; ++i) {
        const SampleDetail& detail = trace_.sample_detail(lane.detail(i));
        if (detail.call_node >= of_chain.size()) continue;
        if (has_samples && selection_.takes(id)) rows += of_chain[detail.call_node];
        if (has_backtraces && database_.wants(table_of(detail.origin)) && counted.insert({detail.origin, detail.call_node}).second)
          rows += of_chain[detail.call_node];
      }
    }
  }
  return rows;
}

std::optional<std::int64_t> NsysThreads::chain_of(SampleOrigin origin, ThreadId thread, const Event& call) {
  CallNodeId chain = 0;
  if (const auto same = backtraces_.find({origin, thread, call.start, call.duration}); same != backtraces_.end()) chain = same->second;
  if (origin == SampleOrigin::kCudaCall)
    if (const auto same = of_cuda_calls_.find({thread, call.correlation}); same != of_cuda_calls_.end()) chain = same->second;
  const NsysTable table = table_of(origin);
  if (chain == 0 || !database_.wants(table)) return std::nullopt;
  const auto [id, added] = chain_ids_.try_emplace({origin, chain}, static_cast<std::int64_t>(chain_ids_.size() + 1));
  if (added) write_chain(table, id->second, chain);
  return id->second;
}

void NsysThreads::share_calls() { shared_.emplace(trace_, database_, strings_); }

void NsysThreads::write_views() {
  if (shared_) shared_->write_views();
}

void NsysThreads::write_chain(NsysTable table, std::int64_t id, CallNodeId chain) {
  if (shared_) {
    if (chain != 0) shared_->write(table, id, chain);
    return;
  }
  const CallStacks& stacks = trace_.call_stacks();
  std::int64_t depth = 0;
  for (const CodeLocationId location : stacks.chain(chain)) {
    const CodeLocation& place = stacks.location(location);
    for (const CodeFunction& function : stacks.functions(location)) {
      const ChainFunction row = chain_function(trace_, strings_, place, function);
      if (table == NsysTable::kCudaChains)
        database_.insert(table, id, row.symbol, row.module, row.unresolved, row.address, depth);
      else
        database_.insert(table, id, row.symbol, row.module, row.kernel_mode, kNull, row.unresolved, kNull, row.address, kFramePointer, depth);
      ++depth;
    }
  }
}

}  // namespace lanescope::exporters

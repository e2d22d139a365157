#include "thread_tracks.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace lanescope::analysis {

ThreadTracks::ThreadTracks(const Trace& trace) : trace_(&trace), begins_(trace.threads().size() + 1) {
  for (const Track& track : trace.tracks())
    if (track.key.thread != kNone) ++begins_[track.key.thread + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  tracks_.resize(begins_.back());
  std::vector<std::size_t> next = begins_;
  for (TrackId id = 0; id < trace.tracks().size(); ++id)
    if (const ThreadId thread = trace.tracks()[id].key.thread; thread != kNone) tracks_[next[thread]++] = id;
}

std::vector<TrackId> ThreadTracks::of_no_thread(ProcessId process, TrackKind kind) const {
  std::vector<TrackId> tracks;
  for (const TrackId id : trace_->tracks_of(process, kind))
    if (trace_->tracks()[id].key.thread == kNone) tracks.push_back(id);
  return tracks;
}

bool shows_waits(const Trace& trace, ProcessId process) {
  constexpr TrackKind kShow[] = {TrackKind::kThreadStates, TrackKind::kOsRuntime, TrackKind::kCpuSamples};
  return std::any_of(std::begin(kShow), std::end(kShow), [&](TrackKind kind) { return !trace.tracks_of(process, kind).empty(); });
}

}  // namespace lanescope::analysis

// Several traces as one, on one time axis: two runs to compare, or the ranks of a program that ran on several hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "model/trace/trace.h"

namespace lanescope {

struct TraceSource {
  std::shared_ptr<const Trace> trace;
  std::string label;                       // what its part is called: "A  before.trace"
  ClockLine clock;                         // from its times to times of the combined trace
  std::string remark;                      // goes to the combined trace's diagnostics; empty: there is nothing to say
  bool has_collectives_in_common = false;  // with other sources; its clock was set by them
  std::string file;                        // its path, if known
  std::string run = {};                    // when runs are compared, which one it is: "A"; empty if all are of one run
};

// A GPU that two recordings name by the same UUID. Within one run it is one GPU: it is busy while a process of either recording uses it. When two runs
// are compared, each has its own.
enum class GpusSeenTwice : std::uint8_t {
  kAreTwo,
  kAreOne,  // if the recordings are of one machine, at the same time of one run (ran_together() in parts.h)
};

// One trace of all sources. Its epoch, provenance and times are those of the first source, with these exceptions: its condition says what is wrong with
// each part, as do its diagnostics; its unwritten events are those of all; and it is finished if all are. Ids of processes, threads, GPUs, tracks,
// lanes and details of the first source stay, so an event of the first keeps its EventRef. Ids of the others follow, but a GPU that is one with an
// earlier one (`gpus`) has the earlier id. Equal names have one id. Trace::parts() says what came from which source.
//
// Lanes whose segments are decoded when they are needed stay so (demanded_segments.h). If a source's clock drifts, each of its segments is decoded
// once, because events last longer or shorter by the other clock, and only the events themselves say by how many nanoseconds. Time, on all cores:
// O(events of the later sources that are in memory, or whose clocks drift) + O(tables). Memory: O(those events that are in memory). The first source is
// shared. Returns null if asked to stop. Requires: at least one source, none null, none combined itself; the first has the trace's own clock.
[[nodiscard]] std::shared_ptr<const Trace> combine_traces(std::span<const TraceSource> sources, std::stop_token stop = {},
                                                          GpusSeenTwice gpus = GpusSeenTwice::kAreTwo);

// A remark on a trace, beside what its file says.
struct TraceRemark {
  enum class Kind { kNote, kSameRecording, kWarning, kCondition } kind = Kind::kNote;
  std::string sentence;
};
// The same trace with these remarks among its diagnostics or in its condition. O(lanes), because its events are shared.
[[nodiscard]] std::shared_ptr<const Trace> with_remarks(const std::shared_ptr<const Trace>& trace, std::span<const TraceRemark> remarks);

// The same trace without the events of these parts: their lanes are empty, and what is known of their kernels stays. So an event of another part keeps its
// EventRef. O(lanes), because the events of the others are shared. Requires: parts of this trace.
[[nodiscard]] std::shared_ptr<const Trace> without_events_of(const Trace& trace, std::span<const TracePart* const> parts);

// The event of another part that corresponds to this one: it has the same kind and name, and as many such events started before it in its part. Returns
// nothing if the other part has fewer. O(events of that kind). Requires: the trace is combined of two.
[[nodiscard]] std::optional<EventRef> counterpart(const Trace& trace, EventRef event);

}  // namespace lanescope

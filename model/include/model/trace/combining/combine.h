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
  std::string remark;                      // stands among the combined trace's diagnostics; empty: nothing is to be said
  bool has_collectives_in_common = false;  // with others, by which its clock was set
  std::string file;                        // its path, where it is known
  std::string run = {};                    // of runs that are compared, which one it is: "A"; empty where all are of one run
};

// A GPU of which two recordings say the same UUID. Of one run, it is one: it is busy while a process of any of them uses it. Of two runs that are
// compared each has its own.
enum class GpusSeenTwice : std::uint8_t {
  kAreTwo,
  kAreOne,  // where the recordings are of one machine, at the same time of one run (ran_together() in parts.h)
};

// One trace of all sources. Its epoch, provenance and times are the first one's, but for what is missing: its condition names what is wrong with
// each part, which its diagnostics tell, too; its unwritten events are those of all; and it is finished where all are. Ids of processes, threads,
// GPUs, tracks, lanes and details of the first stay, so an event of the first keeps its EventRef. Those of the others follow, but a GPU that is one
// with an earlier one (`gpus`) has that one's id. Equal names have one id. Trace::parts() says what came from which source.
//
// Lanes whose segments are decoded when they are needed stay such (demanded_segments.h); of a source whose clock drifts each is decoded once, since
// events last longer or shorter by the other clock and only they say by how many nanoseconds. O(events of the sources that follow that are in memory, or whose
// clocks drift) in time, O(those in memory) in memory, on all cores, and O(tables); the first is shared. Null when asked to stop. Requires: at least one
// source, none null, none combined itself; the first has the trace's own clock.
[[nodiscard]] std::shared_ptr<const Trace> combine_traces(std::span<const TraceSource> sources, std::stop_token stop = {},
                                                          GpusSeenTwice gpus = GpusSeenTwice::kAreTwo);

// What is to be known of a trace beside what its file says.
struct TraceRemark {
  enum class Kind { kNote, kWarning, kCondition } kind = Kind::kNote;
  std::string sentence;
};
// The same trace, among whose diagnostics these stand, or in whose condition. O(lanes), as its events are shared.
[[nodiscard]] std::shared_ptr<const Trace> with_remarks(const std::shared_ptr<const Trace>& trace, std::span<const TraceRemark> remarks);

// The event of another part that stands for the same: of the same kind and name, and as many of those began before it in its part. None
// where the other part has fewer. O(events of that kind). Requires: the trace is combined of two.
[[nodiscard]] std::optional<EventRef> counterpart(const Trace& trace, EventRef event);

}  // namespace lanescope

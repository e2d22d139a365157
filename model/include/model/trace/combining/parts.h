// Which of the sources of a combined trace (combine.h) a track, a process or a GPU comes from. In a trace of one source there are no parts.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

[[nodiscard]] const TracePart* part_of(const Trace& trace, TrackId track) noexcept;              // O(log parts)
[[nodiscard]] const TracePart* part_of(const Trace& trace, const Track& track) noexcept;         // the same; requires: one of trace.tracks()
[[nodiscard]] const TracePart* part_of_counter(const Trace& trace, CounterId counter) noexcept;  // O(log parts)
// Which of the compared runs a track belongs to: "A"; empty if no runs are compared. O(log parts). Requires: one of trace.tracks().
[[nodiscard]] std::string_view run_of(const Trace& trace, const Track& track) noexcept;
// The run, or the name of the part if the parts are of one run. Empty for a trace that is not combined. O(log parts).
[[nodiscard]] std::string_view part_title(const Trace& trace, const Track& track) noexcept;
[[nodiscard]] bool compares_runs(const Trace& trace) noexcept;  // O(parts)
// Also null for a process that has no track. O(log tracks).
[[nodiscard]] const TracePart* part_of_process(const Trace& trace, ProcessId process) noexcept;

// True if two parts are of one run. Runs that were put on one axis to be compared ran at different times. Of several recordings on one axis, those ran
// together whose clocks were set by collectives in common, and those whose times the axis kept. If a recording of another machine has no time of day,
// nobody can say, and it counts as one of them. Parts are told apart by address: `axis` is the first part itself (trace.parts().front()), to whose
// clock the others were set. O(1).
[[nodiscard]] bool ran_together(const TracePart& first, const TracePart& second, const TracePart& axis) noexcept;

// Parts that only say what instructions of kernels did: they counted instructions, which takes a run of its own (ADR 25), and another part did not and ran at
// another time. What such a run took is no part of what the others took. O(counts + parts²).
[[nodiscard]] std::vector<const TracePart*> parts_that_only_count(const Trace& trace);

// The saved part of its recording that `part` holds, by the trace's clock; nothing for a whole recording. `part`: null in a trace of one source.
[[nodiscard]] std::optional<SavedPart> saved_part_of(const Trace& trace, const TracePart* part) noexcept;

// The label of a part without its file: "A" of "A  first.trace".
[[nodiscard]] inline std::string_view short_label(std::string_view label) noexcept { return label.substr(0, label.find("  ")); }

// Parts of GPUs, for callers that ask for many. For a GPU that several recordings saw, the first of them. The trace must outlive it.
class PartsOfGpus {
 public:
  explicit PartsOfGpus(const Trace& trace);  // O(tracks + counters), but O(1) for a trace of one source
  // Also null for a GPU that has neither track nor counter. O(1).
  [[nodiscard]] const TracePart* of(GpuId gpu) const noexcept { return gpu < parts_.size() ? parts_[gpu] : nullptr; }

 private:
  std::vector<const TracePart*> parts_;
};

}  // namespace lanescope

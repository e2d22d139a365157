// When GPUs were idle and why, ready to be drawn and asked: the gaps of a trace with their parts.
//
// What a gap, a part and a cause are, model/analysis/idle/idle.h says. Immutable and cheap to copy; any thread may read it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "model/analysis/idle/idle.h"
#include "model/trace/combining/parts.h"
#include "timeline/core/pixels/colors.h"
#include "timeline/core/view/viewport.h"
#include "timeline/core/words/describe.h"

namespace lanescope::timeline {

// A gap of a GPU, with the cause that holds most of it.
struct Gap {
  GpuId gpu = kNone;
  TimeRange range;
  analysis::IdleCause cause = analysis::IdleCause::kUnknown;
  bool operator==(const Gap&) const = default;
};

// What GPUs are called: "GPU 0"; of several traces as one, with that which it is of: "A GPU 0", "rank3.trace GPU 0". The trace must outlive it.
class GpuNames {
 public:
  explicit GpuNames(const Trace& trace) : trace_(trace), parts_(trace) {}  // O(tracks + counters) of several traces, else O(1)
  // Requires: the trace has it. O(1).
  [[nodiscard]] std::string of(GpuId gpu) const;

 private:
  const Trace& trace_;
  PartsOfGpus parts_;
};

class IdleTime {
 public:
  IdleTime() = default;
  // Of the gaps of `threshold` ns or longer. O(n log n) over the events of the trace; 40 bytes a gap or less. Empty when asked to stop.
  IdleTime(std::shared_ptr<const Trace> trace, Nanoseconds threshold, std::stop_token stop = {});

  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const noexcept { return trace_; }

  // The gap at this time; none where something runs, or the gap is shorter than the threshold. O(log n).
  [[nodiscard]] std::optional<Gap> at(GpuId gpu, Nanoseconds time) const;
  // The gap that is exactly this long at this place, on this GPU; on the first that has one where none is named. O(GPUs · log n).
  [[nodiscard]] std::optional<Gap> find(TimeRange range, std::optional<GpuId> gpu = std::nullopt) const;
  enum class Direction { kNext, kPrevious };
  // The nearest gap of at least `shortest` ns that begins after (or before) the time, of any GPU; none where there is none. O(gaps passed
  // over).
  [[nodiscard]] std::optional<Gap> nearest(Nanoseconds time, Nanoseconds shortest, Direction direction) const;
  // The same from a gap: those of several GPUs that begin at the same time follow each other in the order of the GPUs.
  [[nodiscard]] std::optional<Gap> nearest(const Gap& from, Nanoseconds shortest, Direction direction) const;

  // How much of a pixel column is idle, from 0 to 1, and the cause that holds most of that.
  struct Column {
    double share = 0;
    analysis::IdleCause cause = analysis::IdleCause::kUnknown;
  };
  // One a device pixel; none for a GPU without gaps. O(width · log n).
  [[nodiscard]] std::vector<Column> columns(GpuId gpu, const Viewport& viewport) const;

  // What can be written into the gaps of a view, of which `columns` are columns(): pixels of a gap that one cause holds, at least `narrowest` of them, with all
  // that follow in the gap until another cause holds as many; of a gap without such pixels all, with its main cause, where they are as many. From left to
  // right. O(width + gaps · log n).
  struct Stretch {
    std::int32_t left = 0;
    std::int32_t right = 0;  // behind the last one
    analysis::IdleCause cause = analysis::IdleCause::kUnknown;
    bool operator==(const Stretch&) const = default;
  };
  [[nodiscard]] std::vector<Stretch> stretches(GpuId gpu, const Viewport& viewport, std::span<const Column> columns, std::int32_t narrowest) const;

  // How long each GPU was idle within the range, by cause, the longest first. O(GPUs · log n + parts in the range).
  struct CauseTime {
    analysis::IdleCause cause = analysis::IdleCause::kUnknown;
    Nanoseconds time = 0;
    NameId call = 0;  // in which at least half of it was spent; 0 where there is none
  };
  [[nodiscard]] std::vector<std::pair<GpuId, std::vector<CauseTime>>> causes(TimeRange range) const;

  // What is known of a gap: its causes, what its thread was seen to run, in which range, and what ended it. The first property is the
  // name: "GPU 0 idle for 633.2 ms". O(tracks + parts of the gap + samples in it).
  [[nodiscard]] std::vector<Property> describe(const Gap& gap) const;

 private:
  // Gaps, each with its main cause as name, and parts, each with its cause as name and its call as detail.
  struct GpuLanes {
    Lane gaps;
    Lane parts;
  };
  class Writer;

  [[nodiscard]] std::vector<CauseTime> causes_on(const GpuLanes& lanes, TimeRange range) const;
  [[nodiscard]] std::optional<EventRef> operation_behind(const Gap& gap) const;

  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const std::map<GpuId, GpuLanes>> gpus_;
};

// The colour of a cause: calm for what GPUs wait for by design, warm for what a person can mend.
[[nodiscard]] Rgb idle_color(analysis::IdleCause cause, ColorScheme scheme) noexcept;

}  // namespace lanescope::timeline

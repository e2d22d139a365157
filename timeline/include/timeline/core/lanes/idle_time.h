// When and why GPUs were idle: the gaps of a trace with their parts, for drawing and for queries.
//
// Gaps, parts and causes are defined in model/analysis/idle/idle.h. Immutable and cheap to copy; any thread may read it.
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

// A gap of a GPU, with the cause that has most of it.
struct Gap {
  GpuId gpu = kNone;
  TimeRange range;
  analysis::IdleCause cause = analysis::IdleCause::kUnknown;
  bool operator==(const Gap&) const = default;
};

// Names of GPUs: "GPU 0"; in several combined traces with the name of the trace: "A GPU 0", "rank3.trace GPU 0". The trace must outlive it.
class GpuNames {
 public:
  explicit GpuNames(const Trace& trace) : trace_(trace), parts_(trace) {}  // O(tracks + counters) for several traces, else O(1)
  // Requires: the trace has this GPU. O(1).
  [[nodiscard]] std::string of(GpuId gpu) const;

 private:
  const Trace& trace_;
  PartsOfGpus parts_;
};

class IdleTime {
 public:
  IdleTime() = default;
  // Finds gaps of at least `threshold` ns. O(n log n) in the events of the trace; at most 40 bytes per gap. Empty when asked to stop.
  IdleTime(std::shared_ptr<const Trace> trace, Nanoseconds threshold, std::stop_token stop = {});

  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const noexcept { return trace_; }
  [[nodiscard]] Nanoseconds threshold() const noexcept { return threshold_; }  // ns; shorter gaps are in no answer

  // The gap at this time; nothing if something runs or the gap is shorter than the threshold. O(log n).
  [[nodiscard]] std::optional<Gap> at(GpuId gpu, Nanoseconds time) const;
  // The gap with exactly this range on this GPU; if `gpu` is not given, on the first GPU that has one. O(GPUs · log n).
  [[nodiscard]] std::optional<Gap> find(TimeRange range, std::optional<GpuId> gpu = std::nullopt) const;
  enum class Direction { kNext, kPrevious };
  // The nearest gap of at least `shortest` ns that starts after (or before) the time, on any GPU; nothing if there is none. O(gaps that are passed).
  [[nodiscard]] std::optional<Gap> nearest(Nanoseconds time, Nanoseconds shortest, Direction direction) const;
  // The same starting at a gap: gaps of several GPUs that start at the same time follow each other in the order of the GPUs.
  [[nodiscard]] std::optional<Gap> nearest(const Gap& from, Nanoseconds shortest, Direction direction) const;

  // The idle share of a pixel column, from 0 to 1, and the cause that has most of it.
  struct Column {
    double share = 0;
    analysis::IdleCause cause = analysis::IdleCause::kUnknown;
  };
  // One for each device pixel; empty for a GPU without gaps. O(width · log n).
  [[nodiscard]] std::vector<Column> columns(GpuId gpu, const Viewport& viewport) const;

  // Places for labels in the gaps of a view. `columns`: columns(). A stretch has pixels of a gap that have the same cause, at least `narrowest` of them, and
  // the following pixels of the gap until another cause has as many. A gap without such pixels is one stretch with its main cause, if it is wide enough. From
  // left to right. O(width + gaps · log n).
  struct Stretch {
    std::int32_t left = 0;
    std::int32_t right = 0;  // one past the last
    analysis::IdleCause cause = analysis::IdleCause::kUnknown;
    bool operator==(const Stretch&) const = default;
  };
  [[nodiscard]] std::vector<Stretch> stretches(GpuId gpu, const Viewport& viewport, std::span<const Column> columns, std::int32_t narrowest) const;

  // Idle time of each GPU within the range, by cause, the longest first. O(GPUs · log n + parts in the range).
  struct CauseTime {
    analysis::IdleCause cause = analysis::IdleCause::kUnknown;
    Nanoseconds time = 0;
    NameId call = 0;  // the call in which at least half of it was spent; 0 if there is none
  };
  [[nodiscard]] std::vector<std::pair<GpuId, std::vector<CauseTime>>> causes(TimeRange range) const;

  // The facts about a gap: its causes, the code that its thread was seen to run, the range around it, and what ended it. The first property is the name: "GPU 0
  // idle for 633.2 ms". O(tracks + parts of the gap + samples in it).
  [[nodiscard]] std::vector<Property> describe(const Gap& gap) const;

 private:
  // Gaps, named by their main causes, and parts, named by their causes with their calls as details.
  struct GpuLanes {
    Lane gaps;
    Lane parts;
  };
  class Writer;

  [[nodiscard]] std::vector<CauseTime> causes_on(const GpuLanes& lanes, TimeRange range) const;
  [[nodiscard]] std::optional<EventRef> operation_behind(const Gap& gap) const;

  std::shared_ptr<const Trace> trace_;
  Nanoseconds threshold_ = 0;
  std::shared_ptr<const std::map<GpuId, GpuLanes>> gpus_;
};

// The colour of a cause: calm if the GPU waits by design, warm if a person can remedy the cause.
[[nodiscard]] Rgb idle_color(analysis::IdleCause cause, ColorScheme scheme) noexcept;

}  // namespace lanescope::timeline

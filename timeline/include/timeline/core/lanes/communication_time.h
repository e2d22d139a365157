// When GPUs communicated, and how much of that time they waited for another rank, for drawing and for queries.
//
// The kernel of a collective first waits until the last rank has arrived, then it moves data (model/analysis/threads/waits.h). A row waits if nothing else runs
// on it meanwhile: if a computing kernel runs beside a waiting collective, the row works. Immutable and cheap to copy; any thread may read it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "timeline/core/rows/row_tree.h"
#include "timeline/core/view/viewport.h"

namespace lanescope::timeline {

class CommunicationTime {
 public:
  enum class Parts {
    kAll,
    kWaits,  // without how long GPUs communicated: within() says 0
  };
  CommunicationTime() = default;
  // O(kernels · log lanes) for each row that shows them; about 60 bytes per communication kernel. Empty when asked to stop.
  explicit CommunicationTime(const Trace& trace, const std::stop_token& stop = {}, Parts parts = Parts::kAll);

  [[nodiscard]] bool has_waits() const noexcept { return of_ && !of_->waits.empty(); }

  // The part of a kernel of the lane in which it waited, which is at its start; nothing if it did not wait. O(log n).
  [[nodiscard]] std::optional<TimeRange> wait_of(LaneId lane, Nanoseconds start_of_kernel) const;
  // Time within the window in which the level of a row only waited. O(log n).
  [[nodiscard]] Nanoseconds waited(const Level& level, TimeRange window) const;
  // The waiting share of each pixel column, 0 to 1; empty if the level never waits. O(width · log n).
  [[nodiscard]] std::vector<float> waiting_columns(const Level& level, const Viewport& viewport) const;

  struct OfGpu {
    GpuId gpu = kNone;
    Nanoseconds communicated = 0;  // in which a communication kernel ran
    Nanoseconds alone = 0;         // in which only communication kernels ran
    Nanoseconds waited = 0;        // in which it only waited
  };
  // For each GPU that communicates. O(GPUs · log n).
  [[nodiscard]] std::vector<OfGpu> within(TimeRange window) const;

 private:
  struct ByLanes {
    bool operator()(const Level& a, const Level& b) const noexcept;
  };
  struct GpuLanes {
    Lane communication;
    Lane alone;
    Level hardware;  // of the row that shows all of its work
  };
  struct Times {
    std::map<LaneId, Lane> waits;           // of each lane of kernels
    std::map<Level, Lane, ByLanes> levels;  // waits in which nothing else runs: of each level of a row that ever waits
    std::map<GpuId, GpuLanes> gpus;
  };
  class Builder;
  std::shared_ptr<const Times> of_;
};

}  // namespace lanescope::timeline

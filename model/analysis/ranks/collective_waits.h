// For which rank the kernel of a collective waited. Internal to model/analysis.
//
// Kernels of the same collective end at the same time, but for what its blocks take to notice; the shortest is that of the rank that came last. A
// rank is a process, or a GPU of one.
//
// Time is cut into stretches, and all kernels that end in one are matched at once when the first of them is asked for: so one question costs
// little, and all of them together O(n log n) of the kernels of the trace, of however many ranks they are.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "model/trace/trace.h"
#include "threads/call_class.h"

namespace lanescope::analysis {

class CollectiveWaits {
 public:
  // O(tracks + parts²). The trace must outlive it.
  explicit CollectiveWaits(const Trace& trace);

  // Of a kernel of a communication library, the shortest one of another rank's that is of its collective and shorter than it: of several the first,
  // by tracks. None where no other is shorter, the event is no kernel of a communication library, or it sends and receives. The first question
  // about a stretch of time costs O(lanes · log n), and O(companies · k log k) of the kernels within: 16 a lane on average, and at most all.
  [[nodiscard]] std::optional<EventRef> last_of(EventRef kernel);

  // A kernel, that of the last rank, and how much shorter that one is.
  struct Waiting {
    EventRef kernel, last;
    Nanoseconds waited = 0;
    auto operator<=>(const Waiting&) const = default;
  };
  // Visits all kernels of which last_of() knows one, those of a lane in order. Ends early when asked to stop. O(n log n) of the kernels of the trace; nothing
  // is kept.
  void for_each(const std::function<void(const Waiting&)>& visit, const std::stop_token& stop) const;

 private:
  struct Rank {
    LaneId lane;
    std::uint32_t number;   // of the process and GPU
    std::uint32_t company;  // recordings that ran together with the same others
  };
  using Waits = std::vector<Waiting>;  // ascending
  struct Kernel;

  void find_companies();
  [[nodiscard]] TimeRange stretch(std::size_t number) const noexcept;
  [[nodiscard]] Waits waits_in(TimeRange ends) const;
  void match(std::vector<Kernel>& kernels, TimeRange ends, Waits& waits) const;  // those of one name

  const Trace& trace_;
  mutable NameMemo<bool> is_collective_;
  std::vector<std::uint32_t> company_of_part_;
  std::vector<std::vector<bool>> together_;  // company by company
  std::vector<Rank> lanes_;                  // of kernels
  TimeRange extent_;
  Nanoseconds stretch_ = 1;
  std::vector<std::optional<Waits>> stretches_;
};

}  // namespace lanescope::analysis

// The rank for which the kernel of a collective waited. Internal to model/analysis.
//
// Kernels of the same collective end at the same time, except for the time that its blocks take to notice the end. The shortest is that of the rank
// that came last. A rank is a process, or a GPU of a process.
//
// Time is cut into stretches, and all kernels that end in a stretch are matched together when the first of them is asked for: so one question costs
// little, and all questions together O(n log n) of the kernels of the trace, whatever the number of ranks.
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

  // For a kernel of a communication library: the shortest kernel of another rank that belongs to its collective and is shorter than it; if there are
  // several, the first by tracks. Nothing if no other kernel is shorter, if the event is no kernel of a communication library, or if it sends and
  // receives. The first question about a stretch of time costs O(lanes · log n), plus O(companies · k log k) of the kernels within: 16 a lane on
  // average, and at most all.
  [[nodiscard]] std::optional<EventRef> last_of(EventRef kernel);

  // A kernel, the kernel of the last rank, and by how much the latter is shorter.
  struct Waiting {
    EventRef kernel, last;
    Nanoseconds waited = 0;
    auto operator<=>(const Waiting&) const = default;
  };
  // Visits all kernels for which last_of() has a result, those of a lane in order. Ends early when asked to stop. O(n log n) of the kernels of the
  // trace; nothing is kept.
  void for_each(const std::function<void(const Waiting&)>& visit, const std::stop_token& stop) const;

 private:
  struct Rank {
    LaneId lane;
    std::uint32_t number;   // of the process and GPU
    std::uint32_t company;  // recordings that ran together with the same others
  };
  using Waits = std::vector<Waiting>;  // in ascending order
  struct Kernel;

  void find_companies();
  [[nodiscard]] TimeRange stretch(std::size_t number) const noexcept;
  [[nodiscard]] Waits waits_in(TimeRange ends) const;
  void match(std::vector<Kernel>& kernels, TimeRange ends, Waits& waits) const;  // kernels of one name

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

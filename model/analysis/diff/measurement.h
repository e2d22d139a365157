// What one trace says of each item that is compared: how often, how long, and in which samples.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "../iterations.h"
#include "../repeating_work.h"
#include "model/analysis/families.h"
#include "model/analysis/trace_diff.h"

namespace lanescope::analysis {

// The windows of time that samples are taken from.
//
// Processes whose loops run at the same time are ranks of one program: the same step of all of them is one sample, for they wait for each
// other. Processes of other times, or with other steps, have samples of their own.
class Samples {
 public:
  // Without the first `skip` of each series, or without those that warm up.
  static Samples of_iterations(const Trace& trace, const std::vector<IterationSeries>& series, std::optional<std::size_t> skip);
  // From each occurrence of a kernel to the next, as the CPU enqueued them; without the first `skip`, or those that warm up.
  static Samples of_work(const Trace& trace, const std::map<ProcessId, RepeatingWork>& work, std::optional<std::size_t> skip);
  static Samples of_slices(const Trace& trace, std::size_t slices);

  [[nodiscard]] std::size_t size() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::size_t skipped() const noexcept { return skipped_; }  // iterations that were left out, of each rank
  [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }  // of all ranks, that the recording does not have whole
  [[nodiscard]] bool are_iterations() const noexcept { return !by_process_.empty(); }
  // How many processes the sample is of.
  [[nodiscard]] std::size_t ranks(std::size_t sample) const noexcept { return ranks_[sample]; }
  // The sample that the time of the process lies in. O(log n).
  [[nodiscard]] std::optional<std::size_t> at(ProcessId process, Nanoseconds t) const noexcept;
  // Where the first sample of the process begins.
  [[nodiscard]] Nanoseconds begin(ProcessId process) const noexcept;
  // Calls visit(sample, window) for each sample.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [process, windows] : by_process_)
      for (const Window& window : windows) visit(window.sample, window.time);
    for (const Window& window : slices_) visit(window.sample, window.time.intersected(sliced_));
  }

 private:
  struct Window {
    TimeRange time;
    std::size_t sample = 0;
  };
  using Windows = std::vector<Window>;
  // The steps of one process, in order of time, and what each is called; empty names where they are told by their order alone.
  struct Steps {
    ProcessId process = kNone;
    std::vector<TimeRange> times;
    std::vector<std::string> names;
    std::size_t warm_up = 0;
  };
  class Ranks;
  static Samples of_steps(std::vector<Steps> processes, std::optional<std::size_t> skip);
  [[nodiscard]] const Windows* windows_of(ProcessId process) const noexcept;
  [[nodiscard]] static Windows::const_iterator first_that_ends_after(const Windows& windows, Nanoseconds t) noexcept;

  std::map<ProcessId, Windows> by_process_;
  Windows slices_;  // the last one has room for what begins at the very end...
  TimeRange sliced_;  // ...of this time
  std::vector<std::size_t> ranks_;  // of each sample
  std::size_t skipped_ = 0;
  std::size_t left_out_ = 0;
};

struct Measured {
  std::uint64_t count = 0;
  Nanoseconds total = 0;
  std::set<std::string> kernels = {};  // of matrix products: which these are
  std::vector<double> samples;  // ns, the mean of the ranks
};
using ItemKey = std::pair<DiffKind, std::string>;

// O(n log n). When asked to stop, it ends early.
[[nodiscard]] std::map<ItemKey, Measured> measure(const Trace& trace, const Samples& samples, const std::stop_token& stop = {});

}  // namespace lanescope::analysis

// Samples of a trace: the windows of time that are compared, and the time that something takes in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loop/iterations.h"
#include "loop/repeating_work.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// The windows of time from which samples are taken.
//
// Processes whose loops run at the same time are ranks of one program: the same step of all of them is one sample, because they wait for each other.
// Processes that run at other times, or with other steps, have samples of their own.
class Samples {
 public:
  // Without the first `skip` of each series, or without those that warm up.
  static Samples of_iterations(const Trace& trace, const std::vector<IterationSeries>& series, std::optional<std::size_t> skip);
  // A sample lasts from each occurrence of a kernel to the next, on the GPU; on the CPU from each launch of it to the next, because a program that runs
  // ahead of its GPU enqueues the work in less time than an iteration takes. Without the first `skip`, or those that warm up or load code.
  static Samples of_work(const Trace& trace, const std::map<ProcessId, RepeatingWork>& work, std::optional<std::size_t> skip);
  static Samples of_slices(const Trace& trace, std::size_t slices);

  // For each program (a process that ran after another one, or with other steps, is another program): how many of its first samples are longer than all
  // later ones (transient_of). Zero if counters of kernels were read in some samples that count.
  [[nodiscard]] std::vector<std::size_t> transients() const;
  // Leaves out this many samples at the start of each program, like those that warm up. Requires: the numbers are those of transients().
  void leave_out_first(std::span<const std::size_t> of_programs);

  [[nodiscard]] std::size_t size() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::size_t skipped() const noexcept { return skipped_; }  // iterations that were left out, of each rank
  // Iterations of each rank that were left out because counters of kernels were read in them; 0 if fewer than kLeastSamples would be left.
  [[nodiscard]] std::size_t disturbed() const noexcept { return disturbed_; }
  [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }    // iterations of all ranks that the recording does not have whole
  [[nodiscard]] std::size_t inside() const noexcept { return inside_; }        // ranges of all ranks that lie inside another iteration
  [[nodiscard]] std::size_t elsewhere() const noexcept { return elsewhere_; }  // and on other threads, at the same time
  [[nodiscard]] bool are_iterations() const noexcept { return !by_process_.empty(); }
  // The number of processes in the sample.
  [[nodiscard]] std::size_t ranks(std::size_t sample) const noexcept { return ranks_[sample]; }
  // The sample that contains this time of the process on the CPU. O(log n).
  [[nodiscard]] std::optional<std::size_t> at(ProcessId process, Nanoseconds t) const noexcept;
  // True if GPU work, and idle time in front of it, belong to the sample in whose time on the GPU they lie; otherwise they belong to the sample that
  // enqueued them.
  [[nodiscard]] bool are_cut_on_gpu() const noexcept { return !on_gpu_.empty(); }
  // The sample that contains this time on the GPU. Requires: are_cut_on_gpu(). O(log n).
  [[nodiscard]] std::optional<std::size_t> on_gpu_at(ProcessId process, Nanoseconds t) const noexcept;
  // From when on idle time in front of the process's work counts: the start of the iteration before the first sample; if there is none, of the sample.
  [[nodiscard]] Nanoseconds idle_begin(ProcessId process) const noexcept;
  // The first sample of each program of which no iteration is in front: the idle time in front of its first operation is not known, or lies before the loop. In
  // ascending order; empty if samples are cut on the GPU or are slices.
  [[nodiscard]] std::vector<std::size_t> without_idle_in_front() const;
  // Calls visit(process, sample, window) for each sample; for slices the process is kNone.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [process, windows] : are_cut_on_gpu() ? on_gpu_ : by_process_)
      for (const Window& window : windows) visit(process, window.sample, window.time);
    for (const Window& window : slices_) visit(kNone, window.sample, window.time.intersected(sliced_));
  }

 private:
  struct Window {
    TimeRange time;
    std::size_t sample = 0;
  };
  using Windows = std::vector<Window>;
  // The steps of one process, in order of time, and their names; the names are empty if steps are identified only by their order.
  struct Steps {
    ProcessId process = kNone;
    std::vector<TimeRange> times;
    std::vector<TimeRange> on_gpu;  // of each step; empty if steps are not cut there
    std::vector<std::string> names;
    std::vector<bool> disturbed;  // for each step, whether counters were read in it
    std::size_t warm_up = 0;
  };
  class Ranks;
  static Samples of_steps(std::vector<Steps> processes, std::optional<std::size_t> skip);
  [[nodiscard]] const Windows* windows_of(ProcessId process) const noexcept;
  [[nodiscard]] static Windows::const_iterator first_that_ends_after(const Windows& windows, Nanoseconds t) noexcept;
  [[nodiscard]] static std::optional<std::size_t> sample_at(const Windows& windows, Nanoseconds t) noexcept;

  std::map<ProcessId, Windows> by_process_;
  std::map<ProcessId, Windows> on_gpu_;
  Windows slices_;                  // the last slice includes what starts at the very end...
  TimeRange sliced_;                // ...of this time
  std::vector<std::size_t> ranks_;  // of each sample: number of processes
  struct Program {
    std::size_t first = 0;              // its first sample
    bool has_iteration_before = false;  // that was left out
  };
  std::vector<Program> programs_;
  std::map<ProcessId, Nanoseconds> before_;  // start of the iteration before the first sample
  bool has_readings_ = false;                // in samples that count
  std::size_t skipped_ = 0;
  std::size_t disturbed_ = 0;
  std::size_t left_out_ = 0;
  std::size_t inside_ = 0;
  std::size_t elsewhere_ = 0;
};

// The time that an item took in each sample. It stores only samples in which the item took some: there may be millions of samples, and of items.
class TimeBySample {
 public:
  void add(std::size_t sample, double time);  // amortized O(log n), O(1) if samples ascend
  // From here on each sample occurs once, in order, and its time is divided by the number of its processes. O(n log n).
  void finish(const Samples& samples);
  // The following functions require finish().
  [[nodiscard]] double sum() const noexcept;
  void write_to(std::span<double> series) const noexcept;  // all samples; zero if the item took no time in it
  [[nodiscard]] bool operator==(const TimeBySample& other) const noexcept { return times_ == other.times_; }

 private:
  struct InSample {
    std::uint32_t sample = 0;
    double time = 0;
    [[nodiscard]] bool operator==(const InSample& other) const noexcept = default;
  };
  void unite();  // combines entries of one sample

  std::vector<InSample> times_;
  std::size_t most_ = 64;  // number of entries at which they are united
};

}  // namespace lanescope::analysis

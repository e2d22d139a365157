// How much of the time of a kernel's launches is left if those at the same time on a GPU count once. Internal to model/analysis.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "../collectors.h"
#include "idle/covered_time.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"

namespace lanescope::analysis {

// Launches of a kernel run at the same time on several streams, and in several processes that share a GPU. What is won in one of them is then won in the
// others in the same time, so sums of their durations are more than a program can gain.
class CoveredKernels : public OperationVisitor {
 public:
  CoveredKernels(const RuleContext& context, const SharedCollectors::Key&) : work_(loop_work(context)) {}

  // The time that launches of this name by all processes cover on the GPU, as a share of the sum of their durations, from 0 to 1: of those in the loop, or
  // (kOnce) of all of them. 1 if there are none.
  [[nodiscard]] double share(GpuId gpu, NameId name, Recurrence recurrence) const {
    const auto found = by_name_.find({gpu, name});
    if (found == by_name_.end()) return 1;
    const Launches& launches = found->second[static_cast<std::size_t>(recurrence)];
    return launches.total == 0 ? 1 : static_cast<double>(launches.covered.total()) / static_cast<double>(launches.total);
  }

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    last_ = nullptr;
  }
  void visit(std::span<const GpuOperation> operations) override {
    for (const GpuOperation& operation : operations) {
      if (operation.kind != TrackKind::kKernels) continue;
      if (last_ == nullptr || last_name_ != operation.name) last_ = &by_name_[{gpu_, last_name_ = operation.name}];
      add(operation.range, (*last_)[static_cast<std::size_t>(Recurrence::kOnce)]);
      if (work_.has(operation)) add(operation.range, (*last_)[static_cast<std::size_t>(Recurrence::kRecurring)]);
    }
  }
  void end() override {}

 private:
  struct Launches {
    Nanoseconds total = 0;
    CoveredTime covered;
  };
  static void add(TimeRange range, Launches& launches) {
    launches.total += range.length();
    launches.covered.add(range);
  }

  const LoopWork& work_;
  GpuId gpu_ = kNone;                                                    // the current GPU
  std::map<std::pair<GpuId, NameId>, std::array<Launches, 2>> by_name_;  // by recurrence
  NameId last_name_ = 0;                                                 // kernels often follow others of the same name
  std::array<Launches, 2>* last_ = nullptr;
};

}  // namespace lanescope::analysis

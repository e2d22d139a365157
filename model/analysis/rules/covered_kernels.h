// shares_at_once() (launches_at_once.h) of all kernels, found while other rules look at the same operations. Internal to model/analysis.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>

#include "../collectors.h"
#include "idle/covered_time.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/analysis/idle/launches_at_once.h"

namespace lanescope::analysis {

class CoveredKernels : public OperationVisitor {
 public:
  CoveredKernels(const RuleContext& context, const SharedCollectors::Key&) : work_(loop_work(context)) {}

  // Of the launches in the loop, or (kOnce) of all of them.
  [[nodiscard]] double share(GpuId gpu, NameId name, Recurrence recurrence) const {
    const auto found = by_name_.find({gpu, name});
    return found == by_name_.end() ? 1 : found->second[static_cast<std::size_t>(recurrence)].share();
  }

  void begin(GpuId gpu) override {
    gpu_ = gpu;
    last_ = nullptr;
  }
  void visit(std::span<const GpuOperation> operations) override {
    for (const GpuOperation& operation : operations) {
      if (operation.kind != TrackKind::kKernels) continue;
      if (last_ == nullptr || last_name_ != operation.name) last_ = &by_name_[{gpu_, last_name_ = operation.name}];
      (*last_)[static_cast<std::size_t>(Recurrence::kOnce)].add(operation.range);
      if (work_.has(operation)) (*last_)[static_cast<std::size_t>(Recurrence::kRecurring)].add(operation.range);
    }
  }
  void end() override {}

 private:
  const LoopWork& work_;
  GpuId gpu_ = kNone;                                         // the current GPU
  std::map<KernelOnGpu, std::array<TimeAtOnce, 2>> by_name_;  // by recurrence
  NameId last_name_ = 0;                                      // kernels often follow others of the same name
  std::array<TimeAtOnce, 2>* last_ = nullptr;
};

}  // namespace lanescope::analysis

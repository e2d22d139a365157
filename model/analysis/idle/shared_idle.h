// Idle time that several rules look at, each on a thread of its own: it is visited once for all of them. Internal to model/analysis.
//
// A rule that asks waits until each of the other rules has asked, too, or has ended. The last one goes through the gaps, calls the visitors of all, and
// also shows all operations to the visitors that want to see them. So when a rule asks, it must hold nothing that another rule waits for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <semaphore>
#include <span>
#include <vector>

#include "gpu_operations.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/rule.h"

namespace lanescope::analysis {

class SharedIdle {
 public:
  using Cores = std::counting_semaphore<>;
  // `rules`: number of rules. Each rule occupies one of the cores while it works, and releases it while it waits here. `cores` must outlive this.
  SharedIdle(std::size_t rules, Cores& cores) : rules_(rules), cores_(cores) { waiting_.reserve(rules); }

  // As visit_idle(). Requires: called by one of the rules, all of which look at the whole time of one trace. If the visit fails, it fails for all rules
  // that asked.
  [[nodiscard]] std::vector<GpuIdle> visit(const RuleContext& context, Nanoseconds threshold, const IdleVisitor& visitor,
                                           std::span<OperationVisitor* const> beside = {});
  // Called when one of the rules has ended, or does not start.
  void leave() noexcept;

 private:
  struct Asked {
    const RuleContext* context;
    Nanoseconds threshold;
    const IdleVisitor* visitor;
    std::span<OperationVisitor* const> beside;
    std::vector<GpuIdle> below;  // by GPU: gaps that were visited for other rules, and are too short for this one
    std::vector<GpuIdle> gpus;
    std::exception_ptr failure;
    bool is_answered = false;
  };
  void answer_all() noexcept;
  void go_through();

  std::mutex mutex_;
  std::condition_variable answered_;
  std::size_t rules_;  // that have not ended
  std::vector<Asked*> waiting_;
  Cores& cores_;
};

}  // namespace lanescope::analysis

#include "shared_idle.h"

#include <algorithm>
#include <utility>

namespace lanescope::analysis {

std::vector<GpuIdle> SharedIdle::visit(const RuleContext& context, Nanoseconds threshold, const IdleVisitor& visitor,
                                       std::span<OperationVisitor* const> beside) {
  Asked own{&context, threshold, &visitor, beside, {}, {}, nullptr};
  {
    std::unique_lock lock(mutex_);
    waiting_.push_back(&own);
    if (waiting_.size() == rules_) {
      answer_all();
    } else {
      cores_.release();
      answered_.wait(lock, [&own] { return own.is_answered; });
      lock.unlock();
      cores_.acquire();
    }
  }
  if (own.failure) std::rethrow_exception(own.failure);
  return std::move(own.gpus);
}

void SharedIdle::leave() noexcept {
  const std::lock_guard lock(mutex_);
  --rules_;
  if (!waiting_.empty() && waiting_.size() == rules_) answer_all();
}

// Called with the lock held. Nobody waits for the lock: all other rules wait for their answers.
void SharedIdle::answer_all() noexcept {
  try {
    go_through();
  } catch (...) {
    for (Asked* const one : waiting_) one->failure = std::current_exception();
  }
  for (Asked* const one : waiting_) one->is_answered = true;
  waiting_.clear();
  answered_.notify_all();
}

void SharedIdle::go_through() {
  const RuleContext& context = *waiting_.front()->context;
  Nanoseconds least = waiting_.front()->threshold;
  std::vector<OperationVisitor*> beside;
  std::vector<IdleVisitor> visitors;
  for (Asked* const one : waiting_) {
    beside.insert(beside.end(), one->beside.begin(), one->beside.end());
    least = std::min(least, one->threshold);
    one->below.resize(context.trace.gpus().size());
    visitors.emplace_back([one](const IdleGap& gap, std::span<const IdlePart> parts) {
      if (gap.range.length() >= one->threshold) {
        (*one->visitor)(gap, parts);
      } else {
        ++one->below[gap.gpu].short_gaps;
        one->below[gap.gpu].short_idle += gap.range.length();
      }
    });
  }
  const std::vector<GpuIdle> gpus = analysis::visit_idle_beside(context.trace, context.launches(), least, visitors, beside, context.stop);
  for (Asked* const one : waiting_) {
    one->gpus = gpus;
    for (GpuIdle& sums : one->gpus) {
      const GpuIdle& below = one->below[sums.gpu];
      sums.gaps -= below.short_gaps;
      sums.short_gaps += below.short_gaps;
      sums.short_idle += below.short_idle;
    }
  }
}

}  // namespace lanescope::analysis

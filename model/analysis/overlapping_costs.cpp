#include "model/analysis/overlapping_costs.h"

#include <algorithm>
#include <array>

namespace lanescope::analysis {
namespace {

// Kinds of time that rules count, as bits: none is part of another.
enum CountedTime : unsigned { kIdle = 1, kPageableCopies = 2, kOtherCopies = 4, kKernels = 8, kCommunication = 16 };
constexpr unsigned kAnyTime = kIdle | kPageableCopies | kOtherCopies | kKernels | kCommunication;
enum class EachIsOf : std::uint8_t { kManyKernels, kOneKernel };

struct RuleTime {
  std::string_view rule;
  unsigned time = 0;
  EachIsOf each = EachIsOf::kManyKernels;  // kOneKernel: a finding is about the kernel of its place
};
constexpr std::array kTimes{
    RuleTime{"gpu_bubbles", kIdle},
    RuleTime{"small_kernels", kIdle},
    RuleTime{"staircase", kIdle},
    RuleTime{"sync_storm", kIdle},
    RuleTime{"no_overlap", kOtherCopies},  // those of pageable memory are left to `pageable`
    RuleTime{"pageable", kPageableCopies},
    RuleTime{"one_stream", kOtherCopies | kPageableCopies | kKernels},
    RuleTime{"comm_overlap", kCommunication},
    RuleTime{"imbalance", kCommunication | kIdle},
    RuleTime{"pipeline_bubbles", kCommunication | kIdle},
    RuleTime{"tail", kAnyTime},
    RuleTime{"small_grid", kKernels, EachIsOf::kOneKernel},
    RuleTime{"tail_wave", kKernels, EachIsOf::kOneKernel},
    RuleTime{"low_occupancy", kKernels, EachIsOf::kOneKernel},
    RuleTime{"kernel_bounds", kKernels, EachIsOf::kOneKernel},
    RuleTime{"fp32_products", kKernels},
    RuleTime{"kernel_stalls", kKernels, EachIsOf::kOneKernel},
};

// A rule that is not listed may count any time.
RuleTime time_of(const Finding& finding) {
  const auto found = std::find_if(kTimes.begin(), kTimes.end(), [&](const RuleTime& each) { return each.rule == finding.rule; });
  return found == kTimes.end() ? RuleTime{finding.rule, kAnyTime} : *found;
}

bool may_share(const Trace& trace, const Finding& a, const Finding& b) {
  if (a.cost <= 0 || b.cost <= 0 || a.recurrence != b.recurrence || a.rule == b.rule) return false;
  const RuleTime one = time_of(a), other = time_of(b);
  const bool are_of_kernels = one.each == EachIsOf::kOneKernel && other.each == EachIsOf::kOneKernel && a.place.event.valid() && b.place.event.valid();
  if (are_of_kernels && trace.event(a.place.event).name != trace.event(b.place.event).name) return false;
  return (one.time & other.time) != 0;
}

}  // namespace

std::vector<std::vector<std::size_t>> shared_costs(const Trace& trace, std::span<const Finding> findings) {
  std::vector<std::vector<std::size_t>> shared(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i)
    for (std::size_t above = 0; above < i; ++above)
      if (may_share(trace, findings[above], findings[i])) shared[i].push_back(above);
  return shared;
}

Message overlap_text(const std::vector<std::vector<std::size_t>>& shared) {
  Message numbers;
  std::size_t count = 0;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    if (shared[i].empty()) continue;
    ++count;
    numbers = listed(numbers, Message::verbatim(std::to_string(i + 1)));
  }
  if (count == 0) return {};
  if (count == 1) return Message("Costs overlap and are no sum: finding {number} may count time that a finding above it counts, too.", {{"number", numbers}});
  return Message("Costs overlap and are no sum: findings {numbers} may count time that a finding above them counts, too.", {{"numbers", numbers}});
}

}  // namespace lanescope::analysis

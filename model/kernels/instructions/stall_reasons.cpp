#include "stall_reasons.h"

#include <algorithm>
#include <array>
#include <string>

namespace lanescope::kernels {
namespace {

constexpr std::array kReasons{
    StallReason{"long_scoreboard", "data from global or local memory or textures",
                "Read along rows of neighbouring threads, keep what is used again in shared memory or registers, and have more loads in flight."},
    StallReason{"short_scoreboard", "shared memory or special functions",
                "Remove bank conflicts, use wider accesses to shared memory, and call fewer transcendental functions."},
    StallReason{"lg_throttle", "room in the queue of global and local memory", "Issue fewer and wider memory instructions."},
    StallReason{"tex_throttle", "room in the queue of textures", "Issue fewer texture instructions."},
    StallReason{"mio_throttle", "room in the queue of shared memory and special functions",
                "Remove bank conflicts, use fewer and wider accesses to shared memory, and spread them among arithmetic."},
    StallReason{"drain", "stores that have not left when the warp ends", "Let neighbouring threads write neighbouring addresses."},
    StallReason{"barrier", "other warps of the block", "Use smaller blocks, and spread the work between barriers evenly."},
    StallReason{"membar", "a memory fence", "Use fences of a narrower scope, or fewer."},
    StallReason{"wait", "the fixed latency of the instruction before", "Have more warps, or more instructions that do not need each other."},
    StallReason{"math_pipe_throttle", "a busy arithmetic pipe", "Use another precision or pipe, or fewer operations."},
    StallReason{"gmma", "matrix operations of a warp group", "Keep more of them in flight."},
    StallReason{"no_instruction", "instructions", "Make the code smaller: unroll and inline less."},
    StallReason{"imc_miss", "constants", "Index constants alike in all threads, or pass fewer."},
    StallReason{"branch_resolving", "the target of a branch", "Branch less."},
    StallReason{"dispatch_stall", "the dispatcher", "Look for conflicts of register banks."},
    StallReason{"sleeping", "the end of a nanosleep", "Sleep less."},
    StallReason{"misc", "something else", "Look at the instructions that are sampled most."},
    StallReason{"not_selected", "its turn: another warp was chosen", "There are warps to spare."},
    StallReason{"selected", "nothing: it issues", "Nothing."},
};

}  // namespace

const StallReason* find_stall_reason(std::string_view name) noexcept {
  const auto found = std::find_if(kReasons.begin(), kReasons.end(), [name](const StallReason& reason) { return reason.name == name; });
  return found == kReasons.end() ? nullptr : &*found;
}

std::string stall_metric(std::string_view reason) { return "smsp__average_warps_issue_stalled_" + std::string(reason) + "_per_issue_active.ratio"; }

std::vector<std::string_view> stall_names() {
  std::vector<std::string_view> names;
  for (const StallReason& reason : kReasons) names.push_back(reason.name);
  return names;
}

std::vector<Stall> stalls(const KernelMetrics& metrics, const ProfiledKernel& kernel) {
  std::vector<Stall> found;
  for (const StallReason& reason : kReasons) {
    if (const auto cycles = metrics.value(kernel, stall_metric(reason.name)); cycles && *cycles > 0) found.push_back({&reason, *cycles});
  }
  std::stable_sort(found.begin(), found.end(), [](const Stall& a, const Stall& b) { return a.cycles > b.cycles; });
  return found;
}

}  // namespace lanescope::kernels

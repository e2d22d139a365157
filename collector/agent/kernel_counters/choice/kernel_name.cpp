#include "agent/kernel_counters/choice/kernel_name.h"

#include <cstddef>

namespace lanescope::agent::kernel_counters {
namespace {

bool is_digit(char letter) noexcept { return letter >= '0' && letter <= '9'; }

}  // namespace

std::string_view function_name(std::string_view mangled) noexcept {
  if (!mangled.starts_with("_Z")) return mangled;
  std::string_view found;
  std::size_t at = 2;
  while (at < mangled.size()) {
    const char letter = mangled[at];
    if (is_digit(letter)) {
      std::size_t length = 0;
      while (at < mangled.size() && is_digit(mangled[at])) length = length * 10 + static_cast<std::size_t>(mangled[at++] - '0');
      if (length == 0 || length > mangled.size() - at) return mangled;
      found = {mangled.data() + at, length};
      at += length;
      if (mangled[2] != 'N') break;
    } else if (letter == 'S') {  // a substitution: St, S_, S0_
      at += 1;
      if (at < mangled.size() && mangled[at] == 't') {
        at += 1;
      } else {
        while (at < mangled.size() && mangled[at] != '_') ++at;
        at += 1;
      }
    } else if (letter == 'N' || letter == 'L' || letter == 'K' || letter == 'V' || letter == 'r') {
      at += 1;
    } else {
      break;  // template arguments, or the end of the name
    }
  }
  return found.empty() ? mangled : found;
}

bool is_collective(std::string_view mangled) noexcept {
  for (const std::string_view part : {"nccl", "nvshmem", "msccl", "cross_device_reduce", "multimem_all_", "one_shot_all_reduce", "two_shot_all_reduce",
                                      "ShotAllReduce", "shotAllreduce", "allreduce_fusion_kernel", "deep_ep"})
    if (mangled.find(part) != std::string_view::npos) return true;
  return false;
}

}  // namespace lanescope::agent::kernel_counters

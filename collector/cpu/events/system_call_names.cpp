#include "system_call_names.h"

#include <asm/unistd.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "collector/cpu/kernel_events.h"

namespace lanescope::cpu {
namespace {

constexpr std::pair<std::int64_t, std::string_view> kNames[] = {
#define LANESCOPE_SYSTEM_CALL(name) {__NR_##name, #name},
#include "system_calls.inc"
};

}  // namespace

std::string system_call_name(std::int64_t number) {
  static const std::map<std::int64_t, std::string_view> names(std::begin(kNames), std::end(kNames));
  const auto found = names.find(number);
  return found == names.end() ? "system call " + std::to_string(number) : std::string(found->second);
}

std::vector<std::string> system_call_names() {
  std::vector<std::string> names;
  for (const auto& [number, name] : kNames) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lanescope::cpu

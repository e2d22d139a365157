#include "system_call_names.h"

#include <asm/unistd.h>

#include <map>
#include <string_view>
#include <utility>

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

}  // namespace lanescope::cpu

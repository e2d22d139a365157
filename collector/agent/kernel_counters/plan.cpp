#include "agent/kernel_counters/plan.h"

#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agent/core/clock.h"
#include "agent/core/system_calls.h"
#include "agent/kernel_counters/choice/kernel_name.h"

namespace lanescope::agent::kernel_counters {
namespace {

constexpr std::int64_t kLook = 5 * kMillisecond;

int open_in(const char* folder, const char* file) noexcept {
  char path[4096];
  const int length = std::snprintf(path, sizeof(path), "%s/%s", folder, file);
  return length > 0 && static_cast<std::size_t>(length) < sizeof(path) ? system::open(path, O_RDONLY | O_CLOEXEC) : -1;
}

bool is_there(const char* folder) noexcept {
  struct stat status {};
  constexpr int kFromHere = -100;  // AT_FDCWD
  return system::system_call(SYS_newfstatat, kFromHere, system::word(folder), system::word(&status), 0) == 0;
}

}  // namespace

Plan::Found Plan::read(const char* folder, std::int64_t deadline) noexcept {
  int file = -1;
  while ((file = open_in(folder, channel::kCounterPlanFile)) < 0) {
    if (const int failure = open_in(folder, channel::kCounterFailureFile); failure >= 0) {
      system::close(failure);
      return Found::kNone;
    }
    if (!is_there(folder) || monotonic_now() >= deadline) return Found::kNone;
    system::sleep(kLook);
  }
  struct stat status {};
  if (system::file_status(file, status) && status.st_size > 0 && static_cast<std::uint64_t>(status.st_size) <= channel::kMostCounterBytes) {
    size_ = static_cast<std::size_t>(status.st_size);
    bytes_ = static_cast<const std::uint8_t*>(system::map(nullptr, size_, PROT_READ, MAP_PRIVATE, file));
  }
  system::close(file);
  return bytes_ != nullptr && check() ? Found::kPlan : Found::kSenseless;
}

bool Plan::check() noexcept {
  if (size_ < sizeof(channel::CounterPlan)) return false;
  plan_ = reinterpret_cast<const channel::CounterPlan*>(bytes_);
  if (plan_->version != channel::kCounterPlanVersion || plan_->sets == 0 || plan_->sets > kMostSets) return false;
  if (plan_->kind > channel::CounterKind::kInstructions || (plan_->kind == channel::CounterKind::kInstructions && plan_->sets != 1)) return false;
  const channel::LaunchChoice& choice = plan_->choice;
  if (memchr(choice.name, '\0', sizeof(choice.name)) == nullptr || choice.kinds > channel::kMostChosenKinds) return false;
  if (choice.name_rule == channel::KernelNameRule::kPattern && regcomp(&pattern_, choice.name, REG_EXTENDED | REG_NOSUB) != 0) return false;
  std::size_t at = sizeof(channel::CounterPlan);
  for (std::size_t i = 0; i < plan_->sets; ++i) {
    if (size_ - at < sizeof(channel::CounterSet)) return false;
    const auto* set = reinterpret_cast<const channel::CounterSet*>(bytes_ + at);
    at += sizeof(channel::CounterSet);
    if (set->config_bytes > size_ - at || set->name_bytes > size_ - at - set->config_bytes || set->name_bytes == 0 || set->metrics == 0 ||
        set->metrics > set->name_bytes)
      return false;
    sets_[i] = set;
    const auto* name = reinterpret_cast<const char*>(bytes_ + at + set->config_bytes);
    const char* const end = name + set->name_bytes;
    if (end[-1] != '\0') return false;
    names_[i] = static_cast<const char**>(system::map(nullptr, set->metrics * sizeof(char*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
    if (names_[i] == nullptr) return false;
    std::uint32_t count = 0;
    for (; name < end && count < set->metrics; name += strlen(name) + 1) names_[i][count++] = name;
    if (count != set->metrics) return false;
    at += (set->config_bytes + set->name_bytes + 7) / 8 * 8;
    if (at > size_) return false;
  }
  return true;
}

std::size_t Plan::sets_for(const char* chip, std::span<Set> found) const noexcept {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < plan_->sets && count < found.size(); ++i) {
    const channel::CounterSet& set = *sets_[i];
    if (set.chip[0] != '\0' && strncmp(set.chip, chip, sizeof(set.chip)) != 0) continue;
    const auto* config = reinterpret_cast<const std::uint8_t*>(&set + 1);
    found[count++] = {i, set.passes, {config, static_cast<std::size_t>(set.config_bytes)}, names_[i], set.metrics};
  }
  return count;
}

const channel::ChosenKind* Plan::chosen(std::uint64_t kind) const noexcept {
  for (const channel::ChosenKind& each : std::span(choice().chosen, choice().kinds))
    if (each.kind == kind) return &each;
  return nullptr;
}

bool Plan::fits(std::string_view mangled) const noexcept {
  const channel::LaunchChoice& rule = choice();
  if (rule.name_rule == channel::KernelNameRule::kAll) return true;
  const std::string_view name = function_name(mangled);
  if (rule.name_rule == channel::KernelNameRule::kExact) return name == rule.name || mangled == rule.name;
  char text[1024];
  const std::size_t length = name.size() < sizeof(text) ? name.size() : sizeof(text) - 1;
  std::memcpy(text, name.data(), length);
  text[length] = '\0';
  return regexec(&pattern_, text, 0, nullptr, 0) == 0;
}

}  // namespace lanescope::agent::kernel_counters

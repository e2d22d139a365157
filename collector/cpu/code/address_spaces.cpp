#include "address_spaces.h"

#include <string>

#include "collector/attach/process_text.h"

namespace lanescope::cpu {
namespace {

constexpr std::chrono::milliseconds kSlowReading{2};
constexpr int kPauseAfterIt = 19;       // times as long as a slow reading took
constexpr std::size_t kMostSlow = 256;  // processes

// Numbers of fields in /proc/PID/stat, as in proc(5).
constexpr std::size_t kParentField = 4;
constexpr std::size_t kStartField = 22;
constexpr std::size_t kCodeField = 26;
constexpr std::size_t kStackField = 28;

attach::ProcessStat stat_of(pid_t process) { return attach::process_stat("/proc/" + std::to_string(process)); }

}  // namespace

// Where code and stack begin is chosen anew for each program, and the same in forked children. If a process's parent has ended, another one is its parent.
AddressSpaces::Family AddressSpaces::family_of(pid_t process) {
  const attach::ProcessStat own = stat_of(process);
  const auto parent = static_cast<pid_t>(own.number(kParentField));
  const attach::ProcessStat its = stat_of(parent);
  Family family{{process, own.number(kStartField)}, std::nullopt};
  const bool is_same = own.number(kStackField) != 0 && own.number(kStackField) == its.number(kStackField) && own.number(kCodeField) == its.number(kCodeField);
  if (is_same) family.parent = Identity{parent, its.number(kStartField)};
  return family;
}

void AddressSpaces::keep(const Identity& process, const Known& known) {
  const Clock::time_point now = Clock::now();
  if (known_.size() >= kMostSlow) std::erase_if(known_, [now](const auto& each) { return each.second.until <= now; });
  if (known_.size() >= kMostSlow) known_.clear();
  known_.insert_or_assign(process, known);
}

AddressSpace AddressSpaces::first(pid_t process) {
  if (const Clock::time_point now = Clock::now(); now < next_) {
    const Family family = family_of(process);
    const auto of_parent = family.parent ? known_.find(*family.parent) : known_.end();
    if (of_parent != known_.end() && now < of_parent->second.until) {
      const Known known = of_parent->second;
      keep(family.process, known);
      return known.space;
    }
  }
  AddressSpace space;
  const auto took = space.read(process, modules_);
  if (took < kSlowReading) return space;
  next_ = Clock::now() + kPauseAfterIt * took;
  const Family family = family_of(process);
  keep(family.process, {space, next_});
  if (family.parent) keep(*family.parent, {space, next_});
  return space;
}

void AddressSpaces::add(pid_t process, AddressSpace& space) {
  if (Clock::now() < next_ && known_.contains(family_of(process).process)) return;
  const auto took = space.read(process, modules_);
  if (took < kSlowReading) return;
  next_ = Clock::now() + kPauseAfterIt * took;
  keep(family_of(process).process, {space, next_});
}

}  // namespace lanescope::cpu

#include "processes/strays.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "clock.h"
#include "collector/attach/process_list.h"
#include "processes/proc.h"

namespace lanescope::session {
namespace {

constexpr std::int64_t kShortestInterval = 10'000'000;    // ns between looks at any
constexpr std::int64_t kFirstInterval = 20'000'000;       // ns between looks at one
constexpr std::int64_t kLongestInterval = 1'000'000'000;  // ns
constexpr pid_t kMostNumbers = 512;                       // that are gone through one by one, in place of all processes
constexpr std::size_t kMostMembers = 4096;
constexpr std::size_t kMostLooks = 128;  // at once

bool runs_this_program(pid_t pid) {
  std::error_code failed;
  return std::filesystem::equivalent("/proc/" + std::to_string(pid) + "/exe", "/proc/self/exe", failed) && !failed;
}

}  // namespace

StrayProcesses::StrayProcesses(pid_t attached) : newest_(newest_task()) {
  family_[attached].known_program = program_state(attached).number;
  for (const pid_t pid : attach::process_numbers())
    if (parent_of_process(pid) == attached) others_.insert(pid);
}

std::vector<StrayProcesses::Stray> StrayProcesses::look(const std::function<bool(pid_t)>& is_joined) {
  const std::int64_t now = monotonic_now();
  if (now < next_look_) return {};
  next_look_ = now + kShortestInterval;
  find_children();
  std::vector<Stray> strays;
  std::size_t looks = 0;
  for (auto entry = family_.begin(); entry != family_.end();) {
    const auto next = std::next(entry);
    Member& member = entry->second;
    if (member.next_look <= now && ++looks <= kMostLooks) {
      member.interval = std::clamp(member.interval * 2, kFirstInterval, kLongestInterval);
      member.next_look = now + member.interval;
      Stray stray{entry->first, {}, {}};
      const Finding finding = look_at(entry->first, member, stray, is_joined);
      if (finding == Finding::kStray) strays.push_back(std::move(stray));
      if (finding == Finding::kRecorder) others_.insert(entry->first);
      if (finding == Finding::kGone || finding == Finding::kRecorder) family_.erase(entry);
    }
    entry = next;
  }
  return strays;
}

void StrayProcesses::look_soon(pid_t pid) {
  take_on(pid);
  const auto member = family_.find(pid);
  if (member != family_.end()) member->second.next_look = member->second.interval = 0;
}

bool StrayProcesses::has_become_another(pid_t pid) const {
  const auto member = family_.find(pid);
  if (member == family_.end() || member->second.known_program == 0) return false;
  const ProgramState program = program_state(pid);
  return program.runs && program.number != member->second.known_program;
}

void StrayProcesses::find_children() {
  const pid_t newest = newest_task();
  const pid_t before = std::exchange(newest_, newest);
  if (newest == before) return;
  if (before != 0 && newest > before && newest - before <= kMostNumbers) {
    for (pid_t number = before + 1; number <= newest; ++number) take_on(number);
    return;
  }
  for (const pid_t pid : attach::process_numbers()) take_on(pid);
}

void StrayProcesses::take_on(pid_t pid) {
  if (family_.size() >= kMostMembers || family_.contains(pid) || others_.contains(pid)) return;
  if (const auto parent = family_.find(parent_of_process(pid)); parent != family_.end()) {
    Member child;
    child.known_program = parent->second.known_program;  // it is the same until it calls exec
    family_.emplace(pid, child);
  }
}

StrayProcesses::Finding StrayProcesses::look_at(pid_t pid, Member& member, Stray& stray, const std::function<bool(pid_t)>& is_joined) {
  const ProgramState program = program_state(pid);
  if (!program.runs) return Finding::kGone;
  if (program.number != 0 && program.number == member.known_program) return Finding::kNothing;
  if (!way_ && runs_this_program(pid)) return Finding::kRecorder;
  const bool has_begun = has_arguments(pid);
  std::string obstacle = obstacle_of(pid, program);
  const std::uint64_t number = program.number != 0 ? program.number : static_cast<std::uint64_t>(pid);
  if (obstacle.empty()) {
    member.suspect = 0;
    member.known_program = program.number;
    if (program.number != 0) begun_.push_back(pid);
    return Finding::kNothing;
  }
  const bool is_the_same = has_begun && program.number != 0 && program_state(pid).number == number;
  if (std::exchange(member.suspect, number) != number && !is_the_same) {
    member.next_look = 0;  // at the next look: it may have become another program while it was looked at
    return Finding::kNothing;
  }
  if (is_joined(pid)) return Finding::kNothing;  // not known yet
  if (std::exchange(member.known_program, number) == number) return Finding::kNothing;
  stray.who = "[" + std::to_string(pid) + "] " + program.name;
  stray.reason = std::move(obstacle);
  return Finding::kStray;
}

std::string StrayProcesses::obstacle_of(pid_t pid, const ProgramState& program) const {
  const bool is_ready = program.number != 0;  // before, a new program has no environment yet
  if (!way_ && !is_ready) return {};
  if (!way_)
    return "it became this program (exec) while it was recorded by lanescope attach, which follows the programs that ran, and forked children of theirs. "
           "Attach "
           "to it, or put lanescope profile in front of the program.";
  switch (start_environment(pid, way_->variable)) {
    case StartEnvironment::kForbidden:
      return "it runs with the rights of another user, as programs under sudo do, and the system keeps the agent out of it. Record it as that user.";
    case StartEnvironment::kWithout:
      if (!is_ready) return {};
      return "its program was started with an environment of its own (as by env -i), so no agent came with it. Put lanescope profile in front of that "
             "program, or attach to it.";
    case StartEnvironment::kWith:
      if (is_missing_for(pid, way_->agent))
        return "it lies in another root folder (chroot), where the agent's file " + way_->agent.string() +
               " is not to be found. Put it there, or attach to it.";
      return {};
    case StartEnvironment::kUnknown:
      return {};
  }
  return {};
}

}  // namespace lanescope::session

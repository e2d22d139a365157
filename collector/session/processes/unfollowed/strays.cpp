#include "processes/unfollowed/strays.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "clock.h"
#include "collector/attach/process_list.h"
#include "collector/attach/process_text.h"
#include "collector/channel/layout.h"
#include "model/file/last_path_part.h"
#include "processes/proc.h"

namespace lanescope::session {
namespace {

constexpr std::int64_t kShortestInterval = 10'000'000;    // ns between two looks
constexpr std::int64_t kFirstInterval = 20'000'000;       // ns between the first looks at one process
constexpr std::int64_t kLongestInterval = 1'000'000'000;  // ns
constexpr pid_t kMostNumbers = 4096;                      // new numbers that are checked one by one, instead of all processes
constexpr std::size_t kMostMembers = 4096;
constexpr std::size_t kMostLooks = 128;  // in one look
constexpr int kMostUndecided = 10;       // looks at a process whose program is not known

constexpr std::string_view kBecomesAnother =
    "it became this program (exec) while it was recorded by lanescope attach, which follows the programs that ran, and forked children of theirs. Attach to "
    "it, or put lanescope profile in front of the program.";

constexpr std::string_view kRanBefore =
    "it ran already when lanescope attach came to the process that started it, or comes of one that did: its threads are recorded, and none of its calls, "
    "ranges "
    "and GPU work. Attach to it as well, or put lanescope profile in front of the program.";

constexpr std::string_view kHadNoDescriptor =
    "it was seen without a file descriptor left, with which no agent can be loaded, and none came: of its NVTX and CUDA calls nothing is recorded. Allow it "
    "more (ulimit -n), or record with -t osrt as well, by which the agent is there before.";

constexpr std::string_view kHadNoRoom =
    "it was seen with a limit that leaves no room to load an agent (ulimit -d or -v), and none came: of its NVTX and CUDA calls nothing is recorded. Allow it "
    "more, or record with -t osrt as well, by which the agent is there before.";

constexpr std::string_view kHadFilter =
    "it has a seccomp filter of its own, and no agent came: where it makes NVTX or CUDA calls behind that filter, nothing is recorded of them. Record with -t "
    "osrt as well, by which the agent is there before.";

constexpr std::string_view kLeftAlone =
    "it had a seccomp filter of its own before the agent came into it, which may have the kernel end it for what an agent does. So the agent does nothing "
    "there, and of its calls and ranges nothing is recorded. With -t osrt, filters are examined as they are installed. Or attach to it, or record its threads "
    "from outside (-t none).";

constexpr std::string_view kHadNoProc =
    "it has no /proc, by which the agent learns if a seccomp filter would have the kernel end it for what an agent does. So the agent does nothing there, and "
    "of its calls and ranges nothing is recorded. Let it have /proc (in bwrap: --proc /proc), or record its threads from outside (-t none).";

// The first process of its namespace, for example that of a container: all orphans in the namespace become its children.
bool is_first_of_its_namespace(pid_t pid) {
  const std::string numbers = attach::status_value(attach::process_text("/proc/" + std::to_string(pid) + "/status"), "NSpid:");
  return numbers.empty() ? pid == 1 : numbers.substr(numbers.find_last_of(" \t") + 1) == "1";
}

// For a process whose first thread has ended: it looks like an ended process until all threads have ended.
bool others_run(pid_t pid) {
  std::error_code failed;
  for (std::filesystem::directory_iterator task("/proc/" + std::to_string(pid) + "/task", failed); !failed && task != std::filesystem::directory_iterator();
       task.increment(failed)) {
    const char state = attach::process_stat(task->path()).state();
    if (state != '\0' && state != 'Z' && state != 'X') return true;
  }
  return false;
}

bool runs_this_program(pid_t pid) {
  std::error_code failed;
  return std::filesystem::equivalent("/proc/" + std::to_string(pid) + "/exe", "/proc/self/exe", failed) && !failed;
}

// The start of the value, if it is too long for a sentence.
std::string beginning_of(const std::string& value) {
  constexpr std::size_t kShown = 100;  // bytes
  if (value.size() <= kShown) return value;
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;  // within a character
  return value.substr(0, end) + "...";
}

}  // namespace

StrayProcesses::StrayProcesses(pid_t launched, Way way, std::shared_ptr<StartEnvironments> environments)
    : way_(std::move(way)), launched_(launched), family_{{launched, {}}}, environments_(std::move(environments)) {
  std::vector<std::string_view> names{way_->variable};
  for (const AgentVariable& each : way_->comes_by) names.push_back(each.name);
  environments_->ask_for(names);
}

StrayProcesses::StrayProcesses(pid_t attached)
    : attached_(attached),
      session_(getsid(attached)),
      takes_all_orphans_(is_first_of_its_namespace(attached)),
      own_program_(program_of(getpid()).value_or("")),
      newest_(newest_task()) {
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
      const auto agentless = finding == Finding::kGone ? agentless_.extract(entry->first) : decltype(agentless_)::node_type();
      if (!agentless.empty()) {
        is_launched_told_ = is_launched_told_ || entry->first == launched_;
        strays.push_back(std::move(agentless.mapped()));
      }
      if (finding == Finding::kStray) strays.push_back(std::move(stray));
      if (finding == Finding::kRecorder) others_.insert(entry->first);
      if (finding == Finding::kGone || finding == Finding::kRecorder) family_.erase(entry);
    }
    entry = next;
  }
  return strays;
}

std::vector<StrayProcesses::Stray> StrayProcesses::take_agentless() {
  std::vector<Stray> strays;
  for (auto& [pid, stray] : std::exchange(agentless_, {})) strays.push_back(std::move(stray));
  return strays;
}

std::vector<pid_t> StrayProcesses::family() const {
  std::vector<pid_t> all;
  for (const auto& [pid, member] : family_) all.push_back(pid);
  return all;
}

bool StrayProcesses::comes_with_a_call() const {
  return way_ && !way_->comes_by.empty() && std::none_of(way_->comes_by.begin(), way_->comes_by.end(), comes_with_program);
}

void StrayProcesses::look_soon(pid_t pid) {
  take_on(pid);
  const auto member = family_.find(pid);
  if (member != family_.end()) member->second.next_look = member->second.interval = 0;
}

bool StrayProcesses::has_become_another(pid_t pid) const {
  const auto member = family_.find(pid);
  if (member == family_.end() || !member->second.known_program.is_known()) return false;
  const ProgramState program = program_state(pid);
  return program.runs && !program.number.is_same(member->second.known_program);
}

std::optional<StrayProcesses::Stray> StrayProcesses::see(const cpu::SeenProcess& seen) {
  if (seen.membership == cpu::Membership::kOutside) return std::nullopt;
  if (way_) {
    const bool is_new = seen.executed && family_.size() < kMostMembers && !family_.contains(seen.pid);
    if (is_new && is_there_since(seen.pid, seen.start)) family_.emplace(seen.pid, Member{});
    return std::nullopt;
  }
  are_threads_seen_ = are_threads_seen_ || seen.pid == attached_;
  const bool begins_recorder = seen.executed && seen.pid != attached_ && (seen.executable == own_program_ || is_of_recorder(seen.parent));
  if (begins_recorder || others_.contains(seen.parent))
    others_.insert(seen.pid);
  else if (seen.forked)
    others_.erase(seen.pid);  // another process that had this number has ended
  const std::string of_file(last_path_part(seen.executable));
  if (others_.contains(seen.pid)) {
    family_.erase(seen.pid);
    if (seen.executed || comes_of_recorder(seen.pid)) return std::nullopt;
    return Stray{seen.pid, "[" + std::to_string(seen.pid) + "] " + of_file, std::string(kRanBefore), UnfollowedProcesses::Missing::kPart};
  }
  if (!seen.executed) return std::nullopt;
  if (const auto told = told_unseen_.find(seen.pid); told != told_unseen_.end()) {
    if (--told->second == 0) told_unseen_.erase(told);
    return std::nullopt;
  }
  const ProgramState program = program_state(seen.pid);
  take_on(seen.pid);
  if (const auto member = family_.find(seen.pid); member != family_.end() && program.number.is_known()) member->second.known_program = program.number;
  const std::string name = seen.executable.empty() ? program.name : of_file;
  return Stray{seen.pid, "[" + std::to_string(seen.pid) + "]" + (name.empty() ? "" : " " + name), std::string(kBecomesAnother)};
}

void StrayProcesses::find_children() {
  std::vector<pid_t> undecided;
  for (const auto& [pid, looks] : undecided_) undecided.push_back(pid);
  for (const pid_t pid : undecided) take_on(pid);
  const pid_t newest = newest_task();
  const pid_t before = std::exchange(newest_, newest);
  if (newest == before || are_threads_seen_) return;
  if (before != 0 && newest > before && newest - before <= kMostNumbers) {
    for (pid_t number = before + 1; number <= newest; ++number)
      if (may_be_process(number)) take_on(number);  // programs make far more threads than processes
    return;
  }
  for (const pid_t pid : attach::process_numbers()) take_on(pid);
}

void StrayProcesses::take_on(pid_t pid) {
  if (family_.size() >= kMostMembers || family_.contains(pid) || others_.contains(pid)) return;
  if (const auto parent = family_.find(parent_of_process(pid)); parent != family_.end()) {
    if (parent->first == attached_ && may_be_inherited(pid)) {
      const ProgramState program = program_state(pid);
      if (!program.runs) return static_cast<void>(undecided_.erase(pid));  // treated as a process that ended before it was examined
      // Within exec, and at its end, a process has no number for a moment.
      if (!program.number.is_known() && undecided_.size() < kMostMembers && undecided_[pid]++ < kMostUndecided) return;
      undecided_.erase(pid);
      if (!program.number.is_same(parent->second.known_program)) {
        has_doubt_ = true;
        return;
      }
    }
    Member child;
    child.known_program = parent->second.known_program;  // the same until it calls exec
    child.is_cut_off = parent->second.is_cut_off;
    family_.emplace(pid, child);
  }
}

// A process that starts a session leads it; other processes in a session started in it. For an ended process the session is not known.
bool StrayProcesses::may_be_inherited(pid_t pid) const {
  if (takes_all_orphans_) return true;
  const pid_t session = getsid(pid), of_attached = getsid(attached_);
  if (session < 0 || of_attached < 0) return false;
  return session != pid && session != session_ && session != of_attached && !family_.contains(session);
}

StrayProcesses::Finding StrayProcesses::look_at(pid_t pid, Member& member, Stray& stray, const std::function<bool(pid_t)>& is_joined) {
  const ProgramState program = program_state(pid);
  if (!program.runs) return others_run(pid) ? Finding::kNothing : Finding::kGone;
  if (way_ && !is_joined(pid)) note_agentless(pid, program);
  if (program.number.is_known() && program.number.is_same(member.known_program)) {
    // It may have changed its root folder or its user since.
    std::string reason = way_ && !member.is_cut_off && !is_joined(pid) ? boundary_of(pid) : std::string();
    if (reason.empty()) return Finding::kNothing;
    member.is_cut_off = true;
    stray.who = "[" + std::to_string(pid) + "] " + program.name;
    stray.reason = std::move(reason);
    return Finding::kStray;
  }
  if (!way_ && is_of_recorder(pid)) return Finding::kRecorder;
  const bool has_begun = has_arguments(pid);
  Obstacle obstacle = obstacle_of(pid, program);
  const ProgramNumber number = program.number.is_known() ? program.number : ProgramNumber{static_cast<std::uint64_t>(pid), 0};
  if (obstacle.reason.empty()) {
    member.suspect = {};
    member.known_program = program.number;
    member.is_cut_off = false;
    if (program.number.is_known() || has_begun) begun_.push_back(pid);  // that of a program with rights that we lack is not known to us
    return Finding::kNothing;
  }
  const bool is_the_same = has_begun && program.number.is_known() && program_state(pid).number.is_same(number);
  if (!std::exchange(member.suspect, number).is_same(number) && !is_the_same) {
    member.next_look = 0;  // examined again at the next look: it may have become another program meanwhile
    return Finding::kNothing;
  }
  if (is_joined(pid)) return Finding::kNothing;  // the new program is not known yet
  if (std::exchange(member.known_program, number).is_same(number)) return Finding::kNothing;
  if (!way_ && told_unseen_.size() < kMostMembers) ++told_unseen_[pid];
  stray.who = "[" + std::to_string(pid) + "] " + program.name;
  member.is_cut_off = obstacle.is_boundary;
  stray.reason = std::move(obstacle.reason);
  stray.missing = obstacle.missing;
  return Finding::kStray;
}

// Loaded files are read before the state that shows that the process still has its memory.
std::string_view StrayProcesses::obstacle_to_agent(pid_t pid) const {
  constexpr std::string_view kVariable = channel::kFiltersVariable;
  const bool has_none = comes_with_a_call() && has_no_descriptor_left(pid);
  const bool has_no_room = comes_with_a_call() && has_no_room_for_agent(pid);
  const bool has_filter = has_filter_of_its_own(pid);
  if (!has_none && !has_no_room && !has_filter && !has_no_proc(pid)) return {};
  const StartVariables variables = start_variables(pid, {&kVariable, 1});  // as they are now: the agent has changed the value in place
  if (const auto answer = variables.found.find(std::string(kVariable)); answer != variables.found.end() && answer->second.starts_with(channel::kLeftAlone))
    return has_filter ? kLeftAlone : kHadNoProc;
  if (!comes_with_a_call() || has_loaded(pid, way_->agent)) return {};
  if (has_none) return kHadNoDescriptor;
  if (has_no_room && has_no_room_for_agent(pid)) return kHadNoRoom;
  return has_filter_of_its_own(pid) ? kHadFilter : std::string_view();
}

void StrayProcesses::note_agentless(pid_t pid, const ProgramState& program) {
  if (agentless_.contains(pid)) return;
  if (const std::string_view obstacle = obstacle_to_agent(pid); !obstacle.empty())
    agentless_.emplace(pid, Stray{pid, "[" + std::to_string(pid) + "] " + program.name, std::string(obstacle), UnfollowedProcesses::Missing::kPart});
}

void StrayProcesses::note_launched_ended(const std::string& who) {
  if (is_launched_told_ || agentless_.contains(launched_) || !had_filter_of_its_own(launched_)) return;
  agentless_.emplace(launched_, Stray{launched_, who, std::string(comes_with_a_call() ? kHadFilter : kLeftAlone), UnfollowedProcesses::Missing::kPart});
}

// A recorder may have started the process before the recorder itself was examined.
bool StrayProcesses::is_of_recorder(pid_t pid) const {
  return is_any_ancestor(pid, [this](pid_t each) { return others_.contains(each) || runs_this_program(each); });
}

bool StrayProcesses::comes_of_recorder(pid_t pid) const { return is_any_ancestor(pid, runs_this_program); }

bool StrayProcesses::is_any_ancestor(pid_t pid, const std::function<bool(pid_t)>& is_it) const {
  constexpr int kMostAncestors = 64;
  for (int i = 0; i < kMostAncestors && pid > 1 && pid != attached_; ++i, pid = parent_of_process(pid))
    if (is_it(pid)) return true;
  return false;
}

// Names the agent's variable whose value is not ours.
std::string StrayProcesses::changed_variable(const std::map<std::string, std::string>& variables) const {
  for (const AgentVariable& each : way_->comes_by) {
    const auto found = variables.find(std::string(each.name));
    const auto names = [&found](const std::filesystem::path& library) { return found->second.find(library.string()) != std::string::npos; };
    if (found != variables.end() && (names(way_->agent) || names(nvtx_tool(way_->agent)))) continue;
    return "its program was started " +
           (found == variables.end() ? "without " + std::string(each.name) : "with " + std::string(each.name) + "=" + beginning_of(found->second)) +
           ", by which the agent comes: its " + std::string(each.brings) +
           " are not recorded. Have it keep what the variable held, put lanescope profile in front of that program, or attach to it.";
  }
  return {};
}

bool StrayProcesses::is_recorded_by_another(const std::map<std::string, std::string>& variables) const {
  if (way_->address.empty()) return false;
  const auto address = variables.find(std::string(way_->variable));
  return address != variables.end() && address->second != way_->address;
}

std::string StrayProcesses::boundary_of(pid_t pid) const {
  const std::string agent = way_->agent.string();
  const bool is_missing = is_missing_for(pid, way_->agent);
  if ((!is_missing && !may_not_read(pid, way_->agent)) || has_loaded(pid, way_->agent)) return {};  // an agent that is there already stays
  if (is_missing) return "it lies in another root folder (chroot), where the agent's file " + agent + " is not to be found. Put it there, or attach to it.";
  return "its user may not read the agent's file " + agent + ". Install Lanescope where all users may read it.";
}

StrayProcesses::Obstacle StrayProcesses::obstacle_of(pid_t pid, const ProgramState& program) const {
  const bool is_ready = program.number.is_known();  // a new program has no environment before that
  if (!way_ && !is_ready && !is_of_another_user(pid)) return {};
  if (!way_) return {std::string(kBecomesAnother)};
  const StartVariables variables = environments_->of(pid);
  switch (variables.of(way_->variable)) {
    case StartEnvironment::kForbidden:
      return {"it runs with the rights of another user, as programs under sudo do, and the system keeps the agent out of it. Record it as that user."};
    case StartEnvironment::kWithout:
      if (!is_ready) return {};
      return {
          "its program was started with an environment of its own (as by env -i), so no agent came with it. Put lanescope profile in front of that "
          "program, or attach to it."};
    case StartEnvironment::kWith:
      if (is_recorded_by_another(variables.found))
        return {
            "it was started by another recorder within this recording, and what it does is in that one's alone. Leave one of the two away to have it here."};
      if (std::string boundary = boundary_of(pid); !boundary.empty()) return {std::move(boundary), UnfollowedProcesses::Missing::kAll, true};
      return {changed_variable(variables.found), UnfollowedProcesses::Missing::kPart};
    case StartEnvironment::kUnknown:
      return {};
  }
  return {};
}

}  // namespace lanescope::session

// Processes that descend from the recorded one, and that no agent can join. Nothing else would report them. For a launched process: programs that were
// started without the variables that lead an agent to us (env -i, sudo), or where the agent's file can't be found (chroot). For an attached process:
// descendants, and the process itself, that have become another program (exec), because the agent follows only forked children.
//
// They are found by polling. A process that lives for less than about 20 ms may be missed, or for less than one of our looks takes if all processors are
// busy. So may a process whose parent ended before it was found, unless its threads are recorded. If the threads of an attached process are recorded, none is
// missed: then only what was seen counts. If they are not, some children of the attached process may be orphans that the kernel gave to it: the first process
// of a container gets all orphans, a subreaper gets those of other sessions. Such children are not reported unless they are seen with its program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/cpu/recorder.h"
#include "launch/target_environment.h"
#include "processes/proc.h"
#include "processes/start_environments.h"
#include "processes/unfollowed/unfollowed.h"

namespace lanescope::session {

class StrayProcesses {
 public:
  // How an agent comes into programs that the launched process starts.
  struct Way {
    std::string_view variable;  // every program that an agent can join has it
    std::filesystem::path agent;
    std::vector<AgentVariable> comes_by;  // all of them must name the agent; otherwise what a variable brings is missing
    std::string address = {};             // value of the variable in our programs; in those of a recording within ours it is that one's. Empty: any
  };
  // `environments`: of all programs of the recording.
  StrayProcesses(pid_t launched, Way way, std::shared_ptr<StartEnvironments> environments = std::make_shared<StartEnvironments>());
  // Children that `attached` already has do not belong to the recording. Neither does a recorder that it starts later, with everything that this recorder
  // runs.
  explicit StrayProcesses(pid_t attached);

  struct Stray {
    pid_t pid;
    std::string who;     // "[4711] sleep"
    std::string reason;  // the end of a sentence that says why, and what to do
    UnfollowedProcesses::Missing missing = UnfollowedProcesses::Missing::kAll;
  };
  // Strays found since the last look; each is reported once for each program that it runs. To be called often: it works at most a hundred times a second.
  // Does not block. O(tasks that were made since the last look, and processes that must be looked at again), of which it handles some hundreds at a time. A
  // process for which `is_joined` is true is looked at again until it is false: its agent came with the program that it ran before, and is gone as soon as we
  // hear about it.
  std::vector<Stray> look(const std::function<bool(pid_t)>& is_joined);
  // Notes that a process was seen, which may have ended by now. For an attached process, returns the process if it must be reported and was not yet. For a
  // launched process, returns nothing; a process that has become a program is looked at from here on, whatever happened to its parent.
  std::optional<Stray> see(const cpu::SeenProcess& seen);
  // From here on threads of the attached process are seen, or not any more.
  enum class Threads { kSeen, kUnseen };
  void expect_threads(Threads threads) noexcept { are_threads_seen_ = threads == Threads::kSeen; }
  // That an agent has come into a process, or that it was told why none has.
  void note_joined(pid_t pid) { agentless_.erase(pid); }
  // Live processes in which no agent has appeared, and which were seen without a descriptor for loading the agent, or with a filter that may forbid it. Those
  // that ended are returned by look().
  [[nodiscard]] std::vector<Stray> take_agentless();
  // The launched process has ended, nobody has waited for it yet, and no agent has joined. If it had a filter, it is among those processes, too.
  void note_launched_ended(const std::string& who);
  // The processes that descend from the recorded one and ran at the last look, as far as they were found.
  [[nodiscard]] std::vector<pid_t> family() const;
  // Processes that have become programs since the last call, and that an agent can join as far as their environment tells.
  [[nodiscard]] std::vector<pid_t> take_begun() { return std::exchange(begun_, {}); }
  // True if, since the last call, a child of the attached process was ignored because it may be an orphan from the kernel.
  [[nodiscard]] bool take_doubt() { return std::exchange(has_doubt_, false); }
  // Makes the next look examine this process, and often from there on: its agent has just left, so it ends, or has become another program.
  void look_soon(pid_t pid);
  // True if a process runs another program than the one that is known of it. False if that is not known.
  [[nodiscard]] bool has_become_another(pid_t pid) const;

 private:
  struct Member {
    ProgramNumber known_program;  // that an agent can join, or that was reported
    ProgramNumber suspect;        // that no agent could join at the last look
    std::int64_t next_look = 0;   // CLOCK_MONOTONIC ns
    std::int64_t interval = 0;    // ns until the look after the next
    bool is_cut_off = false;      // a boundary around it, or around the process that forked it, was reported (boundary_of())
  };
  void find_children();
  void take_on(pid_t pid);
  // True if a child of the attached process may be an orphan that it got from the kernel.
  [[nodiscard]] bool may_be_inherited(pid_t pid) const;
  // True if the agent comes with a call of the program. A process that can't open anything then can't load it, and continues without a message.
  [[nodiscard]] bool comes_with_a_call() const;
  void note_agentless(pid_t pid, const ProgramState& program);
  // Why no agent may have recorded it, as in Stray; empty if nothing is known against it.
  [[nodiscard]] std::string_view obstacle_to_agent(pid_t pid) const;
  enum class Finding { kNothing, kStray, kRecorder, kGone };
  [[nodiscard]] Finding look_at(pid_t pid, Member& member, Stray& stray, const std::function<bool(pid_t)>& is_joined);
  // For an attached process: true if this process, or one of its ancestors, is a recorder that was started meanwhile.
  [[nodiscard]] bool is_of_recorder(pid_t pid) const;
  // As above, without processes that do not belong to the recording because they are earlier children.
  [[nodiscard]] bool comes_of_recorder(pid_t pid) const;
  // Checks a process and its ancestors, up to the attached one.
  [[nodiscard]] bool is_any_ancestor(pid_t pid, const std::function<bool(pid_t)>& is_it) const;
  struct Obstacle {
    std::string reason;  // why no agent can join it, as in Stray; empty if one can, or if that can't be found out
    UnfollowedProcesses::Missing missing = UnfollowedProcesses::Missing::kAll;
    bool is_boundary = false;  // boundary_of()
  };
  [[nodiscard]] Obstacle obstacle_of(pid_t pid, const ProgramState& program) const;
  [[nodiscard]] std::string changed_variable(const std::map<std::string, std::string>& variables) const;
  // True if its program was started to be recorded by another recorder.
  [[nodiscard]] bool is_recorded_by_another(const std::map<std::string, std::string>& variables) const;
  // Why an agent can't come into a process from outside: its root folder, or its user's rights; empty if neither is an obstacle.
  [[nodiscard]] std::string boundary_of(pid_t pid) const;

  std::optional<Way> way_;                    // none for an attached process
  pid_t launched_ = 0;                        // 0 for an attached process
  bool is_launched_told_ = false;             // it was among agentless_, and has been reported
  pid_t attached_ = 0;                        // 0 for a launched process
  pid_t session_ = 0;                         // of the attached process, at the start
  bool takes_all_orphans_ = false;            // the attached process is the first in its namespace, and gets all its orphans
  bool are_threads_seen_ = false;             // threads of the attached process are seen, and with them each program of its descendants
  std::string own_program_;                   // path of ours; empty for a launched process
  std::set<pid_t> others_;                    // children of the attached process that do not belong to the recording
  std::map<pid_t, Member> family_;            // those that live
  std::map<pid_t, std::size_t> told_unseen_;  // programs that were reported before they were seen; without recorded threads they are never seen
  std::map<pid_t, int> undecided_;            // children of the attached process whose program was not known, and the number of looks at which it was not
  std::map<pid_t, Stray> agentless_;          // those that live, and were seen without the agent, and with a possible obstacle
  std::vector<pid_t> begun_;
  std::shared_ptr<StartEnvironments> environments_;
  bool has_doubt_ = false;
  pid_t newest_ = 0;            // number of the newest task at the last look
  std::int64_t next_look_ = 0;  // CLOCK_MONOTONIC ns
};

}  // namespace lanescope::session

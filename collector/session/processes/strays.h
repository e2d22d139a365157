// Processes that come of the recorded one, and that no agent can join. Nobody else would tell of them. Of a launched one: their program was started without
// the variables that lead an agent to us (env -i, sudo), or where the agent's file is not to be found (chroot). Of one that was attached to: they have
// become another program (exec), and itself, too; the agent goes with forked children alone.
//
// They are found by looking, so one that lives for less than about 20 ms may be missed, or for less than a look of ours takes where all processors are
// busy; and so is one whose parent ended before it was found, unless its threads are recorded. Those of an attached process are missed by none of it where
// their threads are recorded: then what was seen counts alone. Where they are not, children of an attached process that may be orphans of others, which the
// kernel has given to it (to the first process of a container each of them, to a subreaper those of other sessions), are none of it unless they are seen with
// its program.
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
#include "processes/unfollowed.h"

namespace lanescope::session {

class StrayProcesses {
 public:
  // How an agent comes into programs that the launched process starts.
  struct Way {
    std::string_view variable;  // each program has it that an agent can join
    std::filesystem::path agent;
    std::vector<AgentVariable> comes_by;  // all of them name the agent, or what it brings is missing
    std::string address = {};             // which the variable holds of ours; of a recording within ours it holds that one's. Empty: any
  };
  // `environments`: of all programs of the recording.
  StrayProcesses(pid_t launched, Way way, std::shared_ptr<StartEnvironments> environments = std::make_shared<StartEnvironments>());
  // Children that `attached` has by now are none of the recording's, and no recorder that it starts later is, with all that this one runs.
  explicit StrayProcesses(pid_t attached);

  struct Stray {
    pid_t pid;
    std::string who;     // "[4711] sleep"
    std::string reason;  // the end of a sentence that says why, and what to do
    UnfollowedProcesses::Missing missing = UnfollowedProcesses::Missing::kAll;
  };
  // Those found since the last look, each of which is told once for each program that it runs. To be called often: it does something a hundred
  // times a second at most. Does not block; O(tasks that were made since the last look, and processes that are to be looked at again), of which it
  // takes some hundreds at a time. One that `is_joined` is looked at again until it is not: its agent came with the program that it ran before,
  // and is gone as soon as we hear of it.
  std::vector<Stray> look(const std::function<bool(pid_t)>& is_joined);
  // That a process was seen, which may have ended by now. Of an attached process: one that is to be told of and was not yet. Of a launched one, what has
  // become a program is looked at from here on, whatever became of its parent, and none is returned.
  std::optional<Stray> see(const cpu::SeenProcess& seen);
  // From here on threads of the attached process are seen, or not any more.
  void expect_threads(bool are_seen) noexcept { are_threads_seen_ = are_seen; }
  // That an agent has come into a process.
  void note_joined(pid_t pid) { agentless_.erase(pid); }
  // Those that live and were seen without a descriptor by which the agent could be loaded, where none has come. Of those that ended, look() tells.
  [[nodiscard]] std::vector<Stray> take_agentless();
  // Those that have become programs, since the last call, that an agent can join as far as their environment says.
  [[nodiscard]] std::vector<pid_t> take_begun() { return std::exchange(begun_, {}); }
  // Whether, since the last call, a child of the attached process was passed over as an orphan that it may have got from the kernel.
  [[nodiscard]] bool take_doubt() { return std::exchange(has_doubt_, false); }
  // Has a process looked at the next time, and often from there on: its agent has just left, so it ends, or has become another program.
  void look_soon(pid_t pid);
  // Whether a process runs another program than the one that is known of it. False where that is not known.
  [[nodiscard]] bool has_become_another(pid_t pid) const;

 private:
  struct Member {
    ProgramNumber known_program;  // that an agent can join, or that was told of
    ProgramNumber suspect;        // that none could join at the last look
    std::int64_t next_look = 0;   // CLOCK_MONOTONIC ns
    std::int64_t interval = 0;    // ns until the one after
    bool is_cut_off = false;      // a boundary around it was told of (boundary_of()), or around who forked it
  };
  void find_children();
  void take_on(pid_t pid);
  // Whether a child of the attached process may be an orphan that it got from the kernel.
  [[nodiscard]] bool may_be_inherited(pid_t pid) const;
  // Whether the agent comes with a call of the program's: then a process that can open nothing can't load it, and goes on without a word.
  [[nodiscard]] bool comes_with_a_call() const;
  enum class Finding { kNothing, kStray, kRecorder, kGone };
  [[nodiscard]] Finding look_at(pid_t pid, Member& member, Stray& stray, const std::function<bool(pid_t)>& is_joined);
  // Of an attached process: whether it, or a process that it comes of, is a recorder that was started meanwhile.
  [[nodiscard]] bool is_of_recorder(pid_t pid) const;
  // The same without those that are none of the recording's as children of before.
  [[nodiscard]] bool comes_of_recorder(pid_t pid) const;
  // Of a process and those that it comes of, up to the attached one.
  [[nodiscard]] bool is_any_ancestor(pid_t pid, const std::function<bool(pid_t)>& is_it) const;
  struct Obstacle {
    std::string reason;  // why no agent can join it, as in Stray; empty where one can, or that can't be told
    UnfollowedProcesses::Missing missing = UnfollowedProcesses::Missing::kAll;
    bool is_boundary = false;  // boundary_of()
  };
  [[nodiscard]] Obstacle obstacle_of(pid_t pid, const ProgramState& program) const;
  [[nodiscard]] std::string changed_variable(const std::map<std::string, std::string>& variables) const;
  // Whether its program was started to be recorded by another recorder.
  [[nodiscard]] bool is_recorded_by_another(const std::map<std::string, std::string>& variables) const;
  // Why an agent can't come into a process from outside of it: its root folder, or its user's rights; empty where none of that is in the way.
  [[nodiscard]] std::string boundary_of(pid_t pid) const;

  std::optional<Way> way_;                    // none: of an attached process
  pid_t attached_ = 0;                        // 0: of a launched process
  pid_t session_ = 0;                         // of the attached process, as it was at first
  bool takes_all_orphans_ = false;            // the attached process, of its namespace: it is the first there
  bool are_threads_seen_ = false;             // of the attached process, and with them each program of a process that comes of it
  std::string own_program_;                   // path of ours; empty of a launched process
  std::set<pid_t> others_;                    // children of the attached process that are none of the recording's
  std::map<pid_t, Member> family_;            // that live
  std::map<pid_t, std::size_t> told_unseen_;  // programs that were told of and will be seen, or will not where no threads are recorded
  std::map<pid_t, int> undecided_;            // children of the attached process whose program was not known, and at how many looks
  std::map<pid_t, std::string> agentless_;    // "[4711] python": that live, and were seen without a descriptor left and without the agent
  std::vector<pid_t> begun_;
  std::shared_ptr<StartEnvironments> environments_;
  bool has_doubt_ = false;
  pid_t newest_ = 0;            // number of the task that was made last, when it was last looked for
  std::int64_t next_look_ = 0;  // CLOCK_MONOTONIC ns
};

}  // namespace lanescope::session

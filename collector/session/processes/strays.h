// Processes that come of the launched one, and that no agent can join: their program was started without the variables that lead an agent to
// us (env -i, sudo), or where the agent's file is not to be found (chroot). Nobody else would tell of them.
//
// They are found by looking, so one that lives for less than about 20 ms may be missed, or for less than a look of ours takes where all processors are
// busy; and so is one whose parent ended before it was seen.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "processes/proc.h"

namespace lanescope::session {

class StrayProcesses {
 public:
  // `first`: the launched process; `variable`: one that each process has which an agent can join; `agent`: its file.
  StrayProcesses(pid_t first, std::string_view variable, std::filesystem::path agent) : variable_(variable), agent_(std::move(agent)), family_{{first, {}}} {}

  struct Stray {
    pid_t pid;
    std::string who;     // "[4711] sleep"
    std::string reason;  // the end of a sentence that says why, and what to do
  };
  // Those found since the last look, each of which is told once for each program that it runs. To be called often: it does something a hundred
  // times a second at most. Does not block; O(tasks that were made since the last look, and processes that are to be looked at again), of which it
  // takes some hundreds at a time. One that `is_joined` is looked at again until it is not: its agent came with the program that it ran before,
  // and is gone as soon as we hear of it.
  std::vector<Stray> look(const std::function<bool(pid_t)>& is_joined);
  // Those that have become programs, since the last call, that an agent can join as far as their environment says.
  [[nodiscard]] std::vector<pid_t> take_begun() { return std::exchange(begun_, {}); }
  // Has a process looked at the next time, and often from there on: its agent has just left, so it ends, or has become another program.
  void look_soon(pid_t pid);

 private:
  struct Member {
    std::uint64_t known_program = 0;  // that an agent can join, or that was told of (proc.h: ProgramState)
    std::uint64_t suspect = 0;        // that none could join at the last look
    std::int64_t next_look = 0;       // CLOCK_MONOTONIC ns
    std::int64_t interval = 0;        // ns until the one after
  };
  void find_children();
  void take_on(pid_t pid);
  enum class Finding { kNothing, kStray, kGone };
  [[nodiscard]] Finding look_at(pid_t pid, Member& member, Stray& stray, const std::function<bool(pid_t)>& is_joined);
  // The end of a sentence that says why no agent can join it; empty where one can, or that can't be told.
  [[nodiscard]] std::string obstacle_of(pid_t pid, const ProgramState& program) const;

  std::string_view variable_;
  std::filesystem::path agent_;
  std::map<pid_t, Member> family_;  // that live
  std::vector<pid_t> begun_;
  pid_t newest_ = 0;            // number of the task that was made last, when it was last looked for
  std::int64_t next_look_ = 0;  // CLOCK_MONOTONIC ns
};

}  // namespace lanescope::session

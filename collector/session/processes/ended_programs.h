// Which program of which process. An exec makes another program under the same number, perhaps within a millisecond. Reports about a process come late, and
// in any order: those of its agents over connections of their own, the kernel's records up to half a second late. This file has what is needed to find which
// program a report is about.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "collector/session/recording.h"
#include "lanescope/trace.pb.h"
#include "processes/proc.h"

namespace lanescope::session {

struct Generation {
  pid_t pid = 0;
  std::uint64_t started = 0;  // when the process was started, in the kernel's ticks; 0: it was gone when we asked
  std::int64_t begin = 0;     // CLOCK_MONOTONIC ns at which the program's agent was loaded, or the process forked, from that agent; 0: no agent has reported
};

// True if the two are different processes of which one got the number of the other. A process that can't be asked any more counts as the same.
[[nodiscard]] bool is_other_process(const Generation& a, const Generation& b) noexcept;

// What a reporting program is in relation to a known program of the same process.
enum class Kinship { kEarlier, kSame, kLater };
// Requires: both have reported.
[[nodiscard]] Kinship kinship(const Generation& known, const Generation& reporting) noexcept;

// True if two paths name the same file. One is from the threads' records, with the path that the program used; the other is shown by the kernel, perhaps from
// another root folder, or with a mark if it has no name any more. A program that was gone before its agent was heard has at most a name, which never makes a
// difference.
[[nodiscard]] bool same_file(std::string_view a, std::string_view b) noexcept;
// True if both run the same program, as far as it is known: the arguments are unknown for a process that called exec and was examined only when it had run on.
[[nodiscard]] bool same_program(const ProcessDescription& a, const ProcessDescription& b);
// "[4711] python", from a process and its executable's path or name; "[4711] (ended)" if that is empty.
[[nodiscard]] std::string title(pid_t pid, std::string_view executable);
// True if an executable is known by its path, and not only by the name that its agent gave.
[[nodiscard]] bool is_path(std::string_view executable) noexcept;

struct EndedProgram {
  Generation generation;
  std::uint32_t instance = 0;
  std::string executable = {};
  std::int64_t start = 0;     // CLOCK_MONOTONIC ns
  std::int64_t reported = 0;  // ns at which its agent reported; 0: never
  std::int64_t end = 0;       // ns; may be a little too late
  proto::ProcessEndKind kind = proto::PROCESS_END_UNKNOWN;
  ExitStatus status = {};
  std::uint32_t unreturned_buffers = 0;
  bool is_seen = false;  // it was in the kernel's records

  // True if the reporting program belongs to the process whose last program this was, and not to another process that has its number.
  [[nodiscard]] bool is_of_same_process(const Generation& reporting) const noexcept;
};

// The programs that ended last, some thousands. Lookups are O(programs of the process).
class EndedPrograms {
 public:
  void add(EndedProgram program);
  // The last program of a process; null if none is known. Pointers are valid until the next add() or forget().
  [[nodiscard]] EndedProgram* last(pid_t pid);
  // The program that was seen to start at this time: the first of this file that was not seen yet, and that reported, or ended, no earlier.
  [[nodiscard]] EndedProgram* begun(pid_t pid, std::int64_t time, std::string_view executable);
  // The last program that had started by this time.
  [[nodiscard]] EndedProgram* before(pid_t pid, std::int64_t time);
  // The first program whose agent reported at this time or later.
  [[nodiscard]] EndedProgram* reported_since(pid_t pid, std::int64_t time);
  // Called if another process has this number now.
  void forget(pid_t pid);

 private:
  template <typename Condition>
  EndedProgram* first(pid_t pid, Condition condition);
  struct Entry {
    pid_t pid;
    std::uint32_t instance;
  };
  void forget_oldest();
  std::map<pid_t, std::deque<EndedProgram>> programs_;  // in the order in which they ended
  std::deque<Entry> order_;                             // in the order in which all ended, including forgotten ones
};

}  // namespace lanescope::session

// Which program of which process: an exec makes another one under the same number, perhaps within a millisecond. What is told of a process comes late, and in
// any order: its agents over connections of their own, the kernel's records up to half a second behind. Here is what it takes to tell whom it is about.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "collector/session/recording.h"
#include "lanescope/trace.pb.h"

namespace lanescope::session {

struct Generation {
  pid_t pid = 0;
  std::uint64_t started = 0;  // when the process was, in the kernel's ticks; 0: it was gone when that was asked for
  std::int64_t begin = 0;     // CLOCK_MONOTONIC ns at which the program's agent was loaded, or the process forked, as that agent says; 0: none has reported
};

// Whether one process has got the number of another. One that can't be asked any more is taken for the same.
[[nodiscard]] bool is_other_process(const Generation& a, const Generation& b) noexcept;

// What a program that reports is to one that is known of the same process.
enum class Kinship { kEarlier, kSame, kLater };
// Requires: both have reported.
[[nodiscard]] Kinship kinship(const Generation& known, const Generation& reporting) noexcept;

// A file as threads' records name it, by the path that the program used, and as the kernel shows it to us: from another root folder, or with a mark where it
// has no name any more. As far as is known: of a program that was gone before its agent was heard, there is its name at most, by which nothing is told apart.
[[nodiscard]] bool same_file(std::string_view a, std::string_view b) noexcept;
// "[4711] python", of a process and its executable, or the name alone: "[4711] (ended)" where that is empty.
[[nodiscard]] std::string title(pid_t pid, std::string_view executable);
// Whether an executable is known by its path, and not by the name alone that its agent gave.
[[nodiscard]] bool is_path(std::string_view executable) noexcept;

struct EndedProgram {
  Generation generation;
  std::uint32_t instance = 0;
  std::string executable = {};
  std::int64_t start = 0;     // CLOCK_MONOTONIC ns
  std::int64_t reported = 0;  // ns at which we heard of its agent; 0: never
  std::int64_t end = 0;       // ns, or a little later
  proto::ProcessEndKind kind = proto::PROCESS_END_UNKNOWN;
  ExitStatus status = {};
  std::uint32_t unreturned_buffers = 0;
  bool is_seen = false;  // in the kernel's records

  // Whether one that reports belongs to the process whose last program this was, and not to one that has its number.
  [[nodiscard]] bool is_of_same_process(const Generation& reporting) const noexcept;
};

// The programs that ended last, some thousands. Lookups are O(programs of the process).
class EndedPrograms {
 public:
  void add(EndedProgram program);
  // The last one of a process; null where none is known. Pointers are good until the next add() or forget().
  [[nodiscard]] EndedProgram* last(pid_t pid);
  // The one that was seen to begin at this time: of this file, not seen yet, and heard of, or ended, no earlier; the first of those.
  [[nodiscard]] EndedProgram* begun(pid_t pid, std::int64_t time, std::string_view executable);
  // The last one that had begun by this time.
  [[nodiscard]] EndedProgram* before(pid_t pid, std::int64_t time);
  // The first one whose agent reported at this time or later.
  [[nodiscard]] EndedProgram* reported_since(pid_t pid, std::int64_t time);
  // Another process has this number.
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
  std::deque<Entry> order_;                             // in which all ended, those that were forgotten among them
};

}  // namespace lanescope::session

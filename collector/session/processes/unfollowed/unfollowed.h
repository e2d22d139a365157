// Processes that should be recorded, and are not: how many, which, and why. All are counted; the first ones are named.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "file/frame_log.h"

namespace lanescope::session {

class UnfollowedProcesses {
 public:
  using Report = std::function<void(const std::string& sentence)>;
  UnfollowedProcesses(FrameLog& log, Report report) : log_(log), report_(std::move(report)) {}

  enum class Missing {
    kAll,
    kPart,  // the reason says which part
  };
  // `who`: "[4711] python"; `reason`: the end of a sentence that says why, and what to do. A live process is counted once, even if several of its programs
  // are reported.
  void add(const std::string& who, const std::string& reason, Missing missing = Missing::kAll);
  // Adds processes about which nothing is known.
  void add(std::uint64_t others) { count_ += others; }

  // Writes the number of processes that were not named, once; to be called before a file is closed.
  void write_others();
  // The number in the recording so far.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  struct Process {
    pid_t pid = 0;
    std::uint64_t start = 0;  // in the kernel's ticks
    auto operator<=>(const Process&) const = default;
  };
  static std::optional<Process> process_of(const std::string& who);
  void write(const std::string& sentence);

  FrameLog& log_;
  Report report_;
  std::uint64_t count_ = 0;
  std::uint64_t written_ = 0;    // number of processes written to files
  std::uint64_t sentences_ = 0;  // number written to files; one process may have several
  std::set<Process> counted_;
};

// The text for a problem (errno) between an agent and us.
[[nodiscard]] std::string reason_of(int problem);

}  // namespace lanescope::session

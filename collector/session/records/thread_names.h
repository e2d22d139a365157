// Names of the threads of one process: the program's by NVTX, else the kernel's. A name is written when it is new.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "file/frame_log.h"
#include "lanescope/trace.pb.h"

namespace lanescope::session {

class ThreadNames {
 public:
  // `runs_still`: returns true if what the kernel said a moment ago was about this program, and not about another one in its place.
  ThreadNames(pid_t pid, const FrameTag& tag, FrameLog& log, std::function<bool()> runs_still)
      : pid_(pid), tag_(tag), log_(log), runs_still_(std::move(runs_still)) {}

  // Asks the kernel about all threads of the process, or about these. Reads /proc, a file for each.
  void look();
  void look(const std::vector<std::uint32_t>& threads);
  // Adds the kernel's name of a thread, which may have ended.
  void add(std::uint32_t thread, const std::string& name);
  // Adds the program's name of a thread, which takes precedence.
  void add_by_program(std::uint32_t thread, std::string name);
  [[nodiscard]] std::vector<std::uint32_t> named_by_program() const;

 private:
  void write_new(const std::map<std::uint32_t, std::string>& names);
  bool is_new(std::uint32_t thread, const std::string& name);  // for names of the kernel; the name is known from here on

  pid_t pid_;
  FrameTag tag_;
  FrameLog& log_;
  std::function<bool()> runs_still_;
  std::map<std::uint32_t, std::string> by_kernel_;  // as last written
  std::map<std::uint32_t, std::string> by_program_;
};

}  // namespace lanescope::session

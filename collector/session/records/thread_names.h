// What the threads of one process are called: as the program says by NVTX, else as the kernel does. A name is written where it is new.
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
  // `runs_still`: whether what the kernel said a moment ago was of the program that these are of, and not of another one in its place.
  ThreadNames(pid_t pid, const FrameTag& tag, FrameLog& log, std::function<bool()> runs_still)
      : pid_(pid), tag_(tag), log_(log), runs_still_(std::move(runs_still)) {}

  // Asks the kernel about all threads that there are, or about these. Reads /proc, a file for each.
  void look();
  void look(const std::vector<std::uint32_t>& threads);
  // What the kernel called a thread, which may have ended.
  void add(std::uint32_t thread, const std::string& name);
  // The program's name of a thread, which wins.
  void add_by_program(std::uint32_t thread, std::string name);
  [[nodiscard]] std::vector<std::uint32_t> named_by_program() const;

 private:
  void write_new(const std::map<std::uint32_t, std::string>& names);
  bool is_new(std::uint32_t thread, const std::string& name);  // of the kernel's; it is known from here on

  pid_t pid_;
  FrameTag tag_;
  FrameLog& log_;
  std::function<bool()> runs_still_;
  std::map<std::uint32_t, std::string> by_kernel_;  // as last written
  std::map<std::uint32_t, std::string> by_program_;
};

}  // namespace lanescope::session

// What the code in backtraces is called: looked up on a thread of its own, for files with debug information take seconds to read.
//
// Threads: the functions are for one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "collector/cpu/backtraces.h"
#include "file/frame_log.h"

namespace lanescope::session {

class CodeNaming {
 public:
  explicit CodeNaming(FrameLog& log) : log_(log) {}
  ~CodeNaming();  // leaves out what is not done
  CodeNaming(const CodeNaming&) = delete;
  CodeNaming& operator=(const CodeNaming&) = delete;

  // For all backtraces of a recording.
  [[nodiscard]] const std::shared_ptr<cpu::CodeLibrary>& library() const noexcept { return library_; }

  // Looks up what has come up in these backtraces of a process since the last time. Does not wait.
  void add(std::uint32_t instance, const std::shared_ptr<cpu::Backtraces>& backtraces);
  // Writes what has been found. Does not wait.
  void write_found();
  // Whether more will be found.
  [[nodiscard]] bool is_busy() const;
  // What has not been looked up stays without names; is_busy() is false soon.
  void give_up();

 private:
  struct Task {
    std::uint32_t instance;
    std::shared_ptr<cpu::Backtraces> backtraces;
    std::unique_ptr<cpu::NameSearch> search;
  };
  void loop();

  FrameLog& log_;
  std::shared_ptr<cpu::CodeLibrary> library_ = std::make_shared<cpu::CodeLibrary>();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::deque<Task> done_;
  bool is_searching_ = false;
  bool is_over_ = false;
  std::atomic<bool> gives_up_{false};
  std::thread thread_;  // from the first task on
};

}  // namespace lanescope::session

// Names of the code in backtraces. They are looked up on a separate thread, because files with debug information take seconds to read.
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

  // Shared by all backtraces of a recording.
  [[nodiscard]] const std::shared_ptr<cpu::CodeLibrary>& library() const noexcept { return library_; }

  // Looks up names of code that appeared in these backtraces of a process since the last call. Does not wait.
  void add(std::uint32_t instance, const std::shared_ptr<cpu::Backtraces>& backtraces);
  // Writes the names that were found. Does not wait.
  void write_found();
  // True if more names will be found.
  [[nodiscard]] bool is_busy() const;
  // Code that was not looked up yet stays without names; is_busy() becomes false soon.
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
  std::thread thread_;  // started with the first task
};

}  // namespace lanescope::session

// Finds out what the code is called that processes were seen to run, on a thread of its own: of those that have ended as soon as they have,
// so that nothing of them has to be kept.
//
// Threads: the functions are for one thread. A process that was handed over belongs to the namer; one that lives on, only until name()
// returns.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "code/code_names.h"
#include "outbox.h"
#include "process_record.h"

namespace lanescope::cpu {

class CodeNamer {
 public:
  // Names are put into the outbox. `debug_folders`: see CodeNames. `kernel`: the module that stands for it.
  CodeNamer(const std::string& debug_folders, const Module* kernel, Outbox& outbox);
  ~CodeNamer();  // leaves out what it has not done
  CodeNamer(const CodeNamer&) = delete;
  CodeNamer& operator=(const CodeNamer&) = delete;

  // One that has ended. Tells, behind its names, that there will be no more of it. Does not wait.
  void add(std::shared_ptr<ProcessRecord> ended);
  // Returns once all that have ended have names, and these too, or `stop` says so.
  void name(const std::vector<std::shared_ptr<ProcessRecord>>& living, const std::atomic<bool>& stop);

 private:
  void loop();
  void name(ProcessRecord& process, const std::atomic<bool>& stop);
  // The same; a shortage of memory is said, and ends no more than that process's names.
  void name_as_far_as_memory_goes(ProcessRecord& process);
  std::vector<CodeName> names_of(ProcessRecord& process, const UnnamedCode& code);
  void note(std::string text);

  const Module* kernel_;
  Outbox& outbox_;

  // Its thread's.
  CodeNames code_names_;
  KernelNames kernel_names_;

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Task {
    std::shared_ptr<ProcessRecord> process;
    bool has_ended = false;
  };
  std::deque<Task> tasks_;
  std::uint64_t unnamed_ = 0;  // processes that ended faster than they could be named
  bool is_busy_ = false;
  bool has_noted_cut_ = false;
  bool has_noted_shortage_ = false;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> skips_{false};
  std::thread thread_;
};

}  // namespace lanescope::cpu

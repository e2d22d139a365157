// Looks up names of the code that processes were seen to run, on a thread of its own. Processes that have ended are processed at once, so that
// nothing has to be kept for them.
//
// Threads: all functions must be called from one thread. An ended process that was handed over belongs to the namer; a living process belongs to it
// only until name() returns.
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
  // Names are put into the outbox. `debug_folders`: see CodeNames. `kernel`: the module of the kernel.
  CodeNamer(const std::string& debug_folders, const Module* kernel, Outbox& outbox);
  ~CodeNamer();  // drops work that is not done
  CodeNamer(const CodeNamer&) = delete;
  CodeNamer& operator=(const CodeNamer&) = delete;

  // Adds a process that has ended. After its names, the outbox gets a message that it is forgotten. Does not wait.
  void add(std::shared_ptr<ProcessRecord> ended);
  // Returns when all ended processes and those in `living` have names, or when `stop` is true.
  void name(const std::vector<std::shared_ptr<ProcessRecord>>& living, const std::atomic<bool>& stop);

 private:
  void loop();
  void name(ProcessRecord& process, const std::atomic<bool>& stop);
  // The same; if memory runs short, this is reported, and only that process's names are lost.
  void name_as_far_as_memory_goes(ProcessRecord& process);
  std::vector<CodeName> names_of(ProcessRecord& process, const UnnamedCode& code);
  void note(std::string text);

  const Module* kernel_;
  Outbox& outbox_;

  // Used by its thread only.
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

// Records what threads do: when each runs, waits for a processor or for something else, and what code it runs.
//
// The host asks the kernel (perf_event_open) and reads what it writes; nothing enters the observed processes. A thread of the recorder
// puts records in order and packs them; drain() hands over what is ready, on the caller's thread.
//
// Threads: all functions are for one thread, the caller's.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "collector/cpu/cpu_settings.h"
#include "lanescope/trace.pb.h"
#include "model/file/result.h"

namespace lanescope::python {
class Sampler;
}

namespace lanescope::cpu {

// One program in one process: an exec makes another. Counts from 1; the process that a recording begins with is the first.
using ProcessKey = std::uint32_t;
inline constexpr ProcessKey kFirstProcess = 1;
inline constexpr ProcessKey kWholeRecording = 0;  // what is said of no process

enum class Membership {
  kRecorded,  // one of the recorded programs, or started by one
  kOutside,   // seen because everything on the machine is
};

struct SeenProcess {
  ProcessKey key = 0;
  pid_t pid = 0;
  pid_t parent = 0;
  std::int64_t start = 0;  // CLOCK_MONOTONIC ns; when it was first seen, if it ran before; of a program that followed one that was told of, as below
  std::string executable;  // path; empty when not known
  std::vector<std::string> arguments;  // empty when it had ended before we could ask
  bool forked = false;                 // it runs its parent's program
  bool executed = false;               // it was seen to become this program (exec); not so of the one that was launched
  Membership membership = Membership::kRecorded;
  std::int64_t program_start = 0;  // CLOCK_MONOTONIC ns at which it became the program that it is said to run (exec); `start` where it was not seen to
};

// Who takes what was recorded. A process is announced before anything else is said about it; described() and recorded() are said of the whole
// recording, too.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void process_began(const SeenProcess& process) = 0;
  virtual void process_ended(ProcessKey process, std::int64_t time) = 0;
  virtual void process_forgotten(ProcessKey process) = 0;  // nothing more is said of it
  virtual void thread_named(ProcessKey process, std::uint32_t thread, const std::string& name) = 0;
  virtual void described(ProcessKey process, const proto::Resources& resources) = 0;  // what events refer to
  virtual void recorded(ProcessKey process, const proto::EventChunk& chunk, std::uint32_t events) = 0;
  virtual void named(ProcessKey process, const proto::Symbols& symbols) = 0;
  virtual void counted(ProcessKey process, const proto::Counters& counters) = 0;  // of this part of the recording
  virtual void noted(const proto::Diagnostic& diagnostic) = 0;
};

enum class Start { kAtOnce, kWhenTold };  // kAtOnce: with the process's next exec, or now where it runs already

class Recorder {
 public:
  // Of a process that is about to call exec, and what it starts. Fails with one sentence where nothing at all can be recorded; what is
  // less than was asked for is noted.
  static Result<std::unique_ptr<Recorder>> launch(pid_t waiting, const CpuSettings& settings, Start start, std::chrono::milliseconds flush_interval);
  // Of a process that runs, its children and what they start.
  static Result<std::unique_ptr<Recorder>> attach(pid_t running, const CpuSettings& settings, Start start, std::chrono::milliseconds flush_interval);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void set_recording(bool recording);

  // What reads the Python stacks of the programs; null where that was not asked for. It may be kept.
  [[nodiscard]] std::shared_ptr<const python::Sampler> python() const;

  // Hands over what has been packed since the last time.
  void drain(Listener& listener);
  // Stops, and hands over all that was recorded until now. Another part may follow: set_recording(true).
  void finish_part(Listener& listener);
  // Begins to look up names of code that this part has seen, which takes as long as there are large files with debug information to be
  // read; drain() hands them over, the last of them once is_naming() is false. Requires: finish_part() was called.
  void begin_naming();
  [[nodiscard]] bool is_naming() const;
  // What is left stays without names; is_naming() is false soon.
  void stop_naming();

 private:
  class Worker;
  explicit Recorder(std::unique_ptr<Worker> worker);
  std::unique_ptr<Worker> worker_;
  std::future<void> naming_;
};

}  // namespace lanescope::cpu

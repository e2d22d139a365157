// Records what threads do: when each runs, when it waits for a processor or for something else, and what code it runs.
//
// The host asks the kernel (perf_event_open) and reads what the kernel writes; nothing enters the observed processes. A thread of the recorder puts
// the records in order and packs them. drain() hands over what is ready, on the caller's thread.
//
// Threads: all functions must be called from one thread.
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

// One program in one process: an exec begins another one. Keys count from 1; the process that a recording begins with is the first.
using ProcessKey = std::uint32_t;
inline constexpr ProcessKey kFirstProcess = 1;
inline constexpr ProcessKey kWholeRecording = 0;  // for facts that belong to no process

enum class Membership {
  kRecorded,  // one of the recorded programs, or started by one
  kOutside,   // seen because the whole machine is recorded
};

struct SeenProcess {
  ProcessKey key = 0;
  pid_t pid = 0;
  pid_t parent = 0;
  std::int64_t start = 0;  // CLOCK_MONOTONIC ns; when it was first seen if it ran before; `program_start` if it followed an announced program by exec
  std::string executable;  // path; empty when not known
  std::vector<std::string> arguments;  // empty if the process had ended before it could be asked
  bool forked = false;                 // it runs its parent's program
  bool executed = false;               // its exec was seen; false for the program that was launched
  Membership membership = Membership::kRecorded;
  std::int64_t program_start = 0;  // CLOCK_MONOTONIC ns of the exec of the program that it runs; `start` if no exec was seen
};

// Receives what was recorded. A process is announced before anything else is reported about it. described() and recorded() are also called for the
// whole recording.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void process_began(const SeenProcess& process) = 0;
  virtual void process_ended(ProcessKey process, std::int64_t time) = 0;
  virtual void process_forgotten(ProcessKey process) = 0;  // nothing more is reported about it
  virtual void thread_named(ProcessKey process, std::uint32_t thread, const std::string& name) = 0;
  virtual void described(ProcessKey process, const proto::Resources& resources) = 0;  // what events refer to
  virtual void recorded(ProcessKey process, const proto::EventChunk& chunk, std::uint32_t events) = 0;
  virtual void named(ProcessKey process, const proto::Symbols& symbols) = 0;
  virtual void counted(ProcessKey process, const proto::Counters& counters) = 0;  // for this part of the recording
  virtual void noted(const proto::Diagnostic& diagnostic) = 0;
};

enum class Start { kAtOnce, kWhenTold };  // kAtOnce: with the process's next exec, or now if it already runs

class Recorder {
 public:
  // Records a process that is about to call exec, and everything that it starts. Fails with one sentence if nothing at all can be recorded. If only a
  // part can be recorded, this is reported by noted().
  static Result<std::unique_ptr<Recorder>> launch(pid_t waiting, const CpuSettings& settings, Start start, std::chrono::milliseconds flush_interval);
  // Records a running process, its children and everything that they start.
  static Result<std::unique_ptr<Recorder>> attach(pid_t running, const CpuSettings& settings, Start start, std::chrono::milliseconds flush_interval);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Records from here on, if it does not yet.
  void begin_part();

  // The reader of the programs' Python stacks; null if it was not asked for. The caller may keep it.
  [[nodiscard]] std::shared_ptr<const python::Sampler> python() const;

  // Hands over what has been packed since the last time.
  void drain(Listener& listener);
  // Stops, and hands over everything recorded until now. Another part may follow.
  void finish_part(Listener& listener);
  // Begins to look up names of code that this part has seen. This takes long if large files with debug information must be read. drain() hands the
  // names over, the last of them after is_naming() has become false. Requires: finish_part() was called.
  void begin_naming();
  [[nodiscard]] bool is_naming() const;
  // Code that was not looked up yet stays without names. is_naming() becomes false soon after.
  void stop_naming();

 private:
  class Worker;
  explicit Recorder(std::unique_ptr<Worker> worker);
  std::unique_ptr<Worker> worker_;
  std::future<void> naming_;
};

}  // namespace lanescope::cpu

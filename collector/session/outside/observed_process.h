// A process about which no agent reports: its threads are observed from outside.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "collector/cpu/recorder.h"
#include "file/frame_log.h"
#include "processes/proc.h"
#include "processes/target_process.h"

namespace lanescope::session {

class ObservedProcess {
 public:
  // Writes ProcessStart.
  ObservedProcess(std::uint32_t instance, const cpu::SeenProcess& seen, const proto::JobPlace& place, FrameLog& log);

  [[nodiscard]] std::uint32_t instance() const noexcept { return instance_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool is_of_recording() const noexcept { return is_of_recording_; }  // false for others of the machine
  [[nodiscard]] std::int64_t start() const noexcept { return start_; }
  [[nodiscard]] const ProcessDescription& description() const noexcept { return description_; }

  void write_end(const TargetProcess::Ending& ending, std::int64_t time);

 private:
  std::uint32_t instance_;
  pid_t pid_;
  bool is_of_recording_;
  std::int64_t start_;
  ProcessDescription description_;
  FrameLog* log_;
};

// Everything except its place, and whether an agent has reported.
[[nodiscard]] proto::ProcessStart start_of(const cpu::SeenProcess& seen);

[[nodiscard]] inline ProcessDescription describe(const cpu::SeenProcess& seen) { return {seen.parent, seen.executable, seen.arguments}; }

}  // namespace lanescope::session

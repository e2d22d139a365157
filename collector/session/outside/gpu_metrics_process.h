// The program that samples GPU metrics for a recording: lanescope-gpu-metrics, in a process of its own, whose frames come through a pipe.
//
// Each of its failures is reported to the user in a sentence; the recording continues without it. One thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collector/session/recording.h"
#include "file/frame_log.h"
#include "file_descriptor.h"

namespace lanescope::session {

class GpuMetricsProcess {
 public:
  using Report = std::function<void(const std::string& sentence)>;

  // Starts it, and waits, at most some seconds, until it samples. Fails if it can't be started.
  static Result<std::unique_ptr<GpuMetricsProcess>> start(const GpuMetricsSettings& settings);
  ~GpuMetricsProcess();
  GpuMetricsProcess(const GpuMetricsProcess&) = delete;
  GpuMetricsProcess& operator=(const GpuMetricsProcess&) = delete;

  // To wait for input; -1 once the process is gone.
  [[nodiscard]] int descriptor() const noexcept { return frames_.get(); }

  enum class Samples {
    kKeep,
    kKeepRest,  // samples up to its answer to ask_for_rest()
    kLeaveOut
  };
  // Passes on what has come. What it says about GPUs, and why something can't be sampled, always goes to the log.
  void drain(FrameLog& log, Samples samples, const Report& report);

  // Asks for everything that was sampled until now.
  void ask_for_rest();
  [[nodiscard]] bool has_answered() const noexcept { return answers_ >= asked_ || !frames_.valid(); }
  // True if it has not answered, and is still worth waiting for: it sent something in the last 5 s, and it was asked in the last minute.
  [[nodiscard]] bool is_awaited() const noexcept;

  // Ends it, and passes on its last frames. Takes some tenths of a second if processors are idle, else as long as it takes to evaluate samples that waited
  // for a processor; at most 5 s without a byte from it, and at most a minute.
  void end(FrameLog& log, Samples samples, const Report& report);

 private:
  GpuMetricsProcess(pid_t pid, FileDescriptor commands, FileDescriptor frames);
  void read_frames();
  void wait_for_answer(std::chrono::milliseconds limit);
  void count_answers();
  [[nodiscard]] std::int64_t patience_left() const noexcept;  // ns
  void look_after(const Report& report);                      // says so if it ended before it was asked to
  void take(const FrameView& frame, std::span<const std::byte> bytes, FrameLog& log, Samples samples, const Report& report) const;

  pid_t pid_;
  FileDescriptor commands_;
  FileDescriptor frames_;
  std::vector<std::byte> received_;  // whole frames, and the start of one
  std::size_t counted_ = 0;          // bytes of `received_` in which answers were counted
  unsigned asked_ = 1;               // it answers once without a question, when it samples
  unsigned answers_ = 0;
  unsigned taken_answers_ = 0;      // number of answers that drain() has passed
  std::int64_t last_question_ = 0;  // CLOCK_MONOTONIC ns
  std::int64_t last_byte_ = 0;      // when the last byte came or something was asked, in the same unit
  bool reaped_ = false;
};

}  // namespace lanescope::session

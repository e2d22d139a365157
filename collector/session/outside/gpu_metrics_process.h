// The program that samples GPU metrics for a recording: lanescope-gpu-metrics, in a process of its own, whose frames come through a pipe.
//
// Everything that goes wrong with it is a sentence for the user; the recording goes on without. One thread.
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

  // Starts it, and waits (some seconds at most) until it samples. Fails where it can't be started.
  static Result<std::unique_ptr<GpuMetricsProcess>> start(const GpuMetricsSettings& settings);
  ~GpuMetricsProcess();
  GpuMetricsProcess(const GpuMetricsProcess&) = delete;
  GpuMetricsProcess& operator=(const GpuMetricsProcess&) = delete;

  // To wait for; -1 once it is gone.
  [[nodiscard]] int descriptor() const noexcept { return frames_.get(); }

  enum class Samples {
    kKeep,
    kKeepRest,  // those up to its answer to ask_for_rest()
    kLeaveOut
  };
  // Hands on what has come. What it says of GPUs, and why something can't be sampled, always reaches the log.
  void drain(FrameLog& log, Samples samples, const Report& report);

  // Asks for everything that was sampled up to now.
  void ask_for_rest();
  [[nodiscard]] bool has_answered() const noexcept { return answers_ >= asked_ || !frames_.valid(); }
  // Whether it has not, and is still worth waiting for: something came from it in the last 5 s, and it was asked in the last minute.
  [[nodiscard]] bool is_awaited() const noexcept;

  // Ends it, and hands on its last frames. Takes some tenths of a second where processors were idle, else as long as samples that waited for
  // one take to be evaluated; 5 s at most without a byte from it, and a minute at most.
  void end(FrameLog& log, Samples samples, const Report& report);

 private:
  GpuMetricsProcess(pid_t pid, FileDescriptor commands, FileDescriptor frames);
  void read_frames();
  void wait_for_answer(std::chrono::milliseconds limit);
  void count_answers();
  [[nodiscard]] std::int64_t patience_left() const noexcept;  // ns
  void look_after(const Report& report);                      // says so where it ended before it was asked to
  void take(const FrameView& frame, std::span<const std::byte> bytes, FrameLog& log, Samples samples, const Report& report) const;

  pid_t pid_;
  FileDescriptor commands_;
  FileDescriptor frames_;
  std::vector<std::byte> received_;  // whole frames, and the begin of one
  std::size_t counted_ = 0;          // bytes of `received_` in which answers were counted
  unsigned asked_ = 1;               // it answers once of itself, when it samples
  unsigned answers_ = 0;
  unsigned taken_answers_ = 0;      // among them, behind which drain() has come
  std::int64_t last_question_ = 0;  // CLOCK_MONOTONIC ns
  std::int64_t last_byte_ = 0;      // likewise, when the last one came or something was asked
  bool reaped_ = false;
};

}  // namespace lanescope::session

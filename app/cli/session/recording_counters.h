// Counters of kernels that are read while a program is recorded (`lanescope profile --kernels=counters`), and are put into its file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "collector/session/kernel_counters.h"
#include "collector/session/recording.h"
#include "model/file/result.h"

namespace lanescope::cli {

// The counters of one recording. Its functions are called in their order, by one thread.
class RecordingCounters {
 public:
  // Starts what `kernels` asks for, the text of --kernels; null if it does not ask for counters. Adds to the request the variables by which its program finds
  // the plan. Fails with one sentence, of kind kUsage if the request can't have counters.
  static Result<std::unique_ptr<RecordingCounters>> start(const std::string& kernels, session::LaunchRequest& request);

  // Waits for the plan on another thread while the program runs, which may take hours. If there is no plan, that is said at once.
  void await_plan();

  // Puts what was counted into the one file of the recording, which has ended, and says what is missing.
  void add_to(const session::RecordingOutcome& outcome);

 private:
  explicit RecordingCounters(std::unique_ptr<session::KernelCounters> counters) : counters_(std::move(counters)) {}
  void tell_not_counted(const Error& why);

  std::unique_ptr<session::KernelCounters> counters_;
  bool is_counted_ = true;
  std::jthread planning_;  // ends before what it uses
};

}  // namespace lanescope::cli

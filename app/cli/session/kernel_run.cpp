#include "session/kernel_run.h"

#include <chrono>
#include <iostream>
#include <utility>

#include "collector/session/recording.h"
#include "session/recording_watch.h"

namespace lanescope::cli {

Result<int> record_kernels(const std::vector<std::string>& program, const session::KernelCounterSettings& counters,
                           const std::filesystem::path& file) {
  using namespace std::chrono_literals;
  session::LaunchRequest request;
  request.command = program;
  request.settings.trace_nvtx = false;
  request.output = file.string();
  request.overwrite = Overwrite::kRefuse;
  const auto kernel_counters = session::KernelCounters::start(counters);
  if (!kernel_counters) return kernel_counters.error();
  const auto [name, value] = (*kernel_counters)->variable();
  request.environment.push_back({name, value});
  RecorderSignals signals;
  const auto recording = session::Recording::launch(std::move(request));
  if (!recording) return recording.error();
  const auto say = [&] {
    for (const std::string& sentence : (*recording)->take_messages()) std::cerr << "lanescope: " << sentence << '\n';
  };
  while (!(*recording)->wait_for(20ms)) {
    // The program gets what we get; how it ends is its own affair.
    while (const auto signal = signals.next()) (*recording)->pass_on(signal->si_signo);
    say();
  }
  signals.release();
  say();
  const session::RecordingOutcome outcome = (*recording)->outcome();
  if (!outcome.target && outcome.failure) return *outcome.failure;
  const auto sentences = (*kernel_counters)->append_to(file);
  if (!sentences) return sentences.error();
  for (const std::string& sentence : *sentences) std::cerr << "lanescope: " << sentence << '\n';
  if (!outcome.target) return 0;
  return outcome.target->signal != 0 ? 128 + outcome.target->signal : outcome.target->code;
}

}  // namespace lanescope::cli

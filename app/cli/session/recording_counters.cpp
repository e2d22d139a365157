#include "session/recording_counters.h"

#include <iostream>
#include <system_error>
#include <utility>

#include "options/kernel_options.h"
#include "session/kernel_run.h"

namespace lanescope::cli {
namespace {

void say(const std::string& sentence) { std::cerr << "lanescope: " + sentence + "\n" << std::flush; }

}  // namespace

Result<std::unique_ptr<RecordingCounters>> RecordingCounters::start(const std::string& kernels, session::LaunchRequest& request) {
  const auto wanted = kernel_counter_settings(kernels);
  if (!wanted) return wanted.error();
  if (!*wanted) return std::unique_ptr<RecordingCounters>();
  if (!request.settings.trace_cuda || request.settings.range.trigger == session::CaptureTrigger::kRequest)
    return Error{"--kernels=" + kernels + " is for programs that lanescope profile records with -t cuda, from their begin.", ErrorKind::kUsage};
  auto started = session::KernelCounters::start(**wanted, request.run_as ? std::optional(request.run_as->user) : std::nullopt);
  if (!started) return started.error();
  request.kernel_counters = kernels;
  for (const auto& [name, value] : (*started)->variables()) request.environment.push_back({name, value});
  return std::unique_ptr<RecordingCounters>(new RecordingCounters(std::move(*started)));
}

void RecordingCounters::tell_not_counted(const Error& why) {
  is_counted_ = false;
  say(why.text + " The program is recorded without them.");
}

void RecordingCounters::await_plan() {
  try {
    planning_ = std::jthread([this] {
      if (const Result<void> planned = counters_->await_plan(); !planned) tell_not_counted(planned.error());
    });
  } catch (const std::system_error&) {
    tell_not_counted(Error{"Counters of kernels are not read: there is no thread left that could wait for what to count."});
  }
}

void RecordingCounters::add_to(const session::RecordingOutcome& outcome) {
  if (planning_.joinable()) planning_.join();
  if (!is_counted_) return;
  if (outcome.files.empty()) return say("Counters of kernels are not stored: there is no file of the recording.");
  if (outcome.files.size() != 1) return say("Counters of kernels are not stored: they are for recordings of one file.");
  const auto appended = counters_->append_to(outcome.files.front().path, outcome.files.front().identity);
  if (!appended) return say(appended.error().text);
  for (const std::string& sentence : appended->sentences) say(sentence);
  for (const std::string& sentence : left_out_sentences(*appended)) say(sentence);
}

}  // namespace lanescope::cli

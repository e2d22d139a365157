#include "options/kernel_options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "checks.h"
#include "model/kernels/counters/sections.h"

namespace lanescope::cli {
namespace {

constexpr std::uint32_t kShortestPeriod = 5;  // exponents of two, as CUPTI takes them
constexpr std::uint32_t kLongestPeriod = 31;

Error no_such(std::string_view option, const std::string& why) { return {"--kernels=" + std::string(option) + ": " + why, ErrorKind::kUsage}; }

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t least, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

// Returns the text up to the separator, and removes both from `text`.
std::string_view next_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

// "20s", "500ms", "20".
std::optional<std::chrono::milliseconds> duration(std::string_view text) {
  std::chrono::milliseconds unit{1000};
  if (text.ends_with("ms")) {
    unit = std::chrono::milliseconds(1);
    text.remove_suffix(2);
  } else if (text.ends_with('s')) {
    text.remove_suffix(1);
  }
  constexpr std::uint32_t kMost = 86'400'000;
  const auto count = number(text, 1, kMost);
  return count ? std::optional<std::chrono::milliseconds>(*count * unit) : std::nullopt;
}

Result<void> set_pc_parameter(std::string_view option, std::string_view parameter, session::KernelSettings& settings) {
  std::string_view value = parameter;
  const std::string_view name = next_part(value, '=');
  if (name == "window" || name == "every") {
    const auto time = duration(value);
    if (!time)
      return no_such(option,
                     "a " + std::string(name == "window" ? "window" : "pause between windows") + " is a time, 30ms or 1s, not \"" + std::string(value) + "\".");
    (name == "window" ? settings.window : settings.every) = *time;
    return {};
  }
  if (name != "period")
    return no_such(option, "\"" + std::string(name) +
                               "\" is no parameter of pc. There are period, window and every, for example --kernels=pc:period=15 or pc:window=30ms,every=1s.");
  const auto period = number(value, kShortestPeriod, kLongestPeriod);
  if (!period) return no_such(option, "a period is a power of two in cycles, from 5 (32 cycles) to 31, not \"" + std::string(value) + "\".");
  settings.sampling_period = *period;
  return {};
}

// Sets whichever of the two was left out, and checks that they are consistent.
Result<void> complete_windows(std::string_view option, session::KernelSettings& settings) {
  constexpr std::chrono::milliseconds kWindow{30}, kEvery{1000}, kLate{200};  // samples come a tenth of a second late
  if (settings.window.count() == 0 && settings.every.count() == 0) return {};
  if (settings.window.count() == 0) settings.window = kWindow;
  if (settings.every.count() == 0) settings.every = std::max(kEvery, settings.window + kLate);
  if (settings.every >= settings.window + kLate) return {};
  return no_such(option, "a window of " + std::to_string(settings.window.count()) + " ms can begin every " + std::to_string((settings.window + kLate).count()) +
                             " ms at most: samples come up to 0.2 s late.");
}

Result<void> set_counter_parameter(std::string_view option, std::string_view parameter, session::KernelCounterSettings& settings) {
  std::string_view value = parameter;
  const std::string_view name = next_part(value, '=');
  if (name == "budget") {
    const auto budget = duration(value);
    if (!budget) return no_such(option, "a budget is a time of the program, 20s or 500ms, not \"" + std::string(value) + "\".");
    settings.budget = *budget;
    return {};
  }
  if (name == "set") {
    if (value == kernels::kSourceSet) return no_such(option, "instructions are counted in runs of their own: lanescope kernels --set source -- PROGRAM");
    settings.metrics = kernels::metrics_of_set(value);
    if (settings.metrics.empty()) return no_such(option, "there is no set \"" + std::string(value) + "\". All: lanescope kernels --list-sets");
    return {};
  }
  return no_such(option,
                 "\"" + std::string(name) + "\" is no parameter of counters. There are budget and set, for example --kernels=counters:budget=20s,set=triage.");
}

}  // namespace

void describe_kernels(CLI::App& app, CaptureOptions& options, Targets targets) {
  constexpr const char* kSamples = "pc, pc:period=N,window=30ms,every=1s";
  const bool is_running = targets == Targets::kRunning;
  app.add_option("--kernels", options.kernels,
                 is_running ? "Why kernels take as long as they do. pc: where their warps\nstand and what they wait for, sampled while the program\n"
                              "runs, every 2^N cycles with pc:period=N, for a while alone with\npc:window=30ms,every=1s; none"
                            : "Why kernels take as long as they do. pc: where their warps\nstand and what they wait for, sampled while the program\n"
                              "runs, every 2^N cycles with pc:period=N, for a while alone with\npc:window=30ms,every=1s; counters: what bounds them, of the\n"
                              "first and the tenth launch of each kernel and shape,\ncounters:budget=20s for so long, counters:set=NAME; none")
      ->type_name("WHAT")
      ->check(is_running ? help_lists({"none", kSamples}) : help_lists({"none", kSamples, "counters, counters:budget=20s,set=NAME"}))
      ->default_str("none")
      ->group("What to record");
}

Result<session::KernelSettings> kernel_settings(std::string_view text) {
  std::string_view parameters = text;
  const std::string_view what = next_part(parameters, ':');
  session::KernelSettings settings;
  if (what == "pc") {
    settings.collection = session::KernelCollection::kPcSamples;
    while (!parameters.empty())
      if (auto set = set_pc_parameter(text, next_part(parameters, ','), settings); !set) return set.error();
    if (auto set = complete_windows(text, settings); !set) return set.error();
    return settings;
  }
  if (text == "none" || what == "counters") return settings;
  return no_such(text, "there are pc, counters and none.");
}

Result<std::optional<session::KernelCounterSettings>> kernel_counter_settings(std::string_view text) {
  constexpr std::chrono::seconds kBudget{20};
  std::string_view parameters = text;
  if (next_part(parameters, ':') != "counters") return std::optional<session::KernelCounterSettings>();
  session::KernelCounterSettings settings;
  settings.metrics = kernels::metrics_of_set("triage");
  settings.replay = session::KernelReplay::kSpread;
  settings.launches = session::LaunchesMeasured::kSample;
  settings.budget = kBudget;
  while (!parameters.empty())
    if (auto set = set_counter_parameter(text, next_part(parameters, ','), settings); !set) return set.error();
  return std::optional(std::move(settings));
}

}  // namespace lanescope::cli

// The option that says what to find out about kernels beyond their times.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "collector/session/kernel_counters.h"
#include "collector/session/kernel_settings.h"
#include "options/capture_options.h"

namespace lanescope::cli {

// As describe_capture() (capture_options.h).
void describe_kernels(CLI::App& app, CaptureOptions& options, Targets targets);

// Reads "counters", with its parameters after a colon ("counters:budget=20s,set=triage"). Returns nothing for other words. Fails with one sentence, of kind
// kUsage.
[[nodiscard]] Result<std::optional<session::KernelCounterSettings>> kernel_counter_settings(std::string_view text);

// Reads "none", or what to find out, with its parameters after a colon: "pc", "pc:period=15". Fails with one sentence, of kind kUsage.
[[nodiscard]] Result<session::KernelSettings> kernel_settings(std::string_view text);

}  // namespace lanescope::cli

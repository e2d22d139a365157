// The options that say what is observed from outside a program: its threads, and the hardware of GPUs. Each capture of a session may have different ones
// (lanescope start).
#pragma once

#include <CLI/CLI.hpp>

#include "collector/session/recording.h"
#include "options/capture_options.h"

namespace lanescope::cli {

// As describe_capture() (capture_options.h).
void describe_threads(CLI::App& app, CaptureOptions& options);
[[nodiscard]] cpu::CpuSettings cpu_settings(const CaptureOptions& options);

// As describe_capture(). If the value is help, an option prints what can be sampled here, and the command is over: CLI::Success is thrown.
void describe_gpu_metrics(CLI::App& app, CaptureOptions& options);
// For networks and disks of the machine.
void describe_machine_metrics(CLI::App& app, CaptureOptions& options);
// Fails with one sentence, of kind kUsage, if a value is not valid.
Result<session::GpuMetricsSettings> gpu_metrics_settings(const CaptureOptions& options);
[[nodiscard]] machine_metrics::Settings machine_metrics_settings(const CaptureOptions& options);

}  // namespace lanescope::cli

// The options that say what to record, shared by the commands that record.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "collector/session/recording.h"
#include "options/unrecorded_options.h"

namespace lanescope::cli {

// As typed.
struct CaptureOptions {
  std::vector<std::string> trace{"cuda", "nvtx"};
  std::string preset = "default";
  std::string graph_trace;
  unsigned flush_interval = 500;
  unsigned record_memory = 256;  // MiB
  bool trace_all_calls = false;
  std::optional<bool> memory_usage;  // none: as in the preset
  bool cpu_page_faults = false;
  bool gpu_page_faults = false;
  bool cuda_events = false;
  std::string kernels = "none";
  std::vector<std::string> backtraces;
  std::string python_backtrace = "none";
  std::string gpu_metrics_devices = "none";
  std::string gpu_metrics_set = "default";
  std::string gpu_metrics_frequency = "2000";
  std::string nic_metrics = "none";
  bool storage_metrics = false;
  unsigned osrt_threshold = 1000;
  std::string osrt_backtrace_threshold = "80000";
  bool osrt_file_access = false;
  std::string mpi_implementation;
  std::string pytorch = "none";
  std::string python_functions = "none";
  std::string domain_include;
  std::string domain_exclude;
  std::string thread_states = "process-tree";
  std::string samples = "process-tree";
  std::string call_chains;  // empty: the default
  bool python_sampling = false;
  unsigned sampling_frequency = 1000;
  std::string debug_folders;
  bool system_calls = false;  // set by an option of nsys's name; otherwise they are chosen in `trace`
  std::vector<std::string> tracepoints;
  std::vector<std::string> counted_events;
  UnrecordedOptions unrecorded;
};

// Which programs are recorded. Operating system calls can be recorded only in programs that we start.
enum class Targets { kLaunched, kRunning };

// Adds the options to the command; parsing it fills `options`, which must live as long as `app`.
void describe_capture(CLI::App& app, CaptureOptions& options, Targets targets);
// Fails with one sentence, of kind kUsage, if a value is not valid or two contradict each other.
Result<session::CaptureSettings> capture_settings(const CaptureOptions& options);

// Converts seconds, as typed, to nanoseconds.
[[nodiscard]] std::chrono::nanoseconds seconds(double value);

}  // namespace lanescope::cli

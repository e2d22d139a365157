#include "capture_options.h"

#include <algorithm>

namespace lanescope::cli {

void describe_capture(CLI::App& app, CaptureOptions& options, Targets targets) {
  constexpr const char* kGroup = "What to record";
  const bool is_running = targets == Targets::kRunning;
  const std::vector<std::string> choices =
      is_running ? std::vector<std::string>{"cuda", "nvtx"} : std::vector<std::string>{"cuda", "nvtx", "osrt", "none"};
  app.add_option("-t,--trace", options.trace, is_running ? "cuda, nvtx" : "cuda, nvtx, osrt, or none")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(choices))
      ->default_str("cuda,nvtx")
      ->group(kGroup);
  app.add_option("--preset", options.preset, "light (least overhead), default, or deep")
      ->type_name("NAME")
      ->check(CLI::IsMember({"light", "default", "deep"}))
      ->default_str("default")
      ->group(kGroup);
  app.add_option("--cuda-graph-trace", options.graph_trace,
                 "node: an event for each node of a CUDA graph;\ngraph: one for each launch of a graph")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"node", "graph"}))
      ->default_str("node; graph with --preset=light")
      ->group(kGroup);
  app.add_option("--cuda-flush-interval", options.flush_interval, "Time between collections of finished GPU records")
      ->type_name("MS")
      ->check(CLI::Range(10u, 600'000u))
      ->default_str("500")
      ->group(kGroup);
}

std::chrono::nanoseconds seconds(double value) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(value));
}

session::CaptureSettings capture_settings(const CaptureOptions& options) {
  const auto traces = [&](const char* what) { return std::find(options.trace.begin(), options.trace.end(), what) != options.trace.end(); };
  session::CaptureSettings settings;
  settings.trace_cuda = traces("cuda");
  settings.trace_nvtx = traces("nvtx");
  settings.trace_os_runtime = traces("osrt");
  settings.preset = options.preset == "light"  ? session::Preset::kLight
                    : options.preset == "deep" ? session::Preset::kDeep
                                               : session::Preset::kDefault;
  const bool by_graph = options.graph_trace.empty() ? settings.preset == session::Preset::kLight : options.graph_trace == "graph";
  settings.graph_level = by_graph ? session::GraphLevel::kGraph : session::GraphLevel::kNode;
  settings.flush_interval = std::chrono::milliseconds(options.flush_interval);
  return settings;
}

}  // namespace lanescope::cli

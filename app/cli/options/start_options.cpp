#include "options/start_options.h"

#include <nlohmann/json.hpp>

#include "checks.h"
#include "options/observation_options.h"

namespace lanescope::cli {

void describe_start(CLI::App& app, StartOptions& options) {
  describe_threads(app, options.capture);
  describe_gpu_metrics(app, options.capture);
  describe_machine_metrics(app, options.capture);
  describe_range(app, options.range, Targets::kLaunched);
  app.add_option("-d,--duration", options.duration, "Then the capture ends; the program runs on")
      ->type_name("SECONDS")
      ->check(seconds_of_time(Zero::kRefused))
      ->group("When");
  app.add_flag_function(
         "-x,--stop-on-exit", [&options](std::int64_t count) { options.stop_on_exit = count > 0; },
         "End when the program ends; false: with lanescope stop [true]")
      ->group("When");
  app.add_option("-o,--output", options.output, "The file, as for lanescope profile")
      ->type_name("FILE")
      ->check(recording_name())
      ->default_str("report%n")
      ->group("Output");
  app.add_flag("-f,--force-overwrite", options.overwrite, "Replace the file when it exists [false]")->group("Output");
  describe_reports(app, options.reports);
  app.add_option("--session", options.session, "Which session")->type_name("NAME")->group("Session");
  app.add_option("--session-new", options.new_session, "Record the next lanescope launch, which gets this name")
      ->type_name("NAME")
      ->check(session_name())
      ->group("Session");
  describe_unrecorded(app, options.capture.unrecorded);
}

Result<session::CaptureRequest> capture_request(const StartOptions& options, const std::filesystem::path& folder) {
  session::CaptureRequest request;
  if (!options.output.empty()) request.output = (folder / options.output).string();
  if (options.overwrite) request.overwrite = Overwrite::kAllow;
  RangeOptions range = options.range;
  range.start_later = range.range == "none";  // a range that the session names waits until its trigger is chosen
  Result<session::CaptureRange> wanted = capture_range(range);
  if (!wanted) return wanted.error();
  if (wanted->trigger != session::CaptureTrigger::kRequest) request.range = std::move(*wanted);
  request.cpu = cpu_settings(options.capture);
  Result<session::GpuMetricsSettings> metrics = gpu_metrics_settings(options.capture);
  if (!metrics) return metrics.error();
  request.gpu_metrics = std::move(*metrics);
  request.machine_metrics = machine_metrics_settings(options.capture);
  if (options.duration > 0) request.duration = seconds(options.duration);
  if (options.stop_on_exit) request.on_target_exit = *options.stop_on_exit ? session::OnTargetExit::kStop : session::OnTargetExit::kGoOn;
  return request;
}

nlohmann::json start_message(const Arguments& arguments) {
  std::error_code ignored;
  return {{"command", "start"}, {"arguments", arguments}, {"folder", std::filesystem::current_path(ignored).string()}};
}

Result<session::CaptureRequest> read_start(const nlohmann::json& message, StartOptions& options) {
  CLI::App app("", "lanescope start");
  describe_start(app, options);
  try {
    if (const Result<void> read = read_options(app, message.value("arguments", Arguments{})); !read) return read.error();
    options.reports.overwrite = options.overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
    return capture_request(options, message.value("folder", ""));
  } catch (const CLI::Success&) {
    return Error{"The session answers no questions: ask lanescope start itself.", ErrorKind::kUsage};
  } catch (const nlohmann::json::exception&) {
    return Error{"The session did not understand the request."};
  }
}

}  // namespace lanescope::cli

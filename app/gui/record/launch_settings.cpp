#include "record/launch_settings.h"

#include <algorithm>
#include <csignal>

#include <QDir>

#include "collector/remote/target.h"
#include "collector/session/library_traces.h"
#include "collector/session/python_functions.h"
#include "record/wrong_answer.h"

namespace lanescope::ui {
namespace {

// "all", "cuda-visible", or numbers.
bool names_gpus(const QString& text) {
  const auto belongs_to_numbers = [](QChar each) { return each.isDigit() || each == u','; };
  return text == u"all" || text == u"cuda-visible" || (!text.isEmpty() && std::all_of(text.begin(), text.end(), belongs_to_numbers));
}

// Applies the choices to a request for launching or for attaching.
template <typename Request>
void apply(const CaptureChoices& choices, Request& request) {
  constexpr double kMegabyte = 1e6;
  request.settings = capture_settings(choices);
  request.delay = seconds(choices.delay);
  if (choices.duration > 0) request.duration = seconds(choices.duration);
  if (choices.keep_last > 0) request.keep_last = seconds(choices.keep_last);
  if (choices.file_size > 0) request.maximum_file_size = static_cast<std::uint64_t>(choices.file_size * kMegabyte);
}

}  // namespace

std::string output_pattern(const QString& asked, const QString& directory) {
  const QString pattern = asked.trimmed().isEmpty() ? QStringLiteral("report%n.trace") : asked.trimmed();
  const QDir folder(directory.isEmpty() ? QDir::currentPath() : directory);
  return QDir::cleanPath(folder.absoluteFilePath(pattern)).toStdString();
}

std::optional<WrongAnswer> wrong_answer(const LaunchSettings& settings) {
  if (settings.program.trimmed().isEmpty()) return WrongAnswer{LaunchField::kProgram, "Name the program to record."};
  if (const auto arguments = remote::split_words(settings.arguments.toStdString()); !arguments)
    return WrongAnswer{LaunchField::kArguments, "The text of the arguments " + arguments.error().text};
  for (const QString& line : settings.environment)
    if (!line.trimmed().isEmpty() && line.indexOf(u'=') <= 0)
      return WrongAnswer{LaunchField::kEnvironment, "The environment has a line that is not NAME=VALUE: \"" + line.toStdString() + "\"."};
  if (settings.capture.trigger == session::CaptureTrigger::kNvtxRange && settings.capture.range.isEmpty())
    return WrongAnswer{LaunchField::kRange, "Name the NVTX range to record."};
  if (settings.capture.gpu_metrics && !names_gpus(settings.capture.gpu_metrics_devices))
    return WrongAnswer{LaunchField::kGpus, "GPUs are named by their numbers, such as 0,1, not \"" + settings.capture.gpu_metrics_devices.toStdString() + "\"."};
  return std::nullopt;
}

Result<session::LaunchRequest> launch_request(const LaunchSettings& settings) {
  if (const std::optional<WrongAnswer> wrong = wrong_answer(settings)) return Error{wrong->sentence, ErrorKind::kUsage};
  session::LaunchRequest request;
  request.command.push_back(settings.program.trimmed().toStdString());
  const Result<std::vector<std::string>> arguments = remote::split_words(settings.arguments.toStdString());
  request.command.insert(request.command.end(), arguments->begin(), arguments->end());
  request.working_directory = settings.working_directory.toStdString();
  request.environment = session::library_variables(words(settings.capture.libraries));
  for (const QString& line : settings.environment) {
    if (line.trimmed().isEmpty()) continue;
    const qsizetype equals = line.indexOf(u'=');
    request.environment.push_back({line.left(equals).trimmed().toStdString(), line.mid(equals + 1).toStdString()});
  }
  apply(settings.capture, request);
  request.inherit_environment = settings.inherit_environment ? session::InheritEnvironment::kYes : session::InheritEnvironment::kNo;
  request.overwrite = settings.overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
  request.wait_for = settings.capture.wait_for_children ? session::WaitFor::kAll : session::WaitFor::kPrimary;
  const bool range_ends_it = settings.capture.trigger != session::CaptureTrigger::kNone && settings.capture.after_range == session::AfterCapture::kShutdown;
  if (range_ends_it || settings.capture.program_at_end == ProgramAtEnd::kEnds) request.end_signal = SIGTERM;
  if (settings.capture.trace_nvtx) request.pytorch = settings.capture.pytorch;
  if (settings.capture.trace_nvtx && !settings.capture.python_ranges_of.isEmpty()) {
    Result<std::filesystem::path> functions = session::python_functions(settings.capture.python_ranges_of.toStdString());
    if (!functions) return functions.error();
    request.python_functions = std::move(*functions);
  }
  request.target_output = session::TargetOutput::kStore;
  request.output = output_pattern(settings.output, settings.working_directory);
  return request;
}

session::AttachRequest attach_request(const AttachSettings& settings) {
  session::AttachRequest request;
  request.pid = settings.pid;
  CaptureChoices choices = settings.capture;
  choices.trace_mpi = false;
  choices.libraries.clear();
  apply(choices, request);
  // Our process did not start the program, so it cannot continue to wait for it.
  session::CaptureRange& range = request.settings.range;
  if (range.after == session::AfterCapture::kStop) range.after = session::AfterCapture::kShutdown;
  range.after_repeats = session::AfterCapture::kShutdown;
  request.overwrite = settings.overwrite ? Overwrite::kAllow : Overwrite::kRefuse;
  request.output = output_pattern(settings.output, {});
  return request;
}

}  // namespace lanescope::ui

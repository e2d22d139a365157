#include "options/launch_options.h"

#include <csignal>
#include <fstream>
#include <map>

#include "checks.h"
#include "collector/remote/target.h"
#include "collector/session/library_traces.h"
#include "collector/session/python_functions.h"

namespace lanescope::cli {
namespace {

void describe_end(CLI::App& app, LaunchOptions& options) {
  constexpr const char* kGroup = "When";
  app.add_option("--kill", options.kill, "What ends the program after the duration:\nnone, sigterm, sigkill, or a number")
      ->type_name("SIGNAL")
      ->check(help_lists(signals_of_end()))
      ->default_str("sigterm")
      ->group(kGroup);
  app.add_flag("-x,--stop-on-exit", options.stop_on_exit, "End when the program ends; false requires --duration [true]")->group(kGroup);
  app.add_option("--wait", options.wait, "For the end of: primary (the program), or all (also its\nrecorded children)")
      ->type_name("WHOM")
      ->check(one_of({"primary", "all"}))
      ->default_str("all")
      ->group(kGroup);
}

void describe_program(CLI::App& app, LaunchOptions& options) {
  constexpr const char* kGroup = "Program";
  app.add_option("PROGRAM", options.program, "What to run, and its arguments");
  app.add_option("-e,--env-var", options.environment, "Environment variables for it: A=B,C=D")->type_name("LIST")->expected(1)->take_all()->group(kGroup);
  app.add_flag("-n,--inherit-environment", options.inherit_environment, "Give it our environment [true]")->group(kGroup);
  app.add_option("--run-as", options.run_as, "Start it as this user (needs root); the file is root's")->type_name("USER")->group(kGroup);
  app.add_flag("--arm", options.arm, "Record nothing until lanescope attach, which then needs no\nrights and records whatever comes after it")->group(kGroup);
}

// The length of a variable's name, as in shells, that ends at an equals sign; 0 if `text` does not start with such a name.
std::size_t length_of_name(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  constexpr std::string_view kLettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  if (text.empty() || kLetters.find(text.front()) == std::string_view::npos) return 0;
  const std::size_t end = text.find_first_not_of(kLettersAndDigits);
  return end != std::string_view::npos && text[end] == '=' ? end : 0;
}

Result<std::vector<session::EnvironmentChange>> environment_changes(const std::vector<std::string>& texts) {
  std::vector<session::EnvironmentChange> changes;
  for (const std::string& text : texts) {
    std::string_view rest = text;
    do {
      const std::size_t equals = rest.find('=');
      if (equals == std::string_view::npos || equals == 0) return Error{"--env-var needs NAME=VALUE, not \"" + std::string(rest) + "\".", ErrorKind::kUsage};
      // A comma separates only if NAME= follows, so that values may contain commas and equals signs.
      std::size_t comma = rest.find(',', equals);
      while (comma != std::string_view::npos && length_of_name(rest.substr(comma + 1)) == 0) comma = rest.find(',', comma + 1);
      const std::string_view value = rest.substr(equals + 1, comma == std::string_view::npos ? comma : comma - equals - 1);
      changes.push_back({std::string(rest.substr(0, equals)), std::string(value)});
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    } while (!rest.empty());
  }
  return changes;
}

}  // namespace

void describe_launch(CLI::App& app, LaunchOptions& options) {
  describe_capture(app, options.capture, Targets::kLaunched);
  describe_range(app, options.range, Targets::kLaunched);
  describe_start_later(app, options.range);
  describe_recording(app, options.recording, Targets::kLaunched);
  describe_end(app, options);
  app.add_flag("-w,--show-output", options.show_output, "Show what the program prints [true]")->group("Output");
  app.add_flag("--store-output", options.store_output,
               "Store what the program prints, which then goes through pipes; false: it keeps the terminal or file [true]")
      ->group("Output");
  describe_reports(app, options.reports);
  describe_program(app, options);
  describe_unrecorded(app, options.capture.unrecorded);
}

StartOptions start_options(const CaptureOptions& capture, const RangeOptions& range, const ReportOptions& reports) {
  StartOptions options;
  options.capture = capture;
  options.range.nvtx_capture = range.nvtx_capture;
  options.reports = reports;
  return options;
}

std::vector<std::string> signals_of_end() { return {"none", "sigterm", "sigkill", "1 to 63 (a signal's number)"}; }

Result<std::optional<int>> end_signal(const std::string& text) {
  static const std::map<std::string, std::optional<int>> kNamed{{"none", std::nullopt}, {"sigterm", SIGTERM}, {"sigkill", SIGKILL}};
  if (const auto found = kNamed.find(text); found != kNamed.end()) return found->second;
  const bool is_number = !text.empty() && text.size() <= 2 && text.find_first_not_of("0123456789") == std::string::npos;
  const int number = is_number ? std::stoi(text) : 0;
  if (number <= 0 || number >= SIGRTMAX) return Error{"--kill takes none, sigterm, sigkill, or a signal's number, not \"" + text + "\".", ErrorKind::kUsage};
  return std::optional<int>(number);
}

Result<session::LaunchRequest> launch_request(const LaunchOptions& options, std::vector<std::string> command) {
  session::LaunchRequest request;
  request.command = std::move(command);
  Result<std::vector<session::EnvironmentChange>> environment = environment_changes(options.environment);
  if (!environment) return environment.error();
  request.environment = session::library_variables(options.capture.trace);
  request.environment.insert(request.environment.end(), environment->begin(), environment->end());
  if (!options.run_as.empty()) {
    Result<session::TargetUser> user = session::find_target_user(options.run_as);
    if (!user) return user.error();
    request.run_as = std::move(*user);
  }
  request.inherit_environment = options.inherit_environment ? session::InheritEnvironment::kYes : session::InheritEnvironment::kNo;
  if (!options.show_output && !options.store_output)
    return Error{"What the program prints is either stored, or goes where lanescope's own output goes. Leave out --show-output=false or --store-output=false.",
                 ErrorKind::kUsage};
  request.target_output = !options.store_output ? session::TargetOutput::kLeave
                          : options.show_output ? session::TargetOutput::kShowAndStore
                                                : session::TargetOutput::kStore;
  Result<session::CaptureSettings> settings = capture_settings(options.capture);
  if (!settings) return settings.error();
  request.settings = std::move(*settings);
  const std::string& pytorch = options.capture.pytorch;
  if (pytorch != "none") request.pytorch = pytorch == "autograd-nvtx" ? session::PytorchRanges::kOperations : session::PytorchRanges::kOperationsAndShapes;
  if (pytorch != "none" && !request.settings.trace_nvtx)
    return Error{"--pytorch marks operations with NVTX, which is not recorded. Add nvtx to --trace.", ErrorKind::kUsage};
  if (options.capture.python_functions != "none") {
    if (!request.settings.trace_nvtx)
      return Error{"--python-functions-trace marks functions with NVTX, which is not recorded. Add nvtx to --trace.", ErrorKind::kUsage};
    Result<std::filesystem::path> functions = session::python_functions(options.capture.python_functions);
    if (!functions) return Error{"--python-functions-trace: " + functions.error().text, ErrorKind::kUsage};
    request.python_functions = std::move(*functions);
  }
  Result<session::CaptureRange> range = capture_range(options.range);
  if (!range) return range.error();
  request.settings.range = std::move(*range);
  apply(options.recording, request);
  if (!options.stop_on_exit && !request.duration) return Error{"--stop-on-exit=false requires --duration.", ErrorKind::kUsage};
  const Result<std::optional<int>> signal = end_signal(options.kill);
  if (!signal) return signal.error();
  request.end_signal = *signal;
  request.wait_for = options.wait == "primary" ? session::WaitFor::kPrimary : session::WaitFor::kAll;
  request.on_target_exit = options.stop_on_exit ? session::OnTargetExit::kStop : session::OnTargetExit::kGoOn;
  return request;
}

Result<Arguments> with_command_file(const CLI::App& app, const Arguments& arguments) {
  constexpr std::string_view kOption = "--command-file";
  const std::size_t at = place_of_option(app, arguments, kOption);
  if (at == arguments.size()) return arguments;
  const bool file_follows = arguments[at] == kOption;
  const std::size_t behind = at + (file_follows ? 2 : 1);
  if (behind > arguments.size()) return Error{"--command-file needs a value. See: " + app.get_name() + " --help", ErrorKind::kUsage};
  const std::string path = file_follows ? arguments[at + 1] : arguments[at].substr(kOption.size() + 1);
  constexpr std::size_t kMostBytes = 4u << 20;  // a command must be shorter for the kernel; a device may never end
  std::ifstream file(path);
  if (!file) return Error{"The command file " + path + " can't be read.", ErrorKind::kUsage};
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.find('\0') != std::string::npos) return Error{"The command file " + path + " is no text.", ErrorKind::kUsage};
  if (text.size() > kMostBytes) return Error{"The command file " + path + " is larger than 4 MiB.", ErrorKind::kUsage};
  const Result<std::vector<std::string>> words = remote::split_words(text, remote::Comments::kSkipped);
  if (!words) return Error{"The command file " + path + " " + words.error().text, ErrorKind::kUsage};
  Arguments result(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(at));
  result.insert(result.end(), words->begin(), words->end());
  result.insert(result.end(), arguments.begin() + static_cast<std::ptrdiff_t>(behind), arguments.end());
  return result;
}

}  // namespace lanescope::cli

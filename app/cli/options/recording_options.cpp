#include "options/recording_options.h"

#include "checks.h"
#include "model/trace/text/utf8.h"

namespace lanescope::cli {
namespace {

constexpr std::size_t kLongestLabel = 1024;  // bytes

CLI::Validator label_text() {
  const auto check = [](const std::string& text) -> std::string {
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && equals > 0 && text.size() <= kLongestLabel) return {};
    return "\"" + std::string(first_bytes(text, kLongestLabel)) + "\" is no KEY=VALUE of at most 1,024 bytes";
  };
  return CLI::Validator(check, "");
}

// If several labels have the same key, the last one counts.
std::vector<session::Label> labels_of(const std::vector<std::string>& texts) {
  std::vector<session::Label> labels;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    session::Label label{text.substr(0, equals), text.substr(equals + 1)};
    std::erase_if(labels, [&label](const session::Label& before) { return before.key == label.key; });
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

void describe_recording(CLI::App& app, RecordingOptions& options, Targets targets) {
  const bool is_running = targets == Targets::kRunning;
  constexpr const char* kWhen = "When";
  constexpr const char* kOutput = "Output";
  app.add_option("-y,--delay", options.delay, "What happens before is not recorded")->type_name("SECONDS")->check(seconds_of_time(Zero::kTaken))->group(kWhen);
  app.add_option("-d,--duration", options.duration, is_running ? "Then the recording ends" : "Then the recording ends, and the program too (--kill)")
      ->type_name("SECONDS")
      ->check(seconds_of_time(Zero::kRefused))
      ->group(kWhen);
  app.add_option("-o,--output", options.output,
                 is_running ? "The file; .trace is added. %p: the program's pid, %h: host\n"
                              "name, %n: smallest unused number, %q{NAME}: environment\n"
                              "variable, ours or the program's, %%: a percent sign"
                            : "The file; .trace is added. %p: the program's pid, %h: host\n"
                              "name, %n: smallest unused number, %q{NAME}: environment\n"
                              "variable; where only children of the program have it, they\n"
                              "get a file for each value. %%: a percent sign")
      ->type_name("FILE")
      ->check(recording_name())
      ->default_str("report%n")
      ->group(kOutput);
  app.add_flag("-f,--force-overwrite", options.force_overwrite, "Replace the file when it exists [false]")->group(kOutput);
  app.add_option_function<std::vector<std::string>>(
         "--label", [&options](const std::vector<std::string>& texts) { options.labels = labels_of(texts); },
         "Store this in the file, to tell many files apart:\nKEY=VALUE; may be repeated")
      ->type_name("LABEL")
      ->expected(1)
      ->take_all()
      ->check(label_text())
      ->group(kOutput);
  app.add_option("--max-file-size", options.maximum_file_size, "The capture ends before its file has more bytes (suffix K,\nM, G)")
      ->type_name("SIZE")
      ->transform(size_in_bytes())
      ->group(kOutput);
  app.add_option("--ring", options.keep_last, "Keep only the last SECONDS, in memory until the end")
      ->type_name("SECONDS")
      ->check(seconds_of_time(Zero::kRefused))
      ->group(kOutput);
  app.add_option("--session-new", options.session_name, "The session's name, for lanescope start, stop and the like")
      ->type_name("NAME")
      ->check(session_name())
      ->group(kOutput);
}

}  // namespace lanescope::cli

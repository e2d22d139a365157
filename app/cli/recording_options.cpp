#include "recording_options.h"

#include "checks.h"

namespace lanescope::cli {

void describe_recording(CLI::App& app, RecordingOptions& options, Targets targets) {
  const bool is_running = targets == Targets::kRunning;
  constexpr const char* kWhen = "When";
  constexpr const char* kOutput = "Output";
  app.add_option("-y,--delay", options.delay, "What happens before is not recorded")
      ->type_name("SECONDS")
      ->check(seconds_of_time(Zero::kTaken))
      ->group(kWhen);
  app.add_option("-d,--duration", options.duration,
                 is_running ? "Then the recording ends" : "Then the recording ends, and the program too (--kill)")
      ->type_name("SECONDS")
      ->check(seconds_of_time(Zero::kRefused))
      ->group(kWhen);
  app.add_option("-o,--output", options.output,
                 "The file; .trace is added. %p: the program's pid, %h: host\n"
                 "name, %n: smallest unused number, %q{NAME}: environment\n"
                 "variable, %%: a percent sign")
      ->type_name("FILE")
      ->default_str("report%n")
      ->group(kOutput);
  app.add_flag("-f,--force-overwrite", options.force_overwrite, "Replace the file when it exists [false]")->group(kOutput);
  app.add_option("--max-file-size", options.maximum_file_size, "The capture ends where its file has so many bytes (suffix K,\nM, G)")
      ->type_name("SIZE")
      ->transform(size_in_bytes())
      ->group(kOutput);
  app.add_option("--ring", options.keep_last, "Keep only the last so many seconds, in memory until the end")
      ->type_name("SECONDS")
      ->check(seconds_of_time(Zero::kRefused))
      ->group(kOutput);
  app.add_option("--session-new", options.session_name, "The session's name, for lanescope start, stop and the like")
      ->type_name("NAME")
      ->check(session_name())
      ->group(kOutput);
}

}  // namespace lanescope::cli

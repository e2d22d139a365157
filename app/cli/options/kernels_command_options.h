// What `lanescope kernels` was asked for: its options, in ncu's spelling, and whether they fit each other.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "collector/session/kernel_counters.h"
#include "model/file/result.h"
#include "options/kernel_choice.h"

namespace lanescope::cli {

// The section that takes no counters.
inline constexpr char kLaunchStats[] = "LaunchStats";

struct KernelOptions {
  std::filesystem::path file;
  std::vector<std::filesystem::path> further;
  std::string set = "full";
  std::vector<std::string> sections;
  std::vector<std::string> metrics;
  KernelChoice choice;
  std::string kernel_id, devices;  // as they are typed
  std::string launches = "all";
  std::string range;
  std::string from_start = "yes";
  std::string replay = "kernel";
  std::string clock_control = "none";
  std::string cache_control = "none";
  std::string page = "details";
  std::vector<std::string> source_folders;
  double timeout = 0;  // seconds; 0: no end
  std::string save;
  std::string chip;
  bool imports_sources = false;
  bool runs_again = false;
  bool lists_sets = false;
  bool lists_sections = false;
  bool queries_metrics = false;
  std::string summary = "none";
  std::string log;
  bool asks_call_stacks = false, counts_app_ranges = false;
};

// Adds the options to the command, which sets them.
void describe(CLI::App& app, KernelOptions& options);

// Each fails with one sentence, of kind kUsage where options do not fit.

// Nothing is at the path: what measures takes as long as the program, and is not to end in a loss.
Result<void> check_place(const std::filesystem::path& path);
// What else ncu has: takes it in our words, or says what to use. `measures`: a program runs.
Result<void> take_ncu_options(const CLI::App& app, KernelOptions& options, bool measures);
// That each has a value that it may have, beside the others.
Result<void> check(const KernelOptions& options);
// Of a file nothing is measured, unless its program is to run again.
Result<void> check_for_file(const CLI::App& app, const KernelOptions& options);

// As `ncu OPTIONS PROGRAM ARGUMENTS` is typed: the program's words; empty where the first of these is a file to show.
std::string program_without_mark(const KernelOptions& options);
// The program runs again for each pass: what ncu calls app-range, and the only way to count a range here.
bool counts_ranges(const KernelOptions& options);

// What is to be measured of a program. `set`: whether --set was typed, or stands by default.
enum class SetOption { kLeftOut, kGiven };
Result<session::KernelCounterSettings> counter_settings(const KernelOptions& options, SetOption set);

}  // namespace lanescope::cli

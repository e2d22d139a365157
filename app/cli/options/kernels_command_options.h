// What `lanescope kernels` was asked for: its options, in ncu's spelling, and whether they are consistent.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "collector/session/kernel_counters.h"
#include "model/file/result.h"
#include "options/kernel_choice.h"
#include "options/unrecorded_options.h"

namespace lanescope::cli {

// The section that needs no counters.
inline constexpr char kLaunchStats[] = "LaunchStats";

struct KernelOptions {
  std::filesystem::path file;
  std::vector<std::filesystem::path> further;
  std::string set = "full";
  std::vector<std::string> sections;
  std::vector<std::string> metrics;
  KernelChoice choice;
  std::string kernel_id, devices;  // as typed
  std::string launches = "all";
  std::string range;
  std::string from_start = "yes";
  std::string replay = "kernel";
  std::string clock_control = "none";
  std::string cache_control = "none";
  std::string page = "details";
  std::vector<std::string> source_folders;
  double timeout = 300;  // seconds; 0: none
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
  UnrecordedOptions of_ncu;  // what is left out
};

// Adds the options to the command, which sets them.
void describe(CLI::App& app, KernelOptions& options);

// Each function fails with one sentence, of kind kUsage if options do not fit.

// Checks that nothing exists at the path. Measuring takes as long as the program runs, and its result must not be lost at the end.
Result<void> check_place(const std::filesystem::path& path);
enum class KernelSource { kProgram, kFile };  // a program that is run and measured; what was measured before
// Handles the other options of ncu: translates them into ours, or says what to use.
Result<void> take_ncu_options(const CLI::App& app, KernelOptions& options, KernelSource source);
// Checks that each option has a valid value, and that the values fit each other.
Result<void> check(const KernelOptions& options);
// Checks options for a file: nothing is measured, unless its program is to run again.
Result<void> check_for_file(const CLI::App& app, const KernelOptions& options);

// For a command line such as `ncu OPTIONS PROGRAM ARGUMENTS`: the program's words, in a form to be typed. Empty if the first of these is a file to show.
std::string program_without_mark(const KernelOptions& options);
// True if the program runs again for each pass, which ncu calls app-range. It is the only way to count a range here.
bool counts_ranges(const KernelOptions& options);

// What to measure in a program. `set`: whether --set was typed, or has its default.
enum class SetOption { kLeftOut, kGiven };
Result<session::KernelCounterSettings> counter_settings(const KernelOptions& options, SetOption set);

}  // namespace lanescope::cli

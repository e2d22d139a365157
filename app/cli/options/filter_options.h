// The options that say which part of a trace counts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "model/file/result.h"
#include "model/stats/report.h"
#include "model/trace/trace.h"

namespace lanescope::cli {

// Adds --filter-time, which is spelled alike in every command. Help leaves out the older spellings of some commands, --times and --time. `time`: as typed.
void add_time_option(CLI::App& app, std::string& time, const std::string& what_it_selects);
inline constexpr const char* kOnlyEventsOfThisTime = "Only events that overlap this time: 1.5s/2s, /300ms (ns without a unit)";

// For `stats` and `analyze`.
struct FilterOptions {
  std::string time, range;  // as typed

  void add_options(CLI::App& app, const std::string& what_a_range_selects);
  [[nodiscard]] bool any() const noexcept { return !time.empty() || !range.empty(); }
  [[nodiscard]] Result<stats::ReportOptions> parse() const;
  // Says on standard error that the first of several ranges is taken, if a name is given without an index. O(NVTX ranges) then.
  void say_which_range(const Trace& trace, const stats::ReportOptions& parsed) const;
};

}  // namespace lanescope::cli

// The options that say which part of a trace counts, of `stats` and `analyze`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "model/file/result.h"
#include "model/stats/report.h"

namespace lanescope::cli {

struct FilterOptions {
  std::string time, range;  // as typed

  void add_options(CLI::App& app, const std::string& what_a_range_selects);
  [[nodiscard]] bool any() const noexcept { return !time.empty() || !range.empty(); }
  [[nodiscard]] Result<stats::ReportOptions> parse() const;
};

}  // namespace lanescope::cli

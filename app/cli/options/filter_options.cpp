#include "options/filter_options.h"

namespace lanescope::cli {

void FilterOptions::add_options(CLI::App& app, const std::string& what_a_range_selects) {
  app.add_option("--filter-time", time, "Only events that overlap this time: 1.5s/2s, /300ms (ns without a unit)")->type_name("[START]/[END]");
  app.add_option("--filter-nvtx", range, what_a_range_selects)->type_name("RANGE[@DOMAIN][/INDEX]");
}

Result<stats::ReportOptions> FilterOptions::parse() const {
  stats::ReportOptions options;
  if (!time.empty()) {
    const auto parsed = stats::parse_time_range(time);
    if (!parsed) return parsed.error();
    options.time_range = *parsed;
  }
  if (!range.empty()) {
    const auto parsed = stats::parse_range_filter(range);
    if (!parsed) return parsed.error();
    options.range = *parsed;
  }
  return options;
}

}  // namespace lanescope::cli

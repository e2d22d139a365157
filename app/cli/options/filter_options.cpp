#include "options/filter_options.h"

#include <iostream>

#include "model/stats/selection.h"
#include "text.h"

namespace lanescope::cli {

void add_time_option(CLI::App& app, std::string& time, const std::string& what_it_selects) {
  CLI::Option* const shown = app.add_option("--filter-time", time, what_it_selects)->type_name("[START]/[END]");
  app.add_option_function<std::string>("--times,--time",
                                       [&time, shown](const std::string& asked) {
                                         if (shown->count() > 0)
                                           throw CLI::ArgumentMismatch("--times and --time are --filter-time by other names: give one of them");
                                         time = asked;
                                       })
      ->group("");
}

void FilterOptions::add_options(CLI::App& app, const std::string& what_a_range_selects) {
  add_time_option(app, time, kOnlyEventsOfThisTime);
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

void FilterOptions::say_which_range(const Trace& trace, const stats::ReportOptions& parsed) const {
  const bool has_index = range.ends_with("/0") && !range.ends_with("\\/0");
  if (!parsed.range || parsed.range->index > 0 || has_index) return;
  if (const std::size_t count = stats::Selection::ranges_named(trace, *parsed.range); count > 1)
    std::cerr << "lanescope: " << range << " is the first of " << counted(count, "NVTX range") << " of this name in a process. The next one: --filter-nvtx "
              << range << "/1\n";
}

}  // namespace lanescope::cli

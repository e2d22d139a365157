// What reports and rules answer, and whether two traces are equal in all answers.
#pragma once

#include <string>
#include <vector>

#include "described.h"
#include "model/analysis/rule.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/completeness.h"
#include "support/catch.h"

namespace lanescope::test {

inline std::vector<std::string> answers_of(const Trace& trace) {
  std::vector<std::string> answers;
  for (const stats::Report& report : stats::reports()) {
    const auto table = stats::make_report(report, trace);
    answers.push_back(std::string(report.name) + '\n' + (table ? stats::format_table(*table, stats::Format::kCsv) : table.error().text));
  }
  for (const analysis::Rule& rule : analysis::rules()) {
    const auto request = analysis::parse_rule(rule.name);
    REQUIRE(request);
    const auto answer = analysis::apply_rule(trace, *request);
    std::string text(rule.name);
    if (answer)
      for (const analysis::Finding& finding : answer->findings) text += '\n' + finding.title.english() + " costs " + std::to_string(finding.cost);
    else
      text += answer.error().text;
    answers.push_back(std::move(text));
  }
  return answers;
}

inline void check_same(const Trace& log, const Trace& compact) {
  CHECK(first_difference(described(log), described(compact)) == "");
  CHECK(log.event_count() == compact.event_count());
  CHECK(log.extent() == compact.extent());
  CHECK(first_difference(answers_of(log), answers_of(compact)) == "");
}

inline void check_lacks_as_much(const Trace& log, const Trace& compact) {
  CHECK(compact.provenance().condition == log.provenance().condition);
  CHECK(compact.provenance().finished == log.provenance().finished);
  CHECK(completeness_text(compact) == completeness_text(log));
  CHECK(compact.diagnostics().size() == log.diagnostics().size());
}

}  // namespace lanescope::test

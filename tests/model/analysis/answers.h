// Helpers that ask rules and read their answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/analysis/rule.h"
#include "support/catch.h"

namespace lanescope::test {

inline constexpr Nanoseconds kMicrosecond = 1'000, kMillisecond = 1'000'000;

// The answer of one rule, with arguments as on the command line: "gpu_bubbles:gap=5us".
inline analysis::RuleAnswer answer(const Trace& trace, const std::string& rule) {
  const Result<analysis::RuleRequest> request = analysis::parse_rule(rule);
  REQUIRE(request.has_value());
  Result<analysis::RuleAnswer> answered = analysis::apply_rule(trace, *request);
  REQUIRE(answered.has_value());
  return *answered;
}

// The findings of all our rules, the most costly first.
inline std::vector<analysis::Finding> findings(const Trace& trace) {
  std::vector<analysis::Finding> all;
  for (const analysis::Rule& rule : analysis::rules()) {
    if (rule.origin != analysis::RuleOrigin::kLanescope) continue;
    const analysis::RuleAnswer answered = answer(trace, std::string(rule.name));
    all.insert(all.end(), answered.findings.begin(), answered.findings.end());
  }
  analysis::rank(all);
  return all;
}

// Tables of an answer, and values of their rows by the title of a column: the `occurrence`-th column of this title.
inline const stats::Table& table_named(const analysis::RuleAnswer& answered, std::string_view name) {
  const auto found = std::find_if(answered.tables.begin(), answered.tables.end(), [&](const analysis::NamedTable& table) { return table.name == name; });
  REQUIRE(found != answered.tables.end());
  return found->table;
}

inline std::int64_t integer(const stats::Table& table, std::size_t row, const std::string& column, std::size_t occurrence = 0) {
  for (const stats::Column& candidate : table.columns())
    if (candidate.title == column && occurrence-- == 0) return std::get<stats::Integers>(candidate.values)[row];
  FAIL("no column " << column);
  return 0;
}

inline std::string text(const stats::Table& table, std::size_t row, const std::string& column) {
  for (const stats::Column& candidate : table.columns())
    if (candidate.title == column) return std::string(table.text(std::get<stats::Texts>(candidate.values)[row]));
  FAIL("no column " << column);
  return "";
}

}  // namespace lanescope::test

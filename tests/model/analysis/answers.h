// What rules answer, as tests ask for it.
#pragma once

#include <string>
#include <vector>

#include "model/analysis/rule.h"
#include "support/catch.h"

namespace lanescope::test {

inline constexpr Nanoseconds kMicrosecond = 1'000, kMillisecond = 1'000'000;

// Of one rule, with arguments as on the command line: "gpu_bubbles:gap=5us".
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

}  // namespace lanescope::test

// How rules are requested, and what all of them have in common.
#include "answers.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/rule.h"
#include "model/trace/trace_builder.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

TEST_CASE("a rule request names its rule and arguments, or says what is wrong") {
  const auto request = parse_rule("gpu_bubbles:gap=2.5us:rows=-1");
  REQUIRE(request.has_value());
  CHECK(request->arguments.duration("gap") == 2'500);
  CHECK(request->arguments.integer("rows") == -1);
  CHECK(parse_rule("tail")->arguments.real("slower") == 20);
  CHECK_THAT(parse_rule("gpu_bubbles:gap=soon").error().text, contains_text("'soon' is no value for gap"));
  for (const char* const negative :
       {"gpu_bubbles:gap=-5us", "gpu_bubbles:share=-0.1", "small_kernels:run=-1", "gpu_bubbles:rows=-2", "cuda_api_sync:process=-2"})
    CHECK_THAT(parse_rule(negative).error().text, contains_text("not less than "));
  CHECK(parse_rule("cuda_api_sync:process=-1").has_value());
  CHECK_THAT(parse_rule("gpu_bubbles:size=3").error().text, contains_text("Its arguments (name=value): gap, share, rows."));
  CHECK_THAT(parse_rule("bubbles").error().text, contains_text("There is no rule bubbles"));
}

TEST_CASE("a table that is cut says of how many rows") {
  Scenario program;
  for (int i = 0; i < 12; ++i) {
    program.range("part " + std::string(1, static_cast<char>('a' + i)), i * 100'000, i * 100'000 + 99'000);
    program.call("cudaDeviceSynchronize", i * 100'000 + 30'000, i * 100'000 + 40'000);
    program.kernel("k", i * 100'000 + 50'000, i * 100'000 + 50'010, i * 100'000 + 50'020, i * 100'000 + 51'000);
  }
  const auto trace = program.trace();
  const std::string rule = GENERATE("gpu_bubbles", "cuda_api_sync", "gpu_gaps", "gpu_time_util");
  const std::string option = rule == "gpu_gaps" ? ":gap=1us" : rule == "gpu_time_util" ? ":chunks=1000" : "";
  INFO(rule);
  const RuleAnswer all = answer(*trace, rule + option + ":rows=-1");
  const std::size_t rows = table_named(all, rule).row_count();
  REQUIRE(rows > 3);
  CHECK(all.message.english().find("rows=") == std::string::npos);
  const RuleAnswer cut = answer(*trace, rule + option + ":rows=3");
  CHECK(table_named(cut, rule).row_count() == 3);
  CHECK_THAT(cut.message.english(), contains_text("The table shows 3 of its " + std::to_string(rows) + " rows. All of them: " + rule + ":rows=-1"));
  CHECK_THAT(answer(*trace, rule + option + ":rows=0").message.english(), contains_text("shows 0 of its " + std::to_string(rows) + " rows"));
}

TEST_CASE("every rule answers for a trace without events") {
  TraceBuilder builder;
  const auto trace = builder.snapshot();
  for (const Rule& rule : rules()) {
    const RuleAnswer answered = answer(*trace, std::string(rule.name));
    CHECK(answered.findings.empty());
    CHECK(answered.tables.empty());
    CHECK_FALSE(answered.message.empty());
  }
}

TEST_CASE("rules and idle times that are asked to stop end where they are") {
  Scenario program;
  for (int i = 0; i < 100; ++i) program.kernel("k", i * 1'000, i * 1'000 + 10, i * 1'000 + 20, i * 1'000 + 100);
  const auto trace = program.trace();
  std::stop_source asked;
  int gaps = 0;
  visit_idle(
      *trace, 1,
      [&](const IdleGap&, std::span<const IdlePart>) {
        ++gaps;
        asked.request_stop();
      },
      asked.get_token());
  CHECK(gaps == 1);

  std::vector<RuleRequest> requests;
  for (const Rule& rule : rules()) {
    requests.push_back(*parse_rule(rule.name));
    INFO(rule.name);
    CHECK(apply_rule(*trace, requests.back(), asked.get_token())->findings.empty());
  }
  const auto answers = apply_rules(*trace, requests, asked.get_token());
  REQUIRE(answers->size() == requests.size());
  for (const RuleAnswer& answer : *answers) CHECK((answer.findings.empty() && answer.tables.empty()));
}

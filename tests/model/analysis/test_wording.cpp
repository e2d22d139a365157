// Names of ranges that belong together, as seen through the rule that groups by them.
#include "model/analysis/rule.h"
#include "scenario.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

// The family under which a range of this name is listed.
std::string family_of(const std::string& name) {
  test::Scenario program;
  program.range(name, 0, 10);
  const auto request = parse_rule("step_breakdown");
  const auto answer = apply_rule(*program.trace(), *request);
  const stats::Table& table = answer->tables.front().table;
  return std::string(table.text(std::get<stats::Texts>(table.columns().back().values).front()));
}

}  // namespace

TEST_CASE("iterations share a family, and numbers that are part of a name stay") {
  CHECK(family_of("step_12") == "step_*");
  CHECK(family_of("forward 3") == "forward *");
  CHECK(family_of("ProfilerStep#7") == "ProfilerStep#*");
  CHECK(family_of("step12") == "step*");
  CHECK(family_of("Iteration42") == "Iteration*");
  CHECK(family_of("epoch 3/10") == "epoch */*");
  CHECK(family_of("conv2d") == "conv2d");
  CHECK(family_of("layer1") == "layer1");
  CHECK(family_of("load batch") == "load batch");
  CHECK(family_of("") == "(unnamed)");
}

#include "file/output_name.h"

#include <set>

#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

OutputNameFacts facts(const std::set<std::string>& existing = {}) {
  return {4711, "gpu01", [](const std::string& name) { return name == "RANK" ? std::optional<std::string>("3") : std::nullopt; },
          [existing](const std::filesystem::path& path) { return existing.contains(path.string()); }};
}

std::string name(std::string_view pattern, const std::set<std::string>& existing = {}) {
  const auto path = expand_output_name(pattern, facts(existing));
  REQUIRE(path.has_value());
  return path->string();
}

}  // namespace

TEST_CASE("without a name, a recording takes the smallest free report number") {
  CHECK(name("") == "report1.trace");
  CHECK(name("", {"report1.trace", "report2.trace", "report4.trace"}) == "report3.trace");
}

TEST_CASE("patterns stand for pid, host, environment, a free number and a percent sign") {
  CHECK(name("run%p") == "run4711.trace");
  CHECK(name("/data/%h-%p") == "/data/gpu01-4711.trace");
  CHECK(name("rank%q{RANK}of8") == "rank3of8.trace");
  CHECK(name("100%%") == "100%.trace");
  CHECK(name("a%nb%n", {"a1b1.trace"}) == "a2b2.trace");
}

TEST_CASE("the extension is added once, and dots are nothing special") {
  CHECK(name("x.trace") == "x.trace");
  CHECK(name("x.y") == "x.y.trace");
  CHECK(name("x.nsys-rep") == "x.trace");
  CHECK(name("run%p.qdrep") == "run4711.trace");
}

TEST_CASE("a name that is taken stays as it is: refusing it is up to whoever creates the file") { CHECK(name("x", {"x.trace"}) == "x.trace"); }

TEST_CASE("a pattern that means nothing is refused with a sentence that shows it") {
  for (const char* pattern : {"%x", "a%", "%q", "%q{", "%q{RANK"}) {
    const auto path = expand_output_name(pattern, facts());
    REQUIRE_FALSE(path.has_value());
    CHECK(path.error().kind == ErrorKind::kUsage);
    CHECK(path.error().text.find(pattern) != std::string::npos);
  }
  const auto unset = expand_output_name("%q{NOT_SET}", facts());
  REQUIRE_FALSE(unset.has_value());
  CHECK(unset.error().text.find("NOT_SET") != std::string::npos);
}

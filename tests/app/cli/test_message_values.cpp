// Values in requests and answers of sessions: each number is whole and within its range, or is refused in one sentence, and a text is a text.
#include "session/message_values.h"

#include <csignal>
#include <limits>
#include <string>

#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::cli;

namespace {

nlohmann::json request(const std::string& signal) { return nlohmann::json::parse("{\"command\":\"shutdown\",\"signal\":" + signal + "}"); }

}  // namespace

TEST_CASE("a signal of a request is a whole number from 0 to the last signal") {
  CHECK(*signal_in(request("0"), "signal") == 0);
  CHECK(*signal_in(request("15"), "signal") == SIGTERM);
  CHECK(*signal_in(request(std::to_string(SIGRTMAX)), "signal") == SIGRTMAX);
  const std::string wrong = GENERATE(as<std::string>{}, "1e99", "-1e99", "1e-9", "15.5", "15.0", "-1", "65", "4294967311", "18446744073709551615",
                                     "-9223372036854775808", "true", "null", "\"15\"", "[15]", "{}");
  CAPTURE(wrong);
  const Result<int> signal = signal_in(request(wrong), "signal");
  REQUIRE_FALSE(signal);
  CHECK(signal.error().text == "The session did not understand the request: its \"signal\" is no whole number from 0 to 64.");
}

TEST_CASE("a number that is missing is none, and neither is one of what is no object") {
  CHECK_FALSE(signal_in(nlohmann::json::object(), "signal"));
  CHECK_FALSE(signal_in(nlohmann::json::array({15}), "signal"));
  CHECK_FALSE(whole_seconds_in(nlohmann::json(), "seconds"));
}

TEST_CASE("whole numbers are taken up to the ends of their range") {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();
  const nlohmann::json message{{"least", kLeast}, {"most", kMost}, {"more", std::uint64_t{1} << 63}};
  CHECK(*whole_number_in(message, "least", kLeast, kMost) == kLeast);
  CHECK(*whole_number_in(message, "most", kLeast, kMost) == kMost);
  CHECK_FALSE(whole_number_in(message, "more", kLeast, kMost));
  CHECK_FALSE(whole_number_in(message, "least", kLeast + 1, kMost));
}

TEST_CASE("seconds of an answer lose their fraction, and those that no session can have lasted are none") {
  CHECK(*whole_seconds_in({{"seconds", 3723.9}}, "seconds") == 3723);
  CHECK(*whole_seconds_in({{"seconds", 7}}, "seconds") == 7);
  for (const char* wrong : {"1e99", "-1", "true", "\"7\""})
    CHECK_FALSE(whole_seconds_in(nlohmann::json::parse(std::string("{\"seconds\":") + wrong + "}"), "seconds"));
}

TEST_CASE("a text of an answer is empty if it is something else") {
  CHECK(text_in({{"file", "run.trace"}}, "file") == "run.trace");
  CHECK(text_in({{"file", 7}}, "file").empty());
  CHECK(text_in({{"file", {"run.trace"}}}, "file").empty());
  CHECK(text_in(nlohmann::json::object(), "file").empty());
  CHECK(text_in(nlohmann::json(7), "file").empty());
}

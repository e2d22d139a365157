#include "session/message_values.h"

#include <csignal>
#include <string>
#include <utility>

namespace lanescope::cli {
namespace {

// The value in the message, or null.
nlohmann::json value_in(const nlohmann::json& message, const char* name) {
  return message.is_object() ? message.value(name, nlohmann::json()) : nlohmann::json();
}

}  // namespace

Result<std::int64_t> whole_number_in(const nlohmann::json& message, const char* name, std::int64_t least, std::int64_t most) {
  const nlohmann::json value = value_in(message, name);
  const auto is_within = [&](auto number) { return std::cmp_greater_equal(number, least) && std::cmp_less_equal(number, most); };
  if (value.is_number_unsigned() && is_within(value.get<std::uint64_t>())) return value.get<std::int64_t>();
  if (value.is_number_integer() && !value.is_number_unsigned() && is_within(value.get<std::int64_t>())) return value.get<std::int64_t>();
  return Error{"The session did not understand the request: its \"" + std::string(name) + "\" is no whole number from " + std::to_string(least) + " to " +
               std::to_string(most) + "."};
}

Result<int> signal_in(const nlohmann::json& message, const char* name) {
  const Result<std::int64_t> number = whole_number_in(message, name, 0, SIGRTMAX);
  return number ? Result<int>(static_cast<int>(*number)) : number.error();
}

Result<std::int64_t> whole_seconds_in(const nlohmann::json& message, const char* name) {
  constexpr double kLongest = 1e9;
  const nlohmann::json value = value_in(message, name);
  const double seconds = value.is_number() ? value.get<double>() : -1;
  if (seconds >= 0 && seconds <= kLongest) return static_cast<std::int64_t>(seconds);
  return Error{"The \"" + std::string(name) + "\" is no number of seconds."};
}

std::string text_in(const nlohmann::json& message, const char* name) {
  const nlohmann::json value = value_in(message, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

}  // namespace lanescope::cli

#include "doctor/finding.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "model/trace/text/utf8.h"

namespace lanescope::cli {
namespace {

constexpr std::size_t kSubjectWidth = 16;               // of subjects
constexpr std::size_t kTextColumn = kSubjectWidth + 6;  // after the verdict and the subject

nlohmann::json as_json(const Message& message) {
  if (message.pattern().empty()) return valid_utf8(message.english());
  nlohmann::json values = nlohmann::json::object();
  for (const Message::Value& value : message.values()) values[value.name] = as_json(value.message);
  return {{"text", valid_utf8(message.pattern())}, {"values", std::move(values)}};
}

}  // namespace

void print(std::ostream& to, const Finding& finding) {
  const char* verdict = finding.verdict == Verdict::kWorks ? "OK    " : finding.verdict == Verdict::kLimited ? "Note  " : "Fail  ";
  std::string subject = finding.subject.english();
  subject.resize(kSubjectWidth, ' ');
  to << verdict << subject;
  std::istringstream lines(finding.text.english());
  bool is_first = true;
  for (std::string line; std::getline(lines, line); is_first = false) to << (is_first ? "" : std::string(kTextColumn, ' ')) << line << '\n';
  for (const Message& remedy : finding.remedies) to << std::string(kTextColumn, ' ') << "Change it: " << remedy.english() << '\n';
}

nlohmann::json as_json(const Finding& finding) {
  const char* verdict = finding.verdict == Verdict::kWorks ? "ok" : finding.verdict == Verdict::kLimited ? "note" : "fail";
  nlohmann::json remedies = nlohmann::json::array();
  nlohmann::json said_remedies = nlohmann::json::array();
  for (const Message& remedy : finding.remedies) {
    remedies.push_back(valid_utf8(remedy.english()));
    said_remedies.push_back(as_json(remedy));
  }
  nlohmann::json said{{"subject", as_json(finding.subject)}, {"text", as_json(finding.text)}, {"remedies", std::move(said_remedies)}};
  return {{"part", finding.key},
          {"verdict", verdict},
          {"subject", finding.subject.english()},
          {"text", valid_utf8(finding.text.english())},
          {"remedies", std::move(remedies)},
          {"said", std::move(said)}};
}

}  // namespace lanescope::cli

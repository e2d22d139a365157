#include "doctor/finding.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "model/trace/text/utf8.h"

namespace lanescope::cli {
namespace {

constexpr std::size_t kSubjectWidth = 16;               // of subjects
constexpr std::size_t kTextColumn = kSubjectWidth + 6;  // after the verdict and the subject

}  // namespace

void print(std::ostream& to, const Finding& finding) {
  const char* verdict = finding.verdict == Verdict::kWorks ? "OK    " : finding.verdict == Verdict::kLimited ? "Note  " : "Fail  ";
  std::string subject = finding.subject;
  subject.resize(kSubjectWidth, ' ');
  to << verdict << subject;
  std::istringstream lines(finding.text);
  bool is_first = true;
  for (std::string line; std::getline(lines, line); is_first = false) to << (is_first ? "" : std::string(kTextColumn, ' ')) << line << '\n';
  for (const std::string& remedy : finding.remedies) to << std::string(kTextColumn, ' ') << "Change it: " << remedy << '\n';
}

nlohmann::json as_json(const Finding& finding) {
  const char* verdict = finding.verdict == Verdict::kWorks ? "ok" : finding.verdict == Verdict::kLimited ? "note" : "fail";
  nlohmann::json remedies = nlohmann::json::array();
  for (const std::string& remedy : finding.remedies) remedies.push_back(valid_utf8(remedy));
  return {{"part", finding.key}, {"verdict", verdict}, {"subject", finding.subject}, {"text", valid_utf8(finding.text)}, {"remedies", std::move(remedies)}};
}

}  // namespace lanescope::cli

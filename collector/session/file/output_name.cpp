#include "file/output_name.h"

#include <vector>

namespace lanescope::session {
namespace {

constexpr std::string_view kOtherExtensions[] = {".nsys-rep", ".qdrep"};  // in scripts that were written for nsys

Error wrong_pattern(std::string_view pattern, const std::string& reason) {
  return {"The output name \"" + std::string(pattern) + "\" " + reason, ErrorKind::kUsage};
}

// The texts between the places of the number.
Result<std::vector<std::string>> expand_all_but_number(std::string_view pattern, const OutputNameFacts& facts) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      parts.back() += pattern[i];
      continue;
    }
    const char letter = ++i < pattern.size() ? pattern[i] : '\0';
    if (letter == '%') {
      parts.back() += '%';
    } else if (letter == 'p') {
      parts.back() += std::to_string(facts.pid);
    } else if (letter == 'h') {
      parts.back() += facts.host_name;
    } else if (letter == 'n') {
      parts.emplace_back();
    } else if (letter == 'q' && i + 1 < pattern.size() && pattern[i + 1] == '{' && pattern.find('}', i) != std::string_view::npos) {
      const std::size_t close = pattern.find('}', i);
      const std::string name(pattern.substr(i + 2, close - i - 2));
      const std::optional<std::string> value = facts.variable(name);
      if (!value) return wrong_pattern(pattern, "uses %q{" + name + "}, but that variable is not set.");
      parts.back() += *value;
      i = close;
    } else {
      return wrong_pattern(pattern, "has a % that is not one of %p, %h, %n, %q{NAME} and %%.");
    }
  }
  return parts;
}

std::filesystem::path joined(const std::vector<std::string>& parts, const std::string& number) {
  std::string name = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) name += number + parts[i];
  for (const std::string_view other : kOtherExtensions)
    if (name.ends_with(other)) name.resize(name.size() - other.size());
  if (!name.ends_with(kTraceExtension)) name += kTraceExtension;
  return name;
}

}  // namespace

Result<std::filesystem::path> expand_output_name(std::string_view pattern, const OutputNameFacts& facts) {
  if (pattern.empty()) pattern = kDefaultOutputPattern;
  const Result<std::vector<std::string>> parts = expand_all_but_number(pattern, facts);
  if (!parts) return parts.error();
  std::size_t number = 1;
  std::filesystem::path path = joined(*parts, "1");
  while (parts->size() > 1 && facts.exists(path)) path = joined(*parts, std::to_string(++number));
  return path;
}

}  // namespace lanescope::session

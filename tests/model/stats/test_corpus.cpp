// The output of nsys 2025.3.1 for exports of seven recordings, against our reports and rules: every cell, to the last digit.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/analysis/rule.h"
#include "model/import/open_trace.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Lines in alphabetical order, because tied rows have no defined order.
std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::string& line : split(text, '\n')) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// "cuda_gpu_kern_sum+base" is requested as cuda_gpu_kern_sum:base.
stats::Table report_table(const Trace& trace, const std::vector<std::string>& name) {
  std::string request = name[0];
  for (std::size_t i = 1; i < name.size(); ++i) request += ":" + name[i];
  const auto parsed = stats::parse_report(request);
  REQUIRE(parsed);
  auto table = stats::make_report(*parsed->report, trace, parsed->options);
  REQUIRE(table);
  return std::move(*table);
}

// "gpu_gaps+gap+0" is requested as gpu_gaps:gap=0:rows=-1.
stats::Table rule_table(const Trace& trace, const std::vector<std::string>& name) {
  std::string request = name[0];
  for (std::size_t i = 1; i + 1 < name.size(); i += 2) request += ":" + name[i] + "=" + name[i + 1];
  const auto parsed = analysis::parse_rule(request + ":rows=-1");
  REQUIRE(parsed);
  auto answer = apply_rule(trace, *parsed);
  REQUIRE(answer);
  REQUIRE(answer->tables.size() == 1);
  return std::move(answer->tables[0].table);
}

// Every file of the folder was printed by nsys: "stats.REPORT.csv" or "analyze.RULE.csv". Returns the number of files.
std::size_t check_tables(const Trace& trace, const std::filesystem::path& folder) {
  std::size_t tables = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string stem = file.path().stem().string();  // for example "stats.cuda_gpu_kern_sum+base"
    const auto name = split(stem.substr(stem.find('.') + 1), '+');
    const stats::Table table = stem.starts_with("stats.") ? report_table(trace, name) : rule_table(trace, name);
    std::ifstream stream(file.path());
    const std::string expected((std::istreambuf_iterator<char>(stream)), {});
    INFO(file.path());
    CHECK(sorted_lines(stats::format_table(table, stats::Format::kCsv)) == sorted_lines(expected));
    ++tables;
  }
  return tables;
}

}  // namespace

TEST_CASE("reports and rules print what nsys prints for the same export") {
  const auto corpus = test::corpus();
  if (!corpus) return;
  std::size_t tables = 0;
  for (const auto& folder : std::filesystem::directory_iterator(*corpus / "expected" / "nsys-2025.3.1")) {
    const auto trace = open_trace(*corpus / "nsys" / (folder.path().filename().string() + ".sqlite"));
    REQUIRE(trace);
    tables += check_tables(**trace, folder);
  }
  CHECK(tables == 138);
}

TEST_CASE("reports of unified memory print what nsys prints for our export of the recording") {
  const auto trace = open_trace(test::data_file("unified_memory.trace"));
  REQUIRE(trace);
  CHECK(check_tables(**trace, test::data_file("unified_memory")) == 6);
}

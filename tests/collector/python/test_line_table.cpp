// Line tables, compared with what Python itself reads from them.
#include <algorithm>
#include <sstream>

#include "interpreters.h"
#include "line_table.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::python;

namespace {

std::vector<std::byte> from_hex(const std::string& digits) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) bytes.push_back(static_cast<std::byte>(std::stoul(digits.substr(at, 2), nullptr, 16)));
  return bytes;
}

struct Expected {
  std::uint32_t begin;
  std::uint32_t line;
};

void check_lines(LineTableFormat format, const std::string& table, std::uint32_t first_line, const std::vector<Expected>& expected) {
  const std::vector<LineRange> ranges = decode_lines(format, from_hex(table), first_line);
  for (const Expected& each : expected) {
    CAPTURE(each.begin);
    CHECK(line_at(ranges, each.begin, first_line) == each.line);
    if (each.begin > 0) CHECK(line_at(ranges, each.begin - 1, first_line) != each.line);
  }
}

LineTableFormat format_named(const std::string& name) {
  return name == "steps" ? LineTableFormat::kSteps : name == "ranges" ? LineTableFormat::kRanges : LineTableFormat::kLocations;
}

}  // namespace

// A function with a loop, an exception handler, calls over several lines and 146 empty lines, as CPython compiles it.
TEST_CASE("the line table of CPython 3.9 is read as dis.findlinestarts reads it") {
  check_lines(LineTableFormat::kSteps, "000204010801020102ff040202020e01040102ff0c02060102ff120306011efc0e03060120ff0601207f0013040102ff", 2,
              {{0, 4},   {4, 5},   {12, 6},  {14, 7},   {16, 6},   {20, 8},   {22, 10},  {36, 11},  {40, 12},   {42, 11},   {54, 13},  {60, 14},
               {62, 13}, {80, 16}, {86, 17}, {116, 13}, {130, 16}, {136, 17}, {168, 16}, {174, 17}, {206, 163}, {210, 164}, {212, 163}});
}

TEST_CASE("the line table of CPython 3.10 is read as co_lines reads it") {
  check_lines(
      LineTableFormat::kRanges, "040208010201020104ff02020a0204fb040602010cff0602020112ff060302011eff088002fb02fa060b02011cff0280060002011eff007f0414020104ff",
      2, {{0, 4},   {4, 5},   {12, 6},  {14, 7},   {16, 6},  {20, 8},   {22, 10},  {32, 5},   {36, 11},  {40, 12},  {42, 11},   {54, 13},   {60, 14},  {62, 13},
          {80, 16}, {86, 17}, {88, 16}, {126, 11}, {128, 5}, {130, 16}, {136, 17}, {138, 16}, {174, 17}, {176, 16}, {206, 163}, {210, 164}, {212, 163}});
}

TEST_CASE("every instruction of the interpreters' own modules has the line that they say") {
  const std::vector<std::string> found = test::interpreters();
  if (found.empty()) WARN("no python3 was found");
  for (const std::string& interpreter : found) {
    CAPTURE(interpreter);
    std::istringstream said(test::output_of(interpreter + " '" LANESCOPE_TEST_SOURCE "/line_tables.py'"));
    std::vector<LineRange> ranges;
    std::uint32_t first_line = 0;
    std::size_t compared = 0;
    std::size_t different = 0;
    for (std::string word; said >> word;) {
      if (word == "code") {
        std::string format;
        std::string table;
        said >> format >> first_line >> table;
        ranges = decode_lines(format_named(format), from_hex(table == "-" ? "" : table), first_line);
        continue;
      }
      std::uint32_t line = 0;
      said >> line;
      ++compared;
      different += line_at(ranges, static_cast<std::uint32_t>(std::stoul(word)), first_line) == line ? 0 : 1;
    }
    CHECK(compared > 10'000);
    CHECK(different == 0);
  }
}

TEST_CASE("a table that is cut short gives the lines before the cut, and an offset behind them the first line") {
  const auto format = GENERATE(LineTableFormat::kRanges, LineTableFormat::kLocations);
  const std::string table = format == LineTableFormat::kRanges ? "0402080102010201" : "8000f0040d0511d81112f0000509";
  const std::vector<std::byte> whole = from_hex(table);
  const std::vector<LineRange> ranges = decode_lines(format, whole, 2);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<LineRange> part = decode_lines(format, std::span(whole).first(size), 2);
    REQUIRE(part.size() <= ranges.size());
    for (std::size_t i = 0; i + 1 < part.size(); ++i) CHECK(part[i].line == ranges[i].line);
    CHECK(line_at(part, 1'000'000, 2) == 2);
  }
}

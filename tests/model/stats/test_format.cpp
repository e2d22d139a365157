#include "model/stats/format.h"
#include "support/catch.h"

using namespace lanescope::stats;

namespace {

// Every kind of column, with values that are difficult for formats, and a row of absent values.
Table awkward() {
  Table table({texts("Name"), integers("Count"), identifiers("PID"), reals("Time", Unit::kPercent), integers("Total", Unit::kNanoseconds),
               reals("Avg", Unit::kNanoseconds), integers("Bytes", Unit::kBytes)});
  table.add_row(table.add_text("f<int, \"x\">\n\t\\"), std::int64_t{1234567}, std::int64_t{1234567}, 99.95, std::int64_t{-1234567}, 1234.25,
                std::int64_t{1'234'567'890});
  table.add_row(TextId{0}, kNoInteger, kNoInteger, kNoReal, kNoInteger, kNoReal, kNoInteger);
  return table;
}

}  // namespace

TEST_CASE("csv has raw numbers and quotes what needs it") {
  CHECK(format_table(awkward(), Format::kCsv) ==
        "Name,Count,PID,Time (%),Total (ns),Avg (ns),Bytes (MB)\n"
        "\"f<int, \"\"x\"\">\n\t\\\",1234567,1234567,100.0,-1234567,1234.3,1234.568\n"
        ",,,,,,\n");
}

TEST_CASE("tsv keeps a row on a line") {
  CHECK(format_table(awkward(), Format::kTsv) ==
        "Name\tCount\tPID\tTime (%)\tTotal (ns)\tAvg (ns)\tBytes (MB)\n"
        "f<int, \"x\">\\n\\t\\\t1234567\t1234567\t100.0\t-1234567\t1234.3\t1234.568\n"
        "\t\t\t\t\t\t\n");
}

TEST_CASE("json escapes texts and says null where there is no number") {
  CHECK(format_table(awkward(), Format::kJson) ==
        "[\n"
        "  {\"Name\": \"f<int, \\\"x\\\">\\u000a\\u0009\\\\\", \"Count\": 1234567, \"PID\": 1234567, \"Time (%)\": 100.0, \"Total (ns)\": "
        "-1234567, "
        "\"Avg (ns)\": 1234.3, \"Bytes (MB)\": 1234.568},\n"
        "  {\"Name\": \"\", \"Count\": null, \"PID\": null, \"Time (%)\": null, \"Total (ns)\": null, \"Avg (ns)\": null, \"Bytes (MB)\": "
        "null}\n"
        "]\n");
  CHECK(format_table(Table({texts("Name")}), Format::kJson) == "[]\n");
}

TEST_CASE("json replaces bytes that are not UTF-8") {
  Table table({texts("N")});
  table.add_row(table.add_text("\xc3\xa9 \xff \xc3 \xed\xa0\x80"));
  CHECK(format_table(table, Format::kJson) == "[\n  {\"N\": \"\xc3\xa9 \\ufffd \\ufffd \\ufffd\\ufffd\\ufffd\"}\n]\n");
}

TEST_CASE("columns for people are aligned, with separators of thousands but not in ids") {
  Table table({texts("Name"), integers("Count"), identifiers("PID")});
  table.add_row(table.add_text("a"), std::int64_t{1234567}, std::int64_t{4711});
  table.add_row(table.add_text("b\xc3\xa9"
                               "c"),
                std::int64_t{-12}, std::int64_t{1});
  CHECK(format_table(table, Format::kColumn) ==
        " Name    Count    PID\n"
        " ----  ---------  ----\n"
        " a     1,234,567  4711\n"
        " b\xc3\xa9"
        "c         -12     1\n");
  CHECK(format_table(table, Format::kTable) ==
        "┌──────┬───────────┬──────┐\n"
        "│ Name │   Count   │ PID  │\n"
        "├──────┼───────────┼──────┤\n"
        "│ a    │ 1,234,567 │ 4711 │\n"
        "│ b\xc3\xa9"
        "c  │       -12 │    1 │\n"
        "└──────┴───────────┴──────┘\n");
}

TEST_CASE("a share that is not zero is not shown as zero to people, and is a number to programs") {
  Table table({reals("Time", Unit::kPercent)});
  for (const double share : {0.0, 0.049, 0.05, 12.34}) table.add_row(share);
  CHECK(format_table(table, Format::kColumn) ==
        " Time (%)\n"
        " --------\n"
        "      0.0\n"
        "     <0.1\n"
        "      0.1\n"
        "     12.3\n");
  CHECK(format_table(table, Format::kCsv) == "Time (%)\n0.0\n0.0\n0.1\n12.3\n");
}

TEST_CASE("cells wider than 100 characters are clipped with an ellipsis") {
  Table table({texts("Name")});
  table.add_row(table.add_text(std::string(101, 'x')));
  CHECK(format_table(table, Format::kColumn).find(" " + std::string(99, 'x') + "…\n") != std::string::npos);
}

TEST_CASE("times are shown in the unit that was asked for") {
  Table table({integers("Total", Unit::kNanoseconds), reals("Avg", Unit::kNanoseconds), integers("Count")});
  table.add_row(std::int64_t{13'840'300}, 13'840'349.9, std::int64_t{5});
  CHECK(format_table(table, Format::kCsv, TimeUnit::kMilliseconds) == "Total (ms),Avg (ms),Count\n13.840300,13.8403499,5\n");

  Table halves({reals("Avg", Unit::kNanoseconds), reals("Med", Unit::kNanoseconds), reals("StdDev", Unit::kNanoseconds)});
  halves.add_row(17'866.5, 7'750.5, 315'074.46);  // nsys 2025.3.1 printed these figures of a recording in both units
  CHECK(format_table(halves, Format::kCsv, TimeUnit::kNanoseconds) == "Avg (ns),Med (ns),StdDev (ns)\n17866.5,7750.5,315074.5\n");
  CHECK_THAT(format_table(halves, Format::kColumn, TimeUnit::kMicroseconds),
             contains_text(" 17.867 ") && contains_text(" 7.750 ") && contains_text(" 315.075"));

  // Programs get every nanosecond, and of averages the tenths, in every unit.
  CHECK(format_table(halves, Format::kCsv, TimeUnit::kMicroseconds) == "Avg (us),Med (us),StdDev (us)\n17.8665,7.7505,315.0745\n");
  Table exact({integers("Time", Unit::kNanoseconds)});
  for (const std::int64_t time : {std::int64_t{1}, std::int64_t{-20}, std::int64_t{1'795'185'653'951'073'923}}) exact.add_row(time);
  CHECK(format_table(exact, Format::kCsv, TimeUnit::kSeconds) == "Time (s)\n0.000000001\n-0.000000020\n1795185653.951073923\n");
  CHECK(format_table(exact, Format::kTsv, TimeUnit::kMicroseconds) == "Time (us)\n0.001\n-0.020\n1795185653951073.923\n");
  CHECK(time_unit_of("ms") == TimeUnit::kMilliseconds);
  CHECK(time_unit_of("usec") == TimeUnit::kMicroseconds);
  CHECK(time_unit_of("s") == TimeUnit::kSeconds);
  CHECK_FALSE(time_unit_of("hours"));
}

TEST_CASE("halves round away from zero") {
  Table table({reals("Avg")});
  for (const double value : {2784.25, -2784.25, 0.75, 4639.95, 0.25}) table.add_row(value);
  CHECK(format_table(table, Format::kCsv) == "Avg\n2784.3\n-2784.3\n0.8\n4639.9\n0.3\n");  // 4639.95 is below the half in binary
}

TEST_CASE("a table of very many rows is passed on in parts, until no more is wanted") {
  Table table({texts("Name"), integers("N")});
  std::size_t shown = 0;
  for (std::int64_t i = 0; i < 300'000; ++i) {
    const std::string name = "range " + std::to_string(i);
    shown += name.size();
    table.add_row(table.add_text(name), i);
  }
  for (const NamedFormat& format : formats()) {
    std::string whole;
    std::size_t parts = 0;
    CHECK(write_table(table, format.format, TimeUnit::kNanoseconds, [&](std::string_view part) {
      CHECK(part.size() < 2'000'000);
      whole += part;
      ++parts;
      return true;
    }));
    CHECK(parts > 3);
    CHECK(whole.size() > shown);
    CHECK(whole == format_table(table, format.format));
    std::size_t wanted = 2;
    std::string first;
    CHECK_FALSE(write_table(table, format.format, TimeUnit::kNanoseconds, [&](std::string_view part) {
      REQUIRE(wanted > 0);
      first += part;
      return --wanted > 0;
    }));
    CHECK(whole.starts_with(first));
  }
}

TEST_CASE("no format lets a name send commands to a terminal") {
  Table table({texts("Name"), texts("Other")});
  table.add_row(table.add_text("\x1b]0;title\x07 a\rb\nc"), table.add_text("\xc2\x9b"
                                                                           "2J\x7f\x9b"));
  for (const NamedFormat& format : formats()) {
    INFO(format.name);
    const std::string text = format_table(table, format.format);
    CHECK_THAT(text, contains_text("\\u001b]0;title\\u0007 a"));
    CHECK(text.find_first_of("\x1b\x07\r") == std::string::npos);
    if (format.format != Format::kJson) CHECK_THAT(text, contains_text("\\u009b2J\\u007f\xef\xbf\xbd"));
  }
}

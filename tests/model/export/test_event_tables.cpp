#include <algorithm>

#include <nlohmann/json.hpp>
#include <sstream>

#include "model/export/text_export.h"
#include "sample_trace.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

template <typename Export>
std::string text_of(Export export_text) {
  std::string text;
  REQUIRE(export_text([&](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

// The sample's states of processors, which say when its thread ran on which: rows of lists are those of the thread alone.
constexpr std::size_t kOfProcessors = 3;

std::size_t count_of(std::string_view text, char c) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), c)); }

}  // namespace

TEST_CASE("JSON has one object an event, by start") {
  const auto trace = sample_trace();
  const auto rows = nlohmann::json::parse(text_of([&](const TextConsumer& write) { return export_json(*trace, write); }));
  REQUIRE(rows.size() == trace->event_count() - kOfProcessors);
  for (std::size_t i = 1; i < rows.size(); ++i) CHECK(rows[i - 1]["start_ns"] <= rows[i]["start_ns"]);
  CHECK(rows[0]["name"] == "pthread_cond_wait");
  CHECK(rows[0]["pid"] == 4712);
  for (const auto& row : rows) {
    if (row["kind"] != "Kernel") continue;
    CHECK(row["name"] == "axpy(float*, int, float)");
    CHECK(row["grid"] == nlohmann::json({256, 1, 1}));
    CHECK(row["stream"] == 7);
    break;
  }
  const auto sample = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row["kind"] == "CPU sample"; });
  REQUIRE(sample != rows.end());
  CHECK((*sample)["stack"] == "python3+0x1000;middle;inner;load");
  CHECK((*sample)["processor"] == 3);
}

TEST_CASE("CSV and tab-separated text have a header and one line an event") {
  const auto trace = sample_trace();
  const std::string csv = text_of([&](const TextConsumer& write) { return export_csv(trace, write); });
  const std::string tabs = text_of([&](const TextConsumer& write) { return export_text(trace, write); });
  CHECK(count_of(csv, '\n') == trace->event_count() - kOfProcessors + 1);
  CHECK(count_of(tabs, '\n') == trace->event_count() - kOfProcessors + 1);
  CHECK_THAT(csv, contains_text("\"axpy(float*, int, float)\""));  // quoted for its commas
  CHECK_THAT(tabs, contains_text("axpy(float*, int, float)\t"));
}

TEST_CASE("states of threads are there once, with their thread and the processor that they ran on") {
  const auto trace = sample_trace();
  const auto rows = nlohmann::json::parse(text_of([&](const TextConsumer& write) { return export_json(*trace, write); }));
  std::vector<std::string> states;
  for (const auto& row : rows) {
    if (row["kind"] != "Thread state") continue;
    CHECK(row["pid"] == 4711);
    CHECK(row["tid"] == 4711);
    CHECK_FALSE(row.contains("correlation"));
    states.push_back(row["name"].get<std::string>() + " " + (row.contains("processor") ? std::to_string(row["processor"].get<int>()) : "-"));
  }
  CHECK(states == std::vector<std::string>{"Running 3", "Runnable -", "Running 0", "Blocked -", "Running 1"});

  std::istringstream lines(text_of([&](const TextConsumer& write) { return export_text(trace, write); }));
  std::string line;
  std::getline(lines, line);
  CHECK(line.ends_with("\tProcessor"));
  std::vector<std::string> ends;
  while (std::getline(lines, line))
    if (line.find("\tThread state\t") != std::string::npos) {
      CHECK_THAT(line, contains_text("\t[4711] main\t"));
      ends.push_back(line.substr(line.rfind('\t') + 1));
    }
  CHECK(ends == std::vector<std::string>{"3", "", "0", "", "1"});
}

TEST_CASE("long names that come again, in turns, are written as each is") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const std::string first = "\"a\", " + std::string(400, 'x'), second = std::string(400, 'x') + "\ty";  // the one is quoted
  std::vector<Event> calls;
  for (int i = 0; i < 6; ++i) calls.push_back({i * 10, 5, builder.intern(i % 3 == 0 ? first : second), 0, 0});
  builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = builder.thread(process, 1)}, calls);
  const auto trace = builder.snapshot();
  const std::string csv = text_of([&](const TextConsumer& write) { return export_csv(trace, write); });
  const std::string quoted = "\n\"\"\"a\"\", " + std::string(400, 'x') + "\",";
  std::vector<bool> is_first;
  for (std::size_t at = csv.find('\n'); at + 1 < csv.size(); at = csv.find('\n', at + 1)) is_first.push_back(csv.compare(at, quoted.size(), quoted) == 0);
  CHECK(is_first == std::vector<bool>{true, false, false, true, false, false});
}

TEST_CASE("tables hold only the events within the times that were asked for") {
  ExportSelection selection;
  selection.window = TimeRange{2'600, 2'900};
  const auto trace = sample_trace();
  const auto rows = nlohmann::json::parse(text_of([&](const TextConsumer& write) { return export_json(*trace, write, selection); }));
  CHECK(rows.size() == 4);  // the wait and its backtrace, the step, the second kernel
}

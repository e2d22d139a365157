#include "chrome_file.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string range(int start) { return R"({"ph":"X","name":"e)" + std::to_string(start) + R"(","pid":1,"tid":1,"dur":1,"ts":)" + std::to_string(start) + "}"; }

std::string many_ranges(int count) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < count; ++i) text += (i ? ",\n" : "") + range(2 * i);
  return text + "]}";
}

std::string failure_of(std::string_view text) {
  const auto trace = import_text(text);
  REQUIRE_FALSE(trace.has_value());
  return trace.error().text;
}

}  // namespace

TEST_CASE("a file cut at any byte keeps the events before the cut and says so") {
  const std::string text = many_ranges(6);
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const auto trace = import_text(std::string_view(text).substr(0, cut));
    const std::string prefix = text.substr(0, cut);
    std::size_t whole = 0;
    for (auto at = prefix.find("\"ts\":"); at != prefix.npos; at = prefix.find("\"ts\":", at + 1)) whole += prefix.find('}', at) != prefix.npos ? 1 : 0;
    if (whole == 0) {
      CHECK_FALSE(trace.has_value());
    } else {
      REQUIRE(trace.has_value());
      CHECK((*trace)->event_count() == whole);
      CHECK_THAT((*trace)->provenance().condition, contains_text("cut off"));
      CHECK_FALSE((*trace)->provenance().finished);
    }
  }
  CHECK(trace_of(text)->provenance().condition.empty());
  CHECK(trace_of(text)->provenance().finished);
}

TEST_CASE("cut and damaged gzip keep what can be decompressed") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json.gz";
  write_gzip(path, many_ranges(50'000));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto cut = import_chrome_json(path);
  REQUIRE(cut.has_value());
  CHECK((*cut)->event_count() > 10'000);
  CHECK_THAT((*cut)->provenance().condition, contains_text("compressed data are cut off"));

  write_gzip(path, many_ranges(50'000));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
  file << std::string(64, '\xff');
  file.close();
  const auto damaged = import_chrome_json(path);
  REQUIRE(damaged.has_value());
  CHECK_FALSE((*damaged)->provenance().condition.empty());
}

TEST_CASE("gzip may end in padding, and in several members") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json.gz";
  const std::string text = many_ranges(1'000);
  for (const std::string& behind : {std::string(), std::string(1, '\0'), std::string(512, '\0'), std::string("garbage")}) {
    write_gzip(path, text);
    std::ofstream(path, std::ios::binary | std::ios::app) << behind;
    const auto trace = import_chrome_json(path);
    REQUIRE(trace.has_value());
    CHECK((*trace)->event_count() == 1'000);
    CHECK((*trace)->provenance().condition == "");
  }
  write_gzip(path, text.substr(0, text.size() / 2));
  write_gzip(folder.path() / "rest", text.substr(text.size() / 2));
  std::ofstream(path, std::ios::binary | std::ios::app) << std::ifstream(folder.path() / "rest", std::ios::binary).rdbuf();
  CHECK((*import_chrome_json(path))->provenance().condition == "");
  CHECK((*import_chrome_json(path))->event_count() == 1'000);
}

TEST_CASE("a wrong checksum at the end of gzip is told") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json.gz";
  write_gzip(path, many_ranges(1'000));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-6, std::ios::end);
  file << '\xff';
  file.close();
  const auto trace = import_chrome_json(path);
  REQUIRE(trace.has_value());
  CHECK((*trace)->event_count() == 1'000);
  CHECK_THAT((*trace)->provenance().condition, contains_text("compressed data are damaged"));
}

TEST_CASE("what stands behind the end is told, blanks are not") {
  CHECK(trace_of(many_ranges(3) + "\n \r\n")->provenance().condition == "");
  CHECK(trace_of("[" + range(0) + "]\n")->provenance().condition == "");
  const auto twice = trace_of(many_ranges(3) + "\n" + many_ranges(2));
  CHECK(twice->event_count() == 3);
  CHECK_THAT(twice->provenance().condition, contains_text("something stands behind its end, at byte " + std::to_string(many_ranges(3).size() + 1)));
  CHECK_THAT(trace_of("[" + range(0) + "]," + range(2))->provenance().condition, contains_text("behind its end"));
  CHECK_THAT(failure_of(range(0) + "\n" + range(2)), contains_text("no traceEvents"));  // a line for each
}

TEST_CASE("what is no trace is refused with one sentence that says what it is") {
  CHECK_THAT(failure_of(""), contains_text("is empty"));
  CHECK_THAT(failure_of("   \n"), contains_text("is empty"));
  CHECK_THAT(failure_of("hello"), contains_text("not JSON"));
  CHECK_THAT(failure_of(R"({"a": 1})"), contains_text("no traceEvents"));
  CHECK_THAT(failure_of(R"({"traceEvents": 7})"), contains_text("no traceEvents"));
  CHECK_THAT(failure_of("[1, 2, \"x\", [3], {}]"), contains_text("none of its 5 elements is a trace event"));
  CHECK_THAT(failure_of(R"({"a")"), contains_text("cut off"));
  CHECK_THAT(failure_of(R"({"a" 1})"), contains_text("not JSON at byte"));
  CHECK_THAT(import_chrome_json("/no/such/file.json").error().text, contains_text("can't be opened"));
}

TEST_CASE("an empty trace is a trace") {
  CHECK(trace_of("[]")->event_count() == 0);
  CHECK(trace_of(R"({"traceEvents": []})")->event_count() == 0);
}

TEST_CASE("elements that are no events cost no others") {
  const auto trace = trace_of_events(range(0) + ", 7, \"text\", [[{}]], {\"no\": \"phase\"}, " + range(10));
  CHECK(trace->event_count() == 2);
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK_THAT(trace->diagnostics()[0].text, contains_text("4 elements"));
}

TEST_CASE("an event with broken text or broken JSON costs no others") {
  const auto trace = trace_of_events(range(0) + R"(, {"ph":"X","name":"caf)" + "\xe9" + R"(","pid":1,"tid":1,"ts":5,"dur":1}, {"ph" "X"}, )" + range(10));
  const auto ranges = find_events(*trace, TrackKind::kNvtxRanges);
  REQUIRE(ranges.size() == 3);
  CHECK(ranges[1].name == "caf\xef\xbf\xbd");
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK_THAT(trace->diagnostics()[0].text, contains_text("1 element of traceEvents"));
}

TEST_CASE("times that are no numbers, or absurd, leave their events out") {
  const auto with = [](const char* time) { return R"({"ph":"X","name":"e","pid":1,"tid":1,"dur":1,"ts":)" + std::string(time) + "}"; };
  const auto trace = trace_of_events(range(0) + "," + with("\"never\"") + "," + with("1e300") + "," + with("null") + "," + with("99999999999999999999") + "," +
                                     with("\"7.5\""));
  CHECK(trace->event_count() == 2);  // a number in quotes is accepted as a number
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK_THAT(trace->diagnostics()[0].text, contains_text("4 events"));
}

TEST_CASE("NaN, which is no JSON, leaves its event out") {
  const auto trace = trace_of_events(range(0) + R"(,{"ph":"X","name":"e","pid":1,"tid":1,"dur":NaN,"ts":5},)" + range(10));
  CHECK(trace->event_count() == 2);
}

TEST_CASE("an end before its start is counted as invalid") {
  const auto trace = trace_of_events(range(0) + R"(,{"ph":"X","name":"e","pid":1,"tid":1,"dur":-3,"ts":5})");
  CHECK(trace->event_count() == 1);
  CHECK(trace->processes()[0].completeness.invalid == 1);
}

TEST_CASE("deep nesting is walked over") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const auto trace = trace_of_events(R"({"ph":"X","name":"e","pid":1,"tid":1,"ts":1,"dur":1,"args":{"x":)" + deep + "}}," + range(10));
  CHECK(trace->event_count() >= 1);
  CHECK_THAT(failure_of(std::string(1'000'000, '{')), contains_text("not JSON"));
  CHECK_THAT(failure_of(std::string(1'000'000, '[')), contains_text("cut off"));
}

TEST_CASE("large events are read, endless ones are refused within bounded memory") {
  const std::string large(3'000'000, 'x');
  const auto trace = trace_of_events(range(0) + R"(,{"ph":"X","name":")" + large + R"(","pid":1,"tid":1,"ts":5,"dur":1},)" + range(10));
  CHECK(trace->event_count() == 3);

  // 300 MB of one string, in a gzip file of 300 kB.
  const TemporaryFolder folder;
  const auto path = folder.path() / "bomb.json.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  const std::string piece(1'000'000, 'x');
  gzputs(file, "[{\"name\":\"");
  for (int i = 0; i < 300; ++i) gzwrite(file, piece.data(), static_cast<unsigned>(piece.size()));
  gzclose(file);
  const auto bomb = import_chrome_json(path);
  REQUIRE_FALSE(bomb.has_value());
  CHECK_THAT(bomb.error().text, contains_text("larger than 64 MiB"));
}

TEST_CASE("samples are read however many there are") {
  // 80 MB of values, more than any single value may have.
  constexpr int kCount = 2'000;
  const std::string note(40'000, 'x');
  std::string text = R"({"traceEvents": [], "samples": [)";
  for (int i = 0; i < kCount; ++i) text += (i ? "," : "") + (R"({"ts":)" + std::to_string(i) + R"(,"pid":5,"tid":6,"note":")" + note + "\"}");
  const auto trace = trace_of(text + "]}");
  CHECK(trace->provenance().condition == "");
  CHECK(find_events(*trace, TrackKind::kCpuSamples).size() == kCount);
}

TEST_CASE("batches are cut between events wherever these stand") {
  // Events of about 600 bytes over many windows of 1 MiB, so that each part of an event meets a window's edge.
  std::string text = "[";
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    std::string event = range(2 * i);
    event.insert(1, "\"args\":{\"note\":\"" + std::string(static_cast<std::size_t>(500 + i % 97), '}') + "\\\"\"},");
    text += (i ? ", " : "") + event;
  }
  const auto trace = trace_of(text + "]");
  CHECK(trace->event_count() == kCount);
  const auto ranges = find_events(*trace, TrackKind::kNvtxRanges);
  for (int i = 0; i < kCount; ++i) REQUIRE(ranges[static_cast<std::size_t>(i)].name == "e" + std::to_string(2 * i));
}

TEST_CASE("an import that is not to go on ends with a sentence") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json";
  write_bytes(path, many_ranges(100'000));
  const auto trace = import_chrome_json(path, [](double fraction, std::shared_ptr<const Trace>) {
    CHECK(fraction > 0);
    CHECK(fraction <= 1);
    return LoadStep::kCancel;
  });
  REQUIRE_FALSE(trace.has_value());
  CHECK_THAT(trace.error().text, contains_text("was cancelled"));
}

// Traces that no profiler writes: each is read within the limits for a file of its size, and its contents are still right.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "chrome_file.h"
#include "model/import/open_trace.h"
#include "support/cost.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

constexpr std::size_t kFileBytes = 9'900'000;

// "[EVENTS]" with as many events as fit into 10 MB; `event` makes each from its number.
template <typename Event>
std::string events(Event event) {
  std::string text = "[";
  for (std::size_t i = 0; text.size() < kFileBytes; ++i) text += event(std::to_string(i)) + ",";
  text.back() = ']';
  return text;
}

struct Read {
  std::shared_ptr<const Trace> trace;
  std::string error;
};

Read read_file(const std::filesystem::path& path) {
  Read read;
  const Cost cost = cost_of([&] {
    const auto trace = open_trace(path);
    if (trace)
      read.trace = *trace;
    else
      read.error = trace.error().text;
  });
  CHECK(cost.seconds < kMostSeconds);
  CHECK(cost.bytes < kMostBytes);
  return read;
}

Read read_text(const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder.path() / "trace.json", text);
  return read_file(folder.path() / "trace.json");
}

// A gzip file of one text, repeated `times` times.
void write_repeated(const std::filesystem::path& path, const std::string& first, const std::string& block, std::size_t times) {
  gzFile file = gzopen(path.c_str(), "wb6");
  gzwrite(file, first.data(), static_cast<unsigned>(first.size()));
  for (std::size_t i = 0; i < times; ++i) gzwrite(file, block.data(), static_cast<unsigned>(block.size()));
  gzclose(file);
}

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("very many asynchronous ranges that end in the order in which they began are read, each with its own end") {
  constexpr int kRanges = 100'000;
  std::string text = "[";
  for (int i = 0; i < kRanges; ++i) text += R"({"ph":"b","id":1,"ts":)" + std::to_string(i) + R"(,"name":")" + std::to_string(i) + "\"},";
  for (int i = 0; i < kRanges; ++i) text += R"({"ph":"e","id":1,"ts":)" + std::to_string(kRanges + 2 * i) + R"(,"name":")" + std::to_string(i) + "\"},";
  text.back() = ']';
  const Read read = read_text(text);
  REQUIRE(read.trace);
  const auto found = find_events(*read.trace, TrackKind::kNvtxProcessRanges);
  REQUIRE(found.size() == kRanges);
  for (const Found& range : found) {
    const int number = std::stoi(range.name);
    if (range.event.start != number * 1'000 || range.event.end() != (kRanges + 2 * number) * 1'000) FAIL(range.name);
  }
}

TEST_CASE("ranges of any order of begins and ends are paired as one by one") {
  std::mt19937 random(GENERATE(range(0u, 20u)));
  struct Edge {
    bool begins;
    int name;  // 0: none
  };
  std::vector<Edge> edges;
  std::string text = "[";
  for (int i = 0; i < 60; ++i) {
    edges.push_back({random() % 2 == 0, static_cast<int>(random() % 4)});
    const Edge& edge = edges.back();
    text += R"({"id":7,"ts":)" + std::to_string(i) + R"(,"ph":")" + (edge.begins ? "b" : "e") + "\"" +
            (edge.name ? R"(,"name":"n)" + std::to_string(edge.name) + "\"" : "") + "},";
  }
  text.back() = ']';
  // An end closes the innermost range with its name, or any range if it has no name.
  std::vector<std::pair<int, int>> open, expected;  // start and name; start and end
  for (int i = 0; i < 60; ++i) {
    if (edges[i].begins) {
      open.emplace_back(i, edges[i].name);
      continue;
    }
    auto begin = open.rbegin();
    while (begin != open.rend() && edges[i].name != 0 && begin->second != edges[i].name) ++begin;
    if (begin == open.rend()) continue;
    expected.emplace_back(begin->first, i);
    open.erase(std::next(begin).base());
  }
  for (const auto& [begin, name] : open) expected.emplace_back(begin, 59);
  std::sort(expected.begin(), expected.end());
  std::vector<std::pair<int, int>> read;
  for (const Found& found : find_events(*trace_of(text), TrackKind::kNvtxProcessRanges))
    read.emplace_back(found.event.start / 1'000, found.event.end() / 1'000);
  std::sort(read.begin(), read.end());
  CHECK(read == expected);
}

TEST_CASE("an event without values ends the series of a counter that hold then, however many there are") {
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i) text += R"({"ph":"C","ts":)" + std::to_string(i) + R"(,"name":"c","args":{")" + std::to_string(i % 1'000) + "\":1}},";
  for (int i = 0; i < 50'000; ++i) text += R"({"ph":"C","ts":)" + std::to_string(200'000 + i) + R"(,"name":"c","args":{}},)";
  text.back() = ']';
  const Read read = read_text(text);
  REQUIRE(read.trace);
  REQUIRE(read.trace->counters().size() == 1'000);
  for (CounterId id = 0; id < 1'000; ++id) {
    const CounterSeries& series = read.trace->counter_series(id);
    REQUIRE(series.size() == 101);
    CHECK(series.sample(99).has_value());
    CHECK(series.sample(100).time == 200'000'000);
    CHECK_FALSE(series.sample(100).has_value());
  }
}

TEST_CASE("a category is known in the processes whose events have it, and in no other") {
  const auto trace = trace_of_events(
      R"({"ph":"i","ts":1,"pid":1,"tid":1,"cat":"net"},{"ph":"i","ts":2,"pid":2,"tid":2,"cat":"disk"},{"ph":"i","ts":3,"pid":2,"tid":2,"cat":"net"})");
  REQUIRE(trace->categories().size() == 3);
  std::vector<std::string> names;
  for (const NvtxCategoryName& category : trace->categories()) names.push_back(std::to_string(trace->processes()[category.process].pid) + " " + category.name);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"1 net", "2 disk", "2 net"});
}

TEST_CASE("a small gzip of very much is read as far as a file of its size may go, and says so") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "bomb.json.gz";
  SECTION("events") { write_repeated(path, "[", times(1'000, R"({"ph":"i","ts":1},)"), 60'000); }
  SECTION("threads") {
    std::string block;
    for (int i = 0; i < 1'000'000; ++i) block += R"({"ph":"i","ts":1,"tid":)" + std::to_string(i) + "},";
    write_repeated(path, "[", block, 1);
  }
  SECTION("names") {
    std::string block;
    for (int i = 0; i < 2'500'000; ++i) block += R"({"ph":"i","ts":1,"name":")" + std::to_string(i) + "\"},";
    write_repeated(path, "[", block, 1);
  }
  SECTION("blanks") { write_repeated(path, R"([{"ph":"i","ts":1},)", std::string(1'000'000, ' '), 1'000); }
  SECTION("elements that are none") { write_repeated(path, R"([{"ph":"i","ts":1},)", times(100'000, "1,"), 3'000); }
  CHECK(std::filesystem::file_size(path) < 10'000'000);
  const Read read = read_file(path);
  REQUIRE(read.trace);
  CHECK(read.trace->event_count() > 0);
  CHECK_FALSE(read.trace->provenance().finished);
  CHECK_THAT(read.trace->provenance().condition, contains_text("gunzip"));
}

TEST_CASE("a plain file of very much says so as well, and is not to be unpacked") {
  std::string text = "[";
  for (int i = 0; i < 300'000; ++i)
    text += R"({"ph":"i","ts":1,"tid":)" + std::to_string(i) + "},";  // events of a few bytes each, and rows that take kilobytes
  text.back() = ']';
  const Read read = read_text(text);
  REQUIRE(read.trace);
  CHECK_FALSE(read.trace->provenance().finished);
  CHECK_THAT(read.trace->provenance().condition, contains_text("it holds more than a file of its size is read with;"));
}

TEST_CASE("a long chain of frames, and a long one of inlined functions, is read") {
  constexpr int kFrames = 50'000;
  std::string frames, inlined = R"("1":{"name":"f","parent":"1.1"},)";
  for (int i = 1; i < kFrames; ++i) {
    frames += "\"" + std::to_string(i) + R"(":{"name":"f","parent":)" + std::to_string(i - 1) + "},";
    inlined += "\"1." + std::to_string(i) + R"(":{"name":"f","parent":"1.)" + std::to_string(i + 1) + "\"},";
  }
  std::string samples, same;
  for (int i = 0; i < 100'000; ++i) {
    samples += R"({"ts":)" + std::to_string(i) + R"(,"pid":1,"tid":1,"sf":)" + std::to_string(1 + i % (kFrames - 1)) + "},";
    same += R"({"ts":)" + std::to_string(i) + R"(,"pid":1,"tid":1,"sf":1},)";
  }
  for (std::string* list : {&frames, &inlined, &samples, &same}) list->pop_back();
  const Read deep = read_text(R"({"traceEvents":[],"stackFrames":{)" + frames + R"(},"samples":[)" + samples + "]}");
  REQUIRE(deep.trace);
  CHECK(deep.trace->event_count() == 100'000);
  const Read wide = read_text(R"({"traceEvents":[],"stackFrames":{)" + inlined + R"(},"samples":[)" + same + "]}");
  REQUIRE(wide.trace);
  CHECK(wide.trace->event_count() == 100'000);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

constexpr const char* kPathVariable = "LANESCOPE_TEST_PATH";
constexpr const char* kRoomVariable = "LANESCOPE_TEST_ROOM";

}  // namespace

// Run by the next test in a process of its own, which has no freed memory to reuse.
TEST_CASE("reading with little room", "[.room]") {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + std::stoull(std::getenv(kRoomVariable));
  const rlimit limit{most, most};
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  const auto trace = open_trace(std::getenv(kPathVariable));
  REQUIRE_FALSE(trace);
  CHECK(trace.error().text.starts_with("There is not enough memory to read "));
}

TEST_CASE("where memory ends, reading ends in a sentence") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "large.json";
  write_bytes(path, events([](const std::string& number) { return R"({"ph":"X","ts":)" + number + R"(,"dur":1,"name":")" + number + "\"}"; }));
  const std::size_t room = GENERATE(std::size_t{1} << 20, std::size_t{12} << 20, std::size_t{24} << 20, std::size_t{48} << 20);
  CAPTURE(room);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv(kPathVariable, path.c_str(), 1);
    setenv(kRoomVariable, std::to_string(room).c_str(), 1);
    execl("/proc/self/exe", "test", "reading with little room", static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("call stacks of more frames than a file of its size is read with are told, and cost no memory") {
  constexpr int kFrames = 2'000'000;  // each of them is counted as 384 bytes, and 640 MB are allowed
  std::string frames = "{\"traceEvents\":[{\"ph\":\"P\",\"ts\":1,\"pid\":1,\"tid\":1,\"sf\":1}],\"stackFrames\":{\"0\":{}";
  for (int i = 1; i < kFrames; ++i) frames += ",\"" + std::to_string(i) + "\":{}";
  const TemporaryFolder folder;
  write_repeated(folder.path() / "trace.json.gz", frames + "}}", "", 0);
  const Read read = read_file(folder.path() / "trace.json.gz");
  REQUIRE(read.trace);
  const auto& messages = read.trace->diagnostics();
  CHECK(std::any_of(messages.begin(), messages.end(), [](const DiagnosticMessage& message) { return message.text.find("333333 frames of call stacks") == 0; }));
}

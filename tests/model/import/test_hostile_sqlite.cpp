// Databases that no exporter writes: each is read within the limits for a file of its size, and gives a trace or an error in one sentence.
#include <cstring>
#include <fstream>
#include <sstream>

#include "model/import/open_trace.h"
#include "nsys_database.h"
#include "support/catch.h"
#include "support/cost.h"
#include "support/paths.h"

using namespace lanescope;
using test::global_id;

namespace {

const std::string kSession = "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);";
const std::string kStrings = "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1,'step');";
const std::string kRanges = "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER);";

// Statements that run `insert` for x = 0, 1, ... below the count.
std::string repeated(std::size_t count, const std::string& insert) {
  return "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x + 1 < " + std::to_string(count) + ") " + insert + ";";
}

struct Read {
  std::shared_ptr<const Trace> trace;
  std::string error;
  test::Cost cost;
};

Read read_file(const std::filesystem::path& path, const LoadProgress& progress = {}) {
  Read read;
  read.cost = test::cost_of([&] {
    const auto trace = open_trace(path, progress);
    if (trace)
      read.trace = *trace;
    else
      read.error = trace.error().text;
  });
  CHECK(read.cost.seconds < test::kMostSeconds);
  CHECK(read.cost.bytes < test::kMostBytes);
  return read;
}

Read read(const std::string& statements) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "export.sqlite";
  test::write_database(path, statements);
  return read_file(path);
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// A file of this table with pages of 512 bytes. Each inner page refers only to the next inner page, the last one to one leaf: a number of rows that no machine
// can count to.
void write_circles(const std::filesystem::path& path) {
  constexpr std::size_t kPage = 512;
  test::write_database(
      path, "PRAGMA page_size = 512;" + kSession + kStrings + kRanges + repeated(200'000, "INSERT INTO NVTX_EVENTS SELECT x, x + 1, 59, NULL, 1, 1 FROM n"));
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  in.close();
  constexpr unsigned char kInner = 5, kLeaf = 13;
  std::vector<std::uint32_t> inner;
  std::uint32_t leaf = 0;
  for (std::size_t page = 1; page < bytes.size() / kPage; ++page) {
    const auto kind = static_cast<unsigned char>(bytes[page * kPage]);
    if (kind == kInner) inner.push_back(static_cast<std::uint32_t>(page + 1));
    if (kind == kLeaf) leaf = static_cast<std::uint32_t>(page + 1);
  }
  constexpr std::size_t kLevels = 12;  // SQLite allows at most 20 levels
  REQUIRE(inner.size() > kLevels);
  inner.resize(kLevels);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const std::uint32_t next = i + 1 < inner.size() ? inner[i + 1] : leaf;
    const std::size_t page = (inner[i] - 1) * kPage;
    const auto point = [&](std::size_t at) {
      for (std::size_t byte = 0; byte < 4; ++byte) bytes[at + byte] = static_cast<char>(next >> (8 * (3 - byte)));
    };
    const std::uint32_t cells = big_endian(bytes, page + 3, 2);
    for (std::uint32_t cell = 0; cell < cells; ++cell) point(page + big_endian(bytes, page + 12 + 2 * cell, 2));
    point(page + 8);
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a view in place of a table is not run, and the trace says so") {
  const std::string endless = "WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c) SELECT x, zeroblob(100000000), 59, 'text', 1, 1 FROM c";
  const Read ranges = read(kSession + kStrings + "CREATE VIEW NVTX_EVENTS(start, end, eventType, text, globalTid, textId) AS " + endless);
  REQUIRE(ranges.trace);
  CHECK(ranges.trace->event_count() == 0);
  REQUIRE(ranges.trace->diagnostics().size() == 1);
  CHECK(ranges.trace->diagnostics()[0].text == "NVTX_EVENTS is a view in this file, which is not read: only tables are.");

  const Read strings = read(kSession + "CREATE VIEW StringIds(id, value) AS " + endless);
  CHECK_THAT(strings.error, contains_text("not an export of Nsight Systems"));
}

TEST_CASE("columns that are computed are not") {
  const Read computed = read(kSession + kStrings +
                             "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, "
                             "text TEXT AS (hex(zeroblob(400000000))) VIRTUAL);"
                             "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 1);");
  REQUIRE(computed.trace);
  CHECK(computed.trace->event_count() == 1);
}

TEST_CASE("ids of strings that double take no memory for those between") {
  std::string rows;
  std::int64_t id = 1;
  for (int row = 0; row < 30; ++row, id = 2 * id + 65'536) rows += "INSERT INTO StringIds VALUES (" + std::to_string(id) + ", 'x');";
  const Read doubling = read(kSession + "CREATE TABLE StringIds(id INTEGER, value TEXT);" + rows);
  REQUIRE(doubling.trace);
  CHECK(doubling.cost.bytes < 64u << 20);
}

TEST_CASE("a table whose pages refer to each other ends in a sentence") {
  const test::TemporaryFolder folder;
  write_circles(folder.path() / "circles.sqlite");
  CHECK_THAT(read_file(folder.path() / "circles.sqlite").error, contains_text("refers to its pages in circles"));
}

TEST_CASE("a long default, which each row would repeat, is refused") {
  const Read repeated_text = read(kSession + kStrings + "CREATE TABLE NVTX_EVENTS(start INTEGER, text TEXT DEFAULT '" + std::string(10'000, 'x') + "');");
  CHECK_THAT(repeated_text.error, contains_text("its column text has a default of 10002 characters"));
}

TEST_CASE("metrics that were each read at times of their own take memory for what was read") {
  const Read sparse = read(kSession + kStrings + "CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value REAL);" +
                           repeated(20'000, "INSERT INTO GPU_METRICS SELECT x * 1000, 1, x, x FROM n"));
  REQUIRE(sparse.trace);
  REQUIRE(sparse.trace->counters().size() == 20'000);
  CHECK(sparse.trace->counter_series(7).sample(0).time == 7'000);
  CHECK(sparse.trace->counter_series(7).sample(0).value == 7);
}

TEST_CASE("readings of metrics at times that can't be are left out, and counted") {
  const Read far = read(kSession + kStrings +
                        "CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value REAL);"
                        "INSERT INTO GPU_METRICS VALUES (-9223372036854775808, 1, 1, 1), (9223372036854775807, 1, 1, 1), (5, 1, 1, 1e308);");
  REQUIRE(far.trace);
  REQUIRE(far.trace->counters().size() == 1);
  CHECK(far.trace->counter_series(0).size() == 1);
  REQUIRE(far.trace->diagnostics().size() == 1);
  CHECK(far.trace->diagnostics()[0].text == "2 readings of GPU metrics, at times that can't be, were left out.");
}

TEST_CASE("the thread -1 is a thread like others") {
  const Read named = read(kSession + kStrings + kRanges + "INSERT INTO NVTX_EVENTS VALUES (1, NULL, 39, 'main', -1, NULL), (2, 3, 59, 'range', -1, NULL);");
  REQUIRE(named.trace);
  REQUIRE(named.trace->threads().size() == 1);
  CHECK(named.trace->threads()[0].name == "main");
  CHECK(named.trace->event_count() == 1);
}

TEST_CASE("ranges at the ends of time are refused, whether they ended or not") {
  const Read extreme = read(kSession + kStrings + kRanges +
                            "INSERT INTO NVTX_EVENTS VALUES (9223372036854775807, -9223372036854775808, 59, 'a', 1, NULL),"
                            "(-9223372036854775808, NULL, 59, 'b', 1, NULL), (10, NULL, 59, 'c', 1, NULL), (20, 30, 59, 'd', 1, NULL);");
  REQUIRE(extreme.trace);
  CHECK(extreme.trace->event_count() == 2);
  REQUIRE(extreme.trace->processes().size() == 1);
  CHECK(extreme.trace->processes()[0].completeness.invalid == 2);
}

TEST_CASE("as many threads as a file can name end in a trace or a sentence") {
  const Read threads =
      read(kSession + kStrings + kRanges + repeated(500'000, "INSERT INTO NVTX_EVENTS(start, end, eventType, globalTid) SELECT x, x, 59, x FROM n"));
  if (!threads.trace) CHECK_THAT(threads.error, contains_text("names more threads, queues and counters"));
}

TEST_CASE("one long text that very many things are called by is kept as often as there is room for it") {
  const std::string long_text = "INSERT INTO StringIds VALUES (2, replace(hex(zeroblob(100000)), '00', 'xx'));";
  const char* const type = GENERATE("75", "33", "39");  // names of a domain, of a category, of a thread
  CAPTURE(type);
  const Read named =
      read(kSession + kStrings +
           "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER, category "
           "INTEGER);" +
           long_text + repeated(200'000, std::string("INSERT INTO NVTX_EVENTS SELECT 0, NULL, ") + type + ", NULL, 16777216 + x, 2, x, x FROM n"));
  CHECK_THAT(named.error, contains_text("names more threads, queues and counters"));
}

TEST_CASE("a database that shrinks while it is read ends in a sentence") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "shrinking.sqlite";
  test::write_database(
      path, kSession + kStrings + kRanges + repeated(300'000, "INSERT INTO NVTX_EVENTS SELECT x, x + 1, 59, 'a text of its own ' || x, 1, 1 FROM n"));
  bool has_shrunk = false;
  const Read shrunk = read_file(path, [&](double, const auto&) {
    if (!std::exchange(has_shrunk, true)) std::filesystem::resize_file(path, 65'536);
    return LoadStep::kContinue;
  });
  CHECK(has_shrunk);
  CHECK_THAT(shrunk.error, contains_text("its table NVTX_EVENTS can't be read"));
}

TEST_CASE("a database beside its journal is not read without it") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "written.sqlite";
  test::write_database(path, kSession + kStrings);
  const auto journal = [&](const char* ending, const std::string& bytes) {
    std::ofstream(path.string() + ending, std::ios::binary) << bytes;
    const Read read = read_file(path);
    std::filesystem::remove(path.string() + ending);
    return read;
  };
  CHECK(journal("-journal", std::string(512, '\0')).trace);  // kept for the next change
  CHECK(journal("-wal", "").trace);
  CHECK_THAT(journal("-journal", "\xd9\xd5\x05\xf9").error, contains_text("is being written"));
  CHECK_THAT(journal("-wal", "\x37\x7f\x06\x82").error, contains_text("is being written"));
}

// Queries can't write, reach beyond the trace, or run forever.
#include <chrono>
#include <thread>

#include "ask.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

constexpr const char* kEndless = "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) ";

Error refused(const Trace& trace, std::string_view sql, const query::QueryOptions& options = {}) {
  const auto answer = query::run_query(trace, sql, options);
  if (answer) FAIL("was answered: " << sql);
  return answer.error();
}

}  // namespace

TEST_CASE("a query reads the tables of the trace and nothing else") {
  const auto trace = recorded("cuda_streams");
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "made").string();
  for (const std::string& sql : {"ATTACH '" + file + "' AS other",
                                 std::string("ATTACH ':memory:' AS other"),
                                 "VACUUM INTO '" + file + "'",
                                 std::string("SELECT load_extension('x')"),
                                 std::string("CREATE TABLE t(x)"),
                                 std::string("CREATE TEMP TABLE t AS SELECT 1"),
                                 std::string("CREATE VIEW v AS SELECT 1"),
                                 std::string("CREATE VIRTUAL TABLE v USING kernels"),
                                 std::string("INSERT INTO kernels(start) VALUES (1)"),
                                 std::string("UPDATE kernels SET start = 0"),
                                 std::string("DELETE FROM kernels"),
                                 std::string("DROP TABLE kernels"),
                                 std::string("ALTER TABLE kernels RENAME TO x"),
                                 std::string("PRAGMA user_version"),
                                 std::string("PRAGMA temp_store_directory = '/'"),
                                 std::string("SELECT * FROM pragma_database_list"),
                                 std::string("SELECT * FROM sqlite_master"),
                                 std::string("BEGIN"),
                                 std::string("SAVEPOINT s"),
                                 std::string("ANALYZE"),
                                 std::string("REINDEX"),
                                 std::string("DETACH main"),
                                 std::string("SELECT readfile('/etc/passwd')"),
                                 std::string("SELECT writefile('x', 'y')"),
                                 std::string("SELECT fts3_tokenizer('x')")}) {
    INFO(sql);
    const Error error = refused(*trace, sql);
    CHECK(error.kind == ErrorKind::kUsage);
    CHECK(error.text.ends_with('.'));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a query that is none is answered with what is wrong with it") {
  const auto trace = recorded("cuda_streams");
  CHECK(refused(*trace, "").text.find("empty") != std::string::npos);
  CHECK(refused(*trace, "-- only a comment").text.find("empty") != std::string::npos);
  CHECK(refused(*trace, "SELECT 1; SELECT 2").text.find("One query at a time") != std::string::npos);
  CHECK(refused(*trace, std::string_view("SELECT 1\0WHERE 0", 16)).text.find("NUL") != std::string::npos);
  CHECK(refused(*trace, "SELEC 1").text.find("syntax error") != std::string::npos);
  CHECK(refused(*trace, "SELECT * FROM kernel").text.find("Tables: kernels, copies") != std::string::npos);
  for (const char* const curious :
       {"SELECT * FROM sqlite_schema", "SELECT name FROM sqlite_master", "PRAGMA table_info(kernels)", "SELECT * FROM tables",
        "SELECT * FROM pragma_table_list", "SELECT * FROM information_schema.tables", "SHOW TABLES", ".tables", "DESCRIBE kernels"}) {
    INFO(curious);
    CHECK(refused(*trace, curious).text.find("lanescope query --help-tables lists") != std::string::npos);
  }
  CHECK(refused(*trace, "SELECT nme FROM kernels").text.find("no such column: nme") != std::string::npos);
  CHECK(refused(*trace, "SELECT \"end\" FROM kernels").text.find("no such column") != std::string::npos);
  CHECK(refused(*trace, "SELECT ?").text.find(":begin and :end") != std::string::npos);
  CHECK(refused(*trace, "SELECT :start").text.find(":begin and :end") != std::string::npos);
  CHECK(refused(*trace, std::string(2u << 20, ' ')).text.find("1 MiB") != std::string::npos);
  CHECK(refused(*trace, "SELECT " + std::string(5'000, '(') + "1" + std::string(5'000, ')')).kind == ErrorKind::kUsage);
  CHECK(query::run_query(*trace, "SELECT 1;  \n"));
  CHECK(query::run_query(*trace, "SELECT value FROM json_each('[1, 2]')"));
  CHECK(query::run_query(*trace, "SELECT 'x' FROM (SELECT 1), (VALUES (2))"));
}

TEST_CASE("what has no end is ended: by rows, by time, by memory, by who asked") {
  const auto trace = recorded("cuda_streams");
  query::QueryOptions options;
  options.limits.rows = 10;
  const auto first = query::run_query(*trace, std::string(kEndless) + "SELECT i FROM x", options);
  REQUIRE(first);
  CHECK(first->table.row_count() == 10);
  CHECK(first->rows == query::Rows::kFirst);
  CHECK(query::run_query(*trace, std::string(kEndless) + "SELECT i FROM x LIMIT 10", options)->rows == query::Rows::kAll);

  options.limits.time = std::chrono::milliseconds(50);
  CHECK(refused(*trace, std::string(kEndless) + "SELECT count(*) FROM x", options).text.find("took longer") != std::string::npos);
  CHECK(refused(*trace, "SELECT count(*) FROM api_calls a, api_calls b, api_calls c, api_calls d", options).text.find("took longer") != std::string::npos);

  options.limits.time = std::chrono::minutes(10);
  options.limits.bytes = 8u << 20;
  CHECK(refused(*trace, std::string(kEndless) + "SELECT i, hex(randomblob(1000)) AS h FROM x ORDER BY h", options).text.find("of memory") != std::string::npos);
  options.limits.rows = 1'000'000'000;
  CHECK(refused(*trace, std::string(kEndless) + "SELECT hex(randomblob(1000)) FROM x", options).text.find("of memory") != std::string::npos);
  options.limits.time = std::chrono::milliseconds(50);
  CHECK(refused(*trace, std::string(kEndless) + "SELECT group_concat(i) FROM x", options).text.ends_with('.'));
  CHECK(refused(*trace, "SELECT zeroblob(1000000000)", options).kind == ErrorKind::kUsage);

  std::stop_source stop;
  query::QueryOptions asked;
  asked.stop = stop.get_token();
  std::jthread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request_stop();
  });
  CHECK(refused(*trace, std::string(kEndless) + "SELECT count(*) FROM x", asked).text == "The query was stopped.");
  CHECK(refused(*trace, "SELECT count(*) FROM kernels", asked).text == "The query was stopped.");
}

TEST_CASE("several queries at once are answered as one after the other") {
  const auto trace = recorded("torch_training_workers4");
  const std::string sql = "SELECT name, count(*), sum(duration) FROM api_calls GROUP BY 1 ORDER BY 1";
  const std::string alone = answered(*trace, sql);
  std::vector<std::string> answers(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& answer : answers)
      threads.emplace_back([&] {
        const auto result = query::run_query(*trace, sql);
        const std::string text = result ? stats::format_table(result->table, stats::Format::kTsv) : result.error().text;
        answer = text.substr(text.find('\n') + 1);
      });
  }
  for (const std::string& answer : answers) CHECK(answer == alone);
}

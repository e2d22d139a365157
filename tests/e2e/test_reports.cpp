// What `lanescope profile` does after a recording, and what `lanescope status` reports before one.
#include <fstream>

#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

TEST_CASE("with --stats the reports follow behind the program's output") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), {"profile", "--stats=true", "-t", "nvtx", "-o", "x", threads_program()});
  CHECK(ran.code == 0);
  const std::string report = run_lanescope(folder.path(), {"stats", "-r", "nvtx_sum", "x.trace"}).output;
  const std::size_t table = report.find("Time (%)");
  REQUIRE(table != std::string::npos);
  CHECK(ran.output.find("push/pop ranges") < ran.output.find(report.substr(table)));  // the program's output comes first
  CHECK(ran.output.find(report.substr(table)) != std::string::npos);
}

TEST_CASE("with --export the recording is written in other formats, too, beside it") {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments{"profile", "--export=sqlite,json,text", "-t", "nvtx", "-o", "x", threads_program()};
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == 0);
  CHECK(first_line(folder.path() / "x.sqlite").starts_with("SQLite format 3"));
  CHECK(first_line(folder.path() / "x.json").starts_with("["));
  CHECK_FALSE(first_line(folder.path() / "x.txt").empty());
  const Ran again = run_lanescope(folder.path(), arguments);
  CHECK(again.code == 1);  // x.trace exists
  std::vector<std::string> forced = arguments;
  forced.insert(forced.begin() + 1, "-f");
  CHECK(run_lanescope(folder.path(), forced).code == 0);
}

TEST_CASE("doctor says what is missing, in columns and as JSON, and its exit code whether that matters") {
  const TemporaryFolder folder;
  const std::vector<Environment> environment{{"XDG_RUNTIME_DIR", folder.path().string()}, {"LANESCOPE_PYTHON", "/nowhere/python"}};
  const Ran columns = run_lanescope(folder.path(), {"doctor"}, environment);
  const Ran json = run_lanescope(folder.path(), {"doctor", "--json"}, environment);
  CHECK((columns.code == 0 || columns.code == 1));
  CHECK(json.code == columns.code);
  CHECK((columns.code == 1) == (columns.output.find("\nFail  ") != std::string::npos));
  for (const char* part :
       {"agent", "parts", "driver", "cupti", "attach", "gpu_counters", "gpu_metrics", "threads", "sessions", "space", "limits", "python", "viewer"})
    CHECK_THAT(json.output, contains_text("\"part\": \"" + std::string(part) + "\""));
  CHECK_THAT(columns.output, contains_text("Note  Python          /nowhere/python was not found"));
  std::vector<Environment> broken = environment;
  broken.push_back({"LANESCOPE_AGENT", "/nowhere/agent.so"});
  CHECK(run_lanescope(folder.path(), {"doctor"}, broken).code == 1);
  CHECK(run_lanescope(folder.path(), {"doctor", "--jsn"}, environment).code == 2);
}

TEST_CASE("status says of each part whether it can be recorded, and the one command that would change what can't") {
  const TemporaryFolder folder;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"status"}, std::vector<std::string>{"status", "-e"}, std::vector<std::string>{"status", "--all"}}) {
    const Ran ran = run_lanescope(folder.path(), arguments, {{"XDG_RUNTIME_DIR", folder.path().string()}});
    CHECK(ran.code == 0);
    for (const char* part : {"Agent", "NVIDIA driver", "CUPTI", "Attach", "GPU counters", "CPU threads", "Sessions"})
      CHECK_THAT(ran.output, contains_text(part));
    CHECK_THAT(ran.output, contains_text("0 run, in " + folder.path().string()));
  }
  const Ran absent = run_lanescope(folder.path(), {"status"}, {{"LANESCOPE_AGENT", "/nowhere/agent.so"}});
  CHECK_THAT(absent.output, contains_text("Fail  Agent") && contains_text("/nowhere/agent.so"));
  const std::size_t fails = absent.output.find("Fail  Agent");
  CHECK(absent.output.find("Change it: ", fails) < absent.output.find('\n', absent.output.find('\n', fails) + 1));
}

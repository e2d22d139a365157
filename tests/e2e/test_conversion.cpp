// lanescope import and lanescope export, as users run them.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>

#include "model/import/open_trace.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"
#include "support/trace_text.h"

using namespace lanescope;
using test::content;
using test::data_file;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

// The result of a run of the program: its exit code and output.
struct Run {
  int code = -1;
  std::string output, errors;
};

Run run_lanescope(const std::string& arguments) {
  const TemporaryFolder folder;
  const fs::path output = folder.path() / "output", errors = folder.path() / "errors";
  const std::string command = test::program("lanescope").string() + " " + arguments + " >" + output.string() + " 2>" + errors.string();
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(output), content(errors)};
}

std::shared_ptr<const Trace> opened(const fs::path& file) {
  auto trace = open_trace(file);
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

std::vector<std::string> events(const fs::path& file) { return test::TraceText(*opened(file)).events(); }

// Removes the numbers of NVTX events, which are their row numbers in SQLite.
std::vector<std::string> unnumbered(std::vector<std::string> lines) {
  static const std::regex number("\\|[0-9]+(\\|[0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ [^|]*\\|.*)$");
  for (std::string& line : lines) {
    const int kind = std::stoi(line);
    if (kind >= static_cast<int>(TrackKind::kNvtxRanges) && kind <= static_cast<int>(TrackKind::kNvtxMarks)) line = std::regex_replace(line, number, "$1");
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Kernels with time from the first, name and correlation id: what every format can store.
std::vector<std::string> kernels(const Trace& trace) {
  std::vector<std::string> lines;
  for (const Track& track : trace.tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; track.key.kind == TrackKind::kKernels && i < trace.lane(id).size(); ++i) {
        const Event event = trace.lane(id).event(i);
        lines.push_back(std::to_string(event.start - trace.extent().begin) + " " + std::to_string(event.duration) + " " + std::string(trace.name(event.name)) +
                        " " + std::to_string(event.correlation) + " stream " + std::to_string(track.key.stream));
      }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("a recording that went out as SQLite and came back in is the same, event by event") {
  const std::string name = GENERATE(as<std::string>{}, "cuda_streams", "numba_streams", "torch_graph");
  INFO(name);
  const TemporaryFolder folder;
  const fs::path sqlite = folder.path() / "run.sqlite", trace = folder.path() / "run.trace";
  const fs::path recording = data_file(name + ".trace");
  REQUIRE(run_lanescope("export -t sqlite " + recording.string() + " -o " + sqlite.string()).code == 0);
  const Run imported = run_lanescope("import " + sqlite.string());  // beside it, as .trace
  REQUIRE(imported.code == 0);
  CHECK_THAT(imported.errors, contains_text(trace.string()));
  CHECK(test::difference(unnumbered(events(recording)), unnumbered(events(trace))) == "");
}

TEST_CASE("a recording that went out as Chrome JSON and came back in has the same kernels") {
  const std::string name = GENERATE(as<std::string>{}, "cuda_streams", "numba_streams", "torch_graph");
  INFO(name);
  const TemporaryFolder folder;
  const fs::path chrome = folder.path() / "run.json", trace = folder.path() / "run.trace";
  const fs::path recording = data_file(name + ".trace");
  REQUIRE(run_lanescope("export -t chrome " + recording.string() + " -o " + chrome.string()).code == 0);
  REQUIRE(run_lanescope("import " + chrome.string() + " -o " + trace.string()).code == 0);
  CHECK(kernels(*opened(trace)) == kernels(*opened(recording)));
  CHECK(test::difference(events(chrome), events(trace)) == "");
}

TEST_CASE("exports and imports go to standard output as they go to files") {
  const std::string recording = data_file("numba_streams.trace").string();
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "run";
  for (const std::string type : {"chrome", "json", "csv", "text", "trace"}) {
    INFO(type);
    const Run out = run_lanescope("export -t " + type + " " + recording + " -o -");
    CHECK(out.code == 0);
    CHECK(out.errors == "");
    REQUIRE(run_lanescope("export -f -t " + type + " " + recording + " -o " + file.string()).code == 0);
    CHECK(out.output == content(file));
  }
  // SQLite files contain the time of writing, so their contents are compared.
  const Run sqlite = run_lanescope("export " + recording + " -o -");
  CHECK(sqlite.code == 0);
  std::ofstream(folder.path() / "out.sqlite", std::ios::binary) << sqlite.output;
  CHECK(kernels(*opened(folder.path() / "out.sqlite")) == kernels(*opened(recording)));
  const Run trace = run_lanescope("import " + (folder.path() / "out.sqlite").string() + " -o -");
  CHECK(trace.code == 0);
  std::ofstream(folder.path() / "out.trace", std::ios::binary) << trace.output;
  CHECK(test::difference(events(folder.path() / "out.sqlite"), events(folder.path() / "out.trace")) == "");
}

TEST_CASE("a file that exists is written over only when that is asked for") {
  const TemporaryFolder folder;
  const std::string recording = data_file("numba_streams.trace").string();
  const fs::path taken = folder.path() / "taken.trace";  // import would add that
  for (const std::string command : {"export -t sqlite ", "export -t chrome ", "export -t csv ", "export -t trace ", "import "}) {
    INFO(command);
    std::ofstream(taken) << "mine";
    const Run refused = run_lanescope(command + recording + " -o " + taken.string());
    CHECK(refused.code != 0);
    CHECK_THAT(refused.errors, contains_text(taken.string() + " exists already"));
    CHECK(content(taken) == "mine");
    CHECK(run_lanescope(command + "-f " + recording + " -o " + taken.string()).code == 0);
    CHECK(content(taken) != "mine");
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);  // nothing is left beside it
  }
}

TEST_CASE("what can't be converted is said in one sentence, and nothing is written") {
  const TemporaryFolder folder;
  const fs::path nonsense = folder.path() / "nonsense", output = folder.path() / "output";
  std::ofstream(nonsense) << "no trace at all";
  const std::string recording = data_file("numba_streams.trace").string();
  for (const std::string& arguments :
       {"import " + nonsense.string() + " -o " + output.string(), "import /no/such/file -o " + output.string(),
        "export " + nonsense.string() + " -o " + output.string(), "export -t sqlit " + recording + " -o " + output.string(),
        "export -t csv --tables KERNEL " + recording + " -o " + output.string(), "export --times tomorrow " + recording + " -o " + output.string()}) {
    INFO(arguments);
    const Run failed = run_lanescope(arguments);
    CHECK(failed.code != 0);
    CHECK(failed.output.empty());
    CHECK(std::count(failed.errors.begin(), failed.errors.end(), '\n') == 1);
    CHECK_FALSE(fs::exists(output));
  }
  CHECK_THAT(run_lanescope("export -t sqlit " + recording).errors, contains_text("Did you mean sqlite?"));
}

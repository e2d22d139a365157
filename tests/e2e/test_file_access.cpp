// Which files a program uses, for a program whose use of files is known.

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// What the report says about a file.
struct Uses {
  std::int64_t read = 0, written = 0, mapped = 0, opens = 0, reads = 0, writes = 0, maps = 0, syncs = 0, processes = 0;
  bool operator==(const Uses&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Uses& uses) {
  return out << uses.read << " B read, " << uses.written << " B written, " << uses.mapped << " B mapped; " << uses.opens << " opens, " << uses.reads
             << " reads, " << uses.writes << " writes, " << uses.maps << " maps, " << uses.syncs << " syncs; " << uses.processes << " processes";
}

// The uses by file name, relative to `folder`.
std::map<std::string, Uses> uses_in(const std::filesystem::path& folder, const std::filesystem::path& trace) {
  const Ran ran = run_lanescope(folder, {"stats", "-q", "-r", "file_access_sum:rows=-1", "-f", "json", trace.string()});
  REQUIRE(ran.code == 0);
  std::map<std::string, Uses> result;
  const std::string begin = folder.string() + "/";
  for (const auto& row : nlohmann::json::parse(ran.output)) {
    const std::string file = row.at("File");
    if (!file.starts_with(begin)) continue;  // libraries, and files that take the program's output
    CHECK(row.at("First (ns)") <= row.at("Last (ns)"));
    const Uses uses{row.at("Read (B)"), row.at("Written (B)"), row.at("Mapped (B)"), row.at("Opens"),    row.at("Reads"),
                    row.at("Writes"),   row.at("Maps"),        row.at("Syncs"),      row.at("Processes")};
    CHECK(row.at("Operations") == uses.opens + uses.reads + uses.writes + uses.maps + uses.syncs);
    result.emplace(file.substr(begin.size()), uses);
  }
  return result;
}

const std::map<std::string, Uses> kKnown = {
    {"all",
     {.read = 1000 + 42 + 500 + 42 + 600,
      .written = 40'960 + 100 + 42 + 42,
      .mapped = 8192,
      .opens = 1,
      .reads = 5,
      .writes = 13,
      .maps = 1,
      .syncs = 2,
      .processes = 1}},
    {"copy", {.written = 600 + 8 + 7, .opens = 1, .writes = 3, .processes = 2}},
    {"stream", {.read = 10'000, .written = 5000, .opens = 3, .reads = 10, .writes = 1, .processes = 1}},
    {"gone", {.written = 11, .opens = 1, .writes = 1, .processes = 1}},
    {"gone too", {.written = 13, .opens = 1, .writes = 1, .processes = 1}},
    {"\"a\",\n\xEF\xBF\xBD<script>", {.written = 3, .opens = 1, .writes = 1, .processes = 1}},
};

}  // namespace

TEST_CASE("each file is told with the bytes that calls read, wrote and mapped, by whichever descriptor") {
  for (const char* threshold : {"--osrt-threshold=0", "--osrt-threshold=1000000000"}) {
    CAPTURE(threshold);
    const TemporaryFolder folder;
    const auto files = std::filesystem::canonical(folder.path()) / "files";
    std::filesystem::create_directory(files);
    const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "osrt", "--osrt-file-access=true", threshold, "-s", "none", "--cpuctxsw", "none", "-o", "x",
                                                  program("lanescope_program_file_uses").string(), files.string()});
    REQUIRE(ran.code == 0);
    CHECK_THAT(ran.output, contains_text("errno 9") && contains_text("errno of memory 0"));
    CHECK_THAT(ran.output + ran.messages, contains_text("nothing dropped"));
    auto uses = uses_in(files, folder.path() / "x.trace");
    // If a path is longer than a record keeps, its start is kept.
    const auto deep = std::find_if(uses.begin(), uses.end(), [](const auto& use) { return use.first.size() > 300; });
    REQUIRE(deep != uses.end());
    CHECK(deep->first.starts_with(std::string(200, 'a') + "/" + std::string(200, 'b')));
    CHECK(deep->second == Uses{.written = 77, .opens = 1, .writes = 1, .processes = 1});
    uses.erase(deep);
    for (const auto& [name, known] : kKnown) {
      CAPTURE(name);
      CHECK(uses[name] == known);
    }
    CHECK(uses.size() == kKnown.size());
  }
}

TEST_CASE("without being asked, no file is named") {
  const TemporaryFolder folder;
  const auto files = std::filesystem::canonical(folder.path()) / "files";
  std::filesystem::create_directory(files);
  REQUIRE(run_lanescope(folder.path(), {"profile", "-t", "osrt", "--osrt-threshold=0", "-s", "none", "--cpuctxsw", "none", "-o", "x",
                                        program("lanescope_program_file_uses").string(), files.string()})
              .code == 0);
  const auto trace = load(folder.path() / "x.trace");
  CHECK(count_events(*trace, TrackKind::kOsRuntime, "pwrite") == 1);
  for (const Track& track : trace->tracks()) CHECK(track.key.kind != TrackKind::kNvtxRanges);
}

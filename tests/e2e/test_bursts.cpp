// Bursts that a program makes are recorded completely.
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "memory_limit.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

struct RecordedBursts {
  Ran ran;
  std::shared_ptr<const Trace> trace;
};

RecordedBursts record(std::vector<std::string> arguments, const std::vector<std::string>& options = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> command{"profile", "-t", "nvtx", "--cpuctxsw=none", "--sample=none", "-o", "x"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(program("lanescope_program_nvtx_bursts").string());
  command.insert(command.end(), arguments.begin(), arguments.end());
  Ran ran = run_lanescope(folder.path(), command);
  return {ran, load(folder.path() / "x.trace")};
}

}  // namespace

TEST_CASE("a burst of two million ranges is recorded whole, by one thread or by four") {
  const auto [threads, ranges] = GENERATE(values<std::pair<std::uint64_t, std::uint64_t>>({{1, 2'000'000}, {4, 500'000}}));
  CAPTURE(threads);
  const RecordedBursts recorded = record({"burst", std::to_string(threads), std::to_string(ranges)});
  CHECK(recorded.ran.code == 0);
  CHECK(count_events(*recorded.trace, TrackKind::kNvtxRanges, "burst") == threads * ranges);
  const Completeness completeness = recorded.trace->processes()[0].completeness;
  CHECK(completeness.dropped == 0);
  CHECK(completeness.invalid == 0);
  CHECK(completeness.produced == 2 * threads * ranges);
  CHECK_THAT(recorded.ran.messages, contains_text("nothing dropped"));
}

TEST_CASE("ranges with 200,000 names are recorded whole, each with its name") {
  constexpr std::uint64_t kNames = 200'000;
  const RecordedBursts recorded = record({"names", std::to_string(kNames)});
  CHECK(recorded.ran.code == 0);
  std::set<std::string> names;
  for (const Track& track : recorded.trace->tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = recorded.trace->lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) names.emplace(recorded.trace->name(lane.name(i)));
    }
  }
  CHECK(names.size() == kNames);
  CHECK(names.contains("name 0"));
  CHECK(names.contains("name 199999"));
  CHECK(recorded.trace->processes()[0].completeness.dropped == 0);
}

TEST_CASE("what finds no room in the memory that a process may take is counted") {
  constexpr std::uint64_t kRanges = 2'000'000;
  const RecordedBursts recorded = record({"burst", "1", std::to_string(kRanges)}, {"--record-memory=1"});
  CHECK(recorded.ran.code == 0);
  const Completeness completeness = recorded.trace->processes()[0].completeness;
  CHECK(completeness.produced + completeness.dropped == 2 * kRanges);
}

TEST_CASE("a process that is quiet after a burst has the memory of its records given back") {
  const RecordedBursts recorded = record({"quiet", "500000"});
  CAPTURE(recorded.ran.output);
  CHECK(recorded.ran.code == 0);
  CHECK(std::atol(recorded.ran.output.c_str()) >= 1'024);  // the memory was in use as long as the host had not read it
  CHECK(count_events(*recorded.trace, TrackKind::kNvtxRanges, "burst") == 500'000);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need more memory than that
TEST_CASE("a recorder with little memory keeps within that, whatever comes, and ends as the program does") {
  const int mebibytes = GENERATE(48, 96);
  const MemoryLimit limit(mebibytes);
  if (limit.entry().empty()) {
    WARN("There is no control group in which memory could be limited: not tested.");
    return;
  }
  const TemporaryFolder folder;
  const std::string threads = GENERATE("1", "16");
  const std::string options = GENERATE("-t nvtx -s none --cpuctxsw=none", "-t nvtx,osrt", "-t nvtx -s none --cpuctxsw=none --stats");
  const std::string rate = threads == "1" ? "2000000" : "125000";
  std::string command = "echo $$ > " + limit.entry() + " && exec " + program("lanescope").string() + " profile " + options + " -o " +
                        (folder.path() / "x").string() + " " + program("lanescope_program_nvtx_stream").string() + " 4 " + rate + " " + threads;
  command += " > " + (folder.path() / "output").string() + " 2> " + (folder.path() / "messages").string();
  CAPTURE(mebibytes, threads, options);
  const int status = std::system(command.c_str());  // NOLINT: the shell enters the group
  REQUIRE(WIFEXITED(status));
  const bool wants_reports = options.ends_with("--stats");
  CHECK(WEXITSTATUS(status) == (wants_reports ? 1 : 0));
  std::ostringstream messages;
  messages << std::ifstream(folder.path() / "messages").rdbuf();
  CHECK((messages.str().find("There is not enough memory to make what was asked") != std::string::npos) == wants_reports);
  std::uint64_t made = 0;
  std::ifstream(folder.path() / "output") >> made;
  CHECK(made > 1'000'000);  // eight million were requested, fewer come on a busy machine; their records do not fit into the memory
  const auto trace = load(folder.path() / "x.trace");
  CHECK(trace->provenance().finished);
  std::uint64_t recorded = 0, dropped = 0;
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kNvtxRanges)
      for (const LaneId id : track.lanes) recorded += trace->lane(id).size();
  for (const Process& process : trace->processes()) dropped += process.completeness.dropped;
  CHECK(recorded <= made);
  CHECK(recorded + dropped >= made);  // if a range is missing, both of its records may have been dropped
}
#endif

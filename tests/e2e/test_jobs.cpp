// Jobs of several processes: a file for each rank although the launcher has no rank, and what files say about their origin.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "../programs/nvtx/nvtx_threads_facts.h"
#include "model/file/trace_file.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace facts = nvtx_threads;

namespace {

std::vector<std::string> command(std::vector<std::string> options, const std::vector<std::string>& launched) {
  options.insert(options.begin(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none"});
  options.push_back(program("lanescope_program_rank_launcher").string());
  options.insert(options.end(), launched.begin(), launched.end());
  options.push_back(program("lanescope_program_nvtx_threads").string());
  return options;
}

std::set<std::string> files(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".trace") names.insert(entry.path().filename());
  return names;
}

std::uint64_t steps(const Trace& trace) { return count_events(trace, TrackKind::kNvtxRanges, "step"); }

constexpr std::uint64_t kSteps = facts::kWorkers * facts::kSteps + facts::kChildSteps;

}  // namespace

TEST_CASE("around a launcher, each rank gets a file of its own, and what the launcher does and all print another") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), command({"-o", "ddp_rank%q{RANK}"}, {"4"}));
  CAPTURE(ran.messages);
  REQUIRE(ran.code == 0);
  CHECK(files(folder.path()) == std::set<std::string>{"ddp_rank.trace", "ddp_rank0.trace", "ddp_rank1.trace", "ddp_rank2.trace", "ddp_rank3.trace"});
  const auto launcher = load(folder.path() / "ddp_rank.trace");
  CHECK(launcher->provenance().finished);
  CHECK(steps(*launcher) == 0);
  for (const Process& process : launcher->processes()) CHECK_FALSE(process.place.rank);  // including its forks, before they become programs
  std::string output;
  for (const OutputText& text : launcher->output()) output += text.bytes;
  CHECK_THAT(output, contains_text("launched 4"));
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    const auto trace = load(folder.path() / ("ddp_rank" + std::to_string(rank) + ".trace"));
    CHECK(trace->provenance().finished);
    CHECK(steps(*trace) == kSteps);
    CHECK(trace->provenance().utc_epoch == launcher->provenance().utc_epoch);
    std::size_t programs = 0;
    for (const Process& process : trace->processes()) {
      programs += process.name == "lanescope_program_nvtx_threads" ? 1 : 0;
      CHECK(process.place.rank == rank);
      CHECK(process.place.local_rank == rank);
      CHECK(process.place.world_size == 4);
      CHECK(process.place.launcher == "torchrun");
    }
    CHECK(programs == 2);  // with the forked child
    CHECK(ran.messages.find("ddp_rank" + std::to_string(rank) + ".trace") != std::string::npos);
  }
}

TEST_CASE("what a program says in a variable is one part of a name, and never a folder") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), command({"-o", "%q{PLACE}"}, {"2", "PLACE=../../.evil {}/\n"}));
  CAPTURE(ran.messages);
  REQUIRE(ran.code == 0);
  CHECK(files(folder.path()) == std::set<std::string>{"launcher.trace", "_._.._.evil_0__.trace", "_._.._.evil_1__.trace"});
}

TEST_CASE("a variable that nothing was started with leaves one file, and a word of it") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), command({"-o", "run%q{LANESCOPE_IS_NOT_SET}"}, {"2"}));
  REQUIRE(ran.code == 0);
  CHECK(files(folder.path()) == std::set<std::string>{"run.trace"});
  CHECK(steps(*load(folder.path() / "run.trace")) == 2 * kSteps);
  CHECK_THAT(ran.messages, contains_text("No process was started with LANESCOPE_IS_NOT_SET in its environment"));
}

TEST_CASE("a rank's file that is there already stays, and the new one gets a number") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "rank1.trace") << "mine";
  const Ran ran = run_lanescope(folder.path(), command({"-o", "rank%q{RANK}"}, {"2"}));
  REQUIRE(ran.code == 0);
  CHECK(files(folder.path()) == std::set<std::string>{"rank.trace", "rank0.trace", "rank1.trace", "rank1.1.trace"});
  CHECK(std::filesystem::file_size(folder.path() / "rank1.trace") == 4);
  CHECK(steps(*load(folder.path() / "rank1.1.trace")) == kSteps);
}

TEST_CASE("with -f, recorders of one job replace the ranks' files of before them, and nothing of each other") {
  const TemporaryFolder folder;
  const auto asked = [](const std::string& script, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"profile", "-f", "true", "-o", "rank%q{RANK}", "-t", "nvtx", "-s", "none", "--cpuctxsw=none"});
    options.insert(options.end(), {"sh", "-c", script});
    return options;
  };
  const auto rank = [](int number, const std::string& made) { return "RANK=" + std::to_string(number) + " " + made + "; "; };
  const auto identity = [&](const std::string& name) { return identity_of(folder.path() / name); };
  const auto wait_for = [](const std::string& file) { return "while [ ! -e " + file + " ]; do sleep 0.02; done; "; };
  const std::string plain = program("lanescope_program_nvtx_threads").string() + " >threads";
  REQUIRE(run_lanescope(folder.path(), asked(rank(0, plain) + rank(1, plain))).code == 0);
  const auto old0 = identity("rank0.trace"), old1 = identity("rank1.trace");
  REQUIRE((old0 && old1));

  // It begins first, and its ranks come when the other recorder's have ended.
  LanescopeProcess early(folder.path(), asked(plain + "; echo ready; " + wait_for("begin") + rank(0, plain) + rank(1, plain)));
  early.wait_for_line("ready");
  REQUIRE(run_lanescope(folder.path(), asked(rank(0, plain))).code == 0);
  const auto others = identity("rank0.trace");
  CHECK(others != old0);
  CHECK(identity("rank1.trace") == old1);
  std::ofstream(folder.path() / "begin") << "x";
  CHECK(early.wait() == 0);
  CHECK(identity("rank0.trace") == others);
  CHECK(identity("rank1.trace") != old1);
  CHECK(steps(*load(folder.path() / "rank0.1.trace")) == kSteps);
  CHECK(steps(*load(folder.path() / "rank1.trace")) == kSteps);
  CHECK_THAT(early.messages(), contains_text("rank0.trace was made by another recording, which still runs or began after this one; this one goes to " +
                                             (folder.path() / "rank0.1.trace").string()));

  // It has finished files of captures, and runs on.
  const std::vector<std::string> ranges{"-c", "nvtx", "-p", "wanted", "--capture-range-end=repeat:2"};
  const std::string captured = program("lanescope_program_nvtx_captures").string() + " plain 3";
  REQUIRE(run_lanescope(folder.path(), asked(rank(0, captured), ranges)).code == 3);
  const auto first = identity("rank0.1.trace");
  REQUIRE(first);
  LanescopeProcess late(folder.path(), asked(rank(1, captured) + "echo made; " + wait_for("end"), ranges));
  late.wait_for_line("made");
  const auto its = identity("rank1.1.trace"), second = identity("rank1.2.trace");
  REQUIRE((its && second));
  const Ran again = run_lanescope(folder.path(), asked(rank(0, captured) + rank(1, captured), ranges));
  CAPTURE(again.messages);
  CHECK(identity("rank0.1.trace") != first);
  CHECK(identity("rank1.1.trace") == its);
  CHECK(identity("rank1.2.trace") == second);
  CHECK_THAT(again.messages, contains_text("Replaced of an earlier recording, as -f asks: "));
  std::ofstream(folder.path() / "end") << "x";
  CHECK(late.wait() == 0);
}

TEST_CASE("the last seconds alone are kept of each rank") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(folder.path(), command({"-o", "part%q{RANK}", "--ring", "60"}, {"2"}));
  CAPTURE(ran.messages);
  REQUIRE(ran.code == 0);
  for (const char* name : {"part0.trace", "part1.trace"}) CHECK(steps(*load(folder.path() / name)) == kSteps);
}

TEST_CASE("a file says of its processes' environment what their launcher set, of its machine and clocks, and no more") {
  const TemporaryFolder folder;
  const Ran ran = run_lanescope(
      folder.path(),
      {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", "one", "--label", "commit=1a2b", "--label=night=17",
       program("lanescope_program_nvtx_threads").string()},
      {{"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "2"}, {"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "8"}, {"API_TOKEN", "hush-hush"}});
  REQUIRE(ran.code == 0);
  const auto trace = load(folder.path() / "one.trace");
  const JobPlace& place = trace->processes().front().place;
  CHECK(place.rank == 2);
  CHECK(place.local_rank == 0);
  CHECK(place.world_size == 8);
  CHECK(place.launcher == "Slurm");
  CHECK(place.scheduler == "Slurm");
  CHECK(place.job == "4711");
  CHECK(place.step == "0");
  const Provenance& from = trace->provenance();
  REQUIRE(from.labels.size() == 2);
  CHECK(from.labels[1].key == "night");
  CHECK(from.labels[1].value == "17");
  std::string boot, machine;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::getline(std::ifstream("/etc/machine-id"), machine);
  CHECK(from.boot_id == boot);
  if (!machine.empty()) CHECK(from.machine_id.size() == 16);
  if (!machine.empty()) CHECK(machine.find(from.machine_id) == std::string::npos);
  REQUIRE(from.clocks.size() >= 2);  // at its start and its end
  const ClockReading& first = from.clocks.front();
  const ClockReading& last = from.clocks.back();
  CHECK(last.time > first.time);
  CHECK(last.monotonic_raw > first.monotonic_raw);
  CHECK(last.boottime > first.boottime);

  const Ran told = run_lanescope(folder.path(), {"info", "one.trace"});
  CHECK_THAT(told.output, contains_text("rank 2 of 8 (Slurm), 0 on its machine; job 4711 (Slurm), step 0") && contains_text("commit=1a2b, night=17"));
  const Ran json = run_lanescope(folder.path(), {"info", "--json", "one.trace"});
  CHECK(json.output.find("hush") == std::string::npos);
  const auto said = nlohmann::json::parse(json.output);
  CHECK(said["processes"][0]["place"]["rank"] == 2);
  CHECK(said["labels"]["night"] == "17");
  CHECK(said["clocks"].size() == from.clocks.size());

  REQUIRE(run_lanescope(folder.path(), {"export", "-t", "trace", "one.trace", "-o", "again.trace"}).code == 0);
  const auto again = load(folder.path() / "again.trace");
  CHECK(again->processes().front().place == place);
  CHECK(again->provenance().boot_id == boot);
  CHECK(again->provenance().labels.size() == 2);
  CHECK(again->provenance().clocks.size() == from.clocks.size());
}

TEST_CASE("the script of a batch job is no rank, and a rank within one is its launcher's") {
  const TemporaryFolder folder;
  const std::vector<Environment> batch{{"SLURM_JOB_ID", "4711"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}};
  const Ran ran = run_lanescope(folder.path(), command({"-o", "all"}, {"1"}), batch);
  REQUIRE(ran.code == 0);
  const auto trace = load(folder.path() / "all.trace");
  for (const Process& process : trace->processes()) {
    const bool is_launcher = process.name == "lanescope_program_rank_launcher";
    CHECK(process.place.rank.has_value() != is_launcher);
    CHECK(process.place.launcher == (is_launcher ? "" : "torchrun"));
    CHECK(process.place.job == "4711");
  }
}

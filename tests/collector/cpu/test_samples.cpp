// The code that threads were sampled in, compared with what the programs do by construction.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "collector/cpu/access.h"
#include "recorded.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

cpu::CpuSettings sampling(cpu::CallChains chains = cpu::CallChains::kFramePointers) {
  cpu::CpuSettings settings;
  settings.samples = cpu::Scope::kProcessTree;
  settings.call_chains = chains;
  return settings;
}

#define SKIP_WHERE_FORBIDDEN()                        \
  if (const auto reason = cannot_observe(); reason) { \
    WARN(*reason);                                    \
    return;                                           \
  }

std::vector<Chain> samples_of_main(const Recorded& recorded) { return samples_of_process(*recorded.trace, 0); }

// Five standard deviations of a share that is estimated from `count` samples.
double tolerance(double share, std::size_t count) { return 5 * std::sqrt(share * (1 - share) / static_cast<double>(count)); }

// Each program here gives hundreds of samples. If the machine has no time for them, a processor's timer comes late and counts for several at once. Fewer
// samples than this would show nothing.
constexpr std::size_t kEnough = 100;

void check_share(const std::vector<Chain>& chains) {
  const std::size_t sixty = count_with(chains, "sixty");
  const std::size_t forty = count_with(chains, "forty");
  REQUIRE(sixty + forty > kEnough);
  const double share = static_cast<double>(sixty) / static_cast<double>(sixty + forty);
  CHECK(std::abs(share - 0.6) < tolerance(0.6, sixty + forty));
  // The rest of the samples ask for the time, in code without frame pointers: less than a fifth of all.
  CHECK(static_cast<double>(sixty + forty) > (0.8 - tolerance(0.8, chains.size())) * static_cast<double>(chains.size()));
}

// The number of samples that a late timer left out: for each two successive samples more than five periods apart, the samples that are missing in between.
// Times in which threads lost their processor are included, so this is an upper bound.
std::uint64_t late_ticks(const Recorded& recorded) {
  constexpr Nanoseconds kPeriod = 1'000'000;
  std::uint64_t late = 0;
  for (const Track& track : recorded.trace->tracks()) {
    if (track.key.kind != TrackKind::kCpuSamples) continue;
    const Lane& lane = recorded.trace->lane(track.lanes.front());
    for (EventIndex i = 1; i < lane.size(); ++i)
      if (const Nanoseconds between = lane.start(i) - lane.start(i - 1); between > 5 * kPeriod) late += static_cast<std::uint64_t>(between / kPeriod) - 1;
  }
  return late;
}

// True if the chain has these functions in this order, innermost first. Other functions may lie between them.
bool is_path(const Chain& chain, std::initializer_list<std::string_view> functions) {
  auto at = chain.begin();
  for (const std::string_view function : functions) {
    at = std::find_if(at, chain.end(), [&](const std::string& name) { return is_called(name, function); });
    if (at == chain.end()) return false;
    ++at;
  }
  return true;
}

// Interpreters of CPython from 3.12 on.
std::vector<std::string> interpreters_that_name_functions() {
  std::vector<std::string> found;
  const char* home = std::getenv("HOME");
  std::error_code failed;
  std::filesystem::directory_iterator version(std::filesystem::path(home != nullptr ? home : "/") / ".pyenv/versions", failed);
  for (; !failed && version != std::filesystem::directory_iterator(); version.increment(failed)) {
    const std::string name = version->path().filename().string();
    if (name.starts_with("3.12") || name.starts_with("3.13")) found.push_back((version->path() / "bin/python").string());
  }
  for (const char* path : {"/usr/bin/python3.12", "/usr/bin/python3.13"})
    if (std::filesystem::exists(path)) found.emplace_back(path);
  return found;
}

}  // namespace

TEST_CASE("as many samples are taken as the program used milliseconds, and 60 % of them where it spent 60 % of its time") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({program("lanescope_program_cpu_work").string(), "share"}, sampling());
  const std::vector<Chain> chains = samples_of_main(recorded);
  const double milliseconds = static_cast<double>(recorded.measured("main").processor) / 1e6;
  const auto taken = static_cast<double>(chains.size());
  CHECK(taken < 1.1 * milliseconds + 10);
  CHECK(taken > 0.9 * milliseconds - 10 - static_cast<double>(recorded.taken_away) / 1e6 - static_cast<double>(late_ticks(recorded)));
  check_share(chains);
  for (const Track& track : recorded.trace->tracks()) CHECK(track.key.kind == TrackKind::kCpuSamples);  // no states: they were not requested
}

TEST_CASE("inlined functions stand within those into which they were inlined, with their lines") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({program("lanescope_program_cpu_work").string(), "share"}, sampling());
  const std::vector<Chain> chains = samples_of_main(recorded);
  const auto inlined = static_cast<std::size_t>(std::count_if(chains.begin(), chains.end(), [](const Chain& chain) {
    return is_path(chain, {"(anonymous namespace)::burn", "sixty", "main"});
  }));
  const auto plain = static_cast<std::size_t>(std::count_if(chains.begin(), chains.end(), [](const Chain& chain) {
    return is_path(chain, {"sixty", "main"});
  }));
  REQUIRE(plain > kEnough);
  CHECK(static_cast<double>(inlined) > (0.8 - tolerance(0.8, plain)) * static_cast<double>(plain));
  const CallStacks& stacks = recorded.trace->call_stacks();
  std::size_t with_lines = 0;
  for (CodeLocationId location = 1; location < stacks.location_count(); ++location)
    for (const CodeFunction& function : stacks.functions(location))
      with_lines += recorded.trace->name(function.source_file).ends_with("cpu_work.cpp") && function.source_line > 0 ? 1 : 0;
  CHECK(with_lines > 2);
}

TEST_CASE("recursive calls are as many as there were") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({program("lanescope_program_cpu_work").string(), "path"}, sampling());
  std::size_t recursions = 0;
  const std::vector<Chain> chains = samples_of_main(recorded);
  for (const Chain& chain : chains) {
    const auto depth = std::count_if(chain.begin(), chain.end(), [](const std::string& name) { return name.starts_with("recursive("); });
    if (depth == 0) continue;
    ++recursions;
    CHECK(depth <= 10);
    if (is_path(chain, {"(anonymous namespace)::burn", "recursive"})) CHECK(depth == 10);
  }
  // The program spends half of its time there.
  REQUIRE(chains.size() > kEnough);
  CHECK(static_cast<double>(recursions) > (0.4 - tolerance(0.4, chains.size())) * static_cast<double>(chains.size()));
}

TEST_CASE("a stripped program is named by its debug file, found by its build id") {
  SKIP_WHERE_FORBIDDEN();
  cpu::CpuSettings settings = sampling();
  settings.debug_folders = LANESCOPE_DEBUG_FILES;
  const Recorded recorded = record({program("lanescope_program_cpu_work_stripped").string(), "share"}, settings);
  check_share(samples_of_main(recorded));
}

TEST_CASE("a stripped program without its debug file is known by address, and its file still opens") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({program("lanescope_program_cpu_work_stripped").string(), "share"}, sampling());
  const std::vector<Chain> chains = samples_of_main(recorded);
  CHECK(count_with(chains, "sixty") == 0);
  const auto by_address = std::count_if(chains.begin(), chains.end(), [](const Chain& chain) {
    return std::any_of(chain.begin(), chain.end(), [](const std::string& name) { return name.starts_with("lanescope_program_cpu_work_stripped+0x"); });
  });
  REQUIRE(chains.size() > kEnough);
  CHECK(static_cast<double>(by_address) > (0.8 - tolerance(0.8, chains.size())) * static_cast<double>(chains.size()));
}

TEST_CASE("callers in a program without frame pointers are found by its unwind tables, up to the first") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({program("lanescope_program_cpu_work_frameless").string(), "path"}, sampling(cpu::CallChains::kDwarf));
  std::size_t paths = 0;
  std::size_t whole = 0;
  for (const Chain& chain : samples_of_main(recorded)) {
    if (!has(chain, "inner_call")) continue;
    ++paths;
    whole += is_path(chain, {"inner_call", "middle_call", "outer_call", "main", "__libc_start_main@@GLIBC_2.34"}) ||
                     is_path(chain, {"inner_call", "middle_call", "outer_call", "main", "__libc_start_main"}) ||
                     is_path(chain, {"inner_call", "middle_call", "outer_call", "main", "_start"})
                 ? 1
                 : 0;
  }
  REQUIRE(paths > kEnough / 2);
  CHECK(whole == paths);
}

TEST_CASE("code that a program makes at run time has the name that its perf map gives it") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({program("lanescope_program_cpu_work").string(), "generated"}, sampling());
  const std::vector<Chain> chains = samples_of_main(recorded);
  REQUIRE(chains.size() > kEnough);
  const auto made = static_cast<double>(count_with(chains, "made_at_run_time"));
  CHECK(made > (0.8 - tolerance(0.8, chains.size())) * static_cast<double>(chains.size()));
}

TEST_CASE("Python functions stand in the chain in the order of their calls, of a CPython without frame pointers") {
  SKIP_WHERE_FORBIDDEN();
  const std::vector<std::string> interpreters = interpreters_that_name_functions();
  if (interpreters.empty()) WARN("no CPython 3.12 or newer was found in PATH or ~/.pyenv/versions");
  const TemporaryFolder folder;
  const std::filesystem::path script = folder.path() / "spin.py";
  std::ofstream(script) << "import time\n"
                           "def leaf():\n"
                           "    begin = time.thread_time()\n"
                           "    while time.thread_time() - begin < 0.3: sum(range(2000))\n"
                           "def middle(): leaf()\n"
                           "def top(): middle()\n"
                           "top()\n";
  for (const std::string& interpreter : interpreters) {
    CAPTURE(interpreter);
    cpu::CpuSettings settings = sampling(cpu::CallChains::kDwarf);
    settings.python_names = true;
    const Recorded recorded = record({interpreter, script.string()}, settings);
    const std::vector<Chain> chains = samples_of_main(recorded);
    const auto whole = static_cast<std::size_t>(std::count_if(chains.begin(), chains.end(), [](const Chain& chain) {
      return is_path(chain, {"leaf", "middle", "top", "<module>"});
    }));
    const std::size_t leaves = count_with(chains, "leaf");
    REQUIRE(leaves > kEnough / 2);
    CHECK(static_cast<double>(whole) > 0.95 * static_cast<double>(leaves));
  }
}

TEST_CASE("without call chains a sample is the code that ran") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({program("lanescope_program_cpu_work").string(), "share"}, sampling(cpu::CallChains::kNone));
  const std::vector<Chain> chains = samples_of_main(recorded);
  check_share(chains);
  CHECK(count_with(chains, "main") < chains.size() / 10);
}

TEST_CASE("where the machine keeps no record of branches, calls are followed by frame pointers, and it is said once") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({program("lanescope_program_cpu_work").string(), "share"}, sampling(cpu::CallChains::kBranchRecords));
  check_share(samples_of_main(recorded));
  CHECK(count_with(samples_of_main(recorded), "main") > kEnough);
  const auto said =
      std::count_if(recorded.messages.begin(), recorded.messages.end(), [](const std::string& message) { return message.find("-b lbr") != std::string::npos; });
  CHECK(said == (cpu::probe_access().branch_records ? 0 : 1));
}

TEST_CASE("a stripped program is named by what it carries along, or by a debug file to which it has a link") {
  SKIP_WHERE_FORBIDDEN();
  if (std::system("command -v objcopy >/dev/null 2>&1 && command -v xz >/dev/null 2>&1 && command -v nm >/dev/null 2>&1") != 0) {
    WARN("objcopy, nm or xz is not installed: not tried");
    return;
  }
  const TemporaryFolder folder;
  const std::string whole = program("lanescope_program_cpu_work").string();
  const auto make = [&](const std::string& commands) {
    REQUIRE(std::system(
                ("cd " + folder.path().string() + " && cp " + whole + " app && objcopy --remove-section .note.gnu.build-id app && " + commands).c_str()) == 0);
  };
  // As distributions do it: only symbols of functions, compressed, in a section of the stripped file.
  const std::string kMini =
      "objcopy --only-keep-debug app mini 2>/dev/null && objcopy --strip-debug mini && strip app && xz -f mini && objcopy --add-section "
      ".gnu_debugdata=mini.xz app";
  const std::string kBeside = "objcopy --only-keep-debug app app.dbg 2>/dev/null && strip app && objcopy --add-gnu-debuglink=app.dbg app";
  const std::string kFolder = kBeside + " && mkdir .debug && mv app.dbg .debug/";
  const std::string kElsewhere = kBeside + " && mkdir elsewhere && mv app.dbg elsewhere/ && rm -rf .debug";
  for (const std::string& commands : {kMini, kBeside, kFolder, kElsewhere}) {
    CAPTURE(commands);
    make(commands);
    cpu::CpuSettings settings = sampling();
    if (commands == kElsewhere) settings.debug_folders = (folder.path() / "elsewhere").string();
    const std::vector<Chain> chains = samples_of_main(record({(folder.path() / "app").string(), "share"}, settings));
    check_share(chains);
    CHECK((count_with(chains, "(anonymous namespace)::burn") > 0) == (commands != kMini));  // inlined: only debug information names it
  }
}

TEST_CASE("code that the kernel maps into every process has its names") {
  SKIP_WHERE_FORBIDDEN();
  // If the clock cannot be read without the kernel, this code runs only little.
  const Recorded recorded = record({program("lanescope_program_cpu_work").string(), "clock"}, sampling(cpu::CallChains::kNone));
  const std::vector<Chain> chains = samples_of_main(recorded);
  const auto in_vdso = static_cast<std::size_t>(std::count_if(chains.begin(), chains.end(), [](const Chain& chain) {
    return std::any_of(chain.begin(), chain.end(), [](const std::string& name) { return name.find("clock_gettime") != std::string::npos; });
  }));
  REQUIRE(chains.size() > 100);
  CHECK(in_vdso > chains.size() / 4);
  CHECK(std::none_of(chains.begin(), chains.end(), [](const Chain& chain) { return chain.front().starts_with("[vdso]+0x"); }));
}

// Python functions in the samples of programs whose behaviour is known by construction.
#include <algorithm>
#include <fstream>

#include "interpreters.h"
#include "shares.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

void check_work(const std::vector<Chain>& chains) {
  check_share(chains);
  CHECK(count_with(chains, "wait") + count_with(chains, "Sleeper.wait") < 10);  // a thread that waits runs only briefly, to start
}

// The lines of the function in the program's file, from its first line to the empty line after it.
struct Lines {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
Lines lines_of(const std::string& function) {
  std::ifstream file(LANESCOPE_PYTHON_WORK);
  Lines lines;
  std::uint32_t number = 1;
  for (std::string line; std::getline(file, line); ++number) {
    if (line.starts_with("def " + function + "(")) lines.first = number;
    if (lines.first != 0 && line.empty()) break;
    lines.last = number;
  }
  return lines;
}

// Every location of the function is in its file, on one of its lines; there are at least two.
void check_lines(const Trace& trace, const std::string& function) {
  const Lines lines = lines_of(function);
  std::size_t seen = 0;
  const CallStacks& stacks = trace.call_stacks();
  for (CodeLocationId location = 1; location < stacks.location_count(); ++location) {
    for (const CodeFunction& each : stacks.functions(location)) {
      if (trace.name(each.function) != function) continue;
      ++seen;
      CHECK(trace.name(each.source_file) == LANESCOPE_PYTHON_WORK);
      CHECK(each.source_line >= lines.first);  // the line where a call starts
      CHECK(each.source_line <= lines.last);
      CHECK(stacks.location(location).kind == CodeKind::kPython);
    }
  }
  CHECK(seen >= 2);
}

}  // namespace

TEST_CASE("a launched program's Python functions have their shares of the samples, with lines") {
  SKIP_WHERE_FORBIDDEN();
  const auto chains = GENERATE(cpu::CallChains::kDwarf, cpu::CallChains::kFramePointers, cpu::CallChains::kNone);
  for (const std::string& interpreter : interpreters()) {
    CAPTURE(interpreter, chains);
    const Recorded recorded = record({interpreter, LANESCOPE_PYTHON_WORK, "1"}, python_sampling(chains));
    for (const std::string& message : recorded.messages) UNSCOPED_INFO(message);
    const std::vector<Chain> samples = samples_of_worker(*recorded.trace);
    check_work(samples);
    check_lines(*recorded.trace, "sixty");
    // The callers of a Python function follow it, in their order.
    for (const Chain& chain : samples) {
      if (!has(chain, "sixty")) continue;
      CHECK(has_in_order(chain, {"sixty", "work", "main", "<module>"}));
      CHECK(std::count(chain.begin(), chain.end(), "<module>") == 1);
    }
  }
}

TEST_CASE("an attached program's Python functions have their shares of the samples") {
  SKIP_WHERE_FORBIDDEN();
  for (const std::string& interpreter : interpreters()) {
    CAPTURE(interpreter);
    RunningTarget target({interpreter, LANESCOPE_PYTHON_WORK});
    REQUIRE(target.read_line() == "ready");
    const std::shared_ptr<const Trace> trace = record_attached(target, "1", cpu::CallChains::kDwarf);
    check_work(samples_of_worker(*trace));
    check_lines(*trace, "sixty");
    target.send("0.1\n");
    CHECK(target.read_line() == "done");
  }
}

TEST_CASE("the functions of a forked child are named too") {
  SKIP_WHERE_FORBIDDEN();
  for (const std::string& interpreter : interpreters()) {
    CAPTURE(interpreter);
    const Recorded recorded = record({interpreter, LANESCOPE_PYTHON_WORK, "fork", "1"}, python_sampling(cpu::CallChains::kFramePointers));
    REQUIRE(recorded.trace->processes().size() >= 2);
    check_work(samples_of_worker(*recorded.trace));
  }
}

TEST_CASE("the backtrace of a call that waits has the Python functions, with the line that waits") {
  SKIP_WHERE_FORBIDDEN();
  const auto with_os_calls = [](session::LaunchRequest& request) {
    request.settings.trace_os_runtime = true;
    request.settings.os_runtime_backtraces = std::chrono::milliseconds(100);
  };
  for (const std::string& interpreter : interpreters()) {
    CAPTURE(interpreter);
    const Recorded recorded = record({interpreter, LANESCOPE_PYTHON_WORK, "fork", "0.3"}, python_sampling(cpu::CallChains::kFramePointers), with_os_calls);
    for (const std::string& message : recorded.messages) UNSCOPED_INFO(message);
    const Trace& trace = *recorded.trace;
    const CallStacks& stacks = trace.call_stacks();
    const std::uint32_t waits = line_with(LANESCOPE_PYTHON_WORK, "os.waitpid(child, 0)");
    std::vector<std::vector<CodeFunction>> chains;
    for (const Track& track : trace.tracks()) {
      if (track.key.kind != TrackKind::kBacktraces) continue;
      for (const LaneId id : track.lanes)
        for (EventIndex i = 0; i < trace.lane(id).size(); ++i) {
          std::vector<CodeFunction>& chain = chains.emplace_back();
          for (const CodeLocationId location : stacks.chain(trace.sample_detail(trace.lane(id).detail(i)).call_node))
            if (stacks.location(location).kind == CodeKind::kPython) chain.push_back(stacks.functions(location).front());
          // Skips whatever else takes long on a busy machine: the parent waits for its child in main().
          if (chain.empty() || trace.name(chain[0].function) != "main" || chain[0].source_line != waits) chains.pop_back();
        }
    }
    REQUIRE(chains.size() == 1);
    REQUIRE(chains[0].size() == 2);
    CHECK(trace.name(chains[0][1].function) == "<module>");
  }
}

TEST_CASE("where no interpreter is found, that is said") {
  SKIP_WHERE_FORBIDDEN();
  const Recorded recorded = record({"/bin/true"}, python_sampling(cpu::CallChains::kFramePointers));
  CHECK(std::any_of(recorded.messages.begin(), recorded.messages.end(),
                    [](const std::string& message) { return message.find("no interpreter was found") != std::string::npos; }));
}

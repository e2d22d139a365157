// Who holds the lock of a Python interpreter, in programs whose threads take it at known times.
#include <algorithm>
#include <map>
#include <sstream>

#include "../../collector/python/interpreters.h"
#include "../recorder.h"
#include "model/trace/domains/python_lock.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// A range of the lock's domain.
struct Span {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::uint32_t thread = 0;
  std::string name;
};
struct Lock {
  std::vector<Span> held;  // by start, like the others
  std::vector<Span> waited;
};

Lock read_lock(const Trace& trace) {
  Lock lock;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxProcessRanges) continue;
    CHECK(trace.domain_name(track.key.process, track.key.domain) == kPythonLockDomain);
    CHECK(track.lanes.size() == 1);  // a thread does one thing at a time
    const Lane& lane = trace.lane(track.lanes.front());
    for (EventIndex i = 0; i < lane.size(); ++i) {
      const std::string_view name = trace.name(lane.name(i));
      CHECK((name.starts_with(kHoldsPythonLock) || name.starts_with(kAwaitsPythonLock)));
      (name.starts_with(kHoldsPythonLock) ? lock.held : lock.waited)
          .push_back({lane.start(i), lane.start(i) + lane.duration(i), trace.threads()[track.key.thread].tid, std::string(name)});
    }
  }
  const auto by_start = [](const Span& a, const Span& b) { return a.start < b.start; };
  std::sort(lock.held.begin(), lock.held.end(), by_start);
  std::sort(lock.waited.begin(), lock.waited.end(), by_start);
  return lock;
}

// What a thread of the program reports about itself, in times of the trace.
struct Told {
  std::uint32_t thread = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

struct Recorded {
  std::shared_ptr<const Trace> trace;
  Lock lock;
  std::map<std::string, Told> threads;
};

enum class FreeThreading {
  kOff,  // the global lock is switched on if the build can do without it
  kOn,
};

Recorded record(const std::string& python, const char* what, std::vector<std::string> options = {"-t", "python-gil"},
                FreeThreading threading = FreeThreading::kOff) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"profile", "-s", "none", "--cpuctxsw", "none", "-o", "x"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  if (threading == FreeThreading::kOff && is_free_threaded(python)) arguments.insert(arguments.end(), {"-e", "PYTHON_GIL=1"});
  // Without site (-S): if a package of the machine imports threading at start, an interpreter of 3.12 waits for ever at its end, recorded or not.
  for (const char* each : {python.c_str(), "-S", LANESCOPE_TEST_PROGRAMS "/python/python_gil.py", what}) arguments.emplace_back(each);
  const Ran outcome = run_lanescope(folder.path(), arguments);
  REQUIRE(outcome.code == 0);
  Recorded recorded;
  recorded.trace = load(folder.path() / "x.trace");
  std::istringstream words(outcome.output);
  const Nanoseconds epoch = recorded.trace->provenance().monotonic_epoch;
  std::string name;
  for (Told told; words >> name >> told.thread >> told.begin >> told.end;) recorded.threads[name] = {told.thread, told.begin - epoch, told.end - epoch};
  recorded.lock = read_lock(*recorded.trace);
  return recorded;
}

// The time that a thread's spans cover between `begin` and `end`.
Nanoseconds time_in(const std::vector<Span>& spans, std::uint32_t thread, Nanoseconds begin, Nanoseconds end) {
  Nanoseconds time = 0;
  for (const Span& span : spans)
    if (span.thread == thread) time += std::max<Nanoseconds>(std::min(span.end, end) - std::max(span.start, begin), 0);
  return time;
}

// Two threads never hold it at once, except for the difference of two processors' clocks.
void check_exclusion(const Lock& lock) {
  constexpr Nanoseconds kSlack = 10'000;
  REQUIRE(lock.held.size() > 10);
  for (std::size_t i = 1; i < lock.held.size(); ++i) REQUIRE(lock.held[i].start >= lock.held[i - 1].end - kSlack);
}

bool records_os_calls(const Trace& trace) {
  return std::any_of(trace.tracks().begin(), trace.tracks().end(), [](const Track& track) { return track.key.kind == TrackKind::kOsRuntime; });
}

#define FOR_ALL_INTERPRETERS(python)                           \
  const std::vector<std::string> all_of_them = interpreters(); \
  if (all_of_them.empty()) {                                   \
    WARN("There is no Python from 3.9 on here.");              \
    return;                                                    \
  }                                                            \
  for (const std::string& python : all_of_them)

}  // namespace

TEST_CASE("two Python threads that compute hold the GIL in turns, and wait for it meanwhile") {
  FOR_ALL_INTERPRETERS(python) {
    INFO(python);
    const Recorded recorded = record(python, "compete");
    check_exclusion(recorded.lock);
    REQUIRE(recorded.threads.size() == 2);
    const Told& first = recorded.threads.at("first");
    const Told& second = recorded.threads.at("second");
    const Nanoseconds begin = std::max(first.begin, second.begin);
    const Nanoseconds end = std::min(first.end, second.end);
    std::vector<Nanoseconds> waits;
    for (const Told& each : {first, second}) {
      const auto held = static_cast<double>(time_in(recorded.lock.held, each.thread, begin, end));
      const auto waited = static_cast<double>(time_in(recorded.lock.waited, each.thread, begin, end));
      const auto all = static_cast<double>(end - begin);
      CHECK(held > 0.2 * all);
      CHECK(waited > 0.2 * all);
      CHECK(held + waited <= all);
    }
    for (const Span& wait : recorded.lock.waited)
      if (wait.start >= begin && wait.end <= end) waits.push_back(wait.end - wait.start);
    REQUIRE(waits.size() > 5);
    // A thread that computes is not asked for the lock before sys.getswitchinterval(), 5 ms, has passed.
    CHECK(std::count_if(waits.begin(), waits.end(), [](Nanoseconds wait) { return wait > 4'500'000; }) > 5);
  }
}

TEST_CASE("a Python thread that sleeps neither holds the GIL nor waits for it") {
  FOR_ALL_INTERPRETERS(python) {
    INFO(python);
    const Recorded recorded = record(python, "sleep");
    check_exclusion(recorded.lock);
    const Told& sleeper = recorded.threads.at("sleeper");
    std::vector<Span> active;
    for (const std::vector<Span>* spans : {&recorded.lock.held, &recorded.lock.waited})
      for (const Span& span : *spans)
        if (span.thread == sleeper.thread && span.end > sleeper.begin && span.start < sleeper.end) active.push_back(span);
    std::sort(active.begin(), active.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    Nanoseconds longest = 0;
    for (std::size_t i = 1; i < active.size(); ++i) longest = std::max(longest, active[i].start - active[i - 1].end);
    CHECK(longest > 990'000'000);  // the program sleeps for a second
    const Told& computer = recorded.threads.at("computer");
    const auto held = static_cast<double>(time_in(recorded.lock.held, computer.thread, computer.begin, computer.end));
    CHECK(held > 0.8 * static_cast<double>(computer.end - computer.begin));
  }
}

TEST_CASE("the child of a vfork, which ends on its parent's thread, does not end what that one holds") {
  FOR_ALL_INTERPRETERS(python) {
    INFO(python);
    const Recorded recorded = record(python, "failing");
    const Told& starter = recorded.threads.at("starter");
    const auto held = static_cast<double>(time_in(recorded.lock.held, starter.thread, starter.begin, starter.end));
    // If the child ended the hold, the thread would not hold the lock while it computes, which is nearly all of the time. A busy machine makes it wait as well.
    CHECK(held > 0.3 * static_cast<double>(starter.end - starter.begin));
  }
}

TEST_CASE("native code that lets go of the GIL does not hold it") {
  FOR_ALL_INTERPRETERS(python) {
    INFO(python);
    // The lock is recorded together with calls into the C library, too.
    const Recorded recorded = record(python, "release", {"-t", "python-gil,osrt"});
    check_exclusion(recorded.lock);
    const Told& native = recorded.threads.at("native");
    const auto held = static_cast<double>(time_in(recorded.lock.held, native.thread, native.begin, native.end));
    CHECK(held < 0.3 * static_cast<double>(native.end - native.begin));
    CHECK(records_os_calls(*recorded.trace));
  }
}

TEST_CASE("calls into the C library are not recorded where the GIL alone is asked for, nor the GIL where it is not") {
  FOR_ALL_INTERPRETERS(python) {
    INFO(python);
    CHECK_FALSE(records_os_calls(*record(python, "release").trace));
    const Recorded calls = record(python, "release", {"-t", "osrt,nvtx"});
    CHECK(records_os_calls(*calls.trace));
    CHECK(calls.lock.held.empty());
  }
}

TEST_CASE("threads in interpreters with a GIL of their own hold it at once, and it is said whose each is") {
  FOR_ALL_INTERPRETERS(python) {
    constexpr unsigned kFirstWithOwn = 12;
    if (minor_version(python) < kFirstWithOwn) continue;
    INFO(python);
    const Recorded recorded = record(python, "interpreters");
    const Told& first = recorded.threads.at("first");
    const Told& second = recorded.threads.at("second");
    const Nanoseconds begin = std::max(first.begin, second.begin);
    const Nanoseconds end = std::min(first.end, second.end);
    for (const Told& each : {first, second})
      CHECK(static_cast<double>(time_in(recorded.lock.held, each.thread, begin, end)) > 0.8 * static_cast<double>(end - begin));
    // The interpreters that the main interpreter created, one after the other.
    for (const auto& [thread, interpreter] : {std::pair(first.thread, 1), std::pair(second.thread, 2)}) {
      std::map<std::string, Nanoseconds> by_name;
      for (const Span& span : recorded.lock.held)
        if (span.thread == thread) by_name[span.name] += span.end - span.start;
      const auto most = std::max_element(by_name.begin(), by_name.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      REQUIRE(most != by_name.end());
      CHECK(most->first == "holds the GIL of interpreter " + std::to_string(interpreter));
    }
  }
}

TEST_CASE("threads of a free-threaded build hold no GIL, which is said") {
  FOR_ALL_INTERPRETERS(python) {
    if (!is_free_threaded(python)) continue;
    INFO(python);
    const Recorded recorded = record(python, "compete", {"-t", "python-gil"}, FreeThreading::kOn);
    for (const auto& [name, told] : recorded.threads) {
      CHECK(time_in(recorded.lock.held, told.thread, told.begin, told.end) == 0);
      CHECK(time_in(recorded.lock.waited, told.thread, told.begin, told.end) == 0);
    }
    const std::vector<DiagnosticMessage>& messages = recorded.trace->diagnostics();
    CHECK(std::any_of(messages.begin(), messages.end(),
                      [](const DiagnosticMessage& message) { return message.text.find("its threads hold no GIL") != std::string::npos; }));
  }
}

TEST_CASE("a program that closes its interpreter's library goes on as without us") {
  FOR_ALL_INTERPRETERS(python) {
    INFO(python);
    const std::string library = output_of(python +
                                          " -S -c 'import sysconfig, os; v = sysconfig.get_config_var; print(os.path.join(v(\"LIBDIR\"), v(\"INSTSONAME\")) if "
                                          "v(\"Py_ENABLE_SHARED\") else \"\")'");
    const std::string path = library.substr(0, library.find('\n'));
    if (path.empty() || !std::filesystem::exists(path)) {  // distributions build the library, and have it in a package of its own
      WARN("It is not a library.");
      continue;
    }
    const TemporaryFolder folder;
    // The interpreter finds its modules by this, as it does if an embedding program sets its home.
    const std::string home = output_of(python + " -S -c 'import sys; print(sys.prefix, end=\"\")'");
    const Ran outcome =
        run_lanescope(folder.path(),
                      {"profile", "-t", "python-gil", "-s", "none", "--cpuctxsw", "none", "-o", "x", program("lanescope_program_python_plugin").string(), path},
                      {{"PYTHONHOME", home}});
    CHECK(outcome.code == 7);
    CHECK(outcome.output == "went on\n");
  }
}

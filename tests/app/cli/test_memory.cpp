// Commands read long recordings in parts: their memory is bounded, whatever the size of the recording. The tests check bytes, not times.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../../model/trace/compact/long_recording.h"
#include "model/trace/compact/compaction.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

// More events in the nightly run (packaging/nightly.sh).
std::uint32_t event_count() {
  const char* wanted = std::getenv("LANESCOPE_TEST_EVENTS");
  return wanted == nullptr ? 20'000'000 : static_cast<std::uint32_t>(std::atol(wanted));
}

// Runs `work` in a separate process, whose memory is not counted with ours.
template <typename Work>
bool succeeds_elsewhere(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    bool done = false;
    try {
      done = work();
    } catch (...) {
    }
    _exit(done ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

struct Ran {
  int code = -1;
  std::uint64_t peak = 0;  // the most memory that it had, in bytes
  std::string messages;    // on standard error; standard output is discarded
};
Ran run(std::vector<std::string> arguments, const char* budget) {
  const TemporaryFolder folder;
  const fs::path messages = folder.path() / "messages";
  const fs::path program = fs::path(LANESCOPE_BINARY_DIR) / "bin" / "lanescope";
  arguments.insert(arguments.begin(), program.string());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("LANESCOPE_MEMORY", budget, 1);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    dup2(open(messages.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    execv(program.c_str(), argv.data());
    _exit(1);
  }
  int status = 0;
  rusage used{};
  REQUIRE(wait4(child, &status, 0, &used) == child);
  std::ifstream said(messages);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          static_cast<std::uint64_t>(used.ru_maxrss) << 10,
          {std::istreambuf_iterator<char>(said), {}}};
}

}  // namespace

TEST_CASE("what commands hold of a long recording is bounded, whatever its length") {
  constexpr std::uint64_t kMiB = 1u << 20;
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log.trace", compact = folder.path() / "compact.trace";
  const std::uint32_t events = event_count();
  REQUIRE(succeeds_elsewhere([&] {
    write_long_recording(log, events);
    return compact_trace_file(log, compact, Overwrite::kRefuse, {}, {.memory_bytes = 64 * kMiB}).has_value();
  }));
  fs::remove(log);
  // All events would take at least 17 bytes each.
  constexpr std::uint64_t kWithoutEvents = 40 * kMiB;  // the program itself
  const auto is_bounded = [&](const std::vector<std::string>& arguments, std::uint64_t budget, const char* said) {
    const Ran ran = run(arguments, said);
    INFO(arguments.front() << " with " << said << ": " << ran.peak / kMiB << " MiB at most, of " << events << " events");
    CHECK(ran.code == 0);
    CHECK(ran.peak < budget + kWithoutEvents + 64 * kMiB);
  };
  is_bounded({"info", compact.string()}, 0, "64M");
  is_bounded({"stats", "-r", "cuda_api_sum", compact.string()}, 64 * kMiB, "64M");
  is_bounded({"export", "-t", "csv", "-o", "-", "--times", "10s/10.5s", compact.string()}, 64 * kMiB, "64M");
}

// In the nightly run: 200 million events, of which at most half a gibibyte is in memory.
TEST_CASE("what reports and rules hold of a long program is bounded, whatever its length") {
  constexpr std::uint64_t kMiB = 1u << 20;
  const bool is_night = std::getenv("LANESCOPE_TEST_EVENTS") != nullptr;
  const std::uint32_t events = is_night ? event_count() : 4'000'000;
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log.trace", compact = folder.path() / "compact.trace";
  REQUIRE(succeeds_elsewhere([&] {
    write_long_program(log, events);
    return compact_trace_file(log, compact, Overwrite::kRefuse, {}, {.memory_bytes = 64 * kMiB}).has_value();
  }));
  fs::remove(log);
  for (const char* command : {"stats", "analyze"}) {
    const Ran ran = run({command, compact.string()}, is_night ? "512M" : "16M");
    INFO(command << ": " << ran.peak / kMiB << " MiB at most, of " << events << " events");
    CHECK(ran.code == 0);
    CHECK(ran.peak < (is_night ? 1'536 : 160) * kMiB);
  }
}

TEST_CASE("events that can't be read are told, and the command fails; so does a budget that is no size") {
  const TemporaryFolder folder;
  const fs::path compact = folder.path() / "compact.trace";
  write_long_recording(folder.path() / "log.trace", 100'000);
  REQUIRE(compact_trace_file(folder.path() / "log.trace", compact, Overwrite::kRefuse));
  CHECK(run({"stats", "-r", "cuda_api_sum", compact.string()}, "1M").code == 0);
  {
    std::fstream file(compact, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(compact) / 2));  // segments make up nearly all of the file
    file.write("damage", 6);
  }
  const Ran damaged = run({"stats", "-r", "cuda_api_sum", compact.string()}, "1M");
  CHECK(damaged.code == 1);
  const std::string sentence = "Not all events of " + compact.string() + " can be read any more";
  const auto times = [](std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) ++found;
    return found;
  };
  CHECK(times(damaged.messages, sentence) == 1);
  CHECK(times(damaged.messages, "Not all events") == 1);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"export", "-t", "csv", "-o", "-"}, {"export", "-t", "sqlite", "-o", folder.path() / "x.sqlite"}, {"query", "-f", "csv", "-o", "-"}}) {
    std::vector<std::string> asked = command;
    asked.push_back(compact.string());
    if (command.front() == "query") asked.push_back("SELECT sum(duration) FROM api_calls");
    const Ran said = run(asked, "1M");
    INFO(command.front() << ' ' << said.messages);
    CHECK(said.code == 1);
    CHECK(times(said.messages, "Not all events") == 1);
  }
  const Ran shown = run({"info", compact.string()}, "1M");
  CHECK(shown.code == 0);
  CHECK(times(shown.messages, "Not all events") == 0);
  const Ran wrong = run({"info", compact.string()}, "soon");
  CHECK(wrong.code == 2);
  CHECK(wrong.messages.find("LANESCOPE_MEMORY: \"soon\" is no size") != std::string::npos);
}

// A recording that is compacted in place is there, whole, at whatever moment the process that does this is killed.
//
// LANESCOPE_KILLS is the number of kills at random moments; the default is 24.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "recordings.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

// Compacts in a process of its own, which calls progress(number of the call) and is killed after `delay`. Returns true if it reached its end.
template <typename Progress>
bool compact_in_child(const fs::path& path, std::chrono::microseconds delay, Progress progress) {
  const pid_t child = fork();
  if (child == 0) {
    int calls = 0;
    const auto result = compact_trace_file(path, path, Overwrite::kAllow,
                                           [&](double) {
                                             progress(calls++);
                                             return LoadStep::kContinue;
                                           },
                                           {.memory_bytes = 1 << 20});
    _exit(result ? 0 : 1);
  }
  REQUIRE(child > 0);
  if (delay.count() > 0) {
    std::this_thread::sleep_for(delay);
    kill(child, SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
  return WIFEXITED(status);
}

}  // namespace

TEST_CASE("who compacts a recording can be killed at any moment") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.trace";
  const fs::path source = data_file("torch_loader_samples.trace");
  const std::string log = bytes_of(source);
  compacted(source, folder.path() / "compact.trace", {.memory_bytes = 1 << 20});
  const std::string compact = bytes_of(folder.path() / "compact.trace");
  REQUIRE(log != compact);
  int logs = 0, compacts = 0;
  const auto check = [&] {
    const std::string now = bytes_of(path);
    REQUIRE((now == log || now == compact));
    ++(now == log ? logs : compacts);
  };
  const auto begin_anew = [&] { fs::copy_file(source, path, fs::copy_options::overwrite_existing); };

  // Kills it at each of its steps, until it runs to its end.
  for (int step = 0;; step += 1 + step / 8) {
    begin_anew();
    const bool ended = compact_in_child(path, {}, [&](int call) {
      if (call == step) raise(SIGKILL);
    });
    check();
    if (ended) break;
  }
  CHECK(logs > 1);
  CHECK(compacts > 0);

  const auto begin = std::chrono::steady_clock::now();
  begin_anew();
  CHECK(compact_in_child(path, {}, [](int) {}));
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  const char* asked = std::getenv("LANESCOPE_KILLS");
  std::mt19937 random(std::random_device{}());
  for (int kills = asked != nullptr ? std::atoi(asked) : 24; kills > 0; --kills) {
    begin_anew();
    compact_in_child(path, std::chrono::microseconds(1 + static_cast<long>(random() % static_cast<unsigned long>(whole.count() * 5 / 4))), [](int) {});
    check();
  }
  WARN(logs << " times the log was left, " << compacts << " times the compacted file");
}

// Programs that have redirected calls themselves, as hooking and preloaded libraries do.
#include <string>
#include <utility>
#include <vector>

#include "nvtx_program.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::unique_ptr<session::Recording> attach_to(const RunningTarget& target, const TemporaryFolder& folder, bool traces_os_calls) {
  session::AttachRequest request = attach_request(target.pid(), folder.path() / "x");
  request.settings.trace_os_runtime = traces_os_calls;
  return attach(request);
}

void wait_for_events(const session::Recording& recording, std::uint64_t count) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (recording.statistics().events < count && std::chrono::steady_clock::now() < give_up) usleep(10'000);
}

// Closes its input; it then prints `said`, and ends as without a recorder.
void check_end(RunningTarget& target, const std::string& said) {
  target.close_input();
  std::string output;
  const int status = target.finish(output);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(output == said);
}

}  // namespace

TEST_CASE("a program may go on writing to its slots where it could before it was attached to") {
  const TemporaryFolder folder;
  RunningTarget target({program("lanescope_program_own_hook").string()});
  REQUIRE(target.read_line() == "ready");
  auto recording = attach_to(target, folder, true);
  wait_for_events(*recording, 20);
  const auto trace = end(std::move(recording));
  CHECK(count_events(*trace, TrackKind::kOsRuntime, "poll") >= 10);  // its calls were redirected
  check_end(target, "hooked\n");
}

TEST_CASE("functions that stand before those of the C library are called as they are without us, also where they are looked up only then") {
  const bool traces_os_calls = GENERATE(false, true);
  CAPTURE(traces_os_calls);
  const TemporaryFolder folder;
  RunningTarget target(
      {"/usr/bin/env", "LD_PRELOAD=" + program("liblanescope_program_stands_before.so").string(), program("lanescope_program_late_calls").string()});
  REQUIRE(target.read_line() == "ready");
  auto recording = attach_to(target, folder, traces_os_calls);
  if (traces_os_calls) wait_for_events(*recording, 1);
  check_end(target, "8 answered\n");
  REQUIRE(recording->wait_for(std::chrono::minutes(1)));
  const auto trace = load(recording->path());
  CHECK(count_events(*trace, TrackKind::kOsRuntime, "usleep") == (traces_os_calls ? 1u : 0u));
}

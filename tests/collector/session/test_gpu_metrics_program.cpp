// What the recorder requests from the sampler of GPU metrics.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "collector/session/gpu_metrics.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;

TEST_CASE("a sampler that never ends, as in a driver that hangs, is given up, with what to look at") {
  const test::TemporaryFolder folder;
  const auto script = folder.path() / "sampler";
  std::ofstream(script) << "#!/bin/sh\necho $$ > " << (folder.path() / "process").string() << "\necho one line\nexec sleep 1000\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  setenv("LANESCOPE_GPU_METRICS", script.c_str(), 1);
  const Result<std::string> answer = session::ask_gpu_metrics({"--check"}, std::chrono::seconds(1));
  unsetenv("LANESCOPE_GPU_METRICS");
  REQUIRE_FALSE(answer);
  CHECK_THAT(answer.error().text, contains_text("has not answered in 1 s") && contains_text("nvidia-smi"));
  pid_t process = 0;
  if (std::ifstream(folder.path() / "process") >> process)
    while (kill(process, 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

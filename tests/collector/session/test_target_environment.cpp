#include "launch/target_environment.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "collector/attach/process_text.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope::session;

namespace {

using Variables = std::map<std::string, std::string>;

Variables as_map(const TargetEnvironment& environment) {
  Variables variables;
  for (const std::string& entry : environment.variables) {
    const auto equals = entry.find('=');
    CHECK(variables.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second);  // each name occurs once
  }
  return variables;
}

LaunchRequest request() {
  LaunchRequest result;
  result.command = {"app"};
  return result;
}

constexpr const char* kAgent = "/opt/agent.so";
constexpr const char* kSocket = "/run/socket";

// The filters of this process are in /proc, except on Linux before 5.9.
Variables with_filters(Variables variables) {
  const std::string count = lanescope::attach::status_value(lanescope::attach::process_text("/proc/self/status"), "Seccomp_filters:");
  if (!count.empty()) variables["LANESCOPE_FILTERS"] = std::string(4 - count.size(), '0') + count;
  return variables;
}

}  // namespace

TEST_CASE("the agent is loaded by CUDA and NVTX, and told where to report") {
  const Variables variables = as_map(target_environment(request(), {"HOME=/root"}, kAgent, kSocket));
  CHECK(variables == with_filters({{"HOME", "/root"}, {"CUDA_INJECTION64_PATH", kAgent}, {"NVTX_INJECTION64_PATH", kAgent}, {"LANESCOPE_SOCKET", kSocket}}));
}

TEST_CASE("what is not traced is not injected") {
  LaunchRequest nvtx_only = request();
  nvtx_only.settings.trace_cuda = false;
  CHECK(as_map(target_environment(nvtx_only, {}, kAgent, kSocket)) == with_filters({{"NVTX_INJECTION64_PATH", kAgent}, {"LANESCOPE_SOCKET", kSocket}}));
  nvtx_only.settings.trace_nvtx = false;
  CHECK(as_map(target_environment(nvtx_only, {"A=1"}, kAgent, kSocket)) == Variables{{"A", "1"}});
}

TEST_CASE("OS runtime tracing preloads the agent before what is preloaded already") {
  LaunchRequest traced = request();
  traced.settings.trace_os_runtime = true;
  const std::string list = as_map(target_environment(traced, {"LD_PRELOAD=/lib/mine.so"}, kAgent, kSocket)).at("LD_PRELOAD");
  CHECK(list.starts_with("$ORIGIN/../.."));
  CHECK(list.ends_with("/../opt/agent.so:/lib/mine.so"));
}

TEST_CASE("what a program's loader would split or change in the agent's path is not recorded, and that is said") {
  LaunchRequest traced = request();
  traced.settings.trace_os_runtime = true;
  for (const char* const agent : {"/my tools/agent.so", "/my:tools/agent.so", "/$ORIGIN/agent.so", "/${LIB}/agent.so"}) {
    CAPTURE(agent);
    const TargetEnvironment environment = target_environment(traced, {}, agent, kSocket);
    const bool is_changed = std::string_view(agent).find('$') != std::string_view::npos;
    CHECK_FALSE(as_map(environment).contains("LD_PRELOAD"));
    CHECK_FALSE(environment.settings.trace_os_runtime);
    CHECK(environment.settings.trace_nvtx == !is_changed);
    CHECK(as_map(environment).contains("NVTX_INJECTION64_PATH") == !is_changed);
    REQUIRE(environment.lacks.size() == (is_changed ? 2 : 1));
    CHECK(environment.lacks.back().starts_with("OS runtime calls and Python's lock can't be recorded: Lanescope lies in /"));
  }
  CHECK(target_environment(traced, {}, "/a$b/agent.so", kSocket).lacks.empty());
}

TEST_CASE("NVTX loads the small library also where LD_PRELOAD brings the agent, because not every program's loader heeds that") {
  const lanescope::test::TemporaryFolder folder;
  const std::filesystem::path agent = folder.path() / "liblanescope-agent.so", small = folder.path() / "liblanescope-nvtx.so";
  for (const std::filesystem::path& each : {agent, small}) std::ofstream(each).flush();
  LaunchRequest traced = request();
  traced.settings.trace_os_runtime = true;
  const Variables variables = as_map(target_environment(traced, {}, agent, kSocket));
  CHECK(variables.at("NVTX_INJECTION64_PATH") == small);
  CHECK(variables.at("LD_PRELOAD").ends_with(agent.string()));
}

TEST_CASE("where Python's lock alone is recorded, the agent stands before calls that it does not record") {
  LaunchRequest traced = request();
  traced.settings.trace_cuda = traced.settings.trace_nvtx = false;
  CHECK_FALSE(as_map(target_environment(traced, {"LANESCOPE_PYTHON_LOCK=1"}, kAgent, kSocket)).contains("LANESCOPE_PYTHON_LOCK"));
  traced.settings.trace_python_lock = true;
  const Variables alone = as_map(target_environment(traced, {}, kAgent, kSocket));
  CHECK(alone.at("LD_PRELOAD").ends_with("/../opt/agent.so"));
  CHECK(alone.at("LANESCOPE_PYTHON_LOCK") == "alone");
  CHECK(alone.at("LANESCOPE_SOCKET") == kSocket);
  traced.settings.trace_os_runtime = true;
  CHECK(as_map(target_environment(traced, {}, kAgent, kSocket)).at("LANESCOPE_PYTHON_LOCK") == "1");
}

TEST_CASE("another tool's CUDA injection is left alone, with one sentence about it") {
  const TargetEnvironment environment = target_environment(request(), {"CUDA_INJECTION64_PATH=/other/tool.so"}, kAgent, kSocket);
  CHECK(as_map(environment).at("CUDA_INJECTION64_PATH") == "/other/tool.so");
  CHECK_FALSE(environment.settings.trace_cuda);
  CHECK(environment.settings.trace_nvtx);
  REQUIRE(environment.lacks.size() == 1);
  CHECK(environment.lacks[0].find("/other/tool.so") != std::string::npos);
}

TEST_CASE("our own agent in the environment is no other tool") {
  const TargetEnvironment environment = target_environment(request(), {"CUDA_INJECTION64_PATH=/opt/agent.so"}, kAgent, kSocket);
  CHECK(environment.settings.trace_cuda);
  CHECK(environment.lacks.empty());
}

TEST_CASE("changes to the environment are applied in order, with or without ours below them") {
  LaunchRequest changed = request();
  changed.settings = {false, false, false};
  changed.environment = {{"A", "1"}, {"B", "2"}, {"A", "3"}, {"B", std::nullopt}, {"HOME", std::nullopt}};
  CHECK(as_map(target_environment(changed, {"HOME=/root", "C=4"}, kAgent, kSocket)) == Variables{{"A", "3"}, {"C", "4"}});
  changed.inherit_environment = InheritEnvironment::kNo;
  CHECK(as_map(target_environment(changed, {"HOME=/root", "C=4"}, kAgent, kSocket)) == Variables{{"A", "3"}});
}

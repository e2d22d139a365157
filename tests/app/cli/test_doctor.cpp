// What a machine's files say about it, tested with trees that are made by hand.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "doctor/machine.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::cli;
namespace fs = std::filesystem;

namespace {

class Tree {
 public:
  Tree& with(const fs::path& path, const std::string& content) {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << content;
    return *this;
  }
  [[nodiscard]] Machine machine(uid_t user = 1000) const { return {.root = folder_.path(), .user = user}; }

 private:
  test::TemporaryFolder folder_;
};

std::string remedy(const Finding& finding) { return finding.remedies.empty() ? "" : finding.remedies.front().english(); }

}  // namespace

TEST_CASE("ptrace_scope decides what can be attached to, and by whom") {
  CHECK(attach_finding(Tree().machine()).verdict == Verdict::kWorks);  // a kernel without Yama
  CHECK(attach_finding(Tree().with("proc/sys/kernel/yama/ptrace_scope", "0\n").machine()).verdict == Verdict::kWorks);
  Tree restricted;
  restricted.with("proc/sys/kernel/yama/ptrace_scope", "1\n");
  CHECK(attach_finding(restricted.machine()).verdict == Verdict::kLimited);
  CHECK(remedy(attach_finding(restricted.machine())) == "sudo sysctl kernel.yama.ptrace_scope=0");
  CHECK(attach_finding(restricted.machine(0)).verdict == Verdict::kWorks);
  Tree closed;
  closed.with("proc/sys/kernel/yama/ptrace_scope", "3\n");
  CHECK_THAT(remedy(attach_finding(closed.machine(0))), contains_text("reboot") && contains_text("--arm"));
  Machine grace = Tree().machine(0);
  grace.processor = "aarch64";  // there is no injector for this processor
  CHECK(attach_finding(grace).verdict == Verdict::kLimited);
  CHECK_THAT(remedy(attach_finding(grace)), contains_text("--arm"));
}

TEST_CASE("without the kernel's files of processes that is what is wrong, and not the agent") {
  CHECK_FALSE(missing_process_files(Tree().with("proc/self/mounts", "").machine()));
  const std::optional<Finding> finding = missing_process_files(Tree().with("proc/readme", "").machine());
  REQUIRE(finding);
  CHECK(finding->verdict == Verdict::kFails);
  CHECK_THAT(finding->text.english(), contains_text("/proc is not mounted"));
  CHECK(remedy(*finding) == "mount -t proc proc /proc");
}

TEST_CASE("counters are open where the driver's module says so, and to root") {
  CHECK_THAT(counters_finding(Tree().machine()).text.english(), contains_text("no NVIDIA kernel module"));
  Tree open;
  open.with("proc/driver/nvidia/params", "Mobile: 1\nRmProfilingAdminOnly: 0\n");
  CHECK(counters_finding(open.machine()).verdict == Verdict::kWorks);
  Tree closed;
  closed.with("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  CHECK(counters_finding(closed.machine()).verdict == Verdict::kLimited);
  CHECK_THAT(remedy(counters_finding(closed.machine())), contains_text("NVreg_RestrictProfilingToAdminUsers=0"));
  CHECK(counters_finding(closed.machine(0)).verdict == Verdict::kWorks);
}

TEST_CASE("a driver is told from a kernel's module without its libraries, and a container from a machine") {
  const Finding none = driver_finding(Tree().machine(), std::nullopt);
  CHECK(none.verdict == Verdict::kFails);
  CHECK_THAT(remedy(none), contains_text("ubuntu-drivers"));
  CHECK(remedy(driver_finding(Tree().with(".dockerenv", "").machine(), std::nullopt)) == "docker run --gpus all");
  Tree module;
  module.with("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86\nGCC version: 12\n");
  CHECK_THAT(driver_finding(module.machine(), std::nullopt).text.english(), contains_text("570.86"));
  const Finding works = driver_finding(module.machine(), 12'080);
  CHECK(works.verdict == Verdict::kWorks);
  CHECK_THAT(works.text.english(), contains_text("CUDA 12.8") && contains_text("570.86") && !contains_text("GCC"));
}

TEST_CASE("GPUs are counted by their names") {
  Tree tree;
  for (const char* slot : {"0000:01:00.0", "0000:02:00.0"})
    tree.with(fs::path("proc/driver/nvidia/gpus") / slot / "information", "Model: \t\t NVIDIA H200\nIRQ: 1\n");
  tree.with("proc/driver/nvidia/gpus/0000:03:00.0/information", "Model: \t\t NVIDIA L4\n");
  CHECK(gpus_finding(tree.machine()).text.english() == "2 × NVIDIA H200, NVIDIA L4");
  CHECK(gpus_finding(Tree().machine()).verdict == Verdict::kFails);
}

TEST_CASE("CUPTI is held against the driver") {
  const Cupti twelve{"/opt/libcupti.so.12", 24}, thirteen{"/opt/libcupti.so.13", 130'000};
  CHECK(cupti_finding(13'000, {thirteen, twelve}).text.english().starts_with("13.0, /opt/libcupti.so.13"));
  CHECK(cupti_finding(12'080, {thirteen, twelve}).text.english().starts_with("of CUDA 12 (API version 24), /opt/libcupti.so.12"));
  const Finding too_new = cupti_finding(12'080, {thirteen});
  CHECK(too_new.verdict == Verdict::kLimited);
  CHECK_THAT(too_new.text.english(), contains_text("too new for the driver, which serves CUDA 12.8"));
  CHECK_THAT(remedy(too_new), contains_text("nvidia-cuda-cupti-cu12,"));
  CHECK_THAT(remedy(cupti_finding(13'000, {})), contains_text("nvidia-cuda-cupti,"));
  CHECK(cupti_finding(std::nullopt, {thirteen}).verdict == Verdict::kWorks);
}

TEST_CASE("each right on threads that is missing has its command, and what the machine lacks has none") {
  const cpu::Access all{
      .own_processes = true, .system_wide = true, .kernel_code = true, .cycles = true, .branch_records = true, .wakeups = true, .reason = "", .remedy = ""};
  Tree mounted;
  mounted.with("proc/self/mounts", "tracefs /sys/kernel/tracing tracefs rw 0 0\n").with("proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
  CHECK(threads_finding(mounted.machine(), all).verdict == Verdict::kWorks);
  cpu::Access access = all;
  access.system_wide = false;
  CHECK(remedy(threads_finding(mounted.machine(), access)) == cpu::kSystemWideRemedy);
  access = all;
  access.wakeups = false;
  CHECK_THAT(remedy(threads_finding(mounted.machine(), access)), contains_text("remount"));
  CHECK_THAT(remedy(threads_finding(Tree().machine(), access)), contains_text("mount -t tracefs"));
  access = all;
  access.cycles = access.branch_records = false;
  CHECK(threads_finding(mounted.machine(), access).verdict == Verdict::kWorks);
  Tree slow;
  slow.with("proc/sys/kernel/perf_event_max_sample_rate", "250\n");
  CHECK_THAT(threads_finding(slow.machine(), all).text.english(), contains_text("250 samples a second"));
  CHECK(remedy(threads_finding(slow.machine(), all)) == "sudo sysctl kernel.perf_event_max_sample_rate=100000");
  cpu::Access none;
  none.reason = "kernel.perf_event_paranoid is 4";
  none.remedy = "sudo sysctl kernel.perf_event_paranoid=2";
  CHECK(remedy(threads_finding(mounted.machine(), none)) == none.remedy);
}

TEST_CASE("limits, space, parts, Python and the viewer are told with what mends them") {
  CHECK(limits_finding(Tree().machine(), {}).verdict == Verdict::kWorks);
  CHECK(limits_finding(Tree().machine(), {.files = 1'048'576, .file_size = {}, .addresses = {}}).verdict == Verdict::kWorks);
  CHECK_THAT(limits_finding(Tree().machine(), {.files = 1'024, .file_size = {}, .addresses = {}}).text.english(), contains_text("1,024 files"));
  CHECK(remedy(limits_finding(Tree().machine(), {.files = {}, .file_size = 1u << 20, .addresses = {}})) == "ulimit -f unlimited");
  CHECK(remedy(limits_finding(Tree().machine(), {.files = {}, .file_size = {}, .addresses = 1u << 30})) == "ulimit -v unlimited");

  CHECK(space_finding({{"/data", true, 5ull << 30}}).verdict == Verdict::kWorks);
  CHECK(space_finding({{"/data", true, 5u << 20}}).verdict == Verdict::kLimited);
  CHECK_THAT(space_finding({{"/data", false, 5ull << 30}}).text.english(), contains_text("may not write"));

  CHECK(parts_finding("/opt", {}).verdict == Verdict::kWorks);
  CHECK_THAT(parts_finding("/opt", {"lanescope-code-names", "liblanescope-mpi.so"}).text.english(), contains_text("lanescope-code-names, liblanescope-mpi.so"));

  CHECK(python_finding("python3", std::nullopt).verdict == Verdict::kLimited);
  CHECK(python_finding("python3", "3.11.2\n").verdict == Verdict::kWorks);
  CHECK(remedy(python_finding("/usr/bin/python3", "3.11.2\nxxhash\nzstandard\n")) == "/usr/bin/python3 -m pip install xxhash zstandard");
  CHECK_THAT(python_finding("python3", "3.6.9\n").text.english(), contains_text("too old"));
  CHECK_THAT(python_finding("python3", "2.7.18\n").text.english(), contains_text("too old"));

  CHECK(viewer_finding("", "").verdict == Verdict::kWorks);
  CHECK(viewer_finding("/usr/bin/lanescope-ui", "").verdict == Verdict::kWorks);
  CHECK_THAT(viewer_finding("/usr/bin/lanescope-ui", "libQt6Charts.so.6: cannot open").text.english(), contains_text("libQt6Charts"));
}

TEST_CASE("a finding is printed in columns, and as JSON whatever bytes are in it") {
  const Finding finding{Verdict::kLimited, "threads", "Threads", "first\nsecond \xff", {"one", "two"}};
  std::ostringstream printed;
  print(printed, finding);
  CHECK(printed.str() ==
        "Note  Threads         first\n                      second \xff\n                      Change it: one\n                      Change it: two\n");
  const nlohmann::json json = nlohmann::json::parse(as_json(finding).dump());
  CHECK(json["part"] == "threads");
  CHECK(json["verdict"] == "note");
  CHECK(json["remedies"].size() == 2);
  CHECK(json["said"]["subject"]["text"] == "Threads");
  CHECK(json["said"]["remedies"][1]["text"] == "two");
}

TEST_CASE("a finding says its templates and values apart, so that who reads it can show it in another language") {
  Tree tree;
  tree.with("proc/sys/kernel/yama/ptrace_scope", "1\n");
  const nlohmann::json json = as_json(attach_finding(tree.machine()));
  CHECK(json["text"] == "kernel.yama.ptrace_scope is 1: only to programs that lanescope started or armed");
  CHECK(json["said"]["text"]["text"] == "{setting} is {number}: only to programs that lanescope started or armed");
  CHECK(json["said"]["text"]["values"] == nlohmann::json{{"setting", "kernel.yama.ptrace_scope"}, {"number", "1"}});
  CHECK(json["said"]["remedies"] == nlohmann::json{"sudo sysctl kernel.yama.ptrace_scope=0"});  // the same in every language
}

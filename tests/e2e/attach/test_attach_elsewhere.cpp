// Programs that see another system than the recorder: their own mounts and root, or their own numbers of processes.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

#include "nvtx_program.h"
#include "small_root.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

enum class Proc { kMounted, kAbsent };

bool may_make_namespaces() {
  if (geteuid() == 0) return true;
  WARN("Only root can make a mount namespace: not tested.");
  return false;
}

pid_t only_child(pid_t process) {
  const std::string task = "/proc/" + std::to_string(process) + "/task/" + std::to_string(process);
  std::ifstream children(task + "/children");
  pid_t child = 0;
  REQUIRE(children >> child);
  return child;
}

// The numbers of the threads that have tracks of this kind: ranges, or states as we see them.
std::set<std::uint32_t> threads_with(const Trace& trace, TrackKind kind) {
  std::set<std::uint32_t> numbers;
  for (const Track& track : trace.tracks())
    if (track.key.kind == kind && track.key.thread != kNone) numbers.insert(trace.threads()[track.key.thread].tid);
  return numbers;
}

}  // namespace

TEST_CASE("the threads of a program that counts processes anew stand under one number, ours") {
  if (!may_make_namespaces()) return;
  const TemporaryFolder folder;
  SECTION("attached to") {
    NvtxProgram target({"/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc", program("attach_nvtx_target").string(), "initialised"});
    const pid_t inner = only_child(target.pid());
    session::AttachRequest request = attach_request(inner, folder.path() / "x");
    request.settings.cpu.thread_states = cpu::Scope::kProcessTree;
    Result<std::unique_ptr<session::Recording>> recording = session::Recording::attach(request);
    REQUIRE(recording);
    target.wait_until_recorded(**recording);
    target.obey("burst 10");
    const std::shared_ptr<const Trace> trace = end(std::move(*recording));
    CHECK(trace->processes()[0].pid == static_cast<std::uint32_t>(inner));
    CHECK(threads_with(*trace, TrackKind::kNvtxRanges) == std::set<std::uint32_t>{static_cast<std::uint32_t>(inner)});
    target.check_end(10);
  }
  SECTION("launched") {
    LanescopeProcess recording(folder.path(), {"profile", "-t", "nvtx,osrt", "-o", "x", "/usr/bin/unshare", "--pid", "--fork", "--mount-proc",
                                               program("lanescope_program_nvtx_endless").string(), "5"});
    recording.wait_for_line("ready");
    const auto inner = static_cast<std::uint32_t>(only_child(recording.target()));
    kill(static_cast<pid_t>(inner), SIGTERM);
    CHECK(recording.wait() == 5);
    const auto trace = load(folder.path() / "x.trace");
    CHECK(threads_with(*trace, TrackKind::kNvtxRanges) == std::set<std::uint32_t>{inner});
    CHECK(threads_with(*trace, TrackKind::kThreadStates).contains(inner));
  }
}

TEST_CASE("a program in another mount namespace, with a root and a C library of its own, is recorded") {
  if (!may_make_namespaces()) return;
  const Proc proc = GENERATE(Proc::kMounted, Proc::kAbsent);
  CAPTURE(proc == Proc::kMounted);
  const TemporaryFolder folder;
  const std::string root = make_root(folder.path()).string();
  const std::string mount = proc == Proc::kMounted ? "mount -t proc proc '" + root + "/proc' && " : "";
  NvtxProgram target({"/usr/bin/unshare", "-m", "sh", "-c", mount + "exec chroot '" + root + "' /target initialised"});
  REQUIRE(std::filesystem::read_symlink("/proc/" + std::to_string(target.pid()) + "/ns/mnt") != std::filesystem::read_symlink("/proc/self/ns/mnt"));
  for (int round = 0; round < 2; ++round) {
    const std::string name = "round" + std::to_string(round);
    std::unique_ptr<session::Recording> recording = attach(target.pid(), folder.path() / name);
    target.wait_until_recorded(*recording);
    target.obey("range " + name);
    const std::shared_ptr<const Trace> trace = end(std::move(recording));
    CHECK(ranges(*trace, name) == 1);
    CHECK(trace->processes()[0].name == "target");
  }
  CHECK(std::filesystem::is_empty(root + "/tmp"));
  target.check_end(2);
}

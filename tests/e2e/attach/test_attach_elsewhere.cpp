// Programs that see another file system than we do: in a mount namespace of their own, below another root.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "nvtx_program.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

enum class Proc { kMounted, kAbsent };

// A root that holds the program and the libraries that it needs, and nothing else; as a small container has it.
std::filesystem::path make_root(const std::filesystem::path& folder) {
  const std::filesystem::path root = folder / "root";
  for (const char* each : {"proc", "tmp"}) std::filesystem::create_directories(root / each);
  std::filesystem::copy_file(program("attach_nvtx_target"), root / "target");
  const std::string list = (folder / "libraries").string();
  REQUIRE(std::system(("ldd '" + program("attach_nvtx_target").string() + "' > '" + list + "'").c_str()) == 0);
  // Old programs' libraries come with every glibc; ours needs them.
  std::vector<std::string> paths{"/lib/x86_64-linux-gnu/libdl.so.2", "/lib/x86_64-linux-gnu/libpthread.so.0"};
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find('/');
    if (begin != std::string::npos) paths.push_back(line.substr(begin, line.find(' ', begin) - begin));
  }
  for (const std::string& path : paths) {
    std::error_code ignored;
    std::filesystem::create_directories((root / path.substr(1)).parent_path());
    std::filesystem::copy_file(path, root / path.substr(1), ignored);
  }
  return root;
}

bool may_make_namespaces() {
  if (geteuid() == 0) return true;
  WARN("Only root can make a mount namespace: not tested.");
  return false;
}

}  // namespace

TEST_CASE("a program in another mount namespace, with a root and a C library of its own, is recorded") {
  if (!may_make_namespaces()) return;
  const Proc proc = GENERATE(Proc::kMounted, Proc::kAbsent);
  CAPTURE(proc == Proc::kMounted);
  const TemporaryFolder folder;
  const std::string root = make_root(folder.path()).string();
  const std::string mount = proc == Proc::kMounted ? "mount -t proc proc '" + root + "/proc' && " : "";
  NvtxProgram target({"/usr/bin/unshare", "-m", "sh", "-c", mount + "exec chroot '" + root + "' /target initialised"});
  REQUIRE(std::filesystem::read_symlink("/proc/" + std::to_string(target.pid()) + "/ns/mnt") !=
          std::filesystem::read_symlink("/proc/self/ns/mnt"));
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

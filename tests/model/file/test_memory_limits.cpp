// How much memory a process may use, by limits that are set here.
#include "model/file/memory_limits.h"

#include <fstream>
#include <limits>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
namespace fs = std::filesystem;

namespace {

void put_line(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

}  // namespace

TEST_CASE("the least limit of a control group and those around it counts, of either version") {
  const test::TemporaryFolder folder;
  const fs::path groups = folder.path() / "cgroup", root = folder.path() / "fs";
  const auto limit = [&] { return memory_limit_of_control_groups(groups, root); };
  CHECK(limit() == std::numeric_limits<std::uint64_t>::max());  // no limit is visible

  put_line(groups, "0::/slurm/job7/step0");
  put_line(root / "slurm/memory.max", "max");
  put_line(root / "slurm/job7/memory.max", std::to_string(3 * kGiB));
  put_line(root / "slurm/job7/step0/memory.max", "max");
  CHECK(limit() == 3 * kGiB);
  put_line(root / "slurm/memory.max", std::to_string(2 * kGiB));
  CHECK(limit() == 2 * kGiB);

  // A container sees its own group as the root.
  put_line(groups, "0::/");
  put_line(root / "memory.max", std::to_string(kGiB));
  CHECK(limit() == kGiB);

  put_line(groups, "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc");
  put_line(root / "memory/docker/abc/memory.limit_in_bytes", std::to_string(5 * kGiB));
  put_line(root / "memory/docker/memory.limit_in_bytes", "9223372036854771712");  // the first version writes this if there is no limit
  CHECK(limit() == 5 * kGiB);
}

// A sanitizer's shadow memory exceeds every limit, so nothing could be allocated.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("limits of resources bound what a process may have") {
  constexpr std::uint64_t kLimit = 300u << 20;
  REQUIRE(memory_limit() > kLimit);
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const rlimit limit{kLimit, kLimit};
      _exit(setrlimit(resource, &limit) == 0 && memory_limit() == kLimit ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}
#endif

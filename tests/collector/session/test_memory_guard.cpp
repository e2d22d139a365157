#include "processes/memory/memory_guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "processes/memory/target_memory.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kPool = 8u << 20;
constexpr std::size_t kHeader = channel::whole_pages(sizeof(channel::SharedHeader));

std::size_t bytes_of(int file) {
  constexpr std::size_t kBlock = 512;
  struct stat status {};
  REQUIRE(fstat(file, &status) == 0);
  return static_cast<std::size_t>(status.st_blocks) * kBlock;
}

// Memory in which a program records, all of it used, as the program has mapped it.
std::unique_ptr<TargetMemory> used_memory() {
  CaptureSettings settings;
  settings.pool_bytes = kPool;
  auto memory = TargetMemory::create(1, settings);
  REQUIRE(memory);
  channel::SharedHeader& header = (*memory)->shared().header();
  header.settings.recording.store(1, std::memory_order_relaxed);
  channel::SegmentPool pool = (*memory)->shared().thread_pool();
  for (std::uint32_t i = 0; i < pool.count(); ++i)
    for (std::size_t page = 0; page < channel::kSegmentBytes; page += 4096) pool.bytes(i)[page] = std::byte{1};
  return std::move(*memory);
}

// A recorder that does `work` and is then killed.
void be_killed_recorder(const std::function<void()>& work) {
  const pid_t recorder = fork();
  if (recorder == 0) {
    work();
    raise(SIGKILL);
  }
  REQUIRE(waitpid(recorder, nullptr, 0) == recorder);
}

}  // namespace

TEST_CASE("records of a process wait in no more than an eighth of the memory that is free") {
  constexpr std::uint64_t kMebi = 1u << 20;
  CHECK(pool_bytes_within(256 * kMebi, 64'000 * kMebi) == 256 * kMebi);
  CHECK(pool_bytes_within(256 * kMebi, 800 * kMebi) == 64 * kMebi);
  CHECK(pool_bytes_within(32 * kMebi, 800 * kMebi) == 32 * kMebi);
  CHECK(pool_bytes_within(256 * kMebi, 0) == channel::kLeastPoolBytes);
}

TEST_CASE("memory of a recorder that is killed is given back, and nothing more is to be recorded in it") {
  const auto memory = used_memory();
  const channel::Settings& settings = memory->shared().header().settings;
  REQUIRE(bytes_of(memory->descriptor()) > kPool);
  be_killed_recorder([&] {
    const auto guard = MemoryGuard::start();
    memory->guard_by(*guard);
  });
  for (int look = 0; settings.recording.load() != 0 || bytes_of(memory->descriptor()) > kHeader; ++look) {
    REQUIRE(look < 6'000);
    std::this_thread::sleep_for(10ms);
  }
  memory->shared().thread_ring(0).owner.store(1);  // a thread in the middle of an event
  for (int look = 0; bytes_of(memory->descriptor()) > kHeader; ++look) {
    REQUIRE(look < 6'000);
    std::this_thread::sleep_for(10ms);
  }
}

TEST_CASE("a guard leaves alone what the recorder has given up, and ends with a recorder that has nothing any more") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto memory = used_memory();
  const std::size_t before = bytes_of(memory->descriptor());
  {
    const auto guard = MemoryGuard::start();
    REQUIRE(guard);
    for (int i = 0; i < 3'000; ++i) static_cast<void>(guard->watch(memory->descriptor()));  // as many processes, one after another
    const MemoryGuard::Watch first = guard->watch(memory->descriptor());
    const MemoryGuard::Watch second = guard->watch(memory->descriptor());
  }
  int status = 1;
  CHECK(waitpid(-1, &status, 0) > 0);
  CHECK(status == 0);
  CHECK(bytes_of(memory->descriptor()) == before);
  CHECK(memory->shared().header().settings.recording.load() == 1);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE("a guard that is killed costs the recorder nothing") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto guard = MemoryGuard::start();
  const auto memory = used_memory();
  memory->guard_by(*guard);
  // The guard is our only child, because the intermediate process has ended.
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  pid_t process = 0;
  REQUIRE(children >> process);
  kill(process, SIGKILL);
  REQUIRE(waitpid(process, nullptr, 0) == process);
  const auto other = used_memory();
  other->guard_by(*guard);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

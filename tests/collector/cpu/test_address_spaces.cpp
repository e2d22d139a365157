// Mappings of code of processes that are forked fast, and have very many.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <vector>

#include "code/address_spaces.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::cpu;

namespace {

constexpr int kMappings = 60'000;
constexpr int kChildren = 100;
constexpr std::size_t kPageBytes = 4096;

void code_of_this_test() {}

void* page_of_code() { return mmap(nullptr, kPageBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

// A child of ours with very many mappings, which makes one mapping with code of its own, forks children, and lives until this object ends.
struct Parent {
  pid_t pid = 0;
  std::uint64_t code = 0;
  std::vector<pid_t> children;

  Parent() {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      for (int i = 0; i < kMappings; ++i) mmap(nullptr, kPageBytes, i % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      const auto place = reinterpret_cast<std::uint64_t>(page_of_code());
      bool is_told = write(ends[1], &place, sizeof(place)) == sizeof(place);
      for (int i = 0; i < kChildren && is_told; ++i) {
        const pid_t child = fork();
        if (child == 0) break;
        is_told = write(ends[1], &child, sizeof(child)) == sizeof(child);
      }
      for (;;) pause();
    }
    REQUIRE(read(ends[0], &code, sizeof(code)) == sizeof(code));
    children.resize(kChildren);
    for (pid_t& child : children) REQUIRE(read(ends[0], &child, sizeof(child)) == sizeof(child));
    close(ends[0]);
    close(ends[1]);
  }
  ~Parent() {
    kill(-pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
};

// Bytes that this process has read, of all files together.
std::uint64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::uint64_t bytes = 0;
  std::string word;
  file >> word >> bytes;
  return bytes;
}

}  // namespace

TEST_CASE("children of a process with very many mappings do not have all of them read for each") {
  const Parent parent;
  ModuleTable modules;
  AddressSpaces spaces(modules);
  const std::uint64_t before = bytes_read();
  AddressSpace of_parent = spaces.first(parent.pid);
  const std::uint64_t once = bytes_read() - before;
  REQUIRE(once > 10 * kMappings);
  const auto main_program = [](const Place& place) { return place.module != nullptr && place.module->path.find("test_cpu_parts") != std::string::npos; };
  const auto own = reinterpret_cast<std::uint64_t>(&code_of_this_test);
  const std::uint64_t begin = bytes_read();
  for (const pid_t child : parent.children) {
    AddressSpace space = spaces.first(child);
    CHECK(main_program(space.find(own)));
    CHECK(space.find(parent.code).module != nullptr);
    spaces.add(child, space);  // as for an address that is not known
  }
  CHECK(bytes_read() - begin < once * kChildren / 4);
  // A process of the same program with other parents is read for itself: we have another mapping there, or none.
  AddressSpace ours = spaces.first(getpid());
  CHECK(main_program(ours.find(own)));
  CHECK(ours.find(parent.code).module == nullptr);
}

TEST_CASE("mappings that a process with few of them makes later are found") {
  ModuleTable modules;
  AddressSpaces spaces(modules);
  AddressSpace space = spaces.first(getpid());
  void* const place = page_of_code();
  const auto address = reinterpret_cast<std::uint64_t>(place);
  CHECK(space.find(address).module == nullptr);
  spaces.add(getpid(), space);
  CHECK(space.find(address).module != nullptr);
  munmap(place, kPageBytes);
}

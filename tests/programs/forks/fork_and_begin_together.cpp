// A program and four children that it has forked make their first NVTX calls at the same moment: each sets NVTX up for itself. Each makes 200 ranges, named
// after its process: "parent", "child 0" to "child 3". Exits with 0 if all have ended so.
//
//   fork_and_begin_together forker|beside|again [held]
//
// forker: in the parent, the thread that forks makes the ranges; beside: another thread; again: as beside, and in each child by a thread whose stack is in
// the same place.
// held: the children are about to load the agent while the parent loads it.
#include <nvtx3/nvToolsExt.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <thread>

namespace {

constexpr int kChildren = 4;
constexpr int kRanges = 200;

struct Meeting {
  std::atomic<int> arrived{0};
  std::atomic<bool> parent_has_begun{false};
};
Meeting* meeting;  // shared by all processes
bool is_child = false;
bool is_held = false;
thread_local bool begins = false;  // the thread is about to make its first NVTX call

void wait_for_others() {
  ++meeting->arrived;
  while (meeting->arrived <= kChildren) sched_yield();
}

void make_ranges(const std::string& name) {
  if (!is_held || !is_child) wait_for_others();
  begins = true;
  for (int i = 0; i < kRanges; ++i) {
    nvtxRangePushA(name.c_str());
    nvtxRangePop();
    if (!is_child) meeting->parent_has_begun = true;
  }
}

}  // namespace

// NVTX's code is part of this program and calls this function: with it, a thread looks for the agent.
extern "C" char* getenv(const char* name) noexcept {
  if (begins && is_held && is_child && ++meeting->arrived != 0)
    while (!meeting->parent_has_begun) sched_yield();
  begins = false;
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return nullptr;
}

int main(int count, char** arguments) {
  const std::string_view how = count > 1 ? arguments[1] : "forker";
  is_held = count > 2;
  void* const page = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 2;
  meeting = new (page) Meeting;

  std::thread other;
  if (how != "forker") other = std::thread(make_ranges, "parent");
  for (int i = 0; i < kChildren; ++i) {
    if (fork() != 0) continue;
    is_child = true;
    const std::string name = "child " + std::to_string(i);
    if (how == "again")
      std::thread(make_ranges, name).join();
    else
      make_ranges(name);
    _exit(0);
  }
  if (other.joinable())
    other.join();
  else
    make_ranges("parent");

  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed += status != 0 ? 1 : 0;
  return failed;
}

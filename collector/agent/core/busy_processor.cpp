#include "agent/core/busy_processor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <fcntl.h>

#include "agent/core/clock.h"
#include "agent/core/own_thread.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constexpr std::int64_t kLook = 2 * kMillisecond;
constexpr std::uint64_t kBusy = kLook / 2;           // on a processor in that time
constexpr std::uint64_t kShortTurn = 100'000;        // ns; the shortest that the kernel takes

// As sched_setattr takes it.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;  // SCHED_OTHER
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t turn = 0;  // ns; 0: as the kernel has it
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

// A file of /proc/self/task/ID; empty where there is none.
template <std::size_t kBytes>
std::string_view read_of_thread(std::uint32_t id, std::string_view file, char (&text)[kBytes]) noexcept {
  constexpr std::string_view kFolder = "/proc/self/task/";
  char path[64] = {};
  std::memcpy(path, kFolder.data(), kFolder.size());
  char* const end = std::to_chars(path + kFolder.size(), path + 40, id).ptr;
  std::memcpy(end, file.data(), file.size());
  const int descriptor = system::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const long size = system::read(descriptor, text, kBytes);
  system::close(descriptor);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::uint64_t time_of(std::uint32_t id) noexcept {
  char text[128];
  const std::string_view times = read_of_thread(id, "/schedstat", text);
  std::uint64_t time = 0;
  std::from_chars(times.data(), times.data() + times.size(), time);
  return time;
}

// The processor that a thread runs on, -1 where it does not run, or has a real-time priority: beside that one nobody else does.
int processor_of(std::uint32_t id) noexcept {
  constexpr int kPlace = 39 - 3;  // fields of `stat` from the state, the third, to the processor, behind which its priority follows
  char text[1024];
  std::string_view fields = read_of_thread(id, "/stat", text);
  const std::size_t name_end = fields.rfind(") ");  // a name may have any characters
  if (name_end == std::string_view::npos) return -1;
  fields.remove_prefix(name_end + 2);
  if (!fields.starts_with('R')) return -1;
  for (int i = 0; i < kPlace; ++i) {
    const std::size_t space = fields.find(' ');
    if (space == std::string_view::npos) return -1;
    fields.remove_prefix(space + 1);
  }
  int processor = -1, real_time_priority = 0;
  const char* const end = fields.data() + fields.size();
  const char* const behind = std::from_chars(fields.data(), end, processor).ptr;
  if (behind != end) std::from_chars(behind + 1, end, real_time_priority);
  return real_time_priority == 0 ? processor : -1;
}

// The threads of the process but this one, as far as there is room.
std::size_t list_threads(std::uint32_t* threads, std::size_t most) noexcept {
  const int folder = system::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  std::size_t count = 0;
  alignas(DirectoryEntry) char entries[4096];
  for (;;) {
    const long bytes = system::system_call(SYS_getdents64, folder, system::word(entries), sizeof(entries));
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto& entry = *reinterpret_cast<const DirectoryEntry*>(entries + at);
      at += entry.length;
      std::uint32_t id = 0;
      const char* const name_end = entry.name + std::strlen(entry.name);
      if (std::from_chars(entry.name, name_end, id).ptr == name_end && id != 0 && id != system::thread_id() && count < most) threads[count++] = id;
    }
  }
  system::close(folder);
  return count;
}

// 0: this thread. Where the kernel takes no such wish, its usual turns are taken.
void take_turns(std::uint32_t thread, std::uint64_t nanoseconds) noexcept {
  SchedulingAttributes attributes;
  if (system::system_call(SYS_sched_getattr, thread, system::word(&attributes), sizeof(attributes), 0) != 0 || attributes.policy != 0) return;
  attributes.size = sizeof(attributes);
  attributes.turn = nanoseconds;
  system::system_call(SYS_sched_setattr, thread, system::word(&attributes), 0);
}

}  // namespace

int BesideBusiestThread::busiest_processor() noexcept {
  std::uint64_t times[kMostThreads];
  thread_count_ = list_threads(threads_, kMostThreads);
  for (std::size_t i = 0; i < thread_count_; ++i) times[i] = time_of(threads_[i]);
  system::sleep(kLook);
  std::uint64_t most = kBusy;
  int processor = -1;
  for (std::size_t i = 0; i < thread_count_; ++i) {
    const std::uint64_t now = time_of(threads_[i]);
    if (now < times[i] + most) continue;
    const int runs_on = processor_of(threads_[i]);
    if (runs_on < 0) continue;
    most = now - times[i];
    processor = runs_on;
    busiest_ = threads_[i];
  }
  return processor;
}

bool BesideBusiestThread::was_there(std::uint32_t thread) const noexcept { return std::find(threads_, threads_ + thread_count_, thread) != threads_ + thread_count_; }

bool BesideBusiestThread::move(std::uint32_t thread, int processor) const noexcept {
  constexpr int kBits = 8 * sizeof(unsigned long);
  if (processor < 0 || static_cast<std::size_t>(processor) >= kWords * kBits) return false;
  unsigned long place[kWords] = {};
  place[processor / kBits] = 1ul << (processor % kBits);
  return system::system_call(SYS_sched_setaffinity, thread, sizeof(place), system::word(place)) == 0;
}

// The kernel may move the busy thread where both want the processor at once.
void BesideBusiestThread::follow() noexcept {
  while (follower_.load(std::memory_order_acquire) == kFollows) {
    move(own_, processor_of(busiest_));
    system::sleep(kLook);
  }
  follower_.store(kNone, std::memory_order_release);
}

BesideBusiestThread::BesideBusiestThread() noexcept : own_(system::thread_id()) {
  const int processor = busiest_processor();
  const long bytes = system::system_call(SYS_sched_getaffinity, 0, sizeof(before_), system::word(before_));
  if (bytes <= 0 || !move(own_, processor)) return;
  before_bytes_ = bytes;
  take_turns(0, kShortTurn);
  const auto body = [](void* self) -> void* {
    const OwnThread own_thread;
    static_cast<BesideBusiestThread*>(self)->follow();
    return nullptr;
  };
  constexpr std::size_t kStackBytes = 64u << 10;
  follower_.store(kFollows, std::memory_order_release);
  if (start_own_thread(body, this, kStackBytes) != 0) follower_.store(kNone, std::memory_order_relaxed);
}

BesideBusiestThread::~BesideBusiestThread() {
  if (before_bytes_ == 0) return;
  std::uint32_t follows = kFollows;
  follower_.compare_exchange_strong(follows, kIsToEnd);
  while (follower_.load(std::memory_order_acquire) != kNone) system::sleep(kMillisecond / 10);
  take_turns(0, 0);
  system::system_call(SYS_sched_setaffinity, 0, before_bytes_, system::word(before_));
  // Those that were started meanwhile, as CUPTI does, run where this one did, and have its name.
  char own_text[32], text[32];
  const std::string_view own_name = read_of_thread(own_, "/comm", own_text);
  std::uint32_t threads[kMostThreads];
  const std::size_t count = list_threads(threads, kMostThreads);
  for (std::size_t i = 0; i < count; ++i) {
    unsigned long place[kWords] = {};
    if (was_there(threads[i]) || system::system_call(SYS_sched_getaffinity, threads[i], sizeof(place), system::word(place)) <= 0) continue;
    int processors = 0;
    for (const unsigned long word : place) processors += std::popcount(word);
    if (processors != 1 || read_of_thread(threads[i], "/comm", text) != own_name) continue;
    take_turns(threads[i], 0);
    system::system_call(SYS_sched_setaffinity, threads[i], before_bytes_, system::word(before_));
  }
}

}  // namespace lanescope::agent

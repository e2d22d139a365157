#include "processes/memory/memory_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "collector/attach/candidate.h"
#include "collector/channel/agent_bell.h"
#include "collector/channel/send_descriptor.h"
#include "collector/session/process_beside.h"

namespace lanescope::session {
namespace {

constexpr std::size_t kPlaces = 1u << 16;  // number of processes that live at a time

// A message to the guard: with a memory file, that it is at this place; without, that the place is free.
struct Note {
  std::uint64_t place = 0;
};

bool send_note(int link, const Note& note, int memory_file) {
  iovec part{const_cast<Note*>(&note), sizeof(note)};
  return channel::send_with_descriptor(link, {&part, 1}, memory_file) == static_cast<ssize_t>(sizeof(note));
}

// The guard's process. Makes only calls that are safe between fork and exec.
class GuardProcess {
 public:
  // `files`: array of kPlaces elements, all zero.
  GuardProcess(int link, int* files) : link_(link), files_(files) {}

  void run() {
    while (take_note()) {
    }
    if (!give_back_all()) return;
    // By then, a thread that was writing an event has returned, and CUPTI's frames of the last second are done.
    constexpr timespec kMidst{.tv_sec = 2, .tv_nsec = 0};
    nanosleep(&kMidst, nullptr);
    give_back_all();
  }

 private:
  // False once our process is gone.
  bool take_note() {
    Note note;
    iovec part{&note, sizeof(note)};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(link_, &message, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) return true;
    if (size != static_cast<ssize_t>(sizeof(note)) || note.place >= kPlaces) return false;
    int file = -1;
    if (const cmsghdr* const rights = CMSG_FIRSTHDR(&message)) std::memcpy(&file, CMSG_DATA(rights), sizeof(file));
    const int before = std::exchange(files_[note.place], file + 1);
    if (before > 0) close(before - 1);
    return true;
  }

  // Returns true if there was any.
  bool give_back_all() {
    bool has_any = false;
    for (std::size_t place = 0; place < kPlaces; ++place) {
      if (files_[place] == 0) continue;
      has_any = true;
      give_back(files_[place] - 1);
    }
    return has_any;
  }

  // Releases all but the header, in which agents look whether they must record.
  static void give_back(int file) {
    constexpr std::size_t kKept = channel::whole_pages(sizeof(channel::SharedHeader));
    void* const mapping = mmap(nullptr, kKept, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapping != MAP_FAILED) {
      auto& header = *static_cast<channel::SharedHeader*>(mapping);
      header.settings.recording.store(0, std::memory_order_release);
      channel::ring_agent(header);
      munmap(mapping, kKept);
    }
    struct stat status {};
    if (fstat(file, &status) == 0) fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kKept, status.st_size - static_cast<off_t>(kKept));
  }

  int link_;
  int* files_;  // descriptor plus 1, by place; 0: none
};

}  // namespace

std::unique_ptr<MemoryGuard> MemoryGuard::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
  std::unique_ptr<MemoryGuard> guard(new MemoryGuard(FileDescriptor(ends[0])));
  const FileDescriptor other(ends[1]);
  constexpr std::size_t kBytes = kPlaces * sizeof(int);
  void* const files = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (files == MAP_FAILED) return nullptr;
  const bool has_started = start_process_beside([&] {
    ignore_signals();
    setsid();
    prctl(PR_SET_NAME, attach::kGuardName);
    const std::array kept{other.get()};
    close_descriptors(0, kept);
    if (chdir("/") == 0) GuardProcess(other.get(), static_cast<int*>(files)).run();
  });
  munmap(files, kBytes);
  return has_started ? std::move(guard) : nullptr;
}

MemoryGuard::~MemoryGuard() {
  constexpr int kWaits = 10;
  constexpr int kWaitMilliseconds = 100;
  for (int wait = 0; wait < kWaits; ++wait) {
    tell_forgotten();
    if (forgotten_.empty()) return;
    pollfd link{link_.get(), POLLOUT, 0};
    poll(&link, 1, kWaitMilliseconds);
  }
}

MemoryGuard::Watch MemoryGuard::watch(int memory_file) {
  tell_forgotten();
  if (free_.empty() && places_ == kPlaces) return {nullptr, 0};
  const std::size_t place = free_.empty() ? places_ : free_.back();
  if (!send_note(link_.get(), {place}, memory_file)) return {nullptr, 0};
  if (!free_.empty()) {
    free_.pop_back();
  } else {
    if (++places_ > free_.capacity()) {  // reserved now, so that forgetting needs no memory
      free_.reserve(2 * places_);
      forgotten_.reserve(2 * places_);
    }
  }
  return {this, place};
}

void MemoryGuard::forget(std::size_t place) {
  forgotten_.push_back(place);
  tell_forgotten();
}

void MemoryGuard::tell_forgotten() {
  while (!forgotten_.empty() && send_note(link_.get(), {forgotten_.back()}, -1)) {
    free_.push_back(forgotten_.back());
    forgotten_.pop_back();
  }
}

}  // namespace lanescope::session

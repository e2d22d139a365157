// Captures that a program begins while sessions come and go, in a child of this process that joins the sessions.
#include "agent/channel/capture.h"

#include <cstring>
#include <thread>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/channel/membership.h"
#include "collector/channel/shared_memory.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::agent;

namespace {

constexpr std::uint64_t kBytes = channel::memory_bytes_for(channel::kLeastPoolBytes);

// A session whose welcome message waits in the socket, and which answers no capture.
class Session {
 public:
  Session() {
    is_whole_ = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_) == 0;
    const int file = memfd_create("lanescope-test", MFD_CLOEXEC);
    is_whole_ = is_whole_ && ftruncate(file, static_cast<off_t>(kBytes)) == 0;
    void* const mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    is_whole_ = is_whole_ && mapping != MAP_FAILED;
    if (!is_whole_) return;
    host_ = channel::initialize_shared_memory(mapping, kBytes, 1);
    is_whole_ = welcome(file);
    close(file);
  }
  bool take_over() { return is_whole_ && join_recording_at(OwnDescriptor::keep(ends_[1]), ""); }
  // The header as the session sees it; the agent has a mapping of its own.
  channel::SharedHeader& seen() { return host_.header(); }

 private:
  bool welcome(int file) const {
    channel::Welcome welcome;
    welcome.accepted = 1;
    welcome.process_instance = 1;
    welcome.memory_bytes = kBytes;
    iovec part{&welcome, sizeof(welcome)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof(file));
    return sendmsg(ends_[0], &message, 0) == static_cast<ssize_t>(sizeof(welcome));
  }

  int ends_[2] = {-1, -1};
  bool is_whole_ = false;
  channel::SharedMemory host_;
};

constexpr int kHolds = 0;

// Returns the number of the first step that fails.
int follow_two_sessions() {
  constexpr std::uint64_t kKey = 7;
  Session first, second;
  if (!first.take_over()) return 1;
  channel::SharedHeader& before = join_recording().header();
  std::thread waits([&before] { begin_capture(before, kKey); });
  while (first.seen().status.capture_begins.load() == 0) std::this_thread::yield();
  if (!second.take_over()) return 2;
  waits.join();
  channel::SharedHeader& now = join_recording().header();
  if (&now == &before) return 3;
  if (second.seen().metadata_ring.produced.load() != 0) return 4;  // a record that it gave up
  end_capture(now, kKey);
  if (second.seen().status.capture_begins.load() != 0 || second.seen().status.capture_ends.load() != 0) return 5;

  second.seen().settings.capture_answers = 1;
  begin_capture(now, kKey);
  begin_capture(now, kKey + 1);  // within the first one
  end_capture(now, kKey + 1);
  if (second.seen().status.capture_begins.load() != 1 || second.seen().status.capture_ends.load() != 0) return 6;
  end_capture(before, kKey);
  if (second.seen().status.capture_ends.load() != 0) return 7;
  end_capture(now, kKey);
  return second.seen().status.capture_ends.load() == 1 ? kHolds : 8;
}

}  // namespace

TEST_CASE("a capture that began under one session neither waits for the next one nor counts there") {
  const pid_t child = fork();
  if (child == 0) _exit(follow_two_sessions());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == kHolds);
}

#include "agent/channel/membership.h"

#include <cstdlib>
#include <cstring>

#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/channel/crash_mark.h"
#include "agent/channel/handshake.h"
#include "agent/core/clock.h"
#include "agent/core/lock.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"
#include "collector/channel/doorbell.h"
#include "collector/channel/ring.h"

namespace lanescope::agent {

constinit std::atomic<std::uint32_t> process_generation{1};

namespace {

enum class State : std::uint32_t { kUntried, kJoined, kAbsent };

struct Membership {
  std::atomic<State> state{State::kUntried};
  Connection connection;
  Ancestry ancestry = Ancestry::kOwn;
  ino_t socket_inode = 0;  // by which the socket is recognised after a fork: the target may have closed it and reused its number
  channel::RingProducer metadata;
  void (*repeat_metadata)() = nullptr;
  Lock* held_across_forks[4] = {};
  void (*forget[4])() = {};
  void (*absent)() = nullptr;
  std::atomic<bool> watches_forks{false};
  char path[sizeof(sockaddr_un::sun_path)] = {};  // of the session that attached; empty: the environment names it
  void* left_before = nullptr;                    // memory of the session before the last one
};

constinit Membership membership;
constinit Lock join_lock;
constinit Lock metadata_lock;  // a leaf: nothing is called while it is held

ino_t inode_of(int descriptor) noexcept {
  struct stat status {};
  return file_status(descriptor, status) ? status.st_ino : 0;
}

// Requires: a free slot, or that it is there already.
template <typename T>
void add_once(T (&slots)[4], T value) noexcept {
  for (T& slot : slots) {
    if (slot != nullptr && slot != value) continue;
    slot = value;
    return;
  }
}

void before_fork() noexcept {
  const Quiet quiet;
  for (Lock* lock : membership.held_across_forks)
    if (lock != nullptr) lock->lock();
  metadata_lock.lock();
}
void after_fork_in_parent() noexcept {
  const Quiet quiet;
  metadata_lock.unlock();
  for (Lock* lock : membership.held_across_forks)
    if (lock != nullptr) lock->unlock();
}
void after_fork_in_child() noexcept {
  const Quiet quiet;
  process_generation.fetch_add(1, std::memory_order_relaxed);
  join_lock.forget_holder();
  metadata_lock.forget_holder();
  for (Lock* lock : membership.held_across_forks)
    if (lock != nullptr) lock->forget_holder();
  // The parent's memory stays mapped, but nothing refers to it any more; its socket must not outlive it here.
  if (membership.state.load(std::memory_order_relaxed) == State::kJoined && membership.socket_inode != 0 &&
      inode_of(membership.connection.socket) == membership.socket_inode)
    close(membership.connection.socket);
  mark_crashes_in(nullptr);
  membership.connection = {};
  membership.ancestry = Ancestry::kForked;
  membership.state.store(State::kUntried, std::memory_order_relaxed);
  for (void (*forget)() : membership.forget)
    if (forget != nullptr) forget();
}

const char* session_path() noexcept { return membership.path[0] != '\0' ? membership.path : getenv(channel::kSocketVariable); }

// Requires: join_lock is held.
void take_over(const Connection& connection) noexcept {
  membership.socket_inode = inode_of(connection.socket);
  {
    const ScopedLock lock(metadata_lock);
    membership.connection = connection;
    membership.metadata = {connection.memory.header().metadata_ring, connection.memory.metadata_bytes()};
  }
  watch_forks();
  mark_crashes_in(&connection.memory.header().status);
  membership.state.store(State::kJoined, std::memory_order_release);
}

// Threads may be writing to what they hold for as long as one event takes. So memory is given back when the next session comes, and its
// addresses never.
void leave() noexcept {
  if (membership.state.load(std::memory_order_relaxed) != State::kJoined) return;
  close(membership.connection.socket);
  if (membership.left_before != nullptr)
    mmap(membership.left_before, channel::kMemoryBytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
         0);
  membership.left_before = &membership.connection.memory.header();
}

}  // namespace

namespace {

State try_to_join() noexcept {
  const ScopedLock lock(join_lock);
  const State state = membership.state.load(std::memory_order_relaxed);
  if (state != State::kUntried) return state;
  const auto connection = connect_to_session(session_path(), membership.ancestry);
  if (!connection) {
    membership.state.store(State::kAbsent, std::memory_order_release);
    return State::kAbsent;
  }
  take_over(*connection);
  if (membership.ancestry == Ancestry::kForked && membership.repeat_metadata != nullptr) membership.repeat_metadata();
  return State::kJoined;
}

}  // namespace

channel::SharedMemory join_recording() noexcept {
  State state = membership.state.load(std::memory_order_acquire);
  if (state == State::kUntried) {
    const Quiet quiet;
    state = try_to_join();
    if (state == State::kAbsent && membership.absent != nullptr) membership.absent();
  }
  return state == State::kJoined ? membership.connection.memory : channel::SharedMemory();
}

void watch_forks() noexcept {
  if (!membership.watches_forks.exchange(true)) pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void on_absence(void (*absent)()) noexcept { membership.absent = absent; }

bool join_recording_at(int socket, const char* path) noexcept {
  const Quiet quiet;
  const auto connection = introduce(socket, membership.ancestry);
  if (!connection) return false;
  const ScopedLock lock(join_lock);
  leave();
  std::strncpy(membership.path, path, sizeof(membership.path) - 1);
  take_over(*connection);
  process_generation.fetch_add(1, std::memory_order_release);
  if (membership.repeat_metadata != nullptr) membership.repeat_metadata();
  return true;
}

bool is_armed() noexcept {
  static const bool armed = getenv(channel::kArmedVariable) != nullptr;
  return armed;
}

std::uint32_t process_instance() noexcept { return membership.connection.process_instance; }

bool session_is_alive() noexcept { return session_stays_alive(0); }

bool session_stays_alive(int milliseconds) noexcept {
  if (membership.state.load(std::memory_order_acquire) != State::kJoined) return false;
  pollfd socket{membership.connection.socket, 0, 0};
  if (poll(&socket, 1, milliseconds) < 0) return true;
  return (socket.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

void write_metadata(channel::Record record, std::string_view text) noexcept {
  if (membership.state.load(std::memory_order_acquire) != State::kJoined) return;
  const Quiet quiet;
  record.time = monotonic_now();
  record.thread = kernel_thread_id();
  {
    const ScopedLock lock(metadata_lock);
    membership.metadata.write(record, text);
    if (!membership.metadata.filling_up()) return;
  }
  channel::ring_doorbell(membership.connection.memory.header());
}

void report(Component component, ComponentState state, Severity severity, std::string_view text) noexcept {
  channel::Record record{};
  record.type = channel::RecordType::kDiagnostic;
  record.category = static_cast<std::uint32_t>(component);
  record.color = static_cast<std::uint32_t>(state);
  record.payload_type = static_cast<std::uint8_t>(severity);
  write_metadata(record, text);
}

void on_rejoin(void (*repeat_metadata)()) noexcept { membership.repeat_metadata = repeat_metadata; }

void hold_across_forks(Lock& lock) noexcept { add_once(membership.held_across_forks, &lock); }

void on_fork_child(void (*forget)()) noexcept { add_once(membership.forget, forget); }

}  // namespace lanescope::agent

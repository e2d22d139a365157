#include "agent/channel/membership.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "agent/channel/handshake.h"
#include "agent/channel/places.h"
#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"
#include "agent/process/crash_mark.h"
#include "agent/process/forks.h"
#include "agent/process/lock.h"
#include "agent/process/this_thread.h"
#include "collector/channel/ring.h"

namespace lanescope::agent {
namespace {

enum class State : std::uint32_t { kUntried, kJoined, kAbsent };

struct Membership {
  std::atomic<State> state{State::kUntried};
  Connection connection;
  Ancestry ancestry = Ancestry::kOwn;
  channel::RingProducer metadata;
  void (*repeat_metadata)() = nullptr;
  void (*absent)() = nullptr;
  std::atomic<bool> lacks_means{false};
  char address[channel::kAddressBytes] = {};              // address of the session that attached; empty: the environment names it
  char environment_address[channel::kAddressBytes] = {};  // as it was when the agent was loaded
  // For a forked child that has not joined: its parent's socket and memory. The open socket tells the session that somebody may still come.
  OwnDescriptor inherited_socket;
  channel::SharedMemory inherited_memory;
};

constinit Membership membership;
constinit Lock join_lock;
constinit Lock metadata_lock;  // a leaf: no other lock is taken and no function called while it is held

// Asks the kernel first which process this is, because a child that has not looked yet has another state than the copied one.
State state_now(std::memory_order order) noexcept {
  process_generation();
  return membership.state.load(order);
}

// The parent's memory stays mapped and its socket open until this process has joined.
void forget_parent() noexcept {
  note_begin();
  session_places.forget_holders();
  if (membership.state.load(std::memory_order_relaxed) == State::kJoined) {
    membership.inherited_socket = membership.connection.socket;
    membership.inherited_memory = membership.connection.memory;
  }
  mark_crashes_in(nullptr);
  membership.connection = {};
  membership.ancestry = Ancestry::kForked;
  membership.state.store(State::kUntried, std::memory_order_relaxed);
}

// The program may change its environment at any time. Reading it is safe while the agent is loaded; later it is a last resort.
const char* session_address() noexcept {
  if (membership.address[0] != '\0') return membership.address;
  return membership.environment_address[0] != '\0' ? membership.environment_address : getenv(channel::kSocketVariable);
}

void note_lost(channel::LostChildren& lost, std::int32_t process, int problem) noexcept {
  const std::uint32_t index = lost.count.fetch_add(1, std::memory_order_acq_rel);
  if (index >= channel::LostChildren::kNamed) return;
  lost.named[index].problem.store(problem, std::memory_order_relaxed);
  lost.named[index].process.store(process, std::memory_order_release);
}

// Leaves a note for the session about a process that it does not know: in the parent's memory for a child, in a file for other processes, whose filter lets
// them load the agent but not report. Requires: join_lock is held.
void leave_word(int problem) noexcept {
  if (problem == 0) return;
  if (!membership.inherited_memory) {
    if (may_join()) leave_word_beside(session_address(), problem);
    return;
  }
  note_lost(membership.inherited_memory.header().status.lost_children, process_page.process.load(std::memory_order_relaxed), problem);
}

void leave_memory(const channel::SharedMemory& memory) noexcept {
  if (memory) session_places.leave(&memory.header(), process_generation());
}

// Requires: join_lock is held.
void give_up_inheritance() noexcept {
  membership.inherited_socket.close();
  leave_memory(std::exchange(membership.inherited_memory, {}));
}

// Requires: join_lock is held.
void take_over(const Connection& connection) noexcept {
  {
    const ScopedLock lock(metadata_lock);
    membership.connection = connection;
    membership.metadata = {connection.memory.header().metadata_ring, connection.memory.metadata_pool()};
  }
  mark_crashes_in(&connection.memory.header().status);
  membership.state.store(State::kJoined, std::memory_order_release);
}

void leave() noexcept {
  if (membership.state.load(std::memory_order_relaxed) != State::kJoined) return;
  membership.connection.socket.close();
  leave_memory(membership.connection.memory);
}

// For a process that may have no more addresses: gives up the addresses of the last session before the next one is known, as if a session without events had
// been between them. Threads that are writing an event have a moment to finish it.
void make_room() noexcept {
  constexpr std::int64_t kForEvents = 20 * kMillisecond;
  {
    const ScopedLock lock(join_lock);
    follow_membership();
    leave();
    give_up_inheritance();
    mark_crashes_in(nullptr);
    membership.state.store(State::kAbsent, std::memory_order_release);
    begin_generation();
  }
  system::sleep(kForEvents);
}

// True if the parent's session is over: then nobody, or a stranger, listens at its address. Requires: join_lock is held.
bool parent_has_lost_session() noexcept {
  if (!membership.inherited_socket.was_opened() || !may_look_at_session()) return false;
  pollfd socket{membership.inherited_socket.number(), 0, 0};
  return socket.fd >= 0 && system::poll(&socket, 1, 0) > 0 && (socket.revents & (POLLHUP | POLLERR)) != 0;
}

// Waits until the session has ended, at most this long.
SessionState state_within(int milliseconds) noexcept {
  if (state_now(std::memory_order_acquire) != State::kJoined) return SessionState::kNone;
  pollfd socket{membership.connection.socket.number(), 0, 0};
  if (socket.fd < 0) return SessionState::kUnknown;
  if (system::poll(&socket, 1, milliseconds) < 0) return SessionState::kAlive;
  if ((socket.revents & POLLNVAL) != 0) return SessionState::kUnknown;
  return (socket.revents & (POLLHUP | POLLERR)) != 0 ? SessionState::kNone : SessionState::kAlive;
}

State try_to_join() noexcept {
  const ScopedLock lock(join_lock);
  const State state = membership.state.load(std::memory_order_relaxed);
  if (state != State::kUntried) return state;
  if (may_join() && !is_own_process()) return State::kUntried;  // the child of a vfork, which would take its parent's place
  follow_membership();
  Joining joining;
  if (!may_join()) joining.problem = EPERM;
  if (may_join() && !parent_has_lost_session()) joining = connect_to_session(session_address(), membership.ancestry);
  membership.lacks_means.store(joining.lacks_means, std::memory_order_relaxed);
  leave_word(joining.problem);
  if (may_join()) give_up_inheritance();
  if (!joining.connection) {
    membership.state.store(State::kAbsent, std::memory_order_release);
    return State::kAbsent;
  }
  take_over(*joining.connection);
  if (membership.ancestry == Ancestry::kForked && membership.repeat_metadata != nullptr) membership.repeat_metadata();
  return State::kJoined;
}

}  // namespace

void read_environment() noexcept {
  note_begin();
  const char* const address = getenv(channel::kSocketVariable);
  if (address != nullptr && strlen(address) < sizeof(membership.environment_address)) std::strcpy(membership.environment_address, address);
  is_armed();
}

void follow_membership() noexcept {
  on_fork_child(forget_parent);
  watch_forks();
}

channel::SharedMemory join_recording() noexcept {
  State state = state_now(std::memory_order_acquire);
  if (state == State::kUntried) {
    const Quiet quiet;
    state = try_to_join();
    if (state == State::kAbsent && membership.absent != nullptr) membership.absent();
  }
  return state == State::kJoined ? membership.connection.memory : channel::SharedMemory();
}

void tell_of_program_left_alone() noexcept {
  if (state_now(std::memory_order_acquire) != State::kJoined) return;
  const std::int32_t process = may_ask_for_numbers() ? system::process_id() : process_page.process.load(std::memory_order_relaxed);
  note_lost(membership.connection.memory.header().status.lost_children, process, ENOEXEC);
}

bool lacks_means_to_join() noexcept { return membership.lacks_means.load(std::memory_order_relaxed); }

bool has_joined() noexcept { return state_now(std::memory_order_acquire) == State::kJoined; }

bool is_awaited_by_session() noexcept { return state_now(std::memory_order_acquire) == State::kUntried && may_join() && session_listens(session_address()); }

void on_absence(void (*absent)()) noexcept { membership.absent = absent; }

bool join_recording_at(OwnDescriptor socket, const char* address) noexcept {
  const Quiet quiet;
  process_generation();
  const auto connection = introduce(socket, address, membership.ancestry, make_room);
  if (!connection) return false;
  const ScopedLock lock(join_lock);
  follow_membership();
  leave();
  give_up_inheritance();
  std::strncpy(membership.address, address, sizeof(membership.address) - 1);
  take_over(*connection);
  begin_generation();
  if (membership.repeat_metadata != nullptr) membership.repeat_metadata();
  return true;
}

bool is_armed() noexcept {
  static const bool armed = getenv(channel::kArmedVariable) != nullptr;
  return armed;
}

bool is_of_session(const channel::SharedHeader& header) noexcept {
  return state_now(std::memory_order_acquire) == State::kJoined && &membership.connection.memory.header() == &header;
}

std::uint32_t process_instance() noexcept { return membership.connection.process_instance; }

SessionState session_state() noexcept { return state_within(0); }

void fall_silent_without_session() noexcept {
  const ScopedLock lock(join_lock);
  if (state_now(std::memory_order_acquire) != State::kJoined || state_within(0) != SessionState::kNone) return;
  membership.connection.memory.header().settings.recording.store(0, std::memory_order_release);
}

bool session_stays_alive(int milliseconds) noexcept {
  const SessionState state = state_within(milliseconds);
  if (state == SessionState::kUnknown) system::sleep(milliseconds * kMillisecond);
  return state != SessionState::kNone;
}

bool session_has_gone() noexcept { return state_within(0) == SessionState::kUnknown && may_join() && !session_listens(session_address()); }

std::int64_t event_time(std::int64_t monotonic) noexcept {
  if (state_now(std::memory_order_acquire) != State::kJoined) return monotonic;
  return channel::event_time(membership.connection.memory.header().clock, monotonic);
}

void write_metadata(channel::Record record, std::string_view text) noexcept {
  if (state_now(std::memory_order_acquire) != State::kJoined) return;
  record.thread = this_thread_id();
  const ScopedLock lock(metadata_lock);
  record.time = channel::event_time(membership.connection.memory.header().clock, monotonic_now());
  membership.metadata.write(record, text);
}

void report(Component component, ComponentState state, Severity severity, std::string_view text, DiagnosticKind kind) noexcept {
  channel::Record record{};
  record.type = channel::RecordType::kDiagnostic;
  record.category = static_cast<std::uint32_t>(component);
  record.color = static_cast<std::uint32_t>(state);
  record.payload_type = static_cast<std::uint8_t>(severity);
  record.id = static_cast<std::uint64_t>(kind);
  write_metadata(record, text);
}

void on_rejoin(void (*repeat_metadata)()) noexcept { membership.repeat_metadata = repeat_metadata; }

}  // namespace lanescope::agent

#include "agent/attach/attachment.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/attach/late_nvtx.h"
#include "agent/channel/membership.h"
#include "agent/core/call_chain.h"
#include "agent/core/clock.h"
#include "agent/core/loader/loader.h"
#include "agent/core/own_thread.h"
#include "agent/core/system_calls.h"
#include "agent/osrt/trace.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"
#include "agent/process/lock.h"
#include "agent/process/own_descriptor.h"
#include "agent/process/this_thread.h"
#include "agent/python_lock/python_lock.h"
#include "collector/channel/layout.h"

namespace lanescope::agent::attach {
namespace {

constexpr int kLookMilliseconds = 500;              // between looks for libraries that were loaded in ways that are not watched
constexpr std::int64_t kReadyAgain = kMillisecond;  // between checks of threads that wait until it is ready
constexpr int kListenMilliseconds = 1'000;          // between checks that the program has not closed the listener
constexpr std::int64_t kEndPatience = 5 * kSecond;  // how long to wait for the end of the thread, which looks after each of the waits above
constexpr std::int64_t kHeldForLong = 5 * kSecond;  // how long a thread of the program is in the list of loaded files before that is told
constexpr std::int64_t kListenAgain = kSecond;      // if the program has closed it, and there can be no other

struct Invitation {
  OwnDescriptor socket;
  char address[channel::kAddressBytes] = {};  // address of the session; empty: the environment names it
};

enum class Progress { kUnderWay, kReady, kRefused };

struct Attachment {
  Lock lock;
  std::atomic<Progress> progress{Progress::kReady};
  Invitation pending;
  void (*record_cuda)() = nullptr;
  bool is_served = false;                    // the thread is running
  std::atomic<std::uint32_t> server{0};      // number of that thread; 0: none
  std::atomic<bool> is_to_end{false};        // the thread must end, and no other starts
  bool listens = false;                      // in an armed process
  OwnDescriptor listener;                    // in such a process, unless there is none for the moment
  char name[channel::kArmedNameBytes] = {};  // name of the listener
};
constinit Attachment attachment;

// The sum of the results of looks, reported twice a second: a program may load and unload a library all the time.
struct Findings {
  LateNvtx untold;
  std::int64_t told = 0;          // time of the last report
  bool has_told_of_uses = false;  // of libraries that used NVTX before: reported once
  bool has_begun = false;         // all files were looked at after the program's threads began to look at theirs; earlier uses were before the recording
};
constinit Findings findings;  // guarded by the attachment's lock

// In a forked child the thread does not exist, and nobody reads a socket that was pending. The session would take the child for one that may still come.
void forget_in_child() noexcept {
  attachment.pending.socket.close();
  attachment.progress.store(Progress::kReady, std::memory_order_relaxed);
  attachment.is_served = attachment.listens = false;
  attachment.listener.close();
  findings = {.has_begun = true};
  forget_search();
  osrt::redirecting.store(0, std::memory_order_relaxed);
  forget_own_threads();
}

// The number of the socket that `address` names, and the session's address after it. -1 if it is invalid.
int parse(const char* address, Invitation& invitation) noexcept {
  if (address == nullptr || std::strncmp(address, "fd:", 3) != 0) return -1;
  const char* const limit = address + std::strlen(address);
  int socket = -1;
  const auto [end, problem] = std::from_chars(address + 3, limit, socket);  // strtol would require the newest C library
  if (problem != std::errc() || socket < 0 || (end != limit && *end != ':')) return -1;
  if (end != limit) std::strncpy(invitation.address, end + 1, sizeof(invitation.address) - 1);
  return socket;
}

// A session that connects first sends the address at which forked children may join. Users other than this one and root are rejected.
void accept_session(int listener) noexcept {
  const int socket = system::accept(listener, SOCK_CLOEXEC);
  if (socket < 0) return;
  constexpr timeval kPatience{.tv_sec = 1, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  Invitation invitation;
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool is_known = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
  const bool is_complete = is_known && system::receive(socket, invitation.address, sizeof(invitation.address) - 1, 0) > 0;
  const ScopedLock lock(attachment.lock);
  if (!is_complete || attachment.pending.socket.was_opened()) {
    system::close(socket);
    return;
  }
  invitation.socket = OwnDescriptor::keep(socket);
  attachment.pending = invitation;
}

OwnDescriptor listen_as_armed() noexcept;

// True if nobody took the invitation, and its sender has gone or the program has closed its socket.
bool is_given_up(const Invitation& invitation) noexcept {
  if (!invitation.socket.was_opened()) return false;
  pollfd socket{invitation.socket.number(), 0, 0};
  return socket.fd < 0 || (system::poll(&socket, 1, 0) > 0 && (socket.revents & (POLLHUP | POLLERR)) != 0);
}

// Some programs, for example daemons, close descriptors that they do not know: then it listens anew.
void wait_for_invitation() noexcept {
  int listener = attachment.listener.number();
  if (listener < 0) {
    const ScopedLock lock(attachment.lock);
    attachment.listener = listen_as_armed();
    listener = attachment.listener.number();
  }
  if (listener < 0) return system::sleep(kListenAgain);
  pollfd source{listener, POLLIN, 0};
  const bool has_come = system::poll(&source, 1, kListenMilliseconds) > 0;
  if (has_come && attachment.listener.number() == listener) accept_session(listener);
}

// A process whose first thread ends by pthread_exit() ends with its last thread.
void end_with_last_thread() noexcept {
  if (has_lost_its_threads()) std::exit(0);
}

// False if nobody waits; the thread then ends, unless the process is armed.
bool take_pending(Invitation& invitation) noexcept {
  const ScopedLock lock(attachment.lock);
  if (attachment.is_to_end) return attachment.is_served = false;
  invitation = attachment.pending;
  attachment.pending = {};
  if (invitation.socket.was_opened()) attachment.progress.store(Progress::kUnderWay, std::memory_order_relaxed);
  attachment.is_served = invitation.socket.was_opened() || attachment.listens;
  return attachment.is_served;
}

// `format`: with a place for their number.
void tell_unreadable(Component component, const char* format, std::size_t files) noexcept {
  if (files == 0) return;
  char text[240];
  const int length = std::snprintf(text, sizeof(text), format, files);
  report(component, ComponentState::kFailed, Severity::kWarning, {text, static_cast<std::size_t>(length)});
}

void tell(const LateNvtx& found) noexcept {
  char text[160];
  tell_unreadable(Component::kNvtx, "Of %zu of the loaded files no NVTX is recorded: what they were loaded from was cut short or replaced since.",
                  found.unreadable);
  if (found.owned_by_other == 1)
    report(Component::kNvtx, ComponentState::kOwnedByOther, Severity::kWarning, "The NVTX ranges of a library go to another tool, which was there first.");
  if (found.owned_by_other > 1) {
    const int length = std::snprintf(text, sizeof(text), "The NVTX ranges of %zu libraries go to another tool, which was there first.", found.owned_by_other);
    report(Component::kNvtx, ComponentState::kOwnedByOther, Severity::kWarning, {text, static_cast<std::size_t>(length)});
  }
  if (found.used_before != 0)
    report(Component::kNvtx, ComponentState::kRecording, Severity::kWarning,
           "NVTX ranges that libraries make before the agent has seen them, as in their constructors, are missing.", DiagnosticKind::kLoss);
  if (found.taken_over != 0) {
    const int length = std::snprintf(text, sizeof(text), "NVTX of %zu loaded files is recorded from here on.", found.taken_over);
    report(Component::kNvtx, ComponentState::kRecording, Severity::kInformation, {text, static_cast<std::size_t>(length)});
  }
}

void begin_findings() noexcept {
  const ScopedLock lock(attachment.lock);
  findings = {};
}

void end_beginning() noexcept {
  const ScopedLock lock(attachment.lock);
  findings.has_begun = true;
}

LateNvtx take_what_is_to_tell(const LateNvtx& found) noexcept {
  const ScopedLock lock(attachment.lock);
  findings.untold.add(found);
  if (!findings.has_begun) findings.untold.used_before = 0;
  if (findings.untold.is_nothing()) return {};
  const std::int64_t now = monotonic_now();
  if (now - findings.told < kLookMilliseconds * kMillisecond) return {};
  findings.told = now;
  LateNvtx result = std::exchange(findings.untold, {});
  if (findings.has_told_of_uses) result.used_before = 0;
  findings.has_told_of_uses = findings.has_told_of_uses || result.used_before != 0;
  return result;
}

bool uses_cuda() noexcept {
  void* library = load_file("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  dlclose(library);
  return true;
}

// What is traced of the calls into the C library.
struct OsCalls {
  bool are_recorded = false;
  bool show_python_lock = false;
};
OsCalls traced_os_calls() noexcept {
  const channel::SharedMemory memory = join_recording();
  if (!memory) return {};
  const channel::Settings& settings = memory.header().settings;
  return {settings.trace_os_runtime.load(std::memory_order_acquire) != 0, settings.trace_python_lock.load(std::memory_order_acquire) != 0};
}

// Redirects the calls of files that were loaded since the last time.
void redirect_os_calls(const OsCalls& traced) noexcept {
  if (!traced.are_recorded && !traced.show_python_lock) return osrt::watch_process_calls();
  const auto redirect = osrt::redirect.load(std::memory_order_acquire);
  if (redirect == nullptr) return;
  const Redirected result = redirect(traced.are_recorded ? osrt::Recorded::kCalls : osrt::Recorded::kPythonLock);
  tell_unreadable(Component::kOsRuntime,
                  "Of %zu of the loaded files no calls into the C library are recorded: what they were loaded from was cut short or replaced since.",
                  result.unreadable_files);
}

void redirect_loading() noexcept {
  if (auto* const redirect = osrt::redirect_loading.load(std::memory_order_acquire)) redirect();
}

void look_at_new_files(const OsCalls& os_calls) noexcept {
  redirect_loading();
  redirect_os_calls(os_calls);
  tell(take_what_is_to_tell(take_over_nvtx(Search::kNew)));
}

// Called on a thread of the program that has loaded files, also in a forked child, which must become a member before it looks.
void look_for_program() noexcept {
  if (may_look_at_loaded_files() && join_recording()) look_at_new_files(traced_os_calls());
}

// Tells once in a session if nothing can be looked at because a thread of the program stays in the list of loaded files.
class HeldList {
 public:
  void look() noexcept {
    if (is_list_free_of_program()) {
      since_ = 0;
      return;
    }
    const std::int64_t now = monotonic_now();
    if (since_ == 0) since_ = now;
    if (is_told_ || now - since_ < kHeldForLong) return;
    is_told_ = true;
    report(Component::kNvtx, ComponentState::kRecording, Severity::kWarning,
           "Libraries that the program loads are not recorded while one of its threads stays in the loader's list of files (dl_iterate_phdr), as one does for "
           "ever that has left its callback by a jump (longjmp).",
           DiagnosticKind::kLoss);
  }

 private:
  std::int64_t since_ = 0;
  bool is_told_ = false;
};

// If the program has closed the session's socket, only the next session tells that this one has ended.
bool has_successor() noexcept {
  const ScopedLock lock(attachment.lock);
  return attachment.pending.socket.was_opened() && session_has_gone();
}

// Runs from joining to the session's end.
void follow_session() noexcept {
  bool records_cuda = false;
  begin_findings();
  // A load that begins before all files are looked at is looked at when it ends.
  void (*const before)() = osrt::look_at_new_files.exchange([] {}, std::memory_order_acq_rel);
  LateNvtx found;
  {
    const UnseenVisits unseen;  // visits in progress; they are over when this thread has been in the list
    redirect_loading();
    found = take_over_nvtx(Search::kAll);
  }
  found.used_before = 0;  // used before the recording
  osrt::look_at_new_files.store(look_for_program, std::memory_order_release);
  tell(found);
  const OsCalls os_calls = traced_os_calls();
  HeldList held_list;
  if (os_calls.are_recorded) prepare_call_chains();
  do {
    end_with_last_thread();
    if (os_calls.show_python_lock) python_lock::look_for_interpreter();
    look_at_new_files(os_calls);
    held_list.look();
    end_beginning();
    if (!records_cuda && uses_cuda()) {
      records_cuda = true;
      attachment.record_cuda();
    }
    attachment.progress.store(Progress::kReady, std::memory_order_release);
    if (attachment.is_to_end) return;
  } while (session_stays_alive(kLookMilliseconds) && !has_successor());
  osrt::look_at_new_files.store(before, std::memory_order_release);
  fall_silent_without_session();
}

void* serve(void*) noexcept {
  const OwnThread own_thread;
  attachment.server.store(this_thread_id(), std::memory_order_release);
  for (Invitation invitation; take_pending(invitation);) {
    end_with_last_thread();
    if (!invitation.socket.was_opened())
      wait_for_invitation();
    else if (join_recording_at(invitation.socket, invitation.address))
      follow_session();
    else
      attachment.progress.store(Progress::kRefused, std::memory_order_release);
  }
  return nullptr;
}

socklen_t armed_address(sockaddr_un& address) noexcept {
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(attachment.name);
  std::memcpy(address.sun_path + 1, attachment.name, length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

bool bind_as(const OwnDescriptor& listener, std::uint64_t letters) noexcept {
  std::snprintf(attachment.name, sizeof(attachment.name), letters == 0 ? "%s%d" : "%s%d-%016llx", channel::kArmedSocketPrefix, system::process_id(),
                static_cast<unsigned long long>(letters));
  sockaddr_un address{};
  const socklen_t size = armed_address(address);
  return bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
}

// Takes an unpredictable name if the normal one is taken: by a process of the same number in another container, or by somebody who wants to hide this process.
// Returns nothing if there can be no socket. Requires: the attachment's lock is held.
OwnDescriptor listen_as_armed() noexcept {
  OwnDescriptor listener = OwnDescriptor::keep(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.was_opened()) return listener;
  std::uint64_t letters = 0;
  const auto draw = [&letters] { return system::system_call(SYS_getrandom, system::word(&letters), sizeof(letters), 0) == sizeof(letters); };
  constexpr int kBacklog = 4;
  if ((!bind_as(listener, 0) && !(draw() && bind_as(listener, letters))) || listen(listener.number(), kBacklog) != 0) listener.close();
  return listener;
}

// The thread waits at the listener; a connection that closes at once wakes it.
void wake_thread() noexcept {
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return;  // the thread looks by itself after a while
  sockaddr_un address{};
  const socklen_t size = armed_address(address);
  system::connect(socket, reinterpret_cast<const sockaddr*>(&address), size);
  system::close(socket);
}

}  // namespace

void wait_for_sessions(void (*record_cuda)()) noexcept {
  if (!is_armed() || !may_join() || was_forked_unnoticed()) return;
  const ScopedLock lock(attachment.lock);
  if (attachment.listens) return;
  on_fork_child(forget_in_child);
  follow_membership();
  attachment.listener = listen_as_armed();
  attachment.listens = attachment.listener.was_opened();
  if (!attachment.listens) return;
  attachment.record_cuda = record_cuda;
  on_absence([] { wait_for_sessions(attachment.record_cuda); });  // a forked child, at its first event
  if (!attachment.is_served) attachment.is_served = start_own_thread(serve, nullptr, 0) == 0;
}

int attach(const char* address, void (*record_cuda)()) noexcept {
  Invitation invitation;
  const int socket = parse(address, invitation);
  if (socket < 0) return EINVAL;
  const ScopedLock lock(attachment.lock);
  const bool was_given_up = is_given_up(attachment.pending);
  if (was_given_up) attachment.pending.socket.close();
  // True from the arrival of an invitation until it was followed or refused; after that, the session is known.
  const bool is_under_way =
      attachment.pending.socket.was_opened() || (!was_given_up && attachment.progress.load(std::memory_order_acquire) == Progress::kUnderWay);
  const SessionState state = session_state();
  const bool is_recorded = state == SessionState::kAlive || (state == SessionState::kUnknown && !session_has_gone());
  if (is_under_way || is_recorded || is_awaited_by_session()) return EBUSY;
  invitation.socket = OwnDescriptor::keep(socket);
  if (!invitation.socket.was_opened()) return EBADF;
  on_fork_child(forget_in_child);
  follow_membership();
  attachment.is_to_end = false;
  if (!attachment.is_served) {
    // The thread looks for the pending invitation once the lock is free.
    if (const int problem = start_own_thread(serve, nullptr, 0); problem != 0) {
      invitation.socket.close();
      return problem;
    }
    attachment.is_served = true;
  }
  attachment.progress.store(Progress::kUnderWay, std::memory_order_relaxed);
  attachment.record_cuda = record_cuda;
  attachment.pending = invitation;
  if (attachment.listens) wake_thread();
  return 0;
}

void end_service() noexcept {
  bool was_served = false;
  {
    const ScopedLock lock(attachment.lock);
    was_served = attachment.is_served;
    attachment.is_to_end = true;
    attachment.listener.close();
    attachment.listens = false;
  }
  if (!was_served) return;
  report(Component::kNvtx, ComponentState::kRecording, Severity::kWarning,
         "Libraries that the program loads from here on are not recorded: its seccomp filter would have the kernel end it for the agent's thread.",
         DiagnosticKind::kLoss);
  const std::int64_t give_up = monotonic_now() + kEndPatience;
  while (is_thread_of_process(attachment.server.load(std::memory_order_acquire)) && monotonic_now() < give_up) system::sleep(kReadyAgain);
}

int await_attached(int milliseconds) noexcept {
  for (std::int64_t left = milliseconds * kMillisecond;; left -= kReadyAgain) {
    const Progress progress = attachment.progress.load(std::memory_order_acquire);
    if (progress != Progress::kUnderWay) return progress == Progress::kReady ? 0 : ECONNREFUSED;
    if (left <= 0) return ETIMEDOUT;
    system::sleep(kReadyAgain);
  }
}

}  // namespace lanescope::agent::attach

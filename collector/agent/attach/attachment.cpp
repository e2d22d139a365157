#include "agent/attach/attachment.h"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/attach/late_nvtx.h"
#include "agent/channel/membership.h"
#include "agent/core/call_chain.h"
#include "agent/core/lock.h"
#include "agent/core/own_thread.h"
#include "agent/osrt/trace.h"
#include "agent/python_lock/python_lock.h"
#include "collector/channel/layout.h"

namespace lanescope::agent::attach {
namespace {

constexpr int kLowestDescriptor = 512;  // out of the way of programs that count on low numbers
constexpr int kLookMilliseconds = 500;  // between looks for libraries that were loaded meanwhile

struct Invitation {
  int socket = -1;
  char path[sizeof(sockaddr_un::sun_path)] = {};
};

struct Attachment {
  Lock lock;
  Invitation pending;
  void (*record_cuda)() = nullptr;
  bool is_served = false;  // the thread runs
  int listener = -1;       // in an armed process
  int wake = -1;           // with it: an eventfd that says that somebody waits
};
constinit Attachment attachment;

// In a forked child the thread does not exist. What is open there stays open: a socket that nobody reads.
void forget_in_child() noexcept {
  attachment.lock.forget_holder();
  attachment.pending.socket = -1;
  attachment.is_served = false;
  if (attachment.listener >= 0) close(attachment.listener);
  if (attachment.wake >= 0) close(attachment.wake);
  attachment.listener = attachment.wake = -1;
}

bool parse(const char* address, Invitation& invitation) noexcept {
  if (address == nullptr || std::strncmp(address, "fd:", 3) != 0) return false;
  const char* const limit = address + std::strlen(address);
  const auto [end, problem] = std::from_chars(address + 3, limit, invitation.socket);  // strtol would ask for the newest C library
  if (problem != std::errc() || invitation.socket < 0 || (end != limit && *end != ':')) return false;
  if (end != limit) std::strncpy(invitation.path, end + 1, sizeof(invitation.path) - 1);
  return true;
}

// A session that connects says first where forked children may join. Others than this user and root are sent away.
void accept_session() noexcept {
  Invitation invitation;
  invitation.socket = accept4(attachment.listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (invitation.socket < 0) return;
  constexpr timeval kPatience{.tv_sec = 1, .tv_usec = 0};
  setsockopt(invitation.socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool is_known =
      getsockopt(invitation.socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
  const bool is_complete = is_known && recv(invitation.socket, invitation.path, sizeof(invitation.path) - 1, 0) > 0;
  const ScopedLock lock(attachment.lock);
  if (!is_complete || attachment.pending.socket >= 0) {
    close(invitation.socket);
    return;
  }
  attachment.pending = invitation;
}

void wait_for_invitation() noexcept {
  pollfd sources[] = {{attachment.listener, POLLIN, 0}, {attachment.wake, POLLIN, 0}};
  if (poll(sources, 2, -1) <= 0) return;
  eventfd_t count = 0;
  if ((sources[1].revents & POLLIN) != 0) eventfd_read(attachment.wake, &count);
  if ((sources[0].revents & POLLIN) != 0) accept_session();
}

// False when nobody waits; the thread then ends, where the process is not armed.
bool take_pending(Invitation& invitation) noexcept {
  const ScopedLock lock(attachment.lock);
  invitation = attachment.pending;
  attachment.pending.socket = -1;
  attachment.is_served = invitation.socket >= 0 || attachment.listener >= 0;
  return attachment.is_served;
}

// `format`: with room for their number and for why.
void tell_unreadable(Component component, const char* format, std::size_t files) noexcept {
  if (files == 0) return;
  char text[240];
  const int length = std::snprintf(text, sizeof(text), format, files, "what they were loaded from was cut short or replaced since");
  report(component, ComponentState::kFailed, Severity::kWarning, {text, static_cast<std::size_t>(length)});
}

void tell(const LateNvtx& found) noexcept {
  char text[160];
  tell_unreadable(Component::kNvtx, "Of %zu of the loaded files no NVTX is recorded: %s.", found.unreadable);
  if (found.owned_by_other != 0) {
    const int length = std::snprintf(text, sizeof(text), "The NVTX ranges of %zu libraries go to another tool, which was there first.",
                                     found.owned_by_other);
    report(Component::kNvtx, ComponentState::kOwnedByOther, Severity::kWarning, {text, static_cast<std::size_t>(length)});
  }
  if (found.taken_over != 0) {
    const int length = std::snprintf(text, sizeof(text), "NVTX of %zu loaded files is recorded from here on.", found.taken_over);
    report(Component::kNvtx, ComponentState::kRecording, Severity::kInformation, {text, static_cast<std::size_t>(length)});
  }
}

bool uses_cuda() noexcept {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  dlclose(library);
  return true;
}

// What of the calls into the C library.
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

// Those of files that were loaded since the last time.
void redirect_os_calls(const OsCalls& traced) noexcept {
  if (!traced.are_recorded && !traced.show_python_lock) return;
  if (traced.show_python_lock) python_lock::look_for_interpreter();
  const auto redirect = osrt::redirect.load(std::memory_order_acquire);
  if (redirect == nullptr) return;
  const Redirected result = redirect(traced.are_recorded ? osrt::Recorded::kCalls : osrt::Recorded::kPythonLock);
  tell_unreadable(Component::kOsRuntime, "Of %zu of the loaded files no calls into the C library are recorded: %s.", result.unreadable_files);
}

// From joining to the session's end.
void follow_session() noexcept {
  bool records_cuda = false;
  tell(take_over_nvtx(Search::kAll));
  const OsCalls os_calls = traced_os_calls();
  if (os_calls.are_recorded) prepare_call_chains();
  do {
    redirect_os_calls(os_calls);
    if (!records_cuda && uses_cuda()) {
      records_cuda = true;
      attachment.record_cuda();
    }
    tell(take_over_nvtx(Search::kNew));
  } while (session_stays_alive(kLookMilliseconds));
}

void* serve(void*) noexcept {
  name_own_thread();
  for (Invitation invitation; take_pending(invitation);) {
    if (invitation.socket < 0)
      wait_for_invitation();
    else if (join_recording_at(invitation.socket, invitation.path))
      follow_session();
  }
  return nullptr;
}

// -1 where that can't be had: a namesake in another container is there first.
int listen_as_armed() noexcept {
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length = std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s%d", channel::kArmedSocketPrefix, getpid());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  constexpr int kBacklog = 4;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(socket, kBacklog) != 0) {
    close(socket);
    return -1;
  }
  const int high = fcntl(socket, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high < 0) return socket;
  close(socket);
  return high;
}

}  // namespace

void wait_for_sessions(void (*record_cuda)()) noexcept {
  if (!is_armed()) return;
  const ScopedLock lock(attachment.lock);
  if (attachment.listener >= 0) return;
  on_fork_child(forget_in_child);
  watch_forks();
  attachment.listener = listen_as_armed();
  if (attachment.listener < 0) return;
  attachment.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  attachment.record_cuda = record_cuda;
  on_absence([] { wait_for_sessions(attachment.record_cuda); });  // a forked child, at its first event
  if (!attachment.is_served) attachment.is_served = start_own_thread(serve, nullptr, 0) == 0;
}

int attach(const char* address, void (*record_cuda)()) noexcept {
  Invitation invitation;
  if (!parse(address, invitation)) return EINVAL;
  if (session_is_alive()) return EBUSY;
  const ScopedLock lock(attachment.lock);
  if (attachment.pending.socket >= 0) return EBUSY;
  on_fork_child(forget_in_child);
  watch_forks();
  const int original = invitation.socket;
  const int high = fcntl(original, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high >= 0) invitation.socket = high;
  attachment.pending = invitation;
  attachment.record_cuda = record_cuda;
  if (!attachment.is_served) {
    if (const int problem = start_own_thread(serve, nullptr, 0); problem != 0) {
      attachment.pending.socket = -1;
      if (high >= 0) close(high);
      return problem;
    }
    attachment.is_served = true;
  } else if (attachment.wake >= 0) {
    eventfd_write(attachment.wake, 1);
  }
  if (high >= 0) close(original);
  return 0;
}

}  // namespace lanescope::agent::attach

#include "agent/attach/attachment.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/attach/late_nvtx.h"
#include "agent/channel/membership.h"
#include "agent/core/lock.h"

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
};
constinit Attachment attachment;

// In a forked child the thread does not exist. What is open there stays open: a socket that nobody reads.
void forget_in_child() noexcept {
  attachment.lock.forget_holder();
  attachment.pending.socket = -1;
  attachment.is_served = false;
}

bool parse(const char* address, Invitation& invitation) noexcept {
  if (address == nullptr || std::strncmp(address, "fd:", 3) != 0) return false;
  char* end = nullptr;
  const long number = std::strtol(address + 3, &end, 10);
  if (end == address + 3 || number < 0 || (*end != '\0' && *end != ':')) return false;
  invitation.socket = static_cast<int>(number);
  if (*end == ':') std::strncpy(invitation.path, end + 1, sizeof(invitation.path) - 1);
  return true;
}

// False when nobody waits; the thread then ends.
bool take_pending(Invitation& invitation) noexcept {
  const ScopedLock lock(attachment.lock);
  invitation = attachment.pending;
  attachment.pending.socket = -1;
  attachment.is_served = invitation.socket >= 0;
  return attachment.is_served;
}

void tell(const LateNvtx& found) noexcept {
  char text[160];
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

// From joining to the session's end.
void follow_session() noexcept {
  bool records_cuda = false;
  tell(take_over_nvtx(Search::kAll));
  do {
    if (!records_cuda && uses_cuda()) {
      records_cuda = true;
      attachment.record_cuda();
    }
    tell(take_over_nvtx(Search::kNew));
  } while (session_stays_alive(kLookMilliseconds));
}

void* serve(void*) noexcept {
  pthread_setname_np(pthread_self(), "lanescope");
  for (Invitation invitation; take_pending(invitation);)
    if (join_recording_at(invitation.socket, invitation.path)) follow_session();
  return nullptr;
}

// All signals stay with the threads of the program.
int start_thread() noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int result = pthread_create(&thread, &attributes, serve, nullptr);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

}  // namespace

int attach(const char* address, void (*record_cuda)()) noexcept {
  Invitation invitation;
  if (!parse(address, invitation)) return EINVAL;
  if (session_is_alive()) return EBUSY;
  const ScopedLock lock(attachment.lock);
  if (attachment.pending.socket >= 0) return EBUSY;
  on_fork_child(forget_in_child);
  const int original = invitation.socket;
  const int high = fcntl(original, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high >= 0) invitation.socket = high;
  attachment.pending = invitation;
  attachment.record_cuda = record_cuda;
  if (!attachment.is_served) {
    if (const int problem = start_thread(); problem != 0) {
      attachment.pending.socket = -1;
      if (high >= 0) close(high);
      return problem;
    }
    attachment.is_served = true;
  }
  if (high >= 0) close(original);
  return 0;
}

}  // namespace lanescope::agent::attach

#include "call_class.h"

#include <array>

#include "model/trace/python_lock.h"

namespace lanescope::analysis {
namespace {

bool contains(std::string_view text, std::string_view word) noexcept { return text.find(word) != std::string_view::npos; }

// What a communication library's kernels and calls have in their names.
constexpr std::array<std::string_view, 5> kCommunicationWords{"nccl", "NCCL", "rccl", "nvshmem", "cross_device_reduce"};

constexpr std::array<std::string_view, 13> kLocks{kAwaitsPythonLock, "pthread_mutex",   "pthread_rwlock", "pthread_spin", "pthread_cond",
                                                  "pthread_join",    "pthread_barrier", "sem_",           "futex",        "flock",
                                                  "lockf",           "waitpid",         "wait4"};
constexpr std::array<std::string_view, 10> kQueues{"poll", "epoll",  "select",  "recv",    "accept",
                                                   "mq_",  "msgrcv", "sigwait", "eventfd", "connect"};
constexpr std::array<std::string_view, 14> kFiles{"read", "write", "open", "close", "sync", "ioctl",     "send",
                                                  "stat", "seek",  "get",  "put",   "map",  "fallocate", "truncate"};

}  // namespace

CallClass classify_cuda_call(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 3> kWaits{"Synchronize", "StreamQuery", "EventQuery"};
  constexpr std::array<std::string_view, 7> kEnqueues{"Launch",      "EventRecord", "StreamWait", "StreamWrite",
                                                      "AddCallback", "Memset",      "Prefetch"};
  if (contains_any(name, kWaits)) return CallClass::kSynchronize;
  if (contains(name, "Memcpy")) return contains(name, "Async") ? CallClass::kLaunch : CallClass::kCopy;
  return contains_any(name, kEnqueues) ? CallClass::kLaunch : CallClass::kSetup;
}

bool creates_stream(std::string_view name) noexcept { return contains(name, "StreamCreate"); }

bool asks_gpu(std::string_view name) noexcept { return contains(name, "StreamQuery") || contains(name, "EventQuery"); }

bool makes_stream_wait(std::string_view name) noexcept { return contains(name, "StreamWait"); }

IdleCause classify_os_call(std::string_view name) noexcept {
  if (contains(name, "sleep")) return IdleCause::kOsSleep;
  if (contains_any(name, kLocks)) return IdleCause::kOsLock;
  if (contains_any(name, kQueues)) return IdleCause::kOsQueue;
  return contains_any(name, kFiles) ? IdleCause::kOsIo : IdleCause::kOsOther;
}

bool is_communication_name(std::string_view name) noexcept { return contains_any(name, kCommunicationWords) || name.starts_with("MPI_"); }

bool is_communication_domain(std::string_view domain) noexcept {
  return domain == "NCCL" || domain == "RCCL" || domain == "MPI" || domain == "NVSHMEM";
}

}  // namespace lanescope::analysis

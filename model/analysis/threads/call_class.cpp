#include "call_class.h"

#include <algorithm>
#include <array>

#include "model/trace/domains/python_lock.h"

namespace lanescope::analysis {
namespace {

bool contains(std::string_view text, std::string_view word) noexcept { return text.find(word) != std::string_view::npos; }

// Words that occur in the names of a communication library's kernels and calls.
constexpr auto kCommunicationWords =
    std::to_array<std::string_view>({"nccl", "NCCL", "rccl", "nvshmem", "msccl",
                                     "cross_device_reduce",                                          // vLLM, SGLang
                                     "multimem_all_", "one_shot_all_reduce", "two_shot_all_reduce",  // PyTorch's symmetric memory
                                     "ShotAllReduce", "shotAllreduce", "allreduce_fusion_kernel",    // TensorRT-LLM, FlashInfer
                                     "deep_ep"});                                                    // DeepEP

// Calls of the C library, by their names in stem(); a name that ends in * stands for all names with that start.
constexpr auto kLocks = std::to_array<std::string_view>({"pthread_mutex_*",
                                                         "pthread_rwlock_*",
                                                         "pthread_spin_*",
                                                         "pthread_cond_*",
                                                         "pthread_barrier_*",
                                                         "pthread_join",
                                                         "pthread_timedjoin_np",
                                                         "pthread_tryjoin_np",
                                                         "pthread_clockjoin_np",
                                                         "mtx_*",
                                                         "cnd_*",
                                                         "thrd_join",
                                                         "sem_*",
                                                         "semop",
                                                         "semtimedop",
                                                         "futex*",
                                                         "flock",
                                                         "lockf",
                                                         "fcntl",
                                                         "pclose",
                                                         "wait",
                                                         "wait3",
                                                         "wait4",
                                                         "waitpid",
                                                         "waitid"});
constexpr auto kQueues = std::to_array<std::string_view>({"poll*", "ppoll*", "epoll_*", "select", "pselect*", "recv*", "accept*", "connect", "mq_*", "msgrcv",
                                                          "msgsnd", "sigwait*", "sigtimedwait", "sigsuspend", "pause", "eventfd*"});
constexpr auto kFiles = std::to_array<std::string_view>({"read",
                                                         "readv",
                                                         "pread",
                                                         "preadv*",
                                                         "fread",
                                                         "readdir*",
                                                         "getdents",
                                                         "readahead",
                                                         "readlink*",
                                                         "write",
                                                         "writev",
                                                         "pwrite",
                                                         "pwritev*",
                                                         "fwrite",
                                                         "fgetc",
                                                         "getc",
                                                         "getchar",
                                                         "fgets",
                                                         "gets",
                                                         "getline",
                                                         "getdelim",
                                                         "fgetwc",
                                                         "fgetws",
                                                         "fputc",
                                                         "putc",
                                                         "putchar",
                                                         "fputs",
                                                         "puts",
                                                         "fputwc",
                                                         "fputws",
                                                         "ungetc",
                                                         "fscanf",
                                                         "fprintf",
                                                         "vfprintf",
                                                         "open",
                                                         "openat*",
                                                         "creat",
                                                         "fopen",
                                                         "fdopen",
                                                         "freopen",
                                                         "opendir",
                                                         "close",
                                                         "close_range",
                                                         "fclose",
                                                         "closedir",
                                                         "fflush",
                                                         "sync",
                                                         "syncfs",
                                                         "fsync",
                                                         "fdatasync",
                                                         "sync_file_range",
                                                         "msync",
                                                         "lseek",
                                                         "fseek",
                                                         "fseeko",
                                                         "rewind",
                                                         "stat",
                                                         "fstat",
                                                         "lstat",
                                                         "fstatat",
                                                         "newfstatat",
                                                         "statx",
                                                         "xstat",
                                                         "fxstat",
                                                         "lxstat",
                                                         "fxstatat",
                                                         "statfs",
                                                         "fstatfs",
                                                         "statvfs",
                                                         "fstatvfs",
                                                         "access",
                                                         "faccessat*",
                                                         "fallocate",
                                                         "posix_fallocate",
                                                         "truncate",
                                                         "ftruncate",
                                                         "copy_file_range",
                                                         "sendfile",
                                                         "splice",
                                                         "tee",
                                                         "send",
                                                         "sendto",
                                                         "sendmsg",
                                                         "sendmmsg",
                                                         "ioctl",
                                                         "rename*",
                                                         "unlink*",
                                                         "link",
                                                         "linkat",
                                                         "symlink*",
                                                         "mkdir*",
                                                         "rmdir",
                                                         "io_submit",
                                                         "io_getevents",
                                                         "io_uring_enter",
                                                         "aio_*"});

// "pread" of "__pread64_chk"
std::string_view stem(std::string_view name) noexcept {
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  for (const std::string_view suffix : {"_chk", "_nocancel", "_unlocked", "_2", "64"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

template <std::size_t kSize>
bool is_one_of(std::string_view stem, const std::array<std::string_view, kSize>& calls) noexcept {
  return std::any_of(calls.begin(), calls.end(),
                     [&](std::string_view call) { return call.ends_with('*') ? stem.starts_with(call.substr(0, call.size() - 1)) : stem == call; });
}

}  // namespace

CallClass classify_cuda_call(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 3> kWaits{"Synchronize", "StreamQuery", "EventQuery"};
  constexpr std::array<std::string_view, 7> kEnqueues{"Launch", "EventRecord", "StreamWait", "StreamWrite", "AddCallback", "Memset", "Prefetch"};
  if (contains_any(name, kWaits)) return CallClass::kSynchronize;
  if (contains(name, "Memcpy")) return contains(name, "Async") ? CallClass::kLaunch : CallClass::kCopy;
  return contains_any(name, kEnqueues) ? CallClass::kLaunch : CallClass::kSetup;
}

bool creates_stream(std::string_view name) noexcept { return contains(name, "StreamCreate"); }

bool asks_gpu(std::string_view name) noexcept { return contains(name, "StreamQuery") || contains(name, "EventQuery"); }

bool enqueues_host_function(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 3> kHostFunctions{"LaunchHostFunc", "AddCallback", "AddHostNode"};
  return name.starts_with("cu") && contains_any(name, kHostFunctions);
}

bool enqueues_gpu_work(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 3> kWork{"Launch", "Memcpy", "Memset"};
  return contains_any(name, kWork) && !enqueues_host_function(name);
}

bool makes_stream_wait(std::string_view name) noexcept { return contains(name, "StreamWait"); }

IdleCause classify_os_call(std::string_view name) noexcept {
  if (contains(name, kAwaitsPythonLock)) return IdleCause::kOsLock;
  if (contains(name, "sleep")) return IdleCause::kOsSleep;
  const std::string_view call = stem(name);
  if (is_one_of(call, kLocks)) return IdleCause::kOsLock;
  if (is_one_of(call, kQueues)) return IdleCause::kOsQueue;
  return is_one_of(call, kFiles) ? IdleCause::kOsIo : IdleCause::kOsOther;
}

bool is_communication_name(std::string_view name) noexcept { return contains_any(name, kCommunicationWords) || name.starts_with("MPI_"); }

bool is_send_or_receive_name(std::string_view name) noexcept { return name.find("SendRecv") != std::string_view::npos; }

bool is_communication_domain(std::string_view domain) noexcept { return domain == "NCCL" || domain == "RCCL" || domain == "MPI" || domain == "NVSHMEM"; }

}  // namespace lanescope::analysis

// The names of idle causes, and what to do about them.
#include <array>

#include "model/analysis/idle/idle.h"
#include "threads/call_class.h"

namespace lanescope::analysis {
namespace {

struct CauseWords {
  std::string_view key, name, clause, advice;
};
constexpr std::array<CauseWords, kIdleCauses> kCauseWords{{
    {"launch", "Launch-bound", "because the next operation was still being launched",
     "Give the GPU more work per launch: larger batches, fused kernels, or a CUDA graph that launches many kernels at once."},
    {"synchronize", "Blocked in a synchronising call", "because the CPU waited for the GPU and left it without work",
     "Remove the wait, or wait for an event only where the result is needed; enqueue the next work before waiting."},
    {"copy", "In a blocking or pageable copy", "while the CPU was in a copy",
     "Copy from pinned memory with an asynchronous call on a stream of its own, so that kernels run meanwhile."},
    {"cuda_setup", "In other CUDA calls", "while the CPU allocated, loaded or configured CUDA resources",
     "Do it once before the loop: keep buffers, warm up modules, create streams and events ahead."},
    {"os_io", "Waiting for input or output", "while the launching thread read or wrote",
     "Read ahead on other threads, so that the data is there when it is needed (a DataLoader: more workers)."},
    {"os_lock", "Waiting for a lock or thread", "while the launching thread waited for a lock, condition or thread",
     "Look at who holds the lock or feeds the condition at this time; shorten what it does or take it off the launching thread."},
    {"os_sleep", "Sleeping", "while the launching thread slept", "Wait for the event that ends the wait instead of sleeping for a fixed time."},
    {"os_queue", "Waiting for data", "while the launching thread waited for data from a queue, socket or pipe",
     "Prepare data ahead of time: more workers, deeper prefetching, or a faster producer."},
    {"os_other", "In other C library calls", "while the launching thread was in a C library call",
     "Take the call off the launching thread, or enqueue the next work first."},
    {"os_blocked", "Blocked in the operating system", "while the launching thread was blocked in the operating system",
     "Record operating system calls as well (-t cuda,nvtx,osrt) to see what it waits for; then have that ready before it is needed."},
    {"os_processor", "Waiting for a processor", "while the launching thread was ready to run but got no processor",
     "Run fewer threads than there are processors (data loader workers, OMP_NUM_THREADS), or give the process more or its own processors."},
    {"cpu_code", "Running CPU code", "while the launching thread ran CPU code",
     "Make this code faster, move it to other threads (a data loader: more workers), or enqueue the next GPU work before it."},
    {"dependency", "Enqueued, waiting on the GPU", "because the next operation, though enqueued, had not started",
     "See what its stream waits for: another stream, an event, a host function. Drop waits that are not needed, and put independent work on other streams. "
     "Where it waits for none of them, the driver is busy, as it is behind cudaMalloc and cudaFree."},
    {"communication", "Communication", "while communication held back the next operation",
     "Overlap communication with computation: smaller buckets, an earlier start, a stream of its own."},
    {"migration", "Moving unified memory", "while pages of unified memory were moved on demand",
     "Move data at once and ahead of its use (cudaMemPrefetchAsync), say where it shall stay (cudaMemAdvise), or use cudaMalloc and "
     "copies."},
    {"overhead", "Profiler overhead", "while the profiler itself held up the launching thread",
     "The profiler itself causes this time: record less (preset light) to see how the program runs without it."},
    {"unknown", "Unknown", "in front of operations whose launch was not recorded",
     "Record CUDA API calls as well, and begin the recording before the work is enqueued."},
}};
const CauseWords& words(IdleCause cause) noexcept { return kCauseWords[static_cast<std::size_t>(cause)]; }

constexpr std::string_view kBetweenLaunches =
    "The CPU takes longer to launch an operation than the GPU to run it. Launch fewer and larger ones: larger batches, fused kernels and "
    "optimizers, torch.compile; or all at once, as a CUDA graph (PyTorch: torch.compile with mode=\"reduce-overhead\").";
constexpr std::string_view kBehindWaits =
    "While the CPU waits it launches nothing, and afterwards the GPU is idle until enough is launched again. Wait seldom, and launch the next work first: "
    "in PyTorch, .item(), .cpu(), print of a tensor and torch.cuda.synchronize() wait; keep sums on the GPU and read them every so many steps. Where each "
    "step needs a result, launch faster: torch.compile, or a CUDA graph.";
constexpr std::string_view kLongLaunches =
    "Launches that take this long load code or wait for a lock. The first launch of a kernel loads it: warm up before the loop, or set "
    "CUDA_MODULE_LOADING=EAGER. Else see what other threads do at this time.";
constexpr std::string_view kWriting = "Write less, in larger pieces, or from another thread: what is printed, logged or saved here holds up the launches.";
constexpr std::string_view kAllocating =
    "Keep buffers and use them again, or allocate from a pool (cudaMallocAsync): cudaMalloc takes long, and cudaFree waits for the GPU.";
constexpr std::string_view kLoading =
    "Code was loaded or compiled: warm up before the loop, keep compiled kernels in a cache, or load them at the start "
    "(CUDA_MODULE_LOADING=EAGER).";

constexpr std::string_view kBlockingCopies =
    "A blocking copy waits for all work in front of it, and leaves the GPU without any. Keep on the GPU what is used there again. "
    "Copy what belongs together at once, with cudaMemcpyAsync and pinned memory, and wait only where the CPU needs the result. In PyTorch, .item(), .cpu() and "
    "print of a tensor copy.";

constexpr std::string_view kConnecting = "Communicators are made once: make them early, beside other setup, and keep them.";

constexpr std::array<std::string_view, 5> kWrites{"write", "put", "send", "sync", "truncate"};
constexpr std::array<std::string_view, 6> kAllocations{"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister", "HostUnregister"};
constexpr std::array<std::string_view, 4> kConnections{"CommInit", "CommSplit", "MPI_Init", "Comm_dup"};
constexpr std::array<std::string_view, 4> kLoads{"Library", "Module", "Link", "Compil"};

}  // namespace

std::string_view idle_cause_key(IdleCause cause) noexcept { return words(cause).key; }
std::string_view idle_cause_name(IdleCause cause) noexcept { return words(cause).name; }
std::string_view idle_cause_clause(IdleCause cause) noexcept { return words(cause).clause; }

bool IdleSum::is_between_launches() const noexcept {
  constexpr std::uint64_t kMany = 20;
  return cause == IdleCause::kCpuCode && gaps >= kMany && in_short_gaps >= total / 2;
}

std::string_view idle_advice(const IdleSum& sum) noexcept {
  if (sum.is_behind_waits()) return kBehindWaits;
  if (sum.is_between_launches()) return kBetweenLaunches;
  if (sum.cause == IdleCause::kLaunch && sum.gaps > 0 && sum.total / static_cast<Nanoseconds>(sum.gaps) >= kLongLaunch) return kLongLaunches;
  if (sum.cause == IdleCause::kOsIo && contains_any(sum.call, kWrites)) return kWriting;
  if (sum.cause == IdleCause::kCudaSetup && contains_any(sum.call, kAllocations)) return kAllocating;
  if (sum.cause == IdleCause::kCudaSetup && contains_any(sum.call, kLoads)) return kLoading;
  if (sum.cause == IdleCause::kCopy && classify_cuda_call(sum.call) == CallClass::kCopy) return kBlockingCopies;
  if (sum.cause == IdleCause::kCommunication && contains_any(sum.call, kConnections)) return kConnecting;
  return words(sum.cause).advice;
}

}  // namespace lanescope::analysis

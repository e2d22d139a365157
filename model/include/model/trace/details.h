// What an event knows beyond its name and times, one struct for each kind of track. Equal details are stored once (see AppendOnlyTable).
#pragma once

#include <compare>
#include <cstdint>

#include "model/trace/types.h"

namespace lanescope {

// Numbers of these enums are those of proto/lanescope/trace.proto.
enum class CopyKind : std::uint8_t {
  kUnknown = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kHostToArray = 3,
  kArrayToHost = 4,
  kArrayToArray = 5,
  kArrayToDevice = 6,
  kDeviceToArray = 7,
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeerToPeer = 10,
  kUnifiedHostToDevice = 11,
  kUnifiedDeviceToHost = 12,
  kUnifiedDeviceToDevice = 13,
};
enum class MemoryKind : std::uint8_t {
  kUnknown = 0,
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kArray = 4,
  kManaged = 5,
  kDeviceStatic = 6,
  kManagedStatic = 7,
};
enum class PayloadType : std::uint8_t { kAbsent = 0, kUnsigned = 1, kSigned = 2, kReal = 3 };
enum class Finished : std::uint8_t { kYes = 0, kNo = 1 };  // kNo: still open when the recording ended; the duration is what was seen

struct KernelDetail {
  NameId mangled_name = 0;
  NameId short_name = 0;  // without parameters, templates and namespaces
  std::uint32_t grid[3] = {0, 0, 0};
  std::uint32_t block[3] = {0, 0, 0};
  std::uint32_t cluster[3] = {0, 0, 0};
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_memory = 0;     // bytes per block
  std::uint32_t dynamic_shared_memory = 0;    // bytes per block
  std::uint32_t shared_memory_executed = 0;   // bytes
  std::uint32_t local_memory_per_thread = 0;  // bytes
  std::uint64_t local_memory_total = 0;       // bytes
  std::uint32_t launch_type = 0;              // 0 regular, 1 cooperative, 2 cooperative on several devices
  std::uint32_t cache_config = 0;
  std::uint32_t graph = 0;       // CUDA graph id; 0 outside of graphs
  std::uint64_t graph_node = 0;  // CUDA graph node id; 0 outside of graphs
  Finished finished = Finished::kYes;
  auto operator<=>(const KernelDetail&) const = default;
};

// Copies and sets share the memory tracks; MemoryDetail says which of them an event is.
enum class MemoryOperation : std::uint8_t { kCopy = 0, kSet = 1 };
struct MemoryDetail {
  MemoryOperation operation = MemoryOperation::kCopy;
  CopyKind copy_kind = CopyKind::kUnknown;               // copies
  MemoryKind source_memory = MemoryKind::kUnknown;       // copies
  MemoryKind destination_memory = MemoryKind::kUnknown;  // copies, and the memory that a set wrote
  std::uint32_t value = 0;                               // sets
  std::uint64_t bytes = 0;
  std::uint32_t source_device = 0;  // copies: CUDA device ordinals
  std::uint32_t destination_device = 0;
  std::uint32_t source_context = 0;
  std::uint32_t destination_context = 0;
  std::uint32_t graph = 0;
  std::uint64_t graph_node = 0;
  std::uint64_t virtual_address = 0;  // copies of unified memory: address of the pages that moved; otherwise 0
  std::uint32_t migration_cause = 0;  // copies of unified memory: 1 prefetch, 2 page fault, 3 speculation, 4 eviction, 5 access counters
  auto operator<=>(const MemoryDetail&) const = default;
};

enum class ApiDomain : std::uint8_t { kRuntime = 0, kDriver = 1 };
struct ApiDetail {
  ApiDomain domain = ApiDomain::kRuntime;
  std::uint32_t result = 0;  // cudaError_t or CUresult
  auto operator<=>(const ApiDetail&) const = default;
};

struct SynchronizationDetail {
  std::uint32_t type = 0;          // 1 event, 2 stream waits for event, 3 stream, 4 context
  std::uint32_t event = 0;         // CUDA event id
  std::uint64_t event_record = 0;  // CudaEventDetail::record of the recording that was waited for; 0 if not known
  auto operator<=>(const SynchronizationDetail&) const = default;
};

// A recording of a CUDA event, at the instant at which the stream reached it.
struct CudaEventDetail {
  std::uint32_t event = 0;   // CUDA event id: the same for all recordings of one event
  std::uint64_t record = 0;  // number of this recording in its process
  auto operator<=>(const CudaEventDetail&) const = default;
};

enum class MemoryUsageOperation : std::uint8_t {  // numbers of proto::MemoryUsageOperation
  kUnknown = 0,
  kAllocation = 1,
  kRelease = 2,
  kPoolCreation = 3,
  kPoolDestruction = 4,
  kPoolTrim = 5,
};
// An allocation or a release of memory by a CUDA call, or a change of a memory pool.
struct MemoryUsageDetail {
  MemoryUsageOperation operation = MemoryUsageOperation::kUnknown;
  MemoryKind memory_kind = MemoryKind::kUnknown;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // kPoolTrim: bytes that the pool may keep
  std::uint32_t context = 0;
  std::uint32_t stream = 0;     // of asynchronous calls; otherwise 0
  NameId variable = 0;          // for static memory: its name
  std::uint64_t pool = 0;       // address of the pool that holds the memory; 0: none
  std::uint64_t pool_size = 0;  // bytes, after the operation
  std::uint64_t pool_utilized = 0;
  std::uint64_t pool_release_threshold = 0;
  auto operator<=>(const MemoryUsageDetail&) const = default;
};

struct GraphLaunchDetail {
  std::uint32_t graph = 0;
  std::uint32_t graph_exec = 0;
  auto operator<=>(const GraphLaunchDetail&) const = default;
};

struct NvtxDetail {
  std::uint32_t category = 0;
  std::uint32_t color = 0;      // ARGB; 0: none
  std::uint64_t payload = 0;    // bits as payload_type says: integers extended to 64 bits, reals as a double
  ThreadId end_thread = kNone;  // start/end ranges that ended on another thread
  PayloadType payload_type = PayloadType::kAbsent;
  Finished finished = Finished::kYes;
  NameId payload_json = 0;  // structured payload: a JSON object of numbers and strings (nvtx_payload.h)
  auto operator<=>(const NvtxDetail&) const = default;
};

// Faults on pages of unified memory. Faults of a GPU come as groups with a duration, those of the CPU one by one, as instants.
struct PageFaultDetail {
  std::uint64_t address = 0;          // of the page
  std::uint64_t program_counter = 0;  // CPU: of the instruction that faulted; 0 if not known
  NameId function = 0;                // CPU: around that instruction
  NameId module = 0;                  // CPU: file that holds it
  NameId source_file = 0;             // CPU
  std::uint32_t source_line = 0;      // CPU; 0 if not known
  std::uint32_t count = 1;            // faults that the event stands for
  std::uint32_t access = 0;           // GPU: 0 unknown, 1 read, 2 write, 3 atomic, 4 prefetch, as CUPTI numbers them
  auto operator<=>(const PageFaultDetail&) const = default;
};

enum class ThreadState : std::uint8_t { kUnknown = 0, kRunning = 1, kRunnable = 2, kBlocked = 3 };
struct ThreadStateDetail {
  ThreadState state = ThreadState::kUnknown;
  std::uint32_t processor = kNone;  // number of the processor on which it ran; kNone if it did not run, or if that is not known
  std::uint32_t waker = 0;          // of a time in which it was blocked: the thread that ended it, by its number on the machine; 0 if not known
  auto operator<=>(const ThreadStateDetail&) const = default;
};

// Details of a timed sample and of a backtrace.
enum class SampleOrigin : std::uint8_t { kTimer = 0, kCudaCall = 1, kOsCall = 2 };  // numbers of proto::SampleOrigin
struct SampleDetail {
  CallNodeId call_node = 0;  // innermost call of the chain (Trace::call_stacks)
  SampleOrigin origin = SampleOrigin::kTimer;
  std::uint32_t processor = kNone;
  Nanoseconds period = 0;  // timed samples: the processor time that a sample stands for, in ns
  auto operator<=>(const SampleDetail&) const = default;
};

// OS runtime calls have no details of their own. Their Event.detail is kWholeCall, or kPartialCall for a call that was under way when the recording of
// its thread started or ended, so that its duration is only what was seen.
inline constexpr DetailId kWholeCall = 0;
inline constexpr DetailId kPartialCall = 1;

}  // namespace lanescope

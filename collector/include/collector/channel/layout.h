// What the agent in a target and the session in the host share: the handshake, and the memory behind it.
//
// The host creates one memory file (memfd) for each process that reports, maps it, and passes it over the control socket. The target
// maps the same pages and writes; the host reads. Because the host holds the memory, everything that was committed before a target
// died, however it died, can still be read.
//
//   [ SharedHeader | thread ring 0, 1, ... | links of segments | frame ring | metadata's segments | threads' segments ]
//
// - metadata ring: NVTX names (domains, categories, threads) and diagnostics as records, from any thread, under a lock of the target.
// - frame ring: finished frames (model/file/frame.h) back to back, written by the agent's own thread: everything that comes from CUPTI.
//   Frames are bytes and do wrap; each is published as a whole.
// - thread rings: records of one application thread each, claimed at its first event and returned when it ends. NVTX and OS runtime
//   records go here as they are; the host does all further work, so an NVTX-only target needs no thread of ours at all.
//
// The bytes of metadata and thread rings lie in segments, which a ring takes from a pool as it grows, and which the host gives back to the
// pool once it has read them: a thread that bursts can have all of the pool, and a quiet one holds one segment. What nobody holds for a
// while is given back to the system (docs/adr/0012).
//
// Every ring has one producer and one consumer. A producer writes its bytes first and publishes them by storing `head` with release;
// what lies between `tail` and `head` is therefore always whole. Nobody ever waits: a record that does not fit is counted as dropped.
// The host treats everything it reads here as untrusted input.
//
// Native-endian: both sides run on the same machine. A mismatch of kLayoutVersion ends the handshake.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/channel/counter_clock.h"

namespace lanescope::channel {

inline constexpr std::uint32_t kLayoutVersion = 21;
// environment: set where call chains of calls into the C library may be asked for, which takes a preparation while the program is loaded
inline constexpr char kCallChainsVariable[] = "LANESCOPE_CALL_CHAINS";
// environment: set where it is to be recorded who holds the lock of a Python interpreter; to kPythonLockAlone where no calls into the C
// library are
inline constexpr char kPythonLockVariable[] = "LANESCOPE_PYTHON_LOCK";
inline constexpr char kPythonLockAlone[] = "alone";
// environment: address of the session's control socket, "PATH#TOKEN@USER". It listens at PATH, and at the abstract name of the same letters for
// programs that the path does not lead there, or may not: below another root, as another user. By the token each knows the other: who shows its first
// half is one of ours, and who answers with the second is the session. Others may listen at the address once the session is over: USER, a number, is who
// listens there while it lasts, so that nobody waits for an answer of theirs.
inline constexpr char kSocketVariable[] = "LANESCOPE_SOCKET";
inline constexpr char kTokenMark = '#';
inline constexpr char kUserMark = '@';
inline constexpr std::size_t kTokenHalf = 32;  // letters, of four random bits each
inline constexpr std::size_t kTokenLetters = 2 * kTokenHalf;
inline constexpr std::size_t kAddressBytes = 108 + 1 + kTokenLetters + 11;  // of such an address, with a zero byte: the longest path of a socket is 107

// environment: set in a process that is to wait for a session, with its agent dormant. The agent then listens on an abstract SOCK_SEQPACKET
// socket whose name is this prefix and the process's id, and where that is taken, `-` and 16 random letters more; a session that connects sends the
// path of its control socket first, for children.
inline constexpr char kArmedVariable[] = "LANESCOPE_ARMED";
inline constexpr char kArmedSocketPrefix[] = "lanescope-agent-";
inline constexpr std::size_t kArmedNameBytes = sizeof(kArmedSocketPrefix) + 10 + 1 + 16;  // of such a name, with a zero byte

// Sparse, all of it: only touched pages cost memory.
inline constexpr std::size_t kFrameRingBytes = 64u << 20;
inline constexpr std::size_t kThreadRingCount = 4096;
inline constexpr std::size_t kSegmentBytes = 32u << 10;
inline constexpr std::size_t kMetadataSegments = (16u << 20) / kSegmentBytes;
// Of the threads' pool: what all threads of one process may have waiting to be read.
inline constexpr std::uint64_t kDefaultPoolBytes = 256u << 20;
inline constexpr std::uint64_t kLeastPoolBytes = 1u << 20;
inline constexpr std::uint64_t kMostPoolBytes = std::uint64_t{64} << 30;

// First message from the agent, over a SOCK_SEQPACKET Unix socket. The host takes pid and uid from the socket's credentials.
struct Hello {
  std::uint32_t layout_version = kLayoutVersion;
  std::uint32_t forked = 0;  // 1 when this process came from fork() and its parent already had an agent
  std::int64_t time = 0;     // CLOCK_MONOTONIC ns
  char agent_version[32] = {};
  char token[kTokenHalf] = {};  // the first half of the token of the session's address; zeros where it has none
  std::int64_t begin = 0;       // CLOCK_MONOTONIC ns at which this program was forked, or loaded the agent
  char program[16] = {};        // the begin of its name: by the time that this is read, its process may run another one
  std::uint64_t random = 0;     // the address of what the kernel gave it to begin random numbers with (AT_RANDOM), which tells whether it does; 0: not known
};

// From an agent that was welcomed and can't take part: it hangs up behind it.
struct Regret {
  std::int32_t problem = 0;  // errno
};

// From an agent that may have no socket, as under a seccomp filter that refuses them: it is appended to a file beside the session's socket, at PATH
// and kWordSuffix, up to so many.
struct Word {
  std::int32_t process = 0;  // as it knows itself
  std::int32_t problem = 0;  // errno
  char program[16] = {};     // the begin of its name
};
inline constexpr char kWordSuffix[] = ".word";
// One that has no descriptor left for that leaves a link beside the file, whose name goes on with this and the process's number. It leads to "PROBLEM PROGRAM".
inline constexpr char kWordLinkMark = '.';
inline constexpr std::size_t kMostWords = 4096;

// The host's answer; the memory file comes with it as SCM_RIGHTS. Refused when `accepted` is 0 (no file then).
struct Welcome {
  std::uint32_t layout_version = kLayoutVersion;
  std::uint32_t accepted = 0;
  std::uint32_t process_instance = 0;  // goes into the header of every frame of this process
  std::uint32_t reserved = 0;
  std::uint64_t memory_bytes = 0;  // size of the memory file
  char token[kTokenHalf] = {};     // the second half
};

// Who says when a capture begins and ends. Where the target does, it counts in AgentStatus::capture_begins and waits, ten seconds at most, for
// the host's answer, so that nothing after that is missed; at the end it clears `recording` itself, so that nothing after that is recorded.
enum class CaptureTrigger : std::uint32_t {
  kHost = 0,
  kProfilerApi = 1,  // cudaProfilerStart and cudaProfilerStop
  kNvtxRange = 2,    // from the first push or start of a range of that name to its end
};

// Bits of Settings::cuda_extras.
enum CudaExtra : std::uint32_t {
  kMemoryUsage = 1,    // allocations, releases, memory pools
  kCpuPageFaults = 2,  // of unified memory; with either, what moves between the memories
  kGpuPageFaults = 4,
  kCudaEvents = 8,  // when streams come past events
};

// What is found out about kernels beyond their times, as numbered in trace.proto (KernelCollection).
enum class KernelCollection : std::uint32_t {
  kNone = 0,
  kPcSamples = 1,  // where warps stand, while the program runs
};

// Bits of Settings::backtrace_calls: sorts of CUDA calls.
enum CallGroup : std::uint32_t {
  kKernelCalls = 1,
  kMemoryCalls = 2,  // copies, sets, allocations
  kSynchronizationCalls = 4,
  kOtherCalls = 8,
  kAllCalls = 15,
};

enum class NameRule : std::uint32_t { kAll = 0, kOnlyListed = 1, kAllButListed = 2 };

inline constexpr std::size_t kDomainNamesBytes = 4096;
inline constexpr std::size_t kCaptureNameBytes = 1024;

// What to record. Written by the host before Welcome, and changed by it while the target runs; the agent reads it with acquire.
struct Settings {
  std::atomic<std::uint32_t> recording;  // 1: record; 0: stay silent (dormant, paused or stopped)
  std::atomic<std::uint32_t> trace_cuda;
  std::atomic<std::uint32_t> trace_nvtx;
  std::atomic<std::uint32_t> trace_os_runtime;
  std::atomic<std::uint32_t> trace_file_access;        // which files calls into the C library use
  std::atomic<std::uint32_t> trace_python_lock;        // ranges of an NVTX domain, also where trace_nvtx is 0
  std::atomic<std::uint32_t> preset;                   // proto::Preset
  std::atomic<std::uint32_t> graph_level;              // proto::GraphLevel
  std::atomic<std::uint32_t> flush_interval_ms;        // how often complete CUPTI buffers are asked for
  std::atomic<std::uint32_t> stop_requests;            // incremented by the host: hand everything over now; answered in stop_answers
  std::atomic<std::uint32_t> handover_requests;        // likewise: hand over what there is, and go on; answered in handover_answers
  std::atomic<std::uint32_t> trace_all_calls;          // 1: CUDA calls that say nothing about time are recorded as well
  std::atomic<std::uint32_t> os_runtime_threshold_ns;  // shorter calls into the C library are left out
  std::atomic<std::uint32_t> capture_trigger;          // CaptureTrigger: who begins and ends a capture
  std::atomic<std::uint32_t> capture_answers;          // follows AgentStatus::capture_begins once the host has taken note
  std::atomic<std::uint32_t> cuda_extras;              // CudaExtra bits: what is recorded beyond the preset
  std::atomic<std::uint32_t> kernel_collection;        // KernelCollection
  std::atomic<std::uint32_t> pc_sampling_period;       // 2^n cycles of a multiprocessor between two samples: 5 to 31; 0: as CUPTI has it
  std::atomic<std::uint32_t> pc_window_ms;             // for which is sampled, and from the begin of that to the next; 0: all the time
  std::atomic<std::uint32_t> pc_every_ms;
  std::atomic<std::uint32_t> backtrace_calls;          // CallGroup bits: CUDA calls of which the call chain is taken
  std::atomic<std::uint32_t> backtrace_threshold_ns;   // where they took so long
  std::atomic<std::uint32_t> os_runtime_backtrace_ns;  // calls into the C library of which it is taken, where they took so long; 0: of none
  // Set before Welcome, and not changed any more.
  NameRule domain_rule;                  // which NVTX domains are recorded
  std::uint32_t domain_name_bytes;       // of domain_names
  char domain_names[kDomainNamesBytes];  // each followed by a zero byte; the empty one is the default domain
  // Changed only while capture_trigger is kHost.
  std::uint32_t capture_any_domain;        // 1: capture_range counts in every domain
  char capture_range[kCaptureNameBytes];   // for CaptureTrigger::kNvtxRange: its message, ending in a zero byte
  char capture_domain[kCaptureNameBytes];  // and the name of its domain; empty: the default domain
};

enum class AgentPhase : std::uint32_t {
  kConnected = 0,  // mapped, nothing of CUDA seen yet
  kTracing = 1,    // the agent's own thread runs and CUPTI is on
  kDraining = 2,   // the process is ending or recording stopped: buffers are on their way
  kDone = 3,       // everything that there was has been handed over
  kNoRoom = 4,     // could not be mapped: nothing comes of this process. Written into the memory file itself
  kBeginning = 5,  // CUPTI is asked to begin, and waits until the driver's lock is free
};

// Children that a process forked and that found no way to the session: they have its memory, and leave word there.
struct LostChildren {
  static constexpr std::size_t kNamed = 16;
  struct Child {
    std::atomic<std::int32_t> process;  // as it knows itself; written last
    std::atomic<std::int32_t> problem;  // errno
  };
  std::atomic<std::uint32_t> count;
  Child named[kNamed];  // the first ones
};

// What the agent says about itself. All written by the target, read by the host.
struct AgentStatus {
  std::atomic<std::uint32_t> phase;              // AgentPhase
  std::atomic<std::uint32_t> stop_answers;       // follows Settings::stop_requests once everything asked for is in the rings
  std::atomic<std::uint32_t> handover_answers;   // likewise Settings::handover_requests
  std::atomic<std::uint32_t> crash_signal;       // the last fatal signal that came to a thread, whether or not the process died of it; 0: none
  std::atomic<std::uint32_t> crash_thread;       // that thread; written before crash_signal, as is the address
  std::atomic<std::uint64_t> unread_buffers;     // lower half: activity buffers that CUPTI has, or whose records are not among cupti_produced
                                                 // yet; upper half: how often that changed
  std::atomic<std::uint64_t> crash_address;      // that could not be used, for faults of memory; 0 otherwise
  std::atomic<std::uint64_t> cupti_produced;     // records parsed
  std::atomic<std::uint64_t> cupti_dropped;      // records that CUPTI reported as dropped, or that found no room in the frame ring
  std::atomic<std::uint64_t> cupti_invalid;      // records with senseless times
  std::atomic<std::uint64_t> cupti_unfinished;   // of work that had not ended when the recording did: they have no times
  std::atomic<std::uint64_t> ringless_dropped;   // records of threads that found no free ring
  std::atomic<std::uint64_t> frameless_dropped;  // part of cupti_dropped: records that were parsed and found no room in the frame ring
  std::atomic<std::uint32_t> capture_begins;     // captures that the target began (Settings::capture_trigger)
  std::atomic<std::uint32_t> capture_ends;       // and ended
  std::atomic<std::uint64_t> capture_under_way;  // which of them is, for the agent alone; 0: none
  LostChildren lost_children;
};

// A byte ring. Positions count bytes ever written and never wrap in practice. head is written by the producer alone, tail by the consumer
// alone. In the frame ring the byte at position p lies at data[p % size], size being a power of two. In the others it lies in the ring's
// segment number p / kSegmentBytes: the first is named here, each further one by the link of the one before it. Where segments lie and how
// many there are is fixed (see below), so neither side has to believe the other.
struct RingHeader {
  alignas(64) std::atomic<std::uint64_t> head;
  std::atomic<std::uint64_t> produced;  // records committed; producer only
  std::atomic<std::uint64_t> dropped;   // records that found no room; producer only
  std::atomic<std::uint32_t> first;     // segment, plus 1, at the position from which the chain begins; 0 none; producer only
  std::atomic<std::uint32_t> last;      // segment, plus 1, that is written to; 0 none; producer only
  alignas(64) std::atomic<std::uint64_t> tail;
  alignas(64) std::atomic<std::uint32_t> owner;  // thread rings: kernel thread id; 0 free
  std::atomic<std::uint32_t> closed;             // thread rings: 1 when the owner ended; the host frees the ring once it is empty
};

// Segments that no ring has. Two stacks, chained by the segments' links: of those that were used lately, whose pages are there, and of
// those whose pages were given back to the system. A word holds the uppermost segment, plus 1, and above it a count that tells equal ones
// apart. Producers take; the host gives, and takes in order to give pages back.
struct SegmentPoolHeader {
  alignas(64) std::atomic<std::uint64_t> warm;
  std::atomic<std::uint64_t> cold;
  std::atomic<std::uint32_t> untouched;  // from here on segments were never used
  std::atomic<std::uint64_t> taken;      // so far
};

struct SharedHeader {
  std::uint32_t layout_version;
  std::uint32_t process_instance;
  std::uint64_t memory_bytes;
  Settings settings;
  AgentStatus status;
  // The agent's own thread sleeps on this word. Whoever has something for it increments the word and wakes it: the host after a change of
  // settings, the target's threads when CUPTI gives a buffer back.
  std::atomic<std::uint32_t> agent_bell;
  CounterClock clock;  // for the times of records
  RingHeader metadata_ring;
  RingHeader frame_ring;
  SegmentPoolHeader metadata_pool;
  SegmentPoolHeader thread_pool;
  std::atomic<std::uint32_t> thread_rings_used;  // behind these, none was ever claimed
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Where the parts lie, in bytes from the start of the memory file. Each begins on a page.
constexpr std::size_t whole_pages(std::size_t bytes) noexcept { return (bytes + 4095) / 4096 * 4096; }
inline constexpr std::size_t kThreadRingsOffset = whole_pages(sizeof(SharedHeader));
inline constexpr std::size_t kMetadataLinksOffset = kThreadRingsOffset + whole_pages(kThreadRingCount * sizeof(RingHeader));
inline constexpr std::size_t kFrameRingOffset = kMetadataLinksOffset + whole_pages(kMetadataSegments * sizeof(std::uint32_t));
inline constexpr std::size_t kMetadataSegmentsOffset = kFrameRingOffset + kFrameRingBytes;
inline constexpr std::size_t kThreadLinksOffset = kMetadataSegmentsOffset + kMetadataSegments * kSegmentBytes;
constexpr std::size_t thread_segments_offset(std::size_t segments) noexcept { return kThreadLinksOffset + whole_pages(segments * sizeof(std::uint32_t)); }
// Of the memory file, with a pool of so many bytes for threads, in whole segments.
constexpr std::uint64_t memory_bytes_for(std::uint64_t pool_bytes) noexcept {
  const std::uint64_t segments = pool_bytes / kSegmentBytes;
  return thread_segments_offset(segments) + segments * kSegmentBytes;
}

// ---- Records of metadata and thread rings ----------------------------------------------------------------------------------------

enum class RecordType : std::uint8_t {
  kPadding = 0,     // fills the end of a segment so that no record crosses it
  kRangePush = 1,   // `id` is 1 + how many ranges are open around it on this thread and domain; 0 when the target does not count them
  kRangePop = 2,    // closes a range of (thread, domain): the one whose push had the same `id`, else the innermost open one
  kRangeStart = 3,  // `id` pairs it with its end, which may come on another thread
  kRangeEnd = 4,
  kMark = 5,
  kDomainCreate = 6,        // metadata: text is the name, `domain` the new id
  kCategoryName = 7,        // metadata: text is the name of (domain, category)
  kThreadName = 8,          // metadata: text is the name of the thread `id`
  kDiagnostic = 9,          // metadata: text; `category` is proto::Component, `color` proto::ComponentState, `payload_type` proto::Severity
  kOsRuntimeCall = 10,      // text is the function's name; `id` is the duration in ns
  kPayload = 11,            // what comes with the same thread's next record: `id` is the schema's number; text is PayloadValues, in its fields' order
  kPayloadField = 12,       // metadata: text is the name of field `category` of the schema `id`; `payload` is the number of its enumeration, or 0
  kPayloadEnumerator = 13,  // metadata: text is what the value `payload` of the enumeration `id` is called
  kStreamName = 14,         // metadata: text is the name of the CUDA stream `id` of the context `category`
  kCallChain = 15,          // of a call that began at `time` and took `id` ns: text is addresses of 8 bytes each, innermost first;
                            // `category` is proto::SampleOrigin, `payload` the correlation id of a CUDA call
  kCudaName = 16,           // metadata: text is the name of the CUDA device or context `id`; `category` is proto::CudaResource
  kFileAccess = 17,         // text is the path of a file that a call used, `category` a FileOperation; `id` is the duration in ns, `payload` the bytes
};

enum class FileOperation : std::uint32_t { kOpen = 1, kRead = 2, kWrite = 3, kMap = 4, kSync = 5 };

// A record, as it is handed to a producer and comes from a consumer; `text_bytes` bytes of UTF-8 go with it.
struct Record {
  std::uint32_t size;  // bytes that it takes in its ring
  RecordType type;
  std::uint8_t payload_type;  // proto::PayloadType
  std::uint16_t text_bytes;
  std::int64_t time;  // CLOCK_MONOTONIC ns
  std::uint32_t domain;
  std::uint32_t category;
  std::uint32_t color;    // ARGB; 0 when none
  std::uint32_t thread;   // kernel thread id of the caller
  std::uint64_t id;       // see RecordType
  std::uint64_t payload;  // bits, see proto::PayloadType
};

// How it stands there, in words of eight bytes: the first one, the time, those that `words` names, in this order, then the text with zero
// bytes up to a whole word. What is not named is 0; the thread is that of the record before, in the same segment. It never crosses the end
// of a segment: where it would, padding comes first, of which the first word alone is meaningful.
struct PackedRecord {
  std::uint8_t size;  // words
  RecordType type;
  std::uint8_t payload_type;
  std::uint8_t words;  // PackedWord bits
  std::uint16_t text_bytes;
  std::uint16_t id;  // where it fits
};
static_assert(sizeof(PackedRecord) == 8);
enum PackedWord : std::uint8_t {
  kDomainWord = 1,  // domain, and above it the category
  kThreadWord = 2,  // thread, and above it the color
  kIdWord = 4,
  kPayloadWord = 8,
  kAllWords = 15,
};

// One value in the text of a kPayload record; `bytes` bytes follow: eight of a number, or UTF-8.
struct PayloadValue {
  enum Kind : std::uint8_t { kAbsent = 0, kUnsigned = 1, kSigned = 2, kReal = 3, kText = 4 };  // numbers as proto::PayloadType has them
  Kind kind;
  std::uint16_t bytes;
};
static_assert(sizeof(PayloadValue) == 4);

inline constexpr std::size_t kMaximumTextBytes = 1024;  // longer NVTX messages are cut at a character boundary

}  // namespace lanescope::channel

// What the agent in a target and the session in the host share: the handshake, and the memory that follows it.
//
// The host creates one memory file (memfd) for each process that reports, maps it, and passes it over the control socket. The target maps the same
// pages and writes; the host reads. Because the host holds the memory, everything that was committed before a target died, however it died, can still
// be read.
//
//   [ SharedHeader | thread ring 0, 1, ... | links of segments | frame ring | metadata's segments | threads' segments ]
//
// - metadata ring: NVTX names (domains, categories, threads) and diagnostics as records, from any thread, under a lock of the target.
// - frame ring: finished frames (model/file/frame.h) back to back, written by the agent's own thread: everything that comes from CUPTI.
//   Frames are bytes and may wrap around the end of the ring; each is published as a whole.
// - thread rings: records of one application thread each, claimed at its first event and returned when it ends. NVTX and OS runtime
//   records are written here unchanged. The host does all further work, so an NVTX-only target needs no thread of ours at all.
//
// The bytes of metadata and thread rings lie in segments. A ring takes segments from a pool as it grows, and the host gives them back to the pool
// after it has read them. So a thread with a burst of events can use the whole pool, and a quiet thread holds one segment. Segments that nobody has
// held for a while are given back to the system (docs/adr/0012).
//
// Every ring has one producer and one consumer. A producer writes its bytes first and publishes them by storing `head` with release, so the content
// between `tail` and `head` is always complete. Nobody ever waits: a record that does not fit is counted as dropped. The host treats everything it
// reads here as untrusted input.
//
// Native-endian: both sides run on the same machine. A mismatch of kLayoutVersion ends the handshake.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/channel/counter_clock.h"

namespace lanescope::channel {

inline constexpr std::uint32_t kLayoutVersion = 24;
// environment: set if call chains of calls into the C library may be asked for; this must be prepared while the program is loaded
inline constexpr char kCallChainsVariable[] = "LANESCOPE_CALL_CHAINS";
// environment: set if holders of the lock of a Python interpreter are to be recorded; kPythonLockAlone if calls into the C library are not recorded
inline constexpr char kPythonLockVariable[] = "LANESCOPE_PYTHON_LOCK";
inline constexpr char kPythonLockAlone[] = "alone";
// environment: address of the session's control socket, "PATH#TOKEN@USER". The session listens at PATH. It also listens at the abstract name of the
// same letters, for programs that can't use the path because they have another root or run as another user. The token identifies both sides: a client
// that shows its first half is one of ours, and a server that answers with the second half is the session. Others may listen at the address after the
// session is over. USER, a number, is the user that listens there while the session lasts, so that nobody waits for an answer of others.
inline constexpr char kSocketVariable[] = "LANESCOPE_SOCKET";
inline constexpr char kTokenMark = '#';
inline constexpr char kUserMark = '@';
inline constexpr std::size_t kTokenHalf = 32;  // letters with four random bits each
inline constexpr std::size_t kTokenLetters = 2 * kTokenHalf;
inline constexpr std::size_t kAddressBytes = 108 + 1 + kTokenLetters + 11;  // of such an address with a zero byte: the longest path of a socket is 107

// environment: set in a process that is to wait for a session, with its agent dormant. The agent then listens on an abstract SOCK_SEQPACKET socket.
// Its name is this prefix and the process's id; if that is taken, `-` and 16 random letters are appended. A session that connects first sends the
// path of its control socket, for children.
inline constexpr char kArmedVariable[] = "LANESCOPE_ARMED";
inline constexpr char kArmedSocketPrefix[] = "lanescope-agent-";
inline constexpr std::size_t kArmedNameBytes = sizeof(kArmedSocketPrefix) + 10 + 1 + 16;  // of such a name with a zero byte

// environment: how many filters of system calls (seccomp(2)) a process may have that are known not to end it for what the agent does: at first those of the
// recorder. Agents keep it current, in place, for the programs that the process becomes. An agent that leaves its process alone because of further filters puts
// kLeftAlone in the place of the first digit.
inline constexpr char kFiltersVariable[] = "LANESCOPE_FILTERS";
inline constexpr std::size_t kFilterDigits = 4;
inline constexpr char kLeftAlone = 'x';

// All parts are sparse: only touched pages cost memory.
inline constexpr std::size_t kFrameRingBytes = 64u << 20;
inline constexpr std::size_t kThreadRingCount = 4096;
inline constexpr std::size_t kSegmentBytes = 32u << 10;
inline constexpr std::size_t kMetadataSegments = (16u << 20) / kSegmentBytes;
// Size of the threads' pool: the most that all threads of one process may have waiting to be read.
inline constexpr std::uint64_t kDefaultPoolBytes = 256u << 20;
inline constexpr std::uint64_t kLeastPoolBytes = 1u << 20;
inline constexpr std::uint64_t kMostPoolBytes = std::uint64_t{64} << 30;

// First message from the agent, over a SOCK_SEQPACKET Unix socket. The host takes pid and uid from the socket's credentials.
struct Hello {
  std::uint32_t layout_version = kLayoutVersion;
  std::uint32_t forked = 0;  // 1 if this process came from fork() and its parent already had an agent
  std::int64_t time = 0;     // CLOCK_MONOTONIC ns
  char agent_version[32] = {};
  char token[kTokenHalf] = {};  // the first half of the token of the session's address; zeros if the address has none
  std::int64_t begin = 0;       // CLOCK_MONOTONIC ns at which this program was forked, or loaded the agent
  char program[16] = {};        // the start of its name; when this is read, the process may already run another program
  std::uint64_t random = 0;     // address of the bytes of AT_RANDOM: it tells whether the process still runs this program; 0: not known
};

// Sent by an agent that was welcomed and can't take part. It hangs up afterwards.
struct Regret {
  std::int32_t problem = 0;  // errno
};

// Left by an agent that may have no socket, for example under a seccomp filter that refuses them. It is appended to a file beside the session's
// socket, PATH followed by kWordSuffix, up to kMostWords of them.
struct Word {
  std::int32_t process = 0;  // as it knows itself
  std::int32_t problem = 0;  // errno
  char program[16] = {};     // the start of its name
};
inline constexpr char kWordSuffix[] = ".word";
// An agent that has no descriptor left for that leaves a link beside the file. The link's name is the file's followed by this and the process's
// number. It leads to "PROBLEM PROGRAM".
inline constexpr char kWordLinkMark = '.';
inline constexpr std::size_t kMostWords = 4096;

// The host's answer; the memory file comes with it as SCM_RIGHTS. If `accepted` is 0 the agent is refused, and no file comes.
struct Welcome {
  std::uint32_t layout_version = kLayoutVersion;
  std::uint32_t accepted = 0;
  std::uint32_t process_instance = 0;  // goes into the header of every frame of this process
  std::uint32_t reserved = 0;
  std::uint64_t memory_bytes = 0;  // size of the memory file
  char token[kTokenHalf] = {};     // the second half of the token
};

// Who decides when a capture begins and ends. If the target decides, it increments AgentStatus::capture_begins and waits at most ten seconds for the
// host's answer, so that nothing after that is missed. At the end it clears `recording` itself, so that nothing after that is recorded.
enum class CaptureTrigger : std::uint32_t {
  kHost = 0,
  kProfilerApi = 1,  // cudaProfilerStart and cudaProfilerStop
  kNvtxRange = 2,    // from the first push or start of a range of the given name to its end
};

// Bits of Settings::cuda_extras.
enum CudaExtra : std::uint32_t {
  kMemoryUsage = 1,    // allocations, releases, memory pools
  kCpuPageFaults = 2,  // of unified memory; with either kind of page fault, transfers between the memories are recorded too
  kGpuPageFaults = 4,
  kCudaEvents = 8,  // when streams reach events
};

// What is measured of kernels beyond their times, as numbered in trace.proto (KernelCollection).
enum class KernelCollection : std::uint32_t {
  kNone = 0,
  kPcSamples = 1,  // where warps are, while the program runs
};

// Bits of Settings::backtrace_calls: kinds of CUDA calls.
enum CallGroup : std::uint32_t {
  kKernelCalls = 1,
  kMemoryCalls = 2,  // copies, sets, allocations
  kSynchronizationCalls = 4,
  kOtherCalls = 8,
};

enum class NameRule : std::uint32_t { kAll = 0, kOnlyListed = 1, kAllButListed = 2 };

inline constexpr std::size_t kDomainNamesBytes = 4096;
inline constexpr std::size_t kCaptureNameBytes = 1024;

// What to record. Written by the host before Welcome, and changed by it while the target runs; the agent reads with acquire.
struct Settings {
  std::atomic<std::uint32_t> recording;  // 1: record; 0: stay silent (dormant, paused or stopped)
  std::atomic<std::uint32_t> trace_cuda;
  std::atomic<std::uint32_t> trace_nvtx;
  std::atomic<std::uint32_t> trace_os_runtime;
  std::atomic<std::uint32_t> trace_file_access;        // which files are used by calls into the C library
  std::atomic<std::uint32_t> trace_python_lock;        // ranges of an NVTX domain, even if trace_nvtx is 0
  std::atomic<std::uint32_t> preset;                   // proto::Preset
  std::atomic<std::uint32_t> graph_level;              // proto::GraphLevel
  std::atomic<std::uint32_t> flush_interval_ms;        // how often complete CUPTI buffers are asked for
  std::atomic<std::uint32_t> stop_requests;            // incremented by the host: hand over everything now; answered in stop_answers
  std::atomic<std::uint32_t> handover_requests;        // likewise: hand over what is ready, and continue; answered in handover_answers
  std::atomic<std::uint32_t> trace_all_calls;          // 1: CUDA calls without relevance for timing are recorded too
  std::atomic<std::uint32_t> os_runtime_threshold_ns;  // shorter calls into the C library are left out
  std::atomic<std::uint32_t> capture_trigger;          // CaptureTrigger: who begins and ends a capture
  std::atomic<std::uint32_t> capture_answers;          // follows AgentStatus::capture_begins after the host has noticed it
  std::atomic<std::uint32_t> cuda_extras;              // CudaExtra bits: what is recorded beyond the preset
  std::atomic<std::uint32_t> kernel_collection;        // KernelCollection
  std::atomic<std::uint32_t> pc_sampling_period;       // 2^n cycles of a multiprocessor between two samples: 5 to 31; 0: CUPTI's default
  std::atomic<std::uint32_t> pc_window_ms;             // length of a sampling window; pc_every_ms: from the start of one to the next; 0: all the time
  std::atomic<std::uint32_t> pc_every_ms;
  std::atomic<std::uint32_t> backtrace_calls;          // CallGroup bits: CUDA calls whose call chain is recorded
  std::atomic<std::uint32_t> backtrace_threshold_ns;   // if they took at least this long
  std::atomic<std::uint32_t> os_runtime_backtrace_ns;  // calls into the C library that took at least this long have their call chain recorded; 0: none
  // Set before Welcome, and not changed afterwards.
  std::uint32_t events_of_chunk;         // that make a chunk of the agent full; 0: as many as it takes
  NameRule domain_rule;                  // which NVTX domains are recorded
  std::uint32_t domain_name_bytes;       // size of domain_names
  char domain_names[kDomainNamesBytes];  // each followed by a zero byte; the empty one is the default domain
  // Changed only while capture_trigger is kHost.
  std::uint32_t capture_any_domain;        // 1: capture_range is matched in every domain
  char capture_range[kCaptureNameBytes];   // for CaptureTrigger::kNvtxRange: the range's message, ending in a zero byte
  char capture_domain[kCaptureNameBytes];  // the name of the range's domain; empty: the default domain
};

enum class AgentPhase : std::uint32_t {
  kConnected = 0,  // mapped, no use of CUDA seen yet
  kTracing = 1,    // the agent's own thread runs and CUPTI is on
  kDraining = 2,   // the process is ending or recording stopped: buffers are being handed over
  kDone = 3,       // everything has been handed over
  kNoRoom = 4,     // the memory could not be mapped: nothing comes from this process. Written into the memory file itself
  kBeginning = 5,  // CUPTI is asked to begin, and waits until the driver's lock is free
};

// Forked children that found no way to the session. They have their parent's memory, and report there. Also processes that become programs in which the agent
// does nothing because of their filters (kFiltersVariable); their problem is ENOEXEC.
struct LostChildren {
  static constexpr std::size_t kNamed = 16;
  struct Child {
    std::atomic<std::int32_t> process;  // as it knows itself; written last
    std::atomic<std::int32_t> problem;  // errno
  };
  std::atomic<std::uint32_t> count;
  Child named[kNamed];  // the first ones
};

// What the agent reports about itself. All of it is written by the target and read by the host.
struct AgentStatus {
  std::atomic<std::uint32_t> phase;              // AgentPhase
  std::atomic<std::uint32_t> stop_answers;       // follows Settings::stop_requests once everything that was asked for is in the rings
  std::atomic<std::uint32_t> handover_answers;   // follows Settings::handover_requests likewise
  std::atomic<std::uint32_t> crash_signal;       // the last fatal signal that a thread received, whether or not the process died of it; 0: none
  std::atomic<std::uint32_t> crash_thread;       // that thread; written before crash_signal, like crash_address
  std::atomic<std::uint64_t> unread_buffers;     // lower half: activity buffers that CUPTI holds, or whose records are not yet counted in
                                                 // cupti_produced; upper half: how often that changed
  std::atomic<std::uint64_t> crash_address;      // the address that could not be accessed, for memory faults; 0 otherwise
  std::atomic<std::uint64_t> cupti_produced;     // records parsed
  std::atomic<std::uint64_t> cupti_dropped;      // records that CUPTI reported as dropped, or that found no room in the frame ring
  std::atomic<std::uint64_t> cupti_invalid;      // records with impossible times
  std::atomic<std::uint64_t> cupti_unfinished;   // records of work that had not ended when the recording did; they have no times
  std::atomic<std::uint64_t> ringless_dropped;   // records of threads that found no free ring
  std::atomic<std::uint64_t> frameless_dropped;  // part of cupti_dropped: records that were parsed and found no room in the frame ring
  std::atomic<std::uint32_t> capture_begins;     // captures that the target began (Settings::capture_trigger)
  std::atomic<std::uint32_t> capture_ends;       // captures that the target ended
  std::atomic<std::uint64_t> capture_under_way;  // key of the capture in progress, for the agent only; 0: none
  LostChildren lost_children;
};

// A byte ring. Positions count the bytes ever written and never wrap in practice. Only the producer writes head, and only the consumer writes tail.
// In the frame ring the byte at position p is data[p % size]; size is a power of two. In the other rings it lies in the ring's segment number p /
// kSegmentBytes: the first segment is named here, each further one by the link of the one before it. The places and the number of segments are fixed
// (see below), so neither side has to trust the other.
struct RingHeader {
  alignas(64) std::atomic<std::uint64_t> head;
  std::atomic<std::uint64_t> produced;  // records committed; written by the producer only
  std::atomic<std::uint64_t> dropped;   // records that found no room; written by the producer only
  std::atomic<std::uint32_t> first;     // segment, plus 1, at the position where the chain begins; 0: none; written by the producer only
  std::atomic<std::uint32_t> last;      // segment, plus 1, that is being written; 0: none; written by the producer only
  alignas(64) std::atomic<std::uint64_t> tail;
  alignas(64) std::atomic<std::uint32_t> owner;  // thread rings: kernel thread id; 0: free
  std::atomic<std::uint32_t> closed;             // thread rings: 1 when the owner has ended; the host frees the ring once it is empty
};

// Segments that no ring has, in two stacks that are chained by the segments' links. `warm` has segments that were used lately, whose pages are in
// memory. `cold` has segments whose pages were given back to the system. A word holds the top segment, plus 1, and in its upper half a count of
// changes, so that equal tops can be distinguished. Producers take segments. The host gives them back, and takes some to give their pages back.
struct SegmentPoolHeader {
  alignas(64) std::atomic<std::uint64_t> warm;
  std::atomic<std::uint64_t> cold;
  std::atomic<std::uint32_t> untouched;  // segments from this one on were never used
  std::atomic<std::uint64_t> taken;      // number of segments taken so far
};

struct SharedHeader {
  std::uint32_t layout_version;
  std::uint32_t process_instance;
  std::uint64_t memory_bytes;
  Settings settings;
  AgentStatus status;
  // The agent's own thread sleeps on this word. Whoever has work for it increments the word and wakes it: the host after a change of settings, the
  // target's threads when CUPTI gives a buffer back.
  std::atomic<std::uint32_t> agent_bell;
  CounterClock clock;  // for the times of records
  RingHeader metadata_ring;
  RingHeader frame_ring;
  SegmentPoolHeader metadata_pool;
  SegmentPoolHeader thread_pool;
  std::atomic<std::uint32_t> thread_rings_used;  // rings from this one on were never claimed
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Places of the parts, in bytes from the start of the memory file. Each part begins on a page.
constexpr std::size_t whole_pages(std::size_t bytes) noexcept { return (bytes + 4095) / 4096 * 4096; }
inline constexpr std::size_t kThreadRingsOffset = whole_pages(sizeof(SharedHeader));
inline constexpr std::size_t kMetadataLinksOffset = kThreadRingsOffset + whole_pages(kThreadRingCount * sizeof(RingHeader));
inline constexpr std::size_t kFrameRingOffset = kMetadataLinksOffset + whole_pages(kMetadataSegments * sizeof(std::uint32_t));
inline constexpr std::size_t kMetadataSegmentsOffset = kFrameRingOffset + kFrameRingBytes;
inline constexpr std::size_t kThreadLinksOffset = kMetadataSegmentsOffset + kMetadataSegments * kSegmentBytes;
constexpr std::size_t thread_segments_offset(std::size_t segments) noexcept { return kThreadLinksOffset + whole_pages(segments * sizeof(std::uint32_t)); }
// Size of the memory file with a thread pool of `pool_bytes`, rounded down to whole segments.
constexpr std::uint64_t memory_bytes_for(std::uint64_t pool_bytes) noexcept {
  const std::uint64_t segments = pool_bytes / kSegmentBytes;
  return thread_segments_offset(segments) + segments * kSegmentBytes;
}

// ---- Records of metadata and thread rings ----------------------------------------------------------------------------------------

enum class RecordType : std::uint8_t {
  kPadding = 0,     // fills the end of a segment so that no record crosses it
  kRangePush = 1,   // `id` is 1 + the number of ranges open around it on this thread and domain; 0 if the target does not count them
  kRangePop = 2,    // closes a range of (thread, domain): the one whose push had the same `id`, else the innermost open range
  kRangeStart = 3,  // `id` pairs it with its end, which may be on another thread
  kRangeEnd = 4,
  kMark = 5,
  kDomainCreate = 6,        // metadata: text is the name, `domain` the new id
  kCategoryName = 7,        // metadata: text is the name of (domain, category)
  kThreadName = 8,          // metadata: text is the name of the thread `id`
  kDiagnostic = 9,          // metadata: text; `category` is proto::Component, `color` proto::ComponentState, `payload_type` proto::Severity,
                            // `id` proto::DiagnosticKind
  kOsRuntimeCall = 10,      // text is the function's name; `id` is the duration in ns
  kPayload = 11,            // the payload of the same thread's next record: `id` is the schema's number; text is PayloadValues, in the order of its fields
  kPayloadField = 12,       // metadata: text is the name of field `category` of the schema `id`; `payload` is the number of its enumeration, or 0
  kPayloadEnumerator = 13,  // metadata: text is the name of the value `payload` of the enumeration `id`
  kStreamName = 14,         // metadata: text is the name of the CUDA stream `id` of the context `category`
  kCallChain = 15,          // of a call that began at `time` and took `id` ns: text is addresses of 8 bytes each, innermost first;
                            // `category` is proto::SampleOrigin, `payload` the correlation id of a CUDA call
  kCudaName = 16,           // metadata: text is the name of the CUDA device or context `id`; `category` is proto::CudaResource
  kFileAccess = 17,         // text is the path of a file that a call used, `category` a FileOperation; `id` is the duration in ns, `payload` the bytes
};

enum class FileOperation : std::uint32_t { kOpen = 1, kRead = 2, kWrite = 3, kMap = 4, kSync = 5 };

// A record as it is given to a producer and returned by a consumer, accompanied by `text_bytes` bytes of UTF-8.
struct Record {
  std::uint32_t size;  // bytes that the record takes in its ring
  RecordType type;
  std::uint8_t payload_type;  // proto::PayloadType
  std::uint16_t text_bytes;
  std::int64_t time;  // CLOCK_MONOTONIC ns
  std::uint32_t domain;
  std::uint32_t category;
  std::uint32_t color;    // ARGB; 0: none
  std::uint32_t thread;   // kernel thread id of the caller
  std::uint64_t id;       // see RecordType
  std::uint64_t payload;  // bits, see proto::PayloadType
};

// The form of a record in a ring, in words of eight bytes: this word, the time, the words that `words` names, in this order, then the text, padded
// with zero bytes to a whole word. Fields that are not named are 0; the thread is that of the previous record in the same segment. A record never
// crosses the end of a segment: if it would, padding comes first, of which only the first word is meaningful.
struct PackedRecord {
  std::uint8_t size;  // words
  RecordType type;
  std::uint8_t payload_type;
  std::uint8_t words;  // PackedWord bits
  std::uint16_t text_bytes;
  std::uint16_t id;  // if it fits
};
static_assert(sizeof(PackedRecord) == 8);
enum PackedWord : std::uint8_t {
  kDomainWord = 1,  // domain, and in the upper half the category
  kThreadWord = 2,  // thread, and in the upper half the color
  kIdWord = 4,
  kPayloadWord = 8,
  kAllWords = 15,
};

// One value in the text of a kPayload record. `bytes` bytes follow: the eight bytes of a number, or UTF-8.
struct PayloadValue {
  enum Kind : std::uint8_t { kAbsent = 0, kUnsigned = 1, kSigned = 2, kReal = 3, kText = 4 };  // numbers are encoded as in proto::PayloadType
  Kind kind;
  std::uint16_t bytes;
};
static_assert(sizeof(PayloadValue) == 4);

inline constexpr std::size_t kMaximumTextBytes = 1024;  // longer NVTX messages are cut at a character boundary

}  // namespace lanescope::channel

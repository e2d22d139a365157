// How a recording and its programs exchange hardware counters of kernels: by files in a folder that the recording made.
//
// The host writes one file, the plan: what is to be counted, and for which launches. Each process writes one file into an inner folder, named by its
// instance number: what was counted, as it comes from CUPTI, and what was left out. The host reads these files after the recording has ended; a
// truncated record ends the file. A process that finds no room for a record makes its file read-only, and writes no more to it. If programs run as
// another user, that user owns the inner folder and nothing else. The host follows no link that a program could have made. All integers have the
// machine's byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanescope::channel {

inline constexpr char kKernelCountersVariable[] = "LANESCOPE_KERNEL_COUNTERS";  // environment: the folder
inline constexpr char kKernelRangeVariable[] =
    "LANESCOPE_KERNEL_RANGE";                  // environment: [DOMAIN@]TEXT of the NVTX ranges whose launches are measured; if not set, all are
inline constexpr char kProfilerRange[] = "@";  // used instead of a range, and no range's name: from cudaProfilerStart to cudaProfilerStop
inline constexpr char kKernelRunVariable[] = "LANESCOPE_KERNEL_RUN";  // environment: which set of its chip a run measures, from 0: CounterReplay::kApplication
inline constexpr char kCounterPlanFile[] = "plan";                    // in the folder; it is renamed to this name when it is complete
inline constexpr char kCounterNoteFile[] = "note";                    // beside the plan: a sentence a line, for the user
inline constexpr char kCounterFailureFile[] = "failure";              // in the folder, instead of a plan: one sentence
inline constexpr char kMachineCounts = '+';                           // the first character that the planner prints, if the machine has hardware that counts
inline constexpr char kCounterRecordFolder[] = "records";             // in the folder
inline constexpr char kEarlierRunFolder[] = "records.";               // followed by a number from 0: the records of earlier runs
inline constexpr char kCounterCodeFile[] = "code";                    // exists before the program starts if code is kept: CounterKind::kInstructions
inline constexpr char kCounterRangesFile[] = "ranges";                // exists before the program starts if ranges are counted: CounterReplay::kRange
inline constexpr std::uint32_t kCounterPlanVersion = 3;
inline constexpr std::uint32_t kCounterRecordMark = 0x314b434c;  // "LCK1"
inline constexpr std::uint32_t kKernelRecordMark = 0x324b434c;   // "LCK2"
inline constexpr std::uint32_t kCodeRecordMark = 0x334b434c;     // "LCK3"
inline constexpr std::uint32_t kBeginRecordMark = 0x344b434c;    // "LCK4"
inline constexpr std::uint64_t kMostCounterBytes = 256u << 20;   // of a plan, or of a record

// What counts.
enum class CounterKind : std::uint32_t {
  kHardware = 0,      // CUPTI's range profiler: counters of the GPU, one value a launch
  kInstructions = 1,  // code that CUPTI adds to the kernel (SASS metrics): one value for each instruction of a launch
};

// How a kernel that needs more than one pass gets its passes. Numbers are those of proto::KernelReplay.
enum class CounterReplay : std::uint32_t {
  kNone = 0,         // one pass is enough
  kKernel = 1,       // CUPTI runs the kernel repeatedly, and restores the memory that it wrote
  kSpread = 2,       // each launch of the same kernel and shape gets one of the passes
  kApplication = 3,  // each run of the program measures one set, selected by kKernelRunVariable
  kRange = 4,        // likewise; all kernels that run while a range is open (kKernelRangeVariable) are counted together: nothing runs twice, or alone
};

enum class KernelNameRule : std::uint32_t { kAll = 0, kExact = 1, kPattern = 2 };  // kPattern: an extended regular expression of POSIX

// Identifies a kernel and the shape of its launch: grid, block, bytes of dynamic shared memory. Never 0. FNV-1a, so it is the same in every process.
[[nodiscard]] constexpr std::uint64_t launch_kind(std::string_view mangled_name, const std::uint32_t (&shape)[7]) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const char letter : mangled_name) mix(static_cast<unsigned char>(letter));
  for (const std::uint32_t part : shape) mix(part);
  return hash | 1;
}

// A kernel and shape whose launches are measured. If only some launches are measured, `second` is the number of the second one, from 0; 0: there is
// no second.
struct ChosenKind {
  std::uint64_t kind;  // launch_kind()
  std::uint64_t second;
};
inline constexpr std::uint64_t kUsualSecond = 9;
inline constexpr std::size_t kMostChosenKinds = 32;

// Which of a process's launches are measured.
struct LaunchChoice {
  KernelNameRule name_rule;
  std::uint32_t skip;        // of the launches whose name fits, the first `skip` are not measured
  std::uint32_t count;       // of the rest, at most `count` are measured; 0: all
  std::uint32_t is_sampled;  // 1: of each kernel and shape only the first launch and one later launch; the later one is kUsualSecond if kinds are not chosen
  std::uint64_t budget;      // ns of each process's time that measuring may take; 0: unlimited
  char name[1024];           // the name of the kernel's function without namespaces and parameters, or the pattern; ends in a zero byte
  std::uint64_t kinds;       // number of `chosen` kinds, whatever their names; 0: all
  ChosenKind chosen[kMostChosenKinds];
};

struct CounterPlan {
  std::uint32_t version;
  CounterReplay replay;  // for the sets that need several passes
  std::uint32_t sets;    // number of sets that follow; one if instructions are counted
  CounterKind kind;
  LaunchChoice choice;
};

// What is counted on one chip at once. It is followed by its parts: the configuration of the hardware as CUPTI made it, and the names of the metrics,
// each ended by a zero byte.
struct CounterSet {
  char chip[32];  // "GH100"; empty: any
  std::uint32_t passes;
  std::uint32_t metrics;
  std::uint64_t config_bytes;
  std::uint64_t name_bytes;
};

// Every record begins with its mark and its size, so that a truncated record can be detected.
struct RecordHead {
  std::uint32_t mark;  // kCounterRecordMark, or one of the others above
  std::uint32_t zero;
  std::uint64_t bytes;  // of the whole record
};

// The measuring of a launch begins. Its CounterRecord follows unless measuring never ends, for example because the kernel waits for something that
// can't run meanwhile, or because the program ends. The name of the kernel follows.
struct BeginRecord {
  RecordHead head;
  std::uint32_t correlation;
  std::uint32_t zero;
  std::uint64_t name_bytes;
};

enum class CounterOutcome : std::uint32_t { kMeasured = 0, kLeftOut = 1 };

// It is followed by the name of the kernel, the reason if it was not measured, and the image of the counters: CUPTI's own, or that of instructions.
struct CounterRecord {
  RecordHead head;
  CounterOutcome outcome;
  std::uint32_t correlation;  // CUPTI's id of the launching call
  std::uint32_t set;          // index of a set of the plan, from 0
  std::uint32_t group;        // equal for launches whose sets belong together
  std::int64_t begin;         // CLOCK_MONOTONIC ns, of the launching call
  std::uint64_t spent;        // ns until it returned, including all passes
  std::uint64_t launches;     // launches left out for this reason; for a counted range: launches in the range
  std::uint64_t name_bytes;
  std::uint64_t reason_bytes;
  std::uint64_t image_bytes;
};

// What was counted at the instructions of a launch. It is followed, without gaps, by `functions` times a CountedFunction with its name, `rows` times
// an InstructionRow, and for each row in turn `metrics` values of 64 bits. Rows of one instruction are to be added. Rows whose values are all 0 are
// left out.
struct InstructionImage {
  std::uint32_t metrics;  // number of the set's metrics, in its order
  std::uint32_t functions;
  std::uint64_t rows;
  std::uint64_t known;  // one bit a metric, set if the chip has it
};
struct CountedFunction {
  std::uint64_t crc;         // of its code, as in CodeRecord
  std::uint32_t index;       // in the symbol table of that code
  std::uint32_t name_bytes;  // of the mangled name that follows
};
struct InstructionRow {
  std::uint32_t function;  // index of a CountedFunction, from 0
  std::uint32_t pc;        // bytes from the function's start
};

// Code in which something was counted, as the driver loaded it (a cubin); written once for each process. The bytes of the code follow.
struct CodeRecord {
  RecordHead head;
  std::uint64_t crc;
  std::uint64_t code_bytes;
};

// CUPTI reports no times of kernels that it ran for their counters. This record has what else CUPTI reports of such a kernel, or what is known of a
// range, which has no shape. The name follows. Two records may have the same correlation id. The agent's record has no block, and stands for the
// kernel if CUPTI's own never comes. CUPTI's record takes precedence, and may come first. A record without a name is also CUPTI's: it says that the
// kernel is an event of the recording, and so has times.
struct KernelRecord {
  RecordHead head;
  std::uint32_t correlation;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t cluster[3];
  std::uint32_t registers_per_thread;
  std::uint32_t static_shared_memory;
  std::uint32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t shared_memory_executed;
  std::uint32_t launch_type;
  std::uint32_t cache_config;
  std::uint64_t local_memory_total;
  std::uint64_t name_bytes;
};

}  // namespace lanescope::channel

// What a recording and its programs tell each other about hardware counters of kernels: by files in a folder that the recording made.
//
// The host writes one file, the plan: what is to be counted, and of which launches. Each process writes one file of its own in a folder within,
// named by its instance number: what was counted, as it comes from CUPTI, and what was left out. The host reads those once the recording has
// ended; a record that was cut short ends the file. A process that finds no room for a record makes its file read-only, and writes no more to
// it. Where programs run as another user, the inner folder is that user's, and nothing else is: the host follows no link that a program could
// have made. All integers are those of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanescope::channel {

inline constexpr char kKernelCountersVariable[] = "LANESCOPE_KERNEL_COUNTERS";  // environment: the folder
inline constexpr char kKernelRangeVariable[] =
    "LANESCOPE_KERNEL_RANGE";                  // environment: [DOMAIN@]TEXT of the NVTX ranges whose launches are measured; not there: all are
inline constexpr char kProfilerRange[] = "@";  // in its place, and no range's name: from cudaProfilerStart to cudaProfilerStop
inline constexpr char kKernelRunVariable[] = "LANESCOPE_KERNEL_RUN";  // environment: which set of its chip's a run takes, from 0: CounterReplay::kApplication
inline constexpr char kCounterPlanFile[] = "plan";                    // there, whole: it is renamed when it is
inline constexpr char kCounterNoteFile[] = "note";                    // beside the plan: a sentence a line, for the user
inline constexpr char kCounterFailureFile[] = "failure";              // there, instead of a plan: one sentence
inline constexpr char kMachineCounts = '+';                           // the first that who makes the plan prints, where the machine has what counts
inline constexpr char kCounterRecordFolder[] = "records";             // there
inline constexpr char kEarlierRunFolder[] = "records.";               // and behind that a number from 0: those of earlier runs
inline constexpr char kCounterCodeFile[] = "code";                    // there before the program starts: CounterKind::kInstructions
inline constexpr char kCounterRangesFile[] = "ranges";                // there before the program starts: CounterReplay::kRange
inline constexpr std::uint32_t kCounterPlanVersion = 3;
inline constexpr std::uint32_t kCounterRecordMark = 0x314b434c;  // "LCK1"
inline constexpr std::uint32_t kKernelRecordMark = 0x324b434c;   // "LCK2"
inline constexpr std::uint32_t kCodeRecordMark = 0x334b434c;     // "LCK3"
inline constexpr std::uint32_t kBeginRecordMark = 0x344b434c;    // "LCK4"
inline constexpr std::uint64_t kMostCounterBytes = 256u << 20;   // of a plan, and of a record

// Who counts.
enum class CounterKind : std::uint32_t {
  kHardware = 0,      // CUPTI's range profiler: counters of the GPU, one value a launch
  kInstructions = 1,  // code that CUPTI adds to the kernel (SASS metrics): one value for each instruction of a launch
};

// How a kernel that needs more than one pass gets them. Numbers are those of proto::KernelReplay.
enum class CounterReplay : std::uint32_t {
  kNone = 0,         // it needs one pass
  kKernel = 1,       // CUPTI runs it again and again, and restores the memory that it wrote
  kSpread = 2,       // one pass each of launches of the same kernel and shape
  kApplication = 3,  // one set each of runs of the program, by kKernelRunVariable
  kRange = 4,  // likewise; and what is counted are all kernels together that run while a range is open (kKernelRangeVariable): nothing runs twice, or alone
};

enum class KernelNameRule : std::uint32_t { kAll = 0, kExact = 1, kPattern = 2 };  // kPattern: an extended regular expression of POSIX

// A kernel and the shape of its launch: grid, block, bytes of dynamic shared memory. Never 0. FNV-1a, and so the same in every process.
[[nodiscard]] constexpr std::uint64_t launch_kind(std::string_view mangled_name, const std::uint32_t (&shape)[7]) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const char letter : mangled_name) mix(static_cast<unsigned char>(letter));
  for (const std::uint32_t part : shape) mix(part);
  return hash | 1;
}

// A kernel and shape of which launches are measured, and, where only some are, the number of the second of them, from 0; 0: there is no second.
struct ChosenKind {
  std::uint64_t kind;  // launch_kind()
  std::uint64_t second;
};
inline constexpr std::uint64_t kUsualSecond = 9;
inline constexpr std::size_t kMostChosenKinds = 32;

// Which launches are measured, of all that a process makes.
struct LaunchChoice {
  KernelNameRule name_rule;
  std::uint32_t skip;        // of those whose name fits: the first so many are not measured
  std::uint32_t count;       // and of the rest so many at most; 0: all
  std::uint32_t is_sampled;  // 1: of each kernel and shape only the first launch, and one that comes later: kUsualSecond where kinds are not chosen
  std::uint64_t budget;      // ns of the program that measuring may take, each process; 0: without end
  char name[1024];           // of the kernel's function without namespaces and parameters, or the pattern; ends in a zero byte
  std::uint64_t kinds;       // that are chosen, whatever their names; 0: all
  ChosenKind chosen[kMostChosenKinds];
};

struct CounterPlan {
  std::uint32_t version;
  CounterReplay replay;  // of the sets that need several passes
  std::uint32_t sets;    // that follow; one where instructions are counted
  CounterKind kind;
  LaunchChoice choice;
};

// What is counted on one chip, at once. Behind it its parts follow: the configuration of the hardware as CUPTI made it, and the names of
// the metrics, each with a zero byte at its end.
struct CounterSet {
  char chip[32];  // "GH100"; empty: any
  std::uint32_t passes;
  std::uint32_t metrics;
  std::uint64_t config_bytes;
  std::uint64_t name_bytes;
};

// Every record begins with its mark and its size, so that one that was cut short shows.
struct RecordHead {
  std::uint32_t mark;  // kCounterRecordMark, or one of the others above
  std::uint32_t zero;
  std::uint64_t bytes;  // of all of it
};

// The measuring of a launch begins. Its CounterRecord follows, but where it never comes to an end: a kernel that waits for what can't run meanwhile, a program
// that ends. The name of the kernel follows.
struct BeginRecord {
  RecordHead head;
  std::uint32_t correlation;
  std::uint32_t zero;
  std::uint64_t name_bytes;
};

enum class CounterOutcome : std::uint32_t { kMeasured = 0, kLeftOut = 1 };

// Behind it follow the name of the kernel, the reason where it was not measured, and the image of the counters: CUPTI's own, or that of
// instructions.
struct CounterRecord {
  RecordHead head;
  CounterOutcome outcome;
  std::uint32_t correlation;  // CUPTI's id of the launching call
  std::uint32_t set;          // of the plan, from 0
  std::uint32_t group;        // equal for launches whose sets belong together
  std::int64_t begin;         // CLOCK_MONOTONIC ns, of the launching call
  std::uint64_t spent;        // ns until it returned, with all passes
  std::uint64_t launches;     // that were left out for this reason; of a range that was counted: that it had
  std::uint64_t name_bytes;
  std::uint64_t reason_bytes;
  std::uint64_t image_bytes;
};

// What was counted at the instructions of a launch. Behind it follow, without gaps: `functions` times a CountedFunction with its name,
// `rows` times an InstructionRow, and for each row in turn `metrics` values of 64 bits. Rows of one instruction add up; those of which all values are 0 are
// left out.
struct InstructionImage {
  std::uint32_t metrics;  // of the set, in its order
  std::uint32_t functions;
  std::uint64_t rows;
  std::uint64_t known;  // of the metrics, a bit each: those that the chip has
};
struct CountedFunction {
  std::uint64_t crc;         // of its code, as CodeRecord has it
  std::uint32_t index;       // in the symbol table of that
  std::uint32_t name_bytes;  // mangled, behind it
};
struct InstructionRow {
  std::uint32_t function;  // of those, from 0
  std::uint32_t pc;        // bytes from the function's begin
};

// Code in which something was counted, as the driver loaded it (cubin), once for each process. Its bytes follow.
struct CodeRecord {
  RecordHead head;
  std::uint64_t crc;
  std::uint64_t code_bytes;
};

// CUPTI has no times of kernels that it ran for their counters; here is what else it says of one, or what is known of a range: it has no shape. Its name
// follows. There may be two with one correlation id: the agent's, which has no block and stands for the kernel where CUPTI's own never comes, and CUPTI's,
// which counts, and may come first. One without a name is CUPTI's as well, and says that the kernel is an event of the recording: it has times.
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

// How iterations of a process are compared: shared by the two parts of the rule tail, slow iterations and iterations that become slower.
//
// What is usual is a median, of each component of an iteration's time by itself. A difference is first looked for on the GPUs of the process, where all
// components are known, then on the critical paths of one iteration and of a usual one. Indexes are of Iterations::all; times are Nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "gpu_iterations.h"
#include "growth.h"
#include "loop/loop_work.h"
#include "model/analysis/families.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/rule.h"
#include "model/analysis/threads/critical_path.h"
#include "model/text/message.h"

namespace lanescope::analysis::tail {

// Whether it is known which part of communication is waiting for other ranks.
enum class Waiting : std::uint8_t { kIsKnown, kIsUnknown };

// Data about the communication of a trace's processes.
struct Ranks {
  std::map<ProcessId, std::size_t> programs;  // the number of the program of each process that communicates
  std::set<ProcessId> matched;                // processes of which it is known for whom they wait
  std::vector<ProcessId> processes;           // of ranks
  std::vector<KernelWait> waits;              // by kernel; origins are numbers of ranks
  [[nodiscard]] Waiting waiting_of(ProcessId process) const { return matched.contains(process) ? Waiting::kIsKnown : Waiting::kIsUnknown; }
};
// Of all processes of the loop; empty if no kernel communicates. O(names + kernels that wait · log).
[[nodiscard]] Ranks ranks_of(const Trace& trace, const LoopWork& work);

enum class Named : std::uint8_t { kRange, kRangeAndProcess };

// What iterations are compared with. All that it refers to must outlive it.
struct Search {
  const Trace& trace;
  const RuleArguments& arguments;
  Families& families;
  const LoopWork& work;
  const Ranks& ranks;
  Named named;
  std::stop_token stop;
};

// Those on which the process has work, in ascending order.
[[nodiscard]] std::vector<GpuId> gpus_of(const Trace& trace, ProcessId process);

// The usual times of some iterations: medians.
struct Usual {
  struct OfGpu {
    Components components{};
    Nanoseconds busy = 0;
    Nanoseconds held = 0;
    Nanoseconds enqueued = 0;
  };
  Nanoseconds length = 0;
  std::map<GpuId, OfGpu> gpus;
};
// Requires for these two: the range is not empty.
[[nodiscard]] Nanoseconds usual_length(const Iterations& iterations, IndexRange range);
[[nodiscard]] Usual usual_times(const Iterations& iterations, IndexRange range);
// The first of the iterations whose time is nearest to the median.
[[nodiscard]] std::size_t nearest_to(const Iterations& iterations, IndexRange range, Nanoseconds typical);

// The iterations of a process that are compared: those after warm-up.
[[nodiscard]] IndexRange compared_of(const Trace& trace, const OfProcess& of);
// Of which times findings are at least a share.
[[nodiscard]] Nanoseconds least_time(const Search& search, const OfProcess& of, IndexRange compared);
// Whether a cost is worth a finding (the argument share).
[[nodiscard]] bool is_enough(const Search& search, Nanoseconds cost, Nanoseconds of_time);
// The times of iterations that tell whether a program becomes slower. One that runs ahead of its GPU leaves its first iterations before their work is done.
[[nodiscard]] std::vector<Nanoseconds> times_with_work(const Iterations& iterations, IndexRange range);

// By how much a component of one iteration, or of several together, exceeds the usual one.
struct Excess {
  std::size_t component = kWork;
  Nanoseconds time = 0;
};

// What held up an iteration, as its critical path says: by kind, cause, and the family of the range, call or operation.
struct HeldUp {
  Nanoseconds time = 0;
  PathPart longest;
};
using HeldUpTimes = std::map<std::tuple<PathKind, IdleCause, FamilyId>, HeldUp>;
// Of an iteration. O(parts of its critical path · log).
[[nodiscard]] HeldUpTimes held_up_times(CriticalPaths& paths, Families& families, EventRef iteration, const std::stop_token& stop);
// What a slow iteration has more of than a usual one.
[[nodiscard]] HeldUpTimes excess_of(HeldUpTimes slow, const HeldUpTimes& usual);
// The largest excess; no time if there is none.
[[nodiscard]] HeldUp most_of(const HeldUpTimes& excess);

// Words.
[[nodiscard]] Message component_name(std::size_t component, Waiting waiting);
// "Blocked in the operating system (odd)"; without the range if it is the iteration's own.
[[nodiscard]] Message held_up_words(Families& families, FamilyId loop, const PathPart& part);
// Possible reasons for iterations that differ in a component.
[[nodiscard]] std::string_view advice_about(std::size_t component, Waiting waiting);
// A process with the file that it comes from, if there are several files.
[[nodiscard]] std::string name_of(const Trace& trace, ProcessId process);
// Adds the range and the process to the values.
[[nodiscard]] std::vector<Message::Value> with_names(const Trace& trace, const Families& families, const IterationSeries& series,
                                                     std::vector<Message::Value> values);

}  // namespace lanescope::analysis::tail

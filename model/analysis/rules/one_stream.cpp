// one_stream: streams that were created and not used.
#include <algorithm>
#include <map>
#include <set>

#include "../call_class.h"
#include "../own_rules.h"
#include "../rank_work.h"
#include "../wording.h"
#include "model/events/event_values.h"

namespace lanescope::analysis {
namespace {

struct Streams {
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;  // (context, stream), without default streams
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;   // with default streams
  std::uint64_t calls = 0;                                  // into CUDA
  std::uint64_t create_calls = 0;

  // Streams that the program itself created. CUDA has streams of its own, so a list of streams tells only where no calls were recorded.
  [[nodiscard]] std::uint64_t created() const { return calls > 0 ? create_calls : known.size(); }
};

bool is_default_stream(const Trace& trace, const CudaStream& stream) {
  constexpr std::uint32_t kNullStream = 3;  // proto::STREAM_NULL
  if (stream.kind == kNullStream) return true;
  for (const CudaContext& context : trace.contexts())
    if (context.process == stream.process && context.id == stream.context) return context.null_stream == stream.id;
  return false;
}

std::map<ProcessId, Streams> streams_of_processes(const Trace& trace) {
  std::map<ProcessId, Streams> processes;
  for (const CudaStream& stream : trace.streams())
    if (!is_default_stream(trace, stream)) processes[stream.process].known.insert({stream.context, stream.id});
  NameMemo<bool> creates(trace, creates_stream);
  for (const Track& track : trace.tracks()) {
    if (is_gpu_work(track.key.kind)) processes[track.key.process].used.insert({track.key.context, track.key.stream});
    if (track.key.kind != TrackKind::kCudaApi || track.lanes.empty()) continue;
    const Lane& outermost = trace.lane(track.lanes.front());
    processes[track.key.process].calls += outermost.size();
    for (EventIndex i = 0; i < outermost.size(); ++i)
      if (creates(outermost.name(i))) ++processes[track.key.process].create_calls;
  }
  return processes;
}

}  // namespace

Result<RuleAnswer> find_one_stream(const Trace& trace, const RuleArguments&) {
  const std::vector<RankWork> ranks = rank_work(trace);
  RuleAnswer answer;
  stats::Table table({stats::integers("PID"), stats::integers("Streams Created"), stats::integers("Streams Used"),
                      stats::integers("Copies and Kernels Taking Turns", stats::Unit::kNanoseconds)});
  for (const auto& [process, streams] : streams_of_processes(trace)) {
    const std::uint64_t created = streams.created();
    if (created == 0 || streams.used.empty()) continue;
    Finding finding;
    for (const RankWork& rank : ranks) {
      if (rank.process != process) continue;
      finding.cost += std::min(rank.memory.total(), rank.compute.total()) - rank.memory.overlap(rank.compute);
      finding.place.range = rank.extent;
      finding.place.gpu = rank.gpu;
    }
    table.add_row(std::int64_t{trace.processes()[process].pid}, static_cast<std::int64_t>(created),
                  static_cast<std::int64_t>(streams.used.size()), finding.cost);
    // Frameworks create streams by the dozen and use them as needed; of a few, each was meant to be used.
    constexpr std::uint64_t kFew = 16;
    const bool all_on_one = created >= 2 && streams.used.size() == 1;
    const bool some_unused = created >= 2 && created <= kFew && streams.used.size() < created;
    if (!all_on_one && !some_unused) continue;
    finding.rule = "one_stream";
    finding.title = process_label(trace, process) + " created " + counted(created, "stream") +
                    (all_on_one ? ", and all its GPU work ran on one stream."
                                : ", and its GPU work ran on only " + std::to_string(streams.used.size()) + ".");
    finding.seen =
        "Operations of one stream never overlap; copies and kernels that took turns could win up to " + duration_text(finding.cost) + ".";
    finding.place.process = process;
    finding.advice =
        "Check that launches and copies name their stream (kernel<<<grid, block, shared, stream>>>); what names none goes to the default "
        "stream.";
    answer.findings.push_back(std::move(finding));
  }
  if (!table.empty()) answer.tables.push_back({"one_stream", "Streams created and used", std::move(table)});
  if (answer.findings.empty()) answer.message = "No process created streams and left them unused.";
  return answer;
}

}  // namespace lanescope::analysis

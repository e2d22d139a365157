#include "model/trace/clock_alignment.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/trace/nvtx_payload.h"
#include "model/trace/parallel.h"

namespace lanescope {
namespace {

constexpr std::size_t kFewestCollectives = 3;
constexpr Nanoseconds kLargestSpread = 200'000;

// Calls of NCCL that are no collectives, or not of all ranks, by how their names begin.
constexpr std::string_view kInit = "ncclCommInit";
constexpr std::string_view kGroupEnd = "ncclGroupEnd";
constexpr std::array<std::string_view, 8> kNotCollective{kInit, "ncclGroup", "ncclCommSplit", "ncclCommDestroy", "ncclCommAbort", "ncclCommFinalize", "ncclSend", "ncclRecv"};

// When the kernels of a rank's collectives ended, by communicator and in their order; none of one whose kernel is not known.
using Ends = std::map<std::string, std::vector<std::optional<Nanoseconds>>>;

class CollectiveEnds {
 public:
  explicit CollectiveEnds(const Trace& trace) : trace_(trace) {}

  [[nodiscard]] Ends of(ProcessId process) {
    std::vector<EventRef> calls;
    for (const TrackId id : trace_.tracks_of(process, TrackKind::kNvtxRanges)) {
      const Track& track = trace_.tracks()[id];
      if (trace_.domain_name(process, track.key.domain) != "NCCL") continue;
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < trace_.lane(lane).size(); ++i) calls.push_back({lane, i});
    }
    std::sort(calls.begin(), calls.end(), [this](EventRef a, EventRef b) { return start(a) < start(b); });

    Ends ends;
    bool whole = false;  // communicators are seen from their begin on
    for (auto call = calls.begin(); call != calls.end(); ++call) {
      const std::string_view name = trace_.name(trace_.event(*call).name);
      whole = whole || name.starts_with(kInit);
      const auto begins_name = [name](std::string_view other) { return name.starts_with(other); };
      if (!whole || std::any_of(kNotCollective.begin(), kNotCollective.end(), begins_name)) continue;
      const std::string& communicator = communicator_of(*call);
      if (communicator.empty()) continue;
      std::optional<Nanoseconds> end = kernel_end(*call);
      if (!end) {  // within a group, its end launches the kernel
        const ThreadId thread = thread_of(*call);
        const auto group = std::find_if(call, calls.end(), [&](EventRef later) {
          return thread_of(later) == thread && trace_.name(trace_.event(later).name).starts_with(kGroupEnd);
        });
        if (group != calls.end()) end = kernel_end(*group);
      }
      ends[communicator].push_back(end);
    }
    return ends;
  }

 private:
  [[nodiscard]] Nanoseconds start(EventRef event) const { return trace_.lane(event.lane).start(event.index); }
  [[nodiscard]] ThreadId thread_of(EventRef event) const { return trace_.track_of(event.lane).key.thread; }

  [[nodiscard]] const std::string& communicator_of(EventRef call) {
    const NameId payload = trace_.nvtx_detail(trace_.event(call).detail).payload_json;
    const auto [known, is_new] = communicators_.try_emplace(payload);
    if (is_new)
      for (const PayloadField& field : payload_fields(trace_.name(payload)))
        if (field.name == "NCCL communicator ID") known->second = field.value;
    return known->second;
  }

  // The end of the kernel that was launched last in a range.
  [[nodiscard]] std::optional<Nanoseconds> kernel_end(EventRef range) const {
    const Event call = trace_.event(range);
    const TrackKey& key = trace_.track_of(range.lane).key;
    std::optional<Nanoseconds> end;
    for (const TrackId id : trace_.tracks_of(key.process, TrackKind::kCudaApi)) {
      if (trace_.tracks()[id].key.thread != key.thread) continue;
      for (const LaneId lane : trace_.tracks()[id].lanes)
        for (EventIndex i = trace_.lane(lane).lower_bound(call.start + call.duration); i-- > 0 && trace_.lane(lane).start(i) >= call.start;)
          for (const EventRef work : trace_.work_of({lane, i}))
            if (trace_.track_of(work.lane).key.kind == TrackKind::kKernels) end = std::max(end, std::optional(trace_.lane(work.lane).end(work.index)));
    }
    return end;
  }

  const Trace& trace_;
  std::unordered_map<NameId, std::string> communicators_;
};

// Of the first process of a trace that has each communicator: its others have the same clock.
Ends collective_ends(const Trace& trace) {
  CollectiveEnds of_trace(trace);
  Ends ends;
  for (ProcessId process = 0; process < trace.processes().size(); ++process) ends.merge(of_trace.of(process));
  return ends;
}

// Reorders the values.
Nanoseconds median(std::vector<Nanoseconds>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<ClockAlignment> aligned(const Ends& first, const Ends& second) {
  std::vector<Nanoseconds> apart;
  for (const auto& [communicator, ends] : second) {
    const auto found = first.find(communicator);
    if (found == first.end()) continue;
    for (std::size_t i = 0; i < std::min(ends.size(), found->second.size()); ++i)
      if (ends[i] && found->second[i]) apart.push_back(*found->second[i] - *ends[i]);
  }
  if (apart.size() < kFewestCollectives) return std::nullopt;
  ClockAlignment alignment{median(apart), ClockSource::kCollectives, static_cast<std::uint32_t>(apart.size()), 0};
  for (Nanoseconds& each : apart) each = std::abs(each - alignment.shift);
  alignment.spread = median(apart);
  return alignment.spread <= kLargestSpread ? std::optional(alignment) : std::nullopt;
}

}  // namespace

std::optional<Nanoseconds> shift_by_utc(const Trace& first, const Trace& second) noexcept {
  const std::int64_t a = first.provenance().utc_epoch, b = second.provenance().utc_epoch;
  if (a == 0 || b == 0) return std::nullopt;
  return b - a;
}

Nanoseconds shift_by_start(const Trace& first, const Trace& second) noexcept { return first.extent().begin - second.extent().begin; }

std::optional<Nanoseconds> shift_by_boot(const Trace& first, const Trace& second) noexcept {
  const Provenance& a = first.provenance();
  const Provenance& b = second.provenance();
  if (a.boot_id.empty() || a.boot_id != b.boot_id || a.monotonic_epoch == 0 || b.monotonic_epoch == 0) return std::nullopt;
  return b.monotonic_epoch - a.monotonic_epoch;
}

std::optional<ClockAlignment> shift_by_collectives(const Trace& first, const Trace& second) {
  return aligned(collective_ends(first), collective_ends(second));
}

std::vector<ClockAlignment> align_clocks(std::span<const std::shared_ptr<const Trace>> traces) {
  std::vector<std::optional<ClockAlignment>> found(traces.size());
  std::vector<std::optional<Ends>> ends(traces.size());  // where they were asked for
  const auto ends_of = [&](std::size_t i) -> const Ends& { return ends[i] ? *ends[i] : ends[i].emplace(collective_ends(*traces[i])); };
  const auto by_boot = [&](std::size_t known, std::size_t i) -> std::optional<ClockAlignment> {
    const std::optional<Nanoseconds> shift = shift_by_boot(*traces[known], *traces[i]);
    return shift ? std::optional(ClockAlignment{*shift, found[known]->by, found[known]->collectives, found[known]->spread}) : std::nullopt;
  };
  // At once, on all cores, where one of a machine is to be set: by it, the others of the machine are.
  const auto find_ends = [&] {
    std::vector<std::size_t> wanted;
    std::set<std::string_view> machines;
    for (std::size_t i = 1; i < traces.size(); ++i) {
      const std::string& boot = traces[i]->provenance().boot_id;
      if (!found[i] && !ends[i] && (boot.empty() || machines.insert(boot).second)) wanted.push_back(i);
    }
    if (!wanted.empty() && !ends.front()) wanted.push_back(0);
    parallel_for(wanted.size(), [&](std::size_t i) { ends[wanted[i]].emplace(collective_ends(*traces[wanted[i]])); });
  };
  const auto by_collectives = [&](std::size_t known, std::size_t i) { return aligned(ends_of(known), ends_of(i)); };
  // One that has been set serves others, whose times it shifts as well.
  const auto set_by = [&](const auto& way) {
    bool any = false;
    for (std::size_t i = 1; i < traces.size(); ++i)
      for (std::size_t known = 0; !found[i] && known < traces.size(); ++known)
        if (found[known] && (found[i] = way(known, i))) {
          found[i]->shift += found[known]->shift;
          any = true;
        }
    return any;
  };
  found.front() = ClockAlignment{};
  for (;;) {
    while (set_by(by_boot) || (find_ends(), set_by(by_collectives))) {
    }
    const auto left = std::find(found.begin(), found.end(), std::nullopt);
    if (left == found.end()) break;
    const Trace& trace = *traces[static_cast<std::size_t>(left - found.begin())];
    const std::optional<Nanoseconds> utc = shift_by_utc(*traces.front(), trace);
    *left = utc ? ClockAlignment{*utc, ClockSource::kTimeOfDay} : ClockAlignment{shift_by_start(*traces.front(), trace), ClockSource::kFirstEvents};
  }
  std::vector<ClockAlignment> alignments;
  for (const std::optional<ClockAlignment>& each : found) alignments.push_back(*each);
  return alignments;
}

std::string alignment_sentence(const std::string& name, const ClockAlignment& alignment) {
  switch (alignment.by) {
    case ClockSource::kSameClock:
      return {};
    case ClockSource::kCollectives: {
      std::array<char, 96> text{};
      std::snprintf(text.data(), text.size(), " was set by %u collectives in common with others, to within %.1f us.", alignment.collectives,
                    static_cast<double>(alignment.spread) / 1e3);
      return "The clock of " + name + text.data();
    }
    case ClockSource::kTimeOfDay:
      return "The clock of " + name + " was set by the time of day, which can differ by milliseconds between machines.";
    case ClockSource::kFirstEvents:
      return "How the clock of " + name + " stands to the others is not known: its first event is drawn together with theirs.";
  }
  return {};
}

}  // namespace lanescope

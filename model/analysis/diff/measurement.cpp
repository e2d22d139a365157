#include "measurement.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "../wording.h"
#include "idle/counter_readings.h"
#include "idle/gpu_operations.h"
#include "loop/loop_work.h"
#include "model/analysis/idle/idle.h"
#include "model/events/launch_index.h"
#include "model/kernels/matrix_product.h"
#include "model/trace/storage/interval_union.h"
#include "threads/range_lookup.h"

namespace lanescope::analysis {
namespace {

class Collector {
 public:
  // The item of that name, which must not be a range.
  Measured& item(DiffKind kind, std::string_view name) {
    if (const auto known = by_key_.find({kind, name}); known != by_key_.end()) return *known->second;
    const ItemKey key{kind, names_.emplace_back(name)};
    Measured& measured = items_.emplace_back(key, Measured{}).second;
    by_key_.emplace(key, &measured);
    return measured;
  }
  // A new item, for a family of ranges of the NVTX domains with this name.
  Measured& new_range(std::string_view family, std::string_view domain) {
    return items_.emplace_back(ItemKey{DiffKind::kRange, family, domain}, Measured{}).second;
  }
  static void add(Measured& measured, std::size_t sample, Nanoseconds time) {
    measured.total += time;
    measured.samples.add(sample, static_cast<double>(time));
  }
  Measurements take() {
    Measurements all;
    all.items.reserve(items_.size());
    by_key_.clear();
    for (; !items_.empty(); items_.pop_front()) all.items.push_back(std::move(items_.front()));
    std::sort(all.items.begin(), all.items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    all.names = std::move(names_);
    return all;
  }

 private:
  struct Hash {
    std::size_t operator()(const ItemKey& key) const noexcept { return std::hash<std::string_view>()(key.name) + static_cast<std::size_t>(key.kind); }
  };
  std::deque<std::pair<ItemKey, Measured>> items_;  // whose addresses stay
  std::deque<std::string> names_;
  std::unordered_map<ItemKey, Measured*, Hash> by_key_;
};

// Items by the id of their name or kind, so that each name is looked up once.
class ItemsById {
 public:
  // The item; make() is called for the first event of an id. O(1).
  template <typename Make>
  Measured& item(std::uint32_t id, std::size_t ids, Make make) {
    if (items_.size() <= id) items_.resize(std::max<std::size_t>(ids, std::size_t{id} + 1));
    if (items_[id] == nullptr) items_[id] = &make();
    return *items_[id];
  }

 private:
  std::vector<Measured*> items_;
};

// Items of families of ranges in domains. Most families are in one domain, so memory is that of the families and of what occurs in further domains.
class RangeItems {
 public:
  // The item; make() is called for the first event of a family in a domain. O(1). `families`: their number.
  template <typename Make>
  Measured& item(FamilyId family, std::size_t families, std::uint32_t domain, Make make) {
    if (first_.size() <= family) first_.resize(std::max<std::size_t>(families, std::size_t{family} + 1));
    First& first = first_[family];
    if (first.item == nullptr) first = {domain, &make()};
    if (first.domain == domain) return *first.item;
    Measured*& other = others_[std::uint64_t{domain} << 32 | family];
    if (other == nullptr) other = &make();
    return *other;
  }

 private:
  struct First {
    std::uint32_t domain = 0;
    Measured* item = nullptr;
  };
  std::vector<First> first_;  // by family: its item in the domain in which it came first
  std::unordered_map<std::uint64_t, Measured*> others_;
};

class Measurement {
 public:
  Measurement(const Trace& trace, Families& families, const Samples& samples, const std::stop_token& stop)
      : trace_(trace), samples_(samples), stop_(stop), launches_(trace, stop), families_(families), ranges_(trace) {}

  Measurements run() {
    if (reads_counters(trace_)) find_readings();
    measure_durations();
    for (const Track& track : trace_.tracks()) measure_track(track);
    measure_idle();
    measure_busy();
    Measurements items = collector_.take();
    for (auto& [key, measured] : items.items) measured.samples.finish(samples_);
    return items;
  }

 private:
  // Finds when each GPU was idle because counters of kernels were read, and which GPUs a process uses.
  void find_readings() {
    for (const Track& track : trace_.tracks())
      if (is_gpu_work(track.key.kind)) gpus_[track.key.process].insert(track.key.gpu);
    const std::set<GpuId> with_readings = gpus_with_readings(trace_);
    std::map<GpuId, IntervalUnion::Writer> writers;
    const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
      if (!with_readings.contains(gap.gpu)) return;
      for (const IdlePart& part : parts)
        if (part.cause == IdleCause::kOverhead) writers.try_emplace(gap.gpu).first->second.add(part.range.begin, part.range.end);
    };
    visit_idle(trace_, launches_, 1, add, stop_);
    for (auto& [gpu, writer] : writers) readings_.emplace(gpu, writer.take());
  }

  // Own time of a process on the CPU, or of all processes: without the time that reading counters of kernels took, which was asked for. All GPUs are
  // idle for the same reading, so the longest time counts.
  [[nodiscard]] Nanoseconds own_time(ProcessId process, TimeRange time) const {
    if (readings_.empty()) return time.length();
    const auto uses = [&](GpuId gpu) {
      const auto gpus = gpus_.find(process);
      return process == kNone || (gpus != gpus_.end() && gpus->second.contains(gpu));
    };
    Nanoseconds longest = 0;
    for (const auto& [gpu, reading] : readings_)
      if (uses(gpu)) longest = std::max(longest, reading.covered(time));
    return time.length() - longest;
  }

  void measure_durations() {
    Measured& duration = collector_.item(DiffKind::kDuration, samples_.are_iterations() ? "Iteration" : "Trace");
    duration.count = samples_.are_iterations() ? 0 : 1;
    samples_.for_each([&](ProcessId process, std::size_t sample, TimeRange time) {
      if (samples_.are_iterations()) ++duration.count;
      Collector::add(duration, sample, own_time(process, time));
    });
  }

  // The item to which an event belongs; nullptr if events of the track are not compared.
  [[nodiscard]] Measured* item_of(const TrackKey& track, const Lane& lane, EventIndex i) {
    const NameId name = lane.name(i);
    switch (track.kind) {
      case TrackKind::kKernels:
        return &kernels_.item(name, trace_.name_count(), [&]() -> Measured& { return collector_.item(DiffKind::kKernel, trace_.name(name)); });
      case TrackKind::kGraphLaunches:
        return &graphs_.item(0, 1, [&]() -> Measured& { return collector_.item(DiffKind::kKernel, "[CUDA graph]"); });
      case TrackKind::kMemory:
        return &memory_.item(lane.detail(i), 0,
                             [&]() -> Measured& { return collector_.item(DiffKind::kMemory, memory_operation_name(trace_.memory_detail(lane.detail(i)))); });
      case TrackKind::kCudaApi:
        return &calls_.item(name, trace_.name_count(), [&]() -> Measured& { return collector_.item(DiffKind::kApi, api_display_name(trace_.name(name))); });
      case TrackKind::kNvtxRanges: {
        const FamilyId family = families_.of_name(name);
        return &range_items_.item(family, families_.size(), domain_number_,
                                  [&]() -> Measured& { return collector_.new_range(families_.text(family), domain_); });
      }
      default:
        return nullptr;
    }
  }

  void measure_track(const Track& track) {
    const bool on_gpu = is_gpu_work(track.key.kind);
    domain_ = track.key.kind == TrackKind::kNvtxRanges ? trace_.domain_name(track.key.process, track.key.domain) : std::string_view();
    domain_number_ = domains_.try_emplace(domain_, static_cast<std::uint32_t>(domains_.size())).first->second;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace_.lane(id);
      for (EventIndex i = 0; i < lane.size() && !stop_.stop_requested(); ++i) {
        Measured* const item = item_of(track.key, lane, i);
        if (item == nullptr) return;
        const std::optional<std::size_t> sample =
            on_gpu ? sample_of_work(track.key.process, lane, i, lane.start(i)) : samples_.at(track.key.process, lane.start(i));
        if (!sample) continue;
        ++item->count;
        Collector::add(*item, *sample, on_gpu ? lane.duration(i) : own_time(track.key.process, {lane.start(i), lane.end(i)}));
        if (track.key.kind == TrackKind::kKernels && is_product(lane.name(i))) add_product(track.key.process, lane, i, *sample);
      }
    }
  }

  [[nodiscard]] bool is_product(NameId name) {
    const auto [known, is_new] = products_.try_emplace(name, false);
    if (is_new) known->second = kernels::product_format(trace_.name(name)).has_value();
    return known->second;
  }

  // The item is named by the ranges around the launch: these stay if a product runs as another kernel, for example with tensor cores instead of FP32
  // units.
  void add_product(ProcessId process, const Lane& lane, EventIndex i, std::size_t sample) {
    const EventRef launch = launches_.find(process, lane.correlation(i), lane.start(i));
    Measured& measured = collector_.item(DiffKind::kProducts, launch.valid() ? place_of(launch) : std::string(kNoRange));
    if (!measured.kernels) measured.kernels = std::make_unique<std::set<std::string>>();
    measured.kernels->emplace(trace_.name(lane.name(i)));
    ++measured.count;
    Collector::add(measured, sample, lane.duration(i));
  }

  // The families of the NVTX ranges around a call, from the outermost on.
  [[nodiscard]] std::string place_of(EventRef launch) {
    const Nanoseconds time = trace_.lane(launch.lane).start(launch.index);
    const ThreadId thread = ranges_.owner(trace_.track_of(launch.lane).key.thread, time);
    std::vector<std::pair<Nanoseconds, NameId>> around;
    ranges_.for_each(thread, time,
                     [&](EventRef range) { around.emplace_back(trace_.lane(range.lane).start(range.index), trace_.lane(range.lane).name(range.index)); });
    std::sort(around.begin(), around.end());
    constexpr std::size_t kDeepest = 8;
    std::string text;
    for (std::size_t depth = 0; depth < std::min(around.size(), kDeepest); ++depth)
      text.append(text.empty() ? "" : " > ").append(families_.text(families_.of_name(around[depth].second)));
    return text.empty() ? std::string(kNoRange) : text;
  }

  // GPU work belongs to the sample that enqueued it, unless samples are cut on the GPU.
  [[nodiscard]] std::optional<std::size_t> sample_of_work(ProcessId process, const Lane& lane, EventIndex i, Nanoseconds start) const {
    if (samples_.are_cut_on_gpu()) return samples_.on_gpu_at(process, start);
    const EventRef launch = launches_.find(process, lane.correlation(i), start);
    return samples_.at(process, launch.valid() ? trace_.lane(launch.lane).start(launch.index) : start);
  }

  // Idle time belongs to the sample that enqueued the operation at its end, as far as it lies after the start of the iteration before the first sample. If
  // samples are cut on the GPU, each starts with an operation, so that no gap lies in two samples.
  void measure_idle() {
    Measured& idle = collector_.item(DiffKind::kGpuIdle, "GPU idle");
    std::array<Measured*, kIdleCauses> causes{};
    const auto add = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
      const ProcessId process = trace_.track_of(gap.next.lane).key.process;
      const Lane& lane = trace_.lane(gap.next.lane);
      const std::optional<std::size_t> sample =
          samples_.are_cut_on_gpu() ? samples_.on_gpu_at(process, gap.range.begin) : sample_of_work(process, lane, gap.next.index, lane.start(gap.next.index));
      if (!sample) return;
      const Nanoseconds begin = samples_.are_cut_on_gpu() ? gap.range.begin : samples_.idle_begin(process);
      for (const IdlePart& part : parts) {
        if (part.cause == IdleCause::kOverhead && readings_.contains(gap.gpu)) continue;
        const Nanoseconds time = part.range.end - std::max(part.range.begin, begin);
        if (time <= 0) continue;
        Measured*& cause = causes[static_cast<std::size_t>(part.cause)];
        if (cause == nullptr) cause = &collector_.item(DiffKind::kGpuIdle, idle_cause_name(part.cause));
        Collector::add(*cause, *sample, time);
        Collector::add(idle, *sample, time);
        ++cause->count;
        ++idle.count;
      }
    };
    visit_idle(trace_, launches_, 1, add, stop_);
  }

  // An operation counts with the time by which it extends the busy time, so that overlapping operations count once. Those that are not compared, as of another
  // program on the GPU, take no time from others.
  void measure_busy() {
    Measured& busy = collector_.item(DiffKind::kGpuBusy, "GPU busy");
    for (GpuId gpu = 0; gpu < trace_.gpus().size(); ++gpu) {
      GpuOperations operations(trace_, gpu, stop_);
      Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
      while (const std::optional<GpuOperation> operation = operations.next()) {
        const ProcessId process = trace_.track_of(operation->event.lane).key.process;
        const std::optional<std::size_t> sample = sample_of_work(process, trace_.lane(operation->event.lane), operation->event.index, operation->range.begin);
        if (!sample) continue;
        const Nanoseconds begin = std::max(end, operation->range.begin);
        end = std::max(end, operation->range.end);
        Collector::add(busy, *sample, std::max<Nanoseconds>(0, end - begin));
        ++busy.count;
      }
    }
  }

  const Trace& trace_;
  const Samples& samples_;
  const std::stop_token& stop_;
  Collector collector_;
  ItemsById kernels_, graphs_, memory_, calls_;
  RangeItems range_items_;
  std::unordered_map<std::string_view, std::uint32_t> domains_;  // their numbers, by name
  std::uint32_t domain_number_ = 0;                              // of the current track
  std::string_view domain_;                                      // of the ranges of the current track
  static constexpr std::string_view kNoRange = "outside of NVTX ranges";
  LaunchIndex launches_;
  Families& families_;
  RangeLookup ranges_;
  std::map<NameId, bool> products_;
  std::map<GpuId, IntervalUnion> readings_;  // empty if no counters were read
  std::map<ProcessId, std::set<GpuId>> gpus_;
};

}  // namespace

Measurements measure(const Trace& trace, Families& families, const Samples& samples, const std::stop_token& stop) {
  return Measurement(trace, families, samples, stop).run();
}

}  // namespace lanescope::analysis

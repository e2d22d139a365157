#include "timeline/core/lanes/idle_time.h"

#include <algorithm>
#include <array>

#include "lane_writer.h"
#include "model/samples/most_sampled.h"
#include "timeline/core/words/format.h"

namespace lanescope::timeline {
namespace {

using analysis::IdleCause;
using analysis::IdleGap;
using analysis::IdlePart;

// Names in the lanes start at 1, because 0 means no name.
NameId name_of(IdleCause cause) noexcept { return static_cast<NameId>(cause) + 1; }
IdleCause cause_of(NameId name) noexcept { return name == 0 ? IdleCause::kUnknown : static_cast<IdleCause>(name - 1); }

// "376.1 ms (59 %), cudaStreamSynchronize"
std::string cause_text(const Trace& trace, const IdleTime::CauseTime& cause, Nanoseconds whole) {
  const std::string share = format_share(static_cast<double>(cause.time) / static_cast<double>(whole));
  const std::string_view call = cause.call == 0 ? std::string_view() : api_display_name(trace.name(cause.call));
  return format_duration(cause.time) + " (" + share + ")" + (call.empty() ? "" : ", " + std::string(call));
}

}  // namespace

std::string GpuNames::of(GpuId gpu) const {
  std::string name = "GPU " + std::to_string(trace_.gpus()[gpu].ordinal);
  const TracePart* const part = parts_.of(gpu);
  return part ? std::string(short_label(part->label)) + ' ' + name : name;
}

IdleTime::IdleTime(std::shared_ptr<const Trace> trace, Nanoseconds threshold, std::stop_token stop) : trace_(std::move(trace)), threshold_(threshold) {
  struct Writers {
    LaneWriter gaps;
    LaneWriter parts;
  };
  std::map<GpuId, Writers> writers;
  analysis::visit_idle(
      *trace_, threshold,
      [&](const IdleGap& gap, std::span<const IdlePart> parts) {
        Writers& of_gpu = writers[gap.gpu];
        of_gpu.gaps.add(gap.range, name_of(analysis::main_cause(parts)), 0);
        for (const IdlePart& part : parts)
          if (!part.range.empty()) of_gpu.parts.add(part.range, name_of(part.cause), part.call);
      },
      stop);
  if (stop.stop_requested()) return;
  auto gpus = std::make_shared<std::map<GpuId, GpuLanes>>();
  for (auto& [gpu, of_gpu] : writers) gpus->emplace(gpu, GpuLanes{of_gpu.gaps.take(), of_gpu.parts.take()});
  gpus_ = std::move(gpus);
}

std::optional<Gap> IdleTime::at(GpuId gpu, Nanoseconds time) const {
  if (!gpus_) return std::nullopt;
  const auto found = gpus_->find(gpu);
  if (found == gpus_->end()) return std::nullopt;
  const Lane& gaps = found->second.gaps;
  const auto index = gaps.at(time);
  if (!index) return std::nullopt;
  return Gap{gpu, {gaps.start(*index), gaps.end(*index)}, cause_of(gaps.name(*index))};
}

std::optional<Gap> IdleTime::find(TimeRange range, std::optional<GpuId> wanted) const {
  if (!gpus_) return std::nullopt;
  for (const auto& [gpu, lanes] : *gpus_)
    if (const auto gap = at(gpu, range.begin); gap && gap->range == range && (!wanted || gpu == *wanted)) return gap;
  return std::nullopt;
}

std::optional<Gap> IdleTime::nearest(Nanoseconds time, Nanoseconds shortest, Direction direction) const {
  std::optional<Gap> best;
  if (!gpus_) return best;
  for (const auto& [gpu, lanes] : *gpus_) {
    const Lane& gaps = lanes.gaps;
    const auto take = [&, gpu = gpu](EventIndex i) { best = Gap{gpu, {gaps.start(i), gaps.end(i)}, cause_of(gaps.name(i))}; };
    if (direction == Direction::kNext) {
      for (EventIndex i = gaps.lower_bound(time + 1); i < gaps.size() && (!best || gaps.start(i) < best->range.begin); ++i)
        if (gaps.duration(i) >= shortest) {
          take(i);
          break;
        }
    } else {
      for (EventIndex i = gaps.lower_bound(time); i-- > 0 && (!best || gaps.start(i) > best->range.begin);)
        if (gaps.duration(i) >= shortest) {
          take(i);
          break;
        }
    }
  }
  return best;
}

std::optional<Gap> IdleTime::nearest(const Gap& from, Nanoseconds shortest, Direction direction) const {
  if (!gpus_) return std::nullopt;
  std::vector<Gap> together;  // gaps with the same start, by GPU
  const auto gather = [&](Nanoseconds begin) {
    together.clear();
    for (const auto& [gpu, lanes] : *gpus_)
      if (const auto gap = at(gpu, begin); gap && gap->range.begin == begin && gap->range.length() >= shortest) together.push_back(*gap);
  };
  gather(from.range.begin);
  if (direction == Direction::kNext) {
    const auto next = std::find_if(together.begin(), together.end(), [&](const Gap& gap) { return gap.gpu > from.gpu; });
    return next != together.end() ? *next : nearest(from.range.begin, shortest, direction);
  }
  const auto previous = std::find_if(together.rbegin(), together.rend(), [&](const Gap& gap) { return gap.gpu < from.gpu; });
  if (previous != together.rend()) return *previous;
  const std::optional<Gap> before = nearest(from.range.begin, shortest, direction);
  if (!before) return std::nullopt;
  gather(before->range.begin);
  return together.back();
}

std::vector<IdleTime::Column> IdleTime::columns(GpuId gpu, const Viewport& viewport) const {
  if (!gpus_) return {};
  const auto found = gpus_->find(gpu);
  if (found == gpus_->end()) return {};
  const Lane& parts = found->second.parts;
  std::vector<Column> columns(static_cast<std::size_t>(viewport.width));
  for (std::int32_t x = 0; x < viewport.width; ++x) {
    const TimeRange pixel{viewport.time_at(x), viewport.time_at(x + 1)};
    if (pixel.empty()) {  // a pixel of less than a nanosecond
      if (const auto index = parts.at(pixel.begin)) columns[static_cast<std::size_t>(x)] = {1, cause_of(parts.name(*index))};
      continue;
    }
    const auto [first, last] = parts.overlapping(pixel);
    if (first == last) continue;
    const Nanoseconds idle = parts.busy(pixel);
    // Parts at the edges of the pixel count only with their time within it.
    LaneSummary sum;
    const auto vote = [&](EventIndex i) { sum.vote(parts.name(i), TimeRange{parts.start(i), parts.end(i)}.intersected(pixel).length()); };
    if (last - first > 2) sum = parts.summarize(first + 1, last - 1);
    vote(first);
    if (last - first > 1) vote(last - 1);
    columns[static_cast<std::size_t>(x)] = {static_cast<double>(idle) / static_cast<double>(pixel.length()), cause_of(sum.dominant)};
  }
  return columns;
}

std::vector<IdleTime::Stretch> IdleTime::stretches(GpuId gpu, const Viewport& viewport, std::span<const Column> columns, std::int32_t narrowest) const {
  if (columns.empty()) return {};
  std::vector<Stretch> stretches;
  for (std::int32_t left = 0; left < viewport.width;) {
    const std::optional<Gap> gap = at(gpu, viewport.time_at(left));
    const double end = gap ? std::min<double>(viewport.x_at(gap->range.end), viewport.width) : left;
    const std::int32_t right = std::max(left + 1, static_cast<std::int32_t>(end));
    if (gap && right - left >= narrowest) {
      const std::size_t before = stretches.size();
      for (std::int32_t x = left; x < right;) {
        const std::int32_t begin = x;
        const IdleCause cause = columns[static_cast<std::size_t>(begin)].cause;
        while (x < right && columns[static_cast<std::size_t>(x)].cause == cause) ++x;
        if (x - begin < narrowest || (stretches.size() > before && stretches.back().cause == cause)) continue;
        if (stretches.size() > before) stretches.back().right = begin;
        stretches.push_back({begin, right, cause});
      }
      if (stretches.size() == before) stretches.push_back({left, right, gap->cause});
    }
    left = right;
  }
  return stretches;
}

std::vector<IdleTime::CauseTime> IdleTime::causes_on(const GpuLanes& lanes, TimeRange range) const {
  std::array<Nanoseconds, analysis::kIdleCauses> times{};
  std::array<std::map<NameId, Nanoseconds>, analysis::kIdleCauses> calls;
  const auto [first, last] = lanes.parts.overlapping(range);
  for (EventIndex i = first; i < last; ++i) {
    const auto cause = static_cast<std::size_t>(cause_of(lanes.parts.name(i)));
    const Nanoseconds time = TimeRange{lanes.parts.start(i), lanes.parts.end(i)}.intersected(range).length();
    times[cause] += time;
    calls[cause][lanes.parts.detail(i)] += time;
  }
  std::vector<CauseTime> causes;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto& [call, time] = *std::max_element(calls[i].begin(), calls[i].end(), by_time);
    causes.push_back({static_cast<IdleCause>(i), times[i], time * 2 >= times[i] ? call : 0});
  }
  std::stable_sort(causes.begin(), causes.end(), [](const CauseTime& a, const CauseTime& b) { return a.time > b.time; });
  return causes;
}

std::vector<std::pair<GpuId, std::vector<IdleTime::CauseTime>>> IdleTime::causes(TimeRange range) const {
  std::vector<std::pair<GpuId, std::vector<CauseTime>>> all;
  if (!gpus_) return all;
  for (const auto& [gpu, lanes] : *gpus_)
    if (std::vector<CauseTime> causes = causes_on(lanes, range); !causes.empty()) all.emplace_back(gpu, std::move(causes));
  return all;
}

// A gap lasts until an operation of its GPU starts.
std::optional<EventRef> IdleTime::operation_behind(const Gap& gap) const {
  for (const Track& track : trace_->tracks()) {
    if (track.key.gpu != gap.gpu || !is_gpu_work(track.key.kind)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace_->lane(id);
      const EventIndex index = lane.lower_bound(gap.range.end);
      if (index < lane.size() && lane.start(index) == gap.range.end) return EventRef{id, index};
    }
  }
  return std::nullopt;
}

std::vector<Property> IdleTime::describe(const Gap& gap) const {
  constexpr Nanoseconds kLeastPart = 100;  // the divisor of the gap's length: shorter parts get no line
  std::vector<Property> properties{
      {"Name", Message("{gpu} idle for {time}", {{"gpu", GpuNames(*trace_).of(gap.gpu)}, {"time", format_duration(gap.range.length())}})}};
  for (const CauseTime& cause : causes_on(gpus_->at(gap.gpu), gap.range))
    if (cause.time >= gap.range.length() / kLeastPart)
      properties.push_back({analysis::idle_cause_name(cause.cause), cause_text(*trace_, cause, gap.range.length())});
  const std::optional<EventRef> next = operation_behind(gap);
  const std::optional<EventRef> launch = next ? trace_->launch_of(*next) : std::nullopt;
  if (launch) {
    const ThreadId thread = trace_->track_of(launch->lane).key.thread;
    constexpr std::size_t kFunctions = 2;
    samples::ChainCounts chains;
    samples::ThreadSamples(*trace_).count(thread, gap.range, chains);
    Message sampled = samples::most_sampled_text(*trace_, chains, samples::ChainPart::kInnermostPython, kFunctions);
    if (!sampled.empty()) properties.push_back({"Samples of the CPU", std::move(sampled)});
    std::string ranges;
    for (const EventRef range : trace_->nvtx_stack(thread, gap.range.begin + gap.range.length() / 2))
      ranges += (ranges.empty() ? "" : " › ") + event_title(*trace_, range);
    if (!ranges.empty()) properties.push_back({"NVTX", std::move(ranges)});
  }
  if (next) properties.emplace_back("Ended by", compact_kernel_name(event_title(*trace_, *next))).event = *next;
  if (launch) properties.emplace_back("Launched by", event_title(*trace_, *launch)).event = *launch;
  properties.push_back({"Begins", format_time(gap.range.begin)});
  properties.push_back({"Ends", format_time(gap.range.end)});
  return properties;
}

Rgb idle_color(IdleCause cause, ColorScheme scheme) noexcept {
  const auto tone = [cause]() -> std::pair<double, double> {  // hue and saturation
    switch (cause) {
      case IdleCause::kLaunch:
        return {212, 0.50};
      case IdleCause::kSynchronize:
        return {40, 0.80};
      case IdleCause::kCopy:
        return {165, 0.55};
      case IdleCause::kCudaSetup:
        return {25, 0.45};
      case IdleCause::kOsIo:
        return {255, 0.50};
      case IdleCause::kOsLock:
        return {285, 0.60};
      case IdleCause::kOsSleep:
        return {235, 0.25};
      case IdleCause::kOsQueue:
        return {270, 0.35};
      case IdleCause::kOsOther:
        return {225, 0.30};
      case IdleCause::kOsBlocked:
        return {300, 0.35};
      case IdleCause::kOsProcessor:
        return {0, 0.70};
      case IdleCause::kCpuCode:
        return {345, 0.60};
      case IdleCause::kDependency:
        return {190, 0.30};
      case IdleCause::kCommunication:
        return {315, 0.60};
      case IdleCause::kMigration:
        return {95, 0.45};
      case IdleCause::kOverhead:
        return {0, 0.30};
      case IdleCause::kUnknown:
        break;
    }
    return {0, 0};
  };
  const auto [hue, saturation] = tone();
  return from_hsl(hue, saturation, scheme == ColorScheme::kDark ? 0.56 : 0.52);
}

}  // namespace lanescope::timeline

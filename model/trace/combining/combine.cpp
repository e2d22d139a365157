#include "model/trace/combining/combine.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "changed_counters.h"
#include "changed_segments.h"
#include "lanescope/trace.pb.h"
#include "model/trace/combining/parts.h"
#include "model/trace/completeness.h"
#include "model/trace/kernel_records.h"
#include "model/trace/text/grouped_digits.h"
#include "model/trace/workers/parallel.h"
#include "row_index.h"

namespace lanescope {
// Appends traces to a copy of the first.
class TraceCombiner {
 public:
  TraceCombiner(const TraceSource& first, GpusSeenTwice gpus, std::stop_token stop) : stop_(std::move(stop)), trace_(*first.trace), gpus_seen_twice_(gpus) {
    detach();
    functions_ = *trace_.call_stacks_.functions_;
    records_ = trace_.kernel_records();
    for (std::uint32_t i = 0; i < records_.metrics.size(); ++i) metric_ids_.emplace(records_.metrics[i], i);
    for (const auto& source : records_.sources) known_sources_.insert(source->path);
    for (const Process& process : trace_.processes_) last_instance_ = std::max(last_instance_, process.instance);
    for (NameId id = 0; id < trace_.names_.size(); ++id) append_to_index(id);
    close_part(first, part_of(first), 0);
    add_known_gpus();
  }

  void append(const TraceSource& source) {
    const auto first_track = static_cast<TrackId>(trace_.tracks_.size());
    source_ = source.trace;
    from_ = source_.get();
    clock_ = source.clock;
    TracePart part = part_of(source);
    map_names();
    map_gpus(part);
    map_processes();
    append_tables();
    append_tracks();
    append_kernel_records();
    append_counters();
    append_messages();
    close_part(source, std::move(part), first_track);
    add_known_gpus();
  }

  static std::shared_ptr<const Trace> with_remarks(const Trace& trace, std::span<const TraceRemark> remarks) {
    Trace copy = trace;
    for (const TraceRemark& remark : remarks) {
      if (remark.kind == TraceRemark::Kind::kCondition) {
        add_sentence(copy.provenance_.condition, remark.sentence);
        continue;
      }
      DiagnosticMessage message;
      message.time = trace.extent().begin;
      message.severity = remark.kind == TraceRemark::Kind::kWarning ? proto::SEVERITY_WARNING : proto::SEVERITY_INFO;
      message.text = remark.sentence;
      if (remark.kind == TraceRemark::Kind::kSameRecording) message.content.kind = DiagnosticKind::kSameRecording;
      copy.diagnostics_.push_back(std::move(message));
    }
    return std::make_shared<const Trace>(std::move(copy));
  }

  static std::shared_ptr<const Trace> without_events_of(const Trace& trace, std::span<const TracePart* const> parts) {
    Trace copy = trace;
    TimeRange extent;
    for (std::size_t i = 0; i < trace.parts().size(); ++i) {
      TracePart& part = copy.parts_[i];
      if (std::find(parts.begin(), parts.end(), &trace.parts()[i]) == parts.end()) {
        add_to(extent, part.extent);
        continue;
      }
      for (TrackId track = part.first_track; track < part.end_track; ++track)
        for (const LaneId lane : copy.tracks_[track].lanes) {
          copy.event_count_ -= copy.lanes_[lane].size();
          copy.lanes_[lane] = Lane();
        }
    }
    copy.extent_ = extent;
    return std::make_shared<const Trace>(std::move(copy));
  }

  std::shared_ptr<const Trace> take() {
    build_lanes();
    if (stop_.stop_requested()) return nullptr;
    TimeRange extent;
    for (const TracePart& part : trace_.parts_) add_to(extent, part.extent);
    trace_.extent_ = extent;
    trace_.provenance_ = provenance_of(trace_.parts_);
    trace_.provenance_.part = time_of_saved(trace_.parts_);
    trace_.call_stacks_.functions_ = std::make_shared<const CallStacks::Functions>(std::move(functions_));
    trace_.kernel_records_ = std::make_shared<const KernelRecords>(std::move(records_));
    trace_.index_resources();
    return std::make_shared<const Trace>(std::move(trace_));
  }

 private:
  static void add_to(TimeRange& extent, TimeRange of_part) {
    if (of_part.empty()) return;
    extent = extent.empty() ? of_part : TimeRange{std::min(extent.begin, of_part.begin), std::max(extent.end, of_part.end)};
  }

  // The provenance of the first part, but missing data is what any of the parts lacks.
  static Provenance provenance_of(const std::vector<TracePart>& parts) {
    Provenance all = parts.front().provenance;
    all.condition.clear();
    all.unwritten_events = 0;
    // If a job was killed, all its recordings have the same condition: it is said once. Parts that are not named here are named in the diagnostics.
    constexpr std::size_t kTold = 8, kNamed = 4;
    std::vector<std::pair<std::string, std::vector<std::string>>> conditions;  // and the labels of the parts that have each
    for (const TracePart& part : parts) {
      all.finished = all.finished && part.provenance.finished;
      all.read_in_part = all.read_in_part || part.provenance.read_in_part;
      all.unwritten_events += part.provenance.unwritten_events;
      if (part.provenance.condition.empty()) continue;
      const auto same = std::find_if(conditions.begin(), conditions.end(), [&](const auto& each) { return each.first == part.provenance.condition; });
      if (same == conditions.end())
        conditions.push_back({part.provenance.condition, {part.label}});
      else
        same->second.push_back(part.label);
    }
    std::size_t untold = 0;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      const auto& [condition, labels] = conditions[i];
      if (i >= kTold) {
        untold += labels.size();
        continue;
      }
      std::string names;
      for (std::size_t named = 0; named < std::min(labels.size(), kNamed); ++named) names += (named == 0 ? "" : ", ") + with_one_gap(labels[named]);
      if (labels.size() > kNamed) names += " and " + grouped_digits(labels.size() - kNamed) + " more";
      add_sentence(all.condition, of_part(names, condition));
    }
    if (untold > 0) add_sentence(all.condition, "And " + grouped_digits(untold) + " more are not whole.");
    if (!all.finished) all.end = RecordingEnd::kUnknown;
    return all;
  }

  // From the first start to the last end, if any part is a saved part.
  static std::optional<SavedPart> time_of_saved(const std::vector<TracePart>& parts) {
    if (std::none_of(parts.begin(), parts.end(), [](const TracePart& part) { return part.provenance.part.has_value(); })) return std::nullopt;
    std::optional<SavedPart> all;
    for (const TracePart& part : parts) {
      const std::optional<SavedPart>& saved = part.provenance.part;
      if (part.extent.empty() && !saved) continue;
      const SavedPart own = saved ? SavedPart{part.clock(saved->time), part.clock(saved->first_launch)} : SavedPart{part.extent, part.extent.begin};
      all = all ? SavedPart{{std::min(all->time.begin, own.time.begin), std::max(all->time.end, own.time.end)}, std::min(all->first_launch, own.first_launch)}
                : own;
    }
    return all;
  }

  // "rank 1 r1.trace: The recording was cut off ..."
  static std::string of_part(std::string label, std::string_view sentence) { return with_one_gap(std::move(label)).append(": ").append(sentence); }
  static std::string with_one_gap(std::string label) {
    if (const auto gap = label.find("  "); gap != std::string::npos) label.erase(gap, 1);
    return label;
  }

  // The tables of the first trace share their last blocks with its builder, so rows are appended to copies of these.
  void detach() {
    trace_.names_ = trace_.names_.detached();
    trace_.kernel_details_ = trace_.kernel_details_.detached();
    trace_.memory_details_ = trace_.memory_details_.detached();
    trace_.api_details_ = trace_.api_details_.detached();
    trace_.synchronization_details_ = trace_.synchronization_details_.detached();
    trace_.graph_launch_details_ = trace_.graph_launch_details_.detached();
    trace_.cuda_event_details_ = trace_.cuda_event_details_.detached();
    trace_.memory_usage_details_ = trace_.memory_usage_details_.detached();
    trace_.nvtx_details_ = trace_.nvtx_details_.detached();
    trace_.page_fault_details_ = trace_.page_fault_details_.detached();
    trace_.thread_state_details_ = trace_.thread_state_details_.detached();
    trace_.sample_details_ = trace_.sample_details_.detached();
    trace_.call_stacks_.nodes_ = trace_.call_stacks_.nodes_.detached();
    trace_.call_stacks_.locations_ = trace_.call_stacks_.locations_.detached();
  }

  void map_names() {
    names_.clear();
    const NameTable& theirs = from_->names_;
    names_.reserve(theirs.size());
    std::array<std::uint64_t, RowIndex::kAtOnce> hashes;
    for (std::size_t first = 0; first < theirs.size(); first += hashes.size()) {
      const std::size_t end = std::min(theirs.size(), first + hashes.size());
      for (std::size_t id = first; id < end; ++id) name_ids_.prefetch(hashes[id - first] = hash_of(theirs[id]));
      for (std::size_t id = first; id < end; ++id) {
        const std::string_view text = theirs[id];
        const std::uint32_t known = name_ids_.find(hashes[id - first], [&](std::uint32_t row) { return trace_.names_[row] == text; });
        names_.push_back(known != kNone ? known : static_cast<NameId>(trace_.names_.append(text)));
        if (known == kNone) append_to_index(names_.back());
      }
    }
  }

  void append_to_index(NameId id) {
    const auto hash_of_name = [this](std::uint32_t row) { return hash_of(trace_.names_[row]); };
    name_ids_.append(hash_of_name(id), hash_of_name);
  }

  // A GPU is the same as one with its UUID that another recording saw at the same time.
  void map_gpus(const TracePart& part) {
    gpus_.clear();
    for (const Gpu& gpu : from_->gpus_) {
      const auto [first, last] = known_gpus_.equal_range(gpu.uuid);
      const auto same = std::find_if(first, last, [&](const auto& known) { return saw_the_same(trace_.parts_[known.second.part], part); });
      gpus_.push_back(same != last ? same->second.gpu : static_cast<GpuId>(trace_.gpus_.size()));
      if (same == last) trace_.gpus_.push_back(gpu);
    }
  }
  [[nodiscard]] bool saw_the_same(const TracePart& one, const TracePart& other) const noexcept {
    const std::string &machine = one.provenance.boot_id, &other_machine = other.provenance.boot_id;
    if (!machine.empty() && !other_machine.empty() && machine != other_machine) return false;
    return !one.extent.intersected(other.extent).empty() && ran_together(one, other, trace_.parts_.front());
  }
  // Adds the GPUs of the last part, for the next parts.
  void add_known_gpus() {
    if (gpus_seen_twice_ == GpusSeenTwice::kAreTwo) return;
    const std::size_t part = trace_.parts_.size() - 1;
    const auto add = [&](GpuId gpu) {
      if (!trace_.gpus_[gpu].uuid.empty()) known_gpus_.emplace(trace_.gpus_[gpu].uuid, KnownGpu{gpu, part});
    };
    if (part == 0)
      for (GpuId gpu = 0; gpu < trace_.gpus_.size(); ++gpu) add(gpu);
    else
      for (const GpuId gpu : gpus_) add(gpu);
  }

  // Recordings number their processes from 1, so the processes of the next recording get numbers after all that exist.
  void map_processes() {
    first_process_ = static_cast<ProcessId>(trace_.processes_.size());
    first_thread_ = static_cast<ThreadId>(trace_.threads_.size());
    const std::uint32_t first_instance = last_instance_ + 1;
    for (Process process : from_->processes_) {
      process.instance += first_instance;
      last_instance_ = std::max(last_instance_, process.instance);
      process.start = clock_(process.start);
      if (process.end) process.end = clock_(*process.end);
      trace_.processes_.push_back(std::move(process));
    }
    for (Thread thread : from_->threads_) {
      thread.process = process(thread.process);
      trace_.threads_.push_back(std::move(thread));
    }
    for (CudaDevice device : from_->devices_) trace_.devices_.push_back({process(device.process), device.ordinal, gpu(device.gpu)});
    append_of_processes(trace_.contexts_, from_->contexts_);
    append_of_processes(trace_.streams_, from_->streams_);
    append_of_processes(trace_.cuda_names_, from_->cuda_names_);
    append_of_processes(trace_.domains_, from_->domains_);
    append_of_processes(trace_.categories_, from_->categories_);
  }

  [[nodiscard]] ProcessId process(ProcessId id) const noexcept { return id == kNone ? kNone : first_process_ + id; }
  [[nodiscard]] ThreadId thread(ThreadId id) const noexcept { return id == kNone ? kNone : first_thread_ + id; }
  [[nodiscard]] GpuId gpu(GpuId id) const noexcept { return id == kNone ? kNone : gpus_[id]; }
  [[nodiscard]] NameId name(NameId id) const noexcept { return names_[id]; }

  template <typename Entry>
  void append_of_processes(std::vector<Entry>& all, const std::vector<Entry>& more) {
    for (Entry entry : more) {
      entry.process = process(entry.process);
      all.push_back(std::move(entry));
    }
  }

  // Appends all rows except the first, which is the default everywhere. Returns the offset for ids that are not 0.
  template <typename Row, typename Change>
  std::uint32_t append_rows(AppendOnlyTable<Row>& all, const AppendOnlyTable<Row>& more, Change change) {
    const auto offset = static_cast<std::uint32_t>(std::max<std::size_t>(all.size(), 1) - 1);
    for (std::size_t id = all.empty() ? 0 : 1; id < more.size(); ++id) {
      Row row = more[id];
      change(row);
      all.append(std::move(row));
    }
    return offset;
  }

  void append_tables() {
    const auto nothing = [](auto&) {};
    kernel_offset_ = append_rows(trace_.kernel_details_, from_->kernel_details_, [this](KernelDetail& detail) {
      detail.mangled_name = name(detail.mangled_name);
      detail.short_name = name(detail.short_name);
    });
    memory_offset_ = append_rows(trace_.memory_details_, from_->memory_details_, nothing);
    api_offset_ = append_rows(trace_.api_details_, from_->api_details_, nothing);
    synchronization_offset_ = append_rows(trace_.synchronization_details_, from_->synchronization_details_, nothing);
    graph_launch_offset_ = append_rows(trace_.graph_launch_details_, from_->graph_launch_details_, nothing);
    cuda_event_offset_ = append_rows(trace_.cuda_event_details_, from_->cuda_event_details_, nothing);
    memory_usage_offset_ =
        append_rows(trace_.memory_usage_details_, from_->memory_usage_details_, [this](MemoryUsageDetail& detail) { detail.variable = name(detail.variable); });
    nvtx_offset_ = append_rows(trace_.nvtx_details_, from_->nvtx_details_, [this](NvtxDetail& detail) {
      detail.end_thread = thread(detail.end_thread);
      detail.payload_json = name(detail.payload_json);
    });
    page_fault_offset_ = append_rows(trace_.page_fault_details_, from_->page_fault_details_, [this](PageFaultDetail& detail) {
      detail.function = name(detail.function);
      detail.module = name(detail.module);
      detail.source_file = name(detail.source_file);
    });
    thread_state_offset_ = append_rows(trace_.thread_state_details_, from_->thread_state_details_, nothing);
    const std::uint32_t nodes = append_call_stacks();
    sample_offset_ = append_rows(trace_.sample_details_, from_->sample_details_, [nodes](SampleDetail& detail) {
      if (detail.call_node != 0) detail.call_node += nodes;
    });
  }

  // Returns the offset for ids of nodes that are not 0.
  std::uint32_t append_call_stacks() {
    CallStacks& stacks = trace_.call_stacks_;
    const CallStacks& more = from_->call_stacks_;
    functions_.pad(std::max<std::size_t>(1, stacks.locations_.size()));
    const std::uint32_t locations = append_rows(stacks.locations_, more.locations_, [this](CodeLocation& location) {
      location.module = name(location.module);
      location.build_id = name(location.build_id);
    });
    std::vector<CodeFunction> of_location;
    for (CodeLocationId id = 1; id < more.locations_.size(); ++id) {
      of_location.clear();
      for (const CodeFunction& function : more.functions(id))
        of_location.push_back({name(function.function), name(function.source_file), function.source_line});
      functions_.append(of_location);
    }
    const auto nodes = static_cast<std::uint32_t>(std::max<std::size_t>(stacks.nodes_.size(), 1) - 1);
    append_rows(stacks.nodes_, more.nodes_, [nodes, locations](CallNode& node) {
      if (node.parent != 0) node.parent += nodes;
      if (node.location != 0) node.location += locations;
    });
    return nodes;
  }

  [[nodiscard]] std::uint32_t detail_offset(TrackKind kind) const noexcept {
    switch (kind) {
      case TrackKind::kKernels:
        return kernel_offset_;
      case TrackKind::kMemory:
        return memory_offset_;
      case TrackKind::kGraphLaunches:
        return graph_launch_offset_;
      case TrackKind::kSynchronizations:
        return synchronization_offset_;
      case TrackKind::kCudaApi:
        return api_offset_;
      case TrackKind::kNvtxRanges:
      case TrackKind::kNvtxProcessRanges:
      case TrackKind::kNvtxMarks:
        return nvtx_offset_;
      case TrackKind::kPageFaults:
        return page_fault_offset_;
      case TrackKind::kThreadStates:
      case TrackKind::kProcessors:
        return thread_state_offset_;
      case TrackKind::kCpuSamples:
      case TrackKind::kBacktraces:
        return sample_offset_;
      case TrackKind::kMemoryUsage:
        return memory_usage_offset_;
      case TrackKind::kCudaEvents:
        return cuda_event_offset_;
      case TrackKind::kOsRuntime:  // the detail is not a row of a table
      case TrackKind::kOverhead:
      case TrackKind::kCompilation:
        break;
    }
    return 0;
  }

  void append_tracks() {
    const auto first_lane = static_cast<LaneId>(trace_.lanes_.size());
    const auto first_track = static_cast<TrackId>(trace_.tracks_.size());
    const auto part_names = std::make_shared<const std::vector<NameId>>(names_);
    trace_.lanes_.resize(first_lane + from_->lanes_.size());
    for (const TrackId track : from_->track_of_lane_) trace_.track_of_lane_.push_back(first_track + track);
    for (const Track& track : from_->tracks_) {
      Track appended = track;
      appended.key.process = process(track.key.process);
      appended.key.thread = thread(track.key.thread);
      appended.key.gpu = gpu(track.key.gpu);
      for (LaneId& lane : appended.lanes) lane += first_lane;
      const LaneChange change{clock_, detail_offset(track.key.kind), part_names};
      for (const LaneId lane : track.lanes) {
        if (const DemandedSegments* demanded = demanded_segments(from_->lane(lane))) {
          demanded_.push_back({first_lane + lane, source_, demanded, change, std::vector<SegmentBounds>(demanded->bounds().size())});
          for (std::size_t i = 0; i < demanded->bounds().size(); ++i) bounds_.push_back({demanded_.size() - 1, i});
          continue;
        }
        segments_.push_back({first_lane + lane, std::vector<std::shared_ptr<const LaneSegment>>(from_->lane(lane).segment_count())});
        for (std::size_t i = 0; i < segments_.back().built.size(); ++i) work_.push_back({&from_->lane(lane), segments_.size() - 1, i, change});
      }
      trace_.tracks_.push_back(std::move(appended));
    }
    trace_.event_count_ += from_->event_count_;
  }

  void append_kernel_records() {
    if (!from_->kernel_records_ || from_->kernel_records_->empty()) return;
    KernelRecords& all = records_;
    const KernelRecords& more = *from_->kernel_records_;
    for (const auto& object : more.code) {
      CodeObject copy = *object;
      copy.process = process(copy.process);
      all.code.push_back(std::make_shared<const CodeObject>(std::move(copy)));
    }
    const auto first_function = static_cast<GpuFunctionId>(all.functions.size());
    for (GpuFunction function : more.functions)
      all.functions.push_back({process(function.process), function.code_object, function.index, name(function.name), name(function.mangled)});
    std::vector<std::uint32_t> reasons;
    for (const std::string& reason : more.reasons) {
      const auto known = std::find(all.reasons.begin(), all.reasons.end(), reason);
      reasons.push_back(static_cast<std::uint32_t>(known - all.reasons.begin()));
      if (known == all.reasons.end()) all.reasons.push_back(reason);
    }
    for (const auto& window : more.windows) {
      PcSampleWindow copy = *window;
      copy.process = process(copy.process);
      copy.gpu = gpu(copy.gpu);
      copy.time = clock_(copy.time);
      for (PcSample& sample : copy.samples) {
        sample.function += first_function;
        sample.reason = reasons[sample.reason];
      }
      all.windows.push_back(std::make_shared<const PcSampleWindow>(std::move(copy)));
    }
    append_measured(all, more, first_function);
    for (const auto& source : more.sources)
      if (known_sources_.insert(source->path).second) all.sources.push_back(source);
  }

  void append_measured(KernelRecords& all, const KernelRecords& more, GpuFunctionId first_function) {
    std::vector<std::uint32_t> metrics;
    for (const std::string& metric : more.metrics) {
      const auto [found, is_new] = metric_ids_.emplace(metric, static_cast<std::uint32_t>(all.metrics.size()));
      metrics.push_back(found->second);
      if (is_new) all.metrics.push_back(metric);
    }
    for (const auto& launch : more.measured) {
      MeasuredLaunch copy = *launch;
      copy.process = process(copy.process);
      for (MetricValue& value : copy.values) value.metric = metrics[value.metric];
      all.measured.push_back(std::make_shared<const MeasuredLaunch>(std::move(copy)));
    }
    for (const auto& counts : more.counted) {
      InstructionCounts copy = *counts;
      copy.process = process(copy.process);
      for (std::uint32_t& metric : copy.metrics) metric = metrics[metric];
      for (InstructionCounts::Row& row : copy.rows) row.function += first_function;
      all.counted.push_back(std::make_shared<const InstructionCounts>(std::move(copy)));
    }
    for (const LeftOutKernel& kernel : more.left_out) all.left_out.push_back({process(kernel.process), kernel.name, kernel.reason});
  }

  void append_counters() {
    for (Counter counter : from_->counters_) {
      counter.process = process(counter.process);
      counter.gpu = gpu(counter.gpu);
      trace_.counters_.push_back(std::move(counter));
    }
    std::map<const DemandedCounters*, std::shared_ptr<const DemandedCounters>> groups;
    for (const CounterSeries& series : from_->counter_series_) {
      const DemandedCounters* const demanded = series.demanded();
      if (demanded == nullptr) {
        trace_.counter_series_.push_back(changed_in_memory(series, clock_));
        continue;
      }
      std::shared_ptr<const DemandedCounters>& group = groups[demanded];
      if (group == nullptr) group = changed(*demanded, clock_);
      trace_.counter_series_.emplace_back(group, series.member());
    }
  }

  void append_messages() {
    for (DiagnosticMessage message : from_->diagnostics_) {
      message.time = clock_(message.time);
      message.process = process(message.process);
      trace_.diagnostics_.push_back(std::move(message));
    }
    for (OutputText text : from_->output_) {
      text.time = clock_(text.time);
      trace_.output_.push_back(std::move(text));
    }
  }

  // The part as far as it is known before its tracks are there.
  [[nodiscard]] static TracePart part_of(const TraceSource& source) {
    TracePart part;
    part.label = source.label;
    part.run = source.run;
    part.provenance = source.trace->provenance();
    part.extent = source.clock(source.trace->extent());
    part.clock = source.clock;
    part.file = source.file;
    part.has_collectives_in_common = source.has_collectives_in_common;
    return part;
  }

  void close_part(const TraceSource& source, TracePart part, TrackId first_track) {
    const TimeRange extent = source.trace->extent();
    if (!source.remark.empty()) say(source.clock(extent.begin), proto::SEVERITY_INFO, source.remark);
    if (const std::string lost = losses_text(*source.trace); !lost.empty()) say(source.clock(extent.end), proto::SEVERITY_WARNING, of_part(source.label, lost));
    part.first_track = first_track;
    part.end_track = static_cast<TrackId>(trace_.tracks_.size());
    part.first_counter = trace_.parts_.empty() ? 0 : trace_.parts_.back().end_counter;
    part.end_counter = static_cast<CounterId>(trace_.counters_.size());
    trace_.parts_.push_back(std::move(part));
  }

  void say(Nanoseconds time, int severity, std::string text) {
    DiagnosticMessage message;
    message.time = time;
    message.severity = severity;
    message.text = std::move(text);
    trace_.diagnostics_.push_back(std::move(message));
  }

  // A segment to be copied with the changes for the combined trace.
  struct Work {
    const Lane* from;
    std::size_t lane;  // in segments_
    std::size_t position;
    LaneChange change;
  };
  struct LaneSegments {
    LaneId lane;
    std::vector<std::shared_ptr<const LaneSegment>> built;
  };
  // A lane whose segments are decoded when they are needed.
  struct DemandedLane {
    LaneId lane;
    std::shared_ptr<const Trace> trace;
    const DemandedSegments* from;
    LaneChange change;
    std::vector<SegmentBounds> bounds;
  };
  struct BoundsWork {
    std::size_t lane;  // in demanded_
    std::size_t position;
  };

  void build_lanes() {
    parallel_for(work_.size(), [&](std::size_t i) {
      if (!stop_.stop_requested()) segments_[work_[i].lane].built[work_[i].position] = changed(*work_[i].from->segment(work_[i].position), work_[i].change);
    });
    parallel_for(bounds_.size(), [&](std::size_t i) {
      DemandedLane& lane = demanded_[bounds_[i].lane];
      const std::size_t s = bounds_[i].position;
      const SegmentBounds& before = lane.from->bounds()[s];
      if (lane.change.clock.is_shift())
        lane.bounds[s] = shifted(before, lane.change);
      else if (!stop_.stop_requested())
        lane.bounds[s] = measured(*changed(*lane.from->read_apart(s), lane.change), before);
    });
    if (stop_.stop_requested()) return;
    for (LaneSegments& lane : segments_) trace_.lanes_[lane.lane] = Lane(std::move(lane.built));
    for (DemandedLane& lane : demanded_)
      trace_.lanes_[lane.lane] =
          Lane(std::make_shared<const ChangedSegments>(std::move(lane.trace), *lane.from, std::move(lane.change), std::move(lane.bounds)));
  }

  std::stop_token stop_;
  Trace trace_;
  RowIndex name_ids_;  // of trace_.names_
  // Data of all sources so far; it goes to the trace once it is complete. The trace's own data is shared, and would be copied for each source.
  CallStacks::Functions functions_;
  KernelRecords records_;
  std::unordered_map<std::string, std::uint32_t> metric_ids_;  // of records_.metrics
  std::unordered_set<std::string> known_sources_;              // paths of records_.sources
  std::uint32_t last_instance_ = 0;                            // last process instance

  // The source that is being appended.
  std::shared_ptr<const Trace> source_;
  const Trace* from_ = nullptr;
  ClockLine clock_;
  std::vector<NameId> names_;
  ProcessId first_process_ = 0;
  ThreadId first_thread_ = 0;
  std::vector<GpuId> gpus_;  // ids in the combined trace, by id here
  struct KnownGpu {
    GpuId gpu;
    std::size_t part;
  };
  GpusSeenTwice gpus_seen_twice_;
  std::multimap<std::string, KnownGpu> known_gpus_;  // by UUID
  std::uint32_t kernel_offset_ = 0, memory_offset_ = 0, api_offset_ = 0, synchronization_offset_ = 0, graph_launch_offset_ = 0;
  std::uint32_t nvtx_offset_ = 0, page_fault_offset_ = 0, thread_state_offset_ = 0, sample_offset_ = 0;
  std::uint32_t cuda_event_offset_ = 0, memory_usage_offset_ = 0;

  std::vector<Work> work_;
  std::vector<LaneSegments> segments_;
  std::vector<DemandedLane> demanded_;
  std::vector<BoundsWork> bounds_;
};

std::shared_ptr<const Trace> with_remarks(const std::shared_ptr<const Trace>& trace, std::span<const TraceRemark> remarks) {
  return remarks.empty() ? trace : TraceCombiner::with_remarks(*trace, remarks);
}

std::shared_ptr<const Trace> without_events_of(const Trace& trace, std::span<const TracePart* const> parts) {
  return TraceCombiner::without_events_of(trace, parts);
}

std::shared_ptr<const Trace> combine_traces(std::span<const TraceSource> sources, std::stop_token stop, GpusSeenTwice gpus) {
  TraceCombiner combiner(sources.front(), gpus, std::move(stop));
  for (const TraceSource& source : sources.subspan(1)) combiner.append(source);
  return combiner.take();
}

}  // namespace lanescope

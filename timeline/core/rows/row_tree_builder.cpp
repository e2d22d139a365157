#include "row_tree_builder.h"

#include <algorithm>
#include <tuple>

#include "model/events/event_values.h"
#include "model/events/name_family.h"
#include "model/trace/combining/parts.h"
#include "model/trace/domains/python_lock.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/describe.h"

namespace lanescope::timeline {
namespace {

// Streams in the order in which they are shown, with the tracks of each.
using StreamKey = std::tuple<ProcessId, std::uint32_t, std::uint32_t>;

// Streams that did less than this share of their GPU's work are one row, if they are so many.
constexpr double kQuietStreamShare = 0.001;
constexpr double kAllQuietStreamsShare = 0.01;  // together they do less than this share
constexpr std::size_t kFewestQuietStreams = 2;

constexpr std::size_t kOpenParts = 2;  // if there are more traces, they are collapsed initially

// CUPTI gives waits for a whole context one of these values instead of a stream.
bool is_whole_context(std::uint32_t stream) { return stream == 0 || stream == 0xffffffff; }

// Calls of CUDA, and ranges and marks: they show which part of the program a thread runs.
bool marks_thread(const Track& track) {
  const TrackKind kind = track.key.kind;
  return kind == TrackKind::kCudaApi || kind == TrackKind::kNvtxRanges || kind == TrackKind::kNvtxProcessRanges || kind == TrackKind::kNvtxMarks;
}

// The label of a stream, followed by its owner; without the owner if that is clear.
Message owned(Message stream, std::string owner) {
  if (owner.empty()) return stream;
  return Message("{stream}{owner}", {{"stream", std::move(stream)}, {"owner", std::move(owner)}});
}

}  // namespace

RowTreeBuilder::RowTreeBuilder(const Trace& trace, SegmentSums& sums, RowTree& tree, std::optional<Nanoseconds> now)
    : trace_(trace),
      sums_(sums),
      tree_(tree),
      now_(now),
      has_memory_for_events_(has_memory_for_events(trace)),
      tracks_(trace.tracks()),
      counters_(trace.counters()) {
  std::map<std::pair<GpuId, std::string_view>, ProcessId> first_process;
  for (const Counter& counter : trace.counters()) {
    const auto [first, is_first] = first_process.try_emplace({counter.gpu, counter.name}, counter.process);
    if (first->second != counter.process) counters_of_several_.insert(first->first);
  }
  tracks_of_gpu_.resize(trace.gpus().size());
  counters_of_gpu_.resize(trace.gpus().size());
  for (TrackId id = 0; id < trace.tracks().size(); ++id)
    if (const GpuId gpu = trace.tracks()[id].key.gpu; gpu != kNone) tracks_of_gpu_[gpu].push_back(id);
  for (CounterId id = 0; id < trace.counters().size(); ++id)
    if (const GpuId gpu = trace.counters()[id].gpu; gpu != kNone) counters_of_gpu_[gpu].push_back(id);
}

void RowTreeBuilder::build() {
  tree_.place_of_lane_.resize(trace_.lanes().size());
  tree_.compares_runs_ = compares_runs(trace_);
  tree_.rows_.reserve(trace_.tracks().size());  // a vector that grows by doubling takes up to twice the memory, and there may be a row for each track
  if (trace_.parts().empty()) add_part({.run = {}, .key = {}, .heading = std::nullopt, .time = trace_.scope()});
  for (std::size_t i = 0; i < trace_.parts().size(); ++i) {
    const TracePart& part = trace_.parts()[i];
    SourcePart rows{.first_track = part.first_track,
                    .end_track = part.end_track,
                    .first_counter = part.first_counter,
                    .end_counter = part.end_counter,
                    .run = part.run,
                    .key = i == 0 ? "" : "part:" + std::to_string(i) + "/",
                    .heading = std::nullopt,
                    .time = part.provenance.part ? part.clock(part.provenance.part->time) : part.extent};
    rows.heading = add_row("part:" + std::to_string(i), Message::verbatim(part.label), RowKind::kTrace, std::nullopt);
    if (trace_.parts().size() > kOpenParts) tree_.rows_[*rows.heading].expanded_initially = false;
    add_part(rows);
  }
  close_several_gpus();
  combine_children();
}

void RowTreeBuilder::add_part(const SourcePart& part) {
  part_ = part;
  has_marked_threads_ =
      std::any_of(trace_.tracks().begin(), trace_.tracks().end(), [this](const Track& track) { return in_part(track) && marks_thread(track); });
  for (GpuId gpu = 0; gpu < trace_.gpus().size(); ++gpu) add_gpu(gpu);
  add_processors();
  add_machine();
  add_processes();
}

bool RowTreeBuilder::in_part(const Track& track) const {
  const auto id = static_cast<TrackId>(&track - trace_.tracks().data());
  return part_.first_track <= id && id < part_.end_track;
}

RowIndex RowTreeBuilder::add_row(std::string key, Message label, RowKind kind, std::optional<RowIndex> parent) {
  const auto index = static_cast<RowIndex>(tree_.rows_.size());
  Row row;
  row.key = std::move(key);
  row.label = std::move(label);
  row.kind = kind;
  row.parent = parent;
  row.depth = parent ? tree_.rows_[*parent].depth + 1 : 0;
  tree_.by_key_.emplace(row.key, index);
  tree_.rows_.push_back(std::move(row));
  if (parent) tree_.rows_[*parent].children.push_back(index);
  return index;
}

void RowTreeBuilder::set_levels(RowIndex index, const Tracks& tracks) {
  Row& row = tree_.rows_[index];
  for (const Track* track : tracks)
    for (const LaneId lane : track->lanes) {
      tree_.place_of_lane_[lane] = RowTree::Place{index, static_cast<std::uint32_t>(row.levels.size())};
      row.levels.push_back({LaneSource{lane}});
      row.all.push_back(LaneSource{lane});
    }
}

// A collapsed row of one of several traces shows how busy its GPUs were, so that ranks can be compared over time.
bool RowTreeBuilder::shows_gpus_alone(const Row& row) const {
  return row.kind == RowKind::kTrace &&
         std::any_of(row.children.begin(), row.children.end(), [this](RowIndex child) { return tree_.rows_[child].kind == RowKind::kGpu; });
}

// Rows that only group others show everything below them while they are collapsed.
void RowTreeBuilder::combine_children() {
  for (std::size_t index = tree_.rows_.size(); index-- > 0;) {  // children come after their parents
    Row& row = tree_.rows_[index];
    if (!row.all.empty()) continue;
    const bool of_gpus = shows_gpus_alone(row);
    for (const RowIndex child : row.children) {
      if (of_gpus && tree_.rows_[child].kind != RowKind::kGpu) continue;
      const Row& below = tree_.rows_[child];
      if (below.kind == RowKind::kGpuRanges && row.kind != RowKind::kGpuRanges) continue;  // ranges do not keep a GPU busy
      if (below.kind == RowKind::kBacktraces && row.children.size() > 1) continue;         // the calls of backtraces are shown already
      if (below.kind == RowKind::kStackChart) continue;                                    // samples say nothing about the other events
      row.all.insert(row.all.end(), below.all.begin(), below.all.end());
    }
    if (row.all.empty() && !row.levels.empty()) row.all = row.levels.front();  // a thread that has only samples
  }
}

RowTreeBuilder::Tracks RowTreeBuilder::select(const Tracks& from, TrackKind kind) const {
  Tracks selected;
  std::copy_if(from.begin(), from.end(), std::back_inserter(selected), [kind](const Track* track) { return track->key.kind == kind; });
  return selected;
}

Nanoseconds RowTreeBuilder::busy_sum(const Tracks& tracks) const {
  Nanoseconds sum = 0;
  for (const Track* track : tracks)
    for (const LaneId lane : track->lanes) sum += busy_total(trace_.lane(lane));
  return sum;
}

Level RowTreeBuilder::combined(const Tracks& tracks) const {
  Level level;
  for (const Track* track : tracks)
    for (const LaneId lane : track->lanes) level.push_back(LaneSource{lane});
  return level;
}

void RowTreeBuilder::add_gpu(GpuId gpu) {
  Tracks tracks, faults, usage;
  for (const TrackId id : tracks_of_gpu_[gpu]) {
    const Track& track = trace_.tracks()[id];
    if (!in_part(track)) continue;
    Tracks& group = track.key.kind == TrackKind::kPageFaults ? faults : track.key.kind == TrackKind::kMemoryUsage ? usage : tracks;
    group.push_back(&track);
  }
  const std::vector<CounterId> counters = counters_of(gpu, kNone);
  if (tracks.empty() && faults.empty() && usage.empty() && counters.empty()) return;
  const Gpu& description = trace_.gpus()[gpu];
  const std::string key = "gpu:" + std::to_string(gpu);
  const std::string name = description.name.empty() ? "" : "  " + description.name;
  const RowIndex top =
      add_row(key, Message::verbatim("GPU " + std::to_string(description.ordinal) + name + given_names(trace_, gpu)), RowKind::kGpu, part_.heading);
  gpus_of_run_[part_.run].push_back(top);
  if (!tracks.empty()) add_hardware(top, key, tracks);
  add_gpu_ranges(top, key + "/nvtx", gpu, tracks);
  add_calls(top, key, faults, TrackKind::kPageFaults);
  add_calls(top, key, usage, TrackKind::kMemoryUsage);
  add_counters(top, key, counters);
}

// Several GPUs of a run get one line each initially, so that the loop below them is in sight. They may come from several traces, as those of ranks do.
void RowTreeBuilder::close_several_gpus() {
  for (const auto& [run, gpus] : gpus_of_run_)
    if (gpus.size() > 1)
      for (const RowIndex gpu : gpus) tree_.rows_[gpu].expanded_initially = false;
}

void RowTreeBuilder::add_hardware(RowIndex top, const std::string& key, const Tracks& tracks) {
  const RowIndex hardware = add_row(key + "/hw", "CUDA HW", RowKind::kGpuHardware, top);

  const Tracks kernels = select(tracks, TrackKind::kKernels);
  const Tracks memory = select(tracks, TrackKind::kMemory);
  const Tracks graphs = select(tracks, TrackKind::kGraphLaunches);
  const GpuTotals totals{busy_sum(kernels), busy_sum(memory), busy_sum(graphs)};
  Level all = combined(kernels);
  for (const Tracks* more : {&memory, &graphs}) {
    const Level level = combined(*more);
    all.insert(all.end(), level.begin(), level.end());
  }
  tree_.rows_[hardware].levels = {all};
  tree_.rows_[hardware].all = all;

  if (!kernels.empty()) add_kernels(hardware, key + "/kernels", kernels, totals);
  if (!memory.empty()) add_memory(hardware, key + "/memory", memory, totals);
  if (!graphs.empty()) {
    const RowIndex row = add_row(key + "/graphs", "CUDA graphs", RowKind::kGraphs, hardware);
    tree_.rows_[row].share = share_of(totals.graphs, totals.all());
    tree_.rows_[row].all = combined(graphs);
    tree_.rows_[row].levels = {tree_.rows_[row].all};
  }
  add_streams(hardware, key, tracks);
}

// Collapsed initially: ranges on the GPU are not informative without their threads.
void RowTreeBuilder::add_gpu_ranges(RowIndex top, const std::string& key, GpuId gpu, const Tracks& tracks) {
  std::set<ProcessId> working;
  for (const Track* track : tracks)
    if (is_gpu_work(track->key.kind)) working.insert(track->key.process);
  std::vector<TrackId> launching;
  for (const ProcessId process : working) launching.insert(launching.end(), launching_ranges(process).begin(), launching_ranges(process).end());
  std::sort(launching.begin(), launching.end());
  std::optional<RowIndex> group;
  for (const TrackId id : launching) {
    const Track& track = trace_.tracks()[id];
    // Projecting ranges takes memory for each call of the process. Without that memory, the row's title says why it is empty.
    if (!has_memory_for_events_) {
      add_row(key, "NVTX: needs all events in memory", RowKind::kGpuRanges, top);
      return;
    }
    constexpr std::size_t kMostRows = 100'000;  // of all GPUs and threads; no machine has that many
    if (++gpu_range_rows_ > kMostRows) {
      add_row(group ? key + "/more" : key, "NVTX: left out beyond 100,000 rows", RowKind::kGpuRanges, group.value_or(top));
      return;
    }
    if (!group) {
      group = add_row(key, "NVTX", RowKind::kGpuRanges, top);
      tree_.rows_[*group].expanded_initially = false;
    }
    const Thread& thread = trace_.threads()[track.key.thread];
    const std::string_view domain = trace_.domain_name(track.key.process, track.key.domain);
    std::string label = "[" + std::to_string(thread.tid) + "]" + (thread.name.empty() ? "" : " " + thread.name);
    if (!domain.empty()) label += " · " + std::string(domain);
    const RowIndex row = add_row(key + "/" + process_key(track.key.process) + ":" + std::to_string(thread.tid) + ":" + std::to_string(track.key.domain),
                                 Message::verbatim(std::move(label)), RowKind::kGpuRanges, group);
    for (const LaneId lane : track.lanes) {
      tree_.rows_[row].levels.push_back({LaneSource{.lane = lane, .on_gpu = gpu}});
      tree_.rows_[row].all.push_back(LaneSource{.lane = lane, .on_gpu = gpu});
    }
  }
}

const std::vector<TrackId>& RowTreeBuilder::launching_ranges(ProcessId process) {
  const auto [known, is_new] = launching_ranges_.try_emplace(process);
  if (!is_new) return known->second;
  std::set<ThreadId> launching;
  for (const TrackId calls : trace_.tracks_of(process, TrackKind::kCudaApi)) launching.insert(trace_.tracks()[calls].key.thread);
  for (const TrackId ranges : trace_.tracks_of(process, TrackKind::kNvtxRanges))
    if (launching.contains(trace_.tracks()[ranges].key.thread)) known->second.push_back(ranges);
  return known->second;
}

void RowTreeBuilder::add_kernels(RowIndex hardware, const std::string& key, const Tracks& tracks, const GpuTotals& totals) {
  const RowIndex row = add_row(key, "Kernels", RowKind::kKernels, hardware);
  tree_.rows_[row].share = share_of(totals.kernels, totals.all());
  tree_.rows_[row].all = combined(tracks);
  tree_.rows_[row].levels = {tree_.rows_[row].all};
  tree_.rows_[row].expanded_initially = false;

  std::map<NameId, Nanoseconds> total;
  std::map<NameId, Level> level_of_name;
  for (const LaneSource& source : tree_.rows_[row].all)
    for (const SegmentSums::Sum& sum : sums_.of_lane(trace_, source.lane, SegmentSums::By::kName)) {
      total[sum.key] += sum.total;
      level_of_name[sum.key].push_back(LaneSource{.lane = source.lane, .name = sum.key});
    }
  struct Family {
    std::vector<NameId> names;
    Nanoseconds total = 0;
    Level level;
  };
  std::map<std::string, Family> families;
  for (const auto& [name, level] : level_of_name) {
    Family& family = families[name_family(trace_.name(name))];
    family.names.push_back(name);
    family.total += total[name];
    family.level.insert(family.level.end(), level.begin(), level.end());
  }
  const auto add_part = [&](std::string child_key, const std::string& name, RowKind kind, RowIndex parent, Nanoseconds time, const Level& level) {
    const RowIndex child = add_row(std::move(child_key), Message::verbatim(compact_kernel_name(name)), kind, parent);
    tree_.rows_[child].share = share_of(time, totals.all());
    tree_.rows_[child].all = level;
    tree_.rows_[child].levels = {level};
    return child;
  };
  std::vector<std::map<std::string, Family>::iterator> order;
  for (auto family = families.begin(); family != families.end(); ++family) order.push_back(family);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a->second.total > b->second.total; });
  for (const auto& place : order) {
    auto& [text, family] = *place;
    std::stable_sort(family.names.begin(), family.names.end(), [&](NameId a, NameId b) { return total[a] > total[b]; });
    RowIndex parent = row;
    if (family.names.size() > 1) {
      parent = add_part(key + "/family:" + text, text, RowKind::kKernelFamily, row, family.total, family.level);
      tree_.rows_[parent].expanded_initially = false;
    }
    for (const NameId name : family.names)
      add_part(key + "/" + std::string(trace_.name(name)), std::string(trace_.name(name)), RowKind::kKernelName, parent, total[name], level_of_name[name]);
  }
}

void RowTreeBuilder::add_memory(RowIndex hardware, const std::string& key, const Tracks& tracks, const GpuTotals& totals) {
  const RowIndex row = add_row(key, "Memory", RowKind::kMemory, hardware);
  tree_.rows_[row].share = share_of(totals.memory, totals.all());
  tree_.rows_[row].all = combined(tracks);
  tree_.rows_[row].levels = {tree_.rows_[row].all};

  std::map<MemoryClass, Nanoseconds> total;
  std::map<MemoryClass, Level> level_of_class;
  for (const LaneSource& source : tree_.rows_[row].all)
    for (const SegmentSums::Sum& sum : sums_.of_lane(trace_, source.lane, SegmentSums::By::kMemoryClass)) {
      const auto operation = static_cast<MemoryClass>(sum.key);
      total[operation] += sum.total;
      level_of_class[operation].push_back(LaneSource{.lane = source.lane, .memory = operation});
    }
  for (const auto& [operation, level] : level_of_class) {
    const std::string name{memory_class_name(operation)};
    const RowIndex child = add_row(key + "/" + name, Message::verbatim(name), RowKind::kMemoryOperation, row);
    tree_.rows_[child].share = share_of(total[operation], totals.all());
    tree_.rows_[child].all = level;
    tree_.rows_[child].levels = {level};
  }
}

void RowTreeBuilder::add_streams(RowIndex hardware, const std::string& key, const Tracks& tracks) {
  std::map<StreamKey, Tracks> streams;
  for (const Track* track : tracks) streams[{track->key.process, track->key.context, track->key.stream}].push_back(track);
  const auto work_of = [this](const Tracks& all) {
    return busy_sum(select(all, TrackKind::kKernels)) + busy_sum(select(all, TrackKind::kMemory)) + busy_sum(select(all, TrackKind::kGraphLaunches));
  };
  Nanoseconds sum = 0;
  for (const auto& [stream, of_stream] : streams) sum += work_of(of_stream);
  const StreamOwners owners = stream_owners(tracks);
  const auto works = [](const Tracks& all) { return std::any_of(all.begin(), all.end(), [](const Track* track) { return is_gpu_work(track->key.kind); }); };
  const auto key_of = [&](const StreamKey& stream) {
    const auto [process, context, id] = stream;
    return key + "/stream:" + process_key(process) + ":" + std::to_string(context) + ":" + std::to_string(id);
  };
  using Stream = const std::pair<const StreamKey, Tracks>*;
  std::vector<Stream> busy, quiet, waited_for;
  Nanoseconds quiet_work = 0;
  for (const auto& stream : streams) {
    const bool is_quiet = static_cast<double>(work_of(stream.second)) < kQuietStreamShare * static_cast<double>(sum);
    (!works(stream.second) ? waited_for : is_quiet ? quiet : busy).push_back(&stream);
    if (is_quiet) quiet_work += work_of(stream.second);
  }
  if (quiet.size() < kFewestQuietStreams || static_cast<double>(quiet_work) >= kAllQuietStreamsShare * static_cast<double>(sum)) {
    busy.insert(busy.end(), quiet.begin(), quiet.end());
    std::sort(busy.begin(), busy.end(), [](Stream a, Stream b) { return a->first < b->first; });
    quiet.clear();
  }
  const auto add_streams_to = [&](RowIndex parent, const std::vector<Stream>& added) {
    for (const Stream stream : added) {
      const Track& track = *stream->second.front();
      add_stream(parent, key_of(stream->first), owned(stream_name(track), stream_owner(track, owners)), stream->second, share_of(work_of(stream->second), sum));
    }
  };
  add_streams_to(hardware, busy);
  if (!quiet.empty()) {
    const RowIndex group = add_row(key + "/quiet_streams", Message("{number} streams with little activity", {{"number", std::to_string(quiet.size())}}),
                                   RowKind::kQuietStreams, hardware);
    tree_.rows_[group].expanded_initially = false;
    add_streams_to(group, quiet);
  }
  for (const Stream stream : waited_for) {
    const Track& track = *stream->second.front();
    set_levels(add_row(key_of(stream->first), owned(waits_name(track), stream_owner(track, owners)), RowKind::kSynchronization, hardware), stream->second);
  }
}

void RowTreeBuilder::add_stream(RowIndex hardware, const std::string& key, const Message& label, const Tracks& tracks, double share) {
  const RowIndex row = add_row(key, label, RowKind::kStream, hardware);
  tree_.rows_[row].share = share;
  tree_.rows_[row].expanded_initially = false;
  struct Part {
    TrackKind kind;
    const char* suffix;
    const char* label;
    RowKind row;
  };
  constexpr Part kParts[] = {{TrackKind::kKernels, "/kernels", "Kernels", RowKind::kKernels},
                             {TrackKind::kMemory, "/memory", "Memory", RowKind::kMemory},
                             {TrackKind::kGraphLaunches, "/graphs", "CUDA graphs", RowKind::kGraphs},
                             {TrackKind::kSynchronizations, "/synchronization", "Synchronization", RowKind::kSynchronization},
                             {TrackKind::kCudaEvents, "/events", "CUDA events", RowKind::kSynchronization}};
  const bool one_kind = std::all_of(tracks.begin(), tracks.end(), [&](const Track* track) { return track->key.kind == tracks.front()->key.kind; });
  if (one_kind) return set_levels(row, tracks);
  Level work;
  for (const Part& part : kParts) {
    const Tracks selected = select(tracks, part.kind);
    if (selected.empty()) continue;
    const RowIndex child = add_row(key + part.suffix, part.label, part.row, row);
    set_levels(child, selected);
    tree_.rows_[child].expanded_initially = true;
    if (!is_gpu_work(part.kind)) continue;
    const Level& all = tree_.rows_[child].all;
    work.insert(work.end(), all.begin(), all.end());
  }
  if (work.empty()) work = combined(tracks);
  tree_.rows_[row].levels = {work};
  tree_.rows_[row].all = work;
}

Message RowTreeBuilder::stream_name(const Track& track) const { return stream_label(trace_, track.key.process, track.key.context, track.key.stream); }

Message RowTreeBuilder::waits_name(const Track& track) const {
  return is_whole_context(track.key.stream) ? Message("Context waits") : Message("{stream} waits", {{"stream", stream_name(track)}});
}

RowTreeBuilder::StreamOwners RowTreeBuilder::stream_owners(const Tracks& tracks) {
  StreamOwners owners;
  std::map<ProcessId, std::uint32_t> first_context;
  for (const Track* track : tracks) {
    const auto [first, is_first] = first_context.try_emplace(track->key.process, track->key.context);
    if (first->second != track->key.context) owners.of_several_contexts.insert(track->key.process);
  }
  owners.several_processes = first_context.size() > 1;
  return owners;
}

std::string RowTreeBuilder::stream_owner(const Track& track, const StreamOwners& owners) const {
  std::string owner;
  if (owners.of_several_contexts.contains(track.key.process)) owner += "  context " + context_label(trace_, track.key.process, track.key.context);
  if (owners.several_processes && track.key.process != kNone) owner += "  [" + std::to_string(trace_.processes()[track.key.process].pid) + "]";
  return owner;
}

std::string RowTreeBuilder::process_key(ProcessId process) const {
  return process == kNone ? std::string("none") : std::to_string(trace_.processes()[process].instance);
}

void RowTreeBuilder::add_processes() {
  std::vector<ProcessId> shown;
  for (ProcessId process = 0; process < trace_.processes().size(); ++process) {
    const std::span<const std::uint32_t> tracks = tracks_.positions(process);
    const bool any = std::any_of(tracks.begin(), tracks.end(), [&](TrackId id) {
      const Track& track = trace_.tracks()[id];
      return track.key.gpu == kNone && in_part(track);
    });
    if (any) shown.push_back(process);
  }
  if (shown.empty()) return;
  std::stable_sort(shown.begin(), shown.end(), [this](ProcessId a, ProcessId b) { return trace_.processes()[a].start < trace_.processes()[b].start; });
  const std::set<ProcessId> open = put_first_what_matters(shown);
  const RowIndex root =
      add_row(part_.key + "processes", Message("Processes ({number})", {{"number", std::to_string(shown.size())}}), RowKind::kProcesses, part_.heading);
  for (const ProcessId process : shown) add_process(root, process);
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (!open.contains(shown[i])) tree_.rows_[tree_.rows_[root].children[i]].expanded_initially = false;
}

void RowTreeBuilder::add_process(RowIndex root, ProcessId id) {
  const Process& process = trace_.processes()[id];
  const std::string key = "process:" + process_key(id);
  const RowIndex row = add_row(key, Message::verbatim("[" + std::to_string(process.pid) + "] " + process.name), RowKind::kProcess, root);
  Tracks of_process;
  std::map<ThreadId, Tracks> by_thread;
  for (const TrackId of_this : tracks_.positions(id)) {
    const Track& track = trace_.tracks()[of_this];
    if (track.key.gpu != kNone) continue;
    const bool is_python_lock = trace_.domain_name(id, track.key.domain) == kPythonLockDomain;  // one thread holds it at a time
    const bool of_whole = track.key.thread == kNone || (track.key.kind == TrackKind::kNvtxProcessRanges && !is_python_lock);
    (of_whole ? of_process : by_thread[track.key.thread]).push_back(&track);
  }
  add_cpu_rows(row, key, of_process);
  add_counters(row, key, counters_of(kNone, id));
  std::vector<ThreadId> threads;
  for (const auto& [thread, tracks] : by_thread) threads.push_back(thread);
  const auto rank = [&](ThreadId thread) {  // the main thread first
    const std::uint32_t tid = trace_.threads()[thread].tid;
    return std::pair(tid != process.pid, tid);
  };
  std::stable_sort(threads.begin(), threads.end(), [&](ThreadId a, ThreadId b) { return rank(a) < rank(b); });
  constexpr std::ptrdiff_t kFewestGrouped = 3;
  auto quiet = std::stable_partition(threads.begin(), threads.end(),
                                     [&](ThreadId thread) { return trace_.threads()[thread].tid == process.pid || !is_quiet(by_thread[thread]); });
  if (threads.end() - quiet < kFewestGrouped) {
    std::stable_sort(threads.begin(), threads.end(), [&](ThreadId a, ThreadId b) { return rank(a) < rank(b); });
    quiet = threads.end();
  }
  for (auto thread = threads.begin(); thread != quiet; ++thread) add_thread(row, key, *thread, by_thread[*thread]);
  open_first_threads(row);
  if (quiet == threads.end()) return;
  const RowIndex group = add_row(key + "/quiet", Message("{number} threads with little activity", {{"number", std::to_string(threads.end() - quiet)}}),
                                 RowKind::kQuietThreads, row);
  tree_.rows_[group].expanded_initially = false;
  for (auto thread = quiet; thread != threads.end(); ++thread) add_thread(group, key, *thread, by_thread[*thread]);
}

// Threads that call CUDA or set ranges are expanded initially. If there are none, the first threads are, because collapsed rows alone would show little of a
// program.
void RowTreeBuilder::open_first_threads(RowIndex process) {
  constexpr std::size_t kOpenThreads = 4;
  std::vector<RowIndex> threads;
  for (const RowIndex child : tree_.rows_[process].children)
    if (tree_.rows_[child].kind == RowKind::kThread) threads.push_back(child);
  if (std::any_of(threads.begin(), threads.end(), [this](RowIndex thread) { return tree_.rows_[thread].expanded_initially; })) return;
  threads.resize(std::min(threads.size(), kOpenThreads));
  for (const RowIndex thread : threads) tree_.rows_[thread].expanded_initially = true;
}

void RowTreeBuilder::add_thread(RowIndex parent, const std::string& process_key, ThreadId id, const Tracks& tracks) {
  const Thread& thread = trace_.threads()[id];
  const std::string key = process_key + "/thread:" + std::to_string(thread.tid);
  const std::string name = thread.name.empty() ? std::string() : " " + thread.name;
  const RowIndex row = add_row(key, Message::verbatim("[" + std::to_string(thread.tid) + "]" + name), RowKind::kThread, parent);
  add_thread_states(row, tracks);
  add_stack_chart(row, key, tracks);
  add_cpu_rows(row, key, tracks);
  tree_.rows_[row].expanded_initially = std::any_of(tracks.begin(), tracks.end(), [](const Track* track) { return marks_thread(*track); });
}

void RowTreeBuilder::add_cpu_rows(RowIndex parent, const std::string& key, const Tracks& tracks) {
  add_calls(parent, key, tracks, TrackKind::kOsRuntime);
  add_nvtx(parent, key, tracks);
  add_calls(parent, key, tracks, TrackKind::kCudaApi);
  add_calls(parent, key, tracks, TrackKind::kCompilation);
  add_calls(parent, key, tracks, TrackKind::kPageFaults);
  add_calls(parent, key, tracks, TrackKind::kOverhead);
  add_calls(parent, key, tracks, TrackKind::kBacktraces);
}

void RowTreeBuilder::add_calls(RowIndex parent, const std::string& key, const Tracks& tracks, TrackKind kind) {
  const Tracks selected = select(tracks, kind);
  if (selected.empty()) return;
  switch (kind) {
    case TrackKind::kOsRuntime:
      return set_levels(add_row(key + "/osrt", "OS runtime", RowKind::kOsRuntime, parent), selected);
    case TrackKind::kCudaApi:
      return set_levels(add_row(key + "/api", "CUDA API", RowKind::kCudaApi, parent), selected);
    case TrackKind::kCompilation:
      return set_levels(add_row(key + "/compilation", "Compilation", RowKind::kCompilation, parent), selected);
    case TrackKind::kBacktraces:
      return set_levels(add_row(key + "/backtraces", "Backtraces", RowKind::kBacktraces, parent), selected);
    case TrackKind::kPageFaults:
      return set_levels(add_row(key + "/page_faults", "Page faults", RowKind::kPageFaults, parent), selected);
    case TrackKind::kMemoryUsage:
      return set_levels(add_row(key + "/memory_usage", "Allocations", RowKind::kMemoryUsage, parent), selected);
    default:
      return set_levels(add_row(key + "/overhead", "Profiler overhead", RowKind::kOverhead, parent), selected);
  }
}

void RowTreeBuilder::add_nvtx(RowIndex parent, const std::string& key, const Tracks& tracks) {
  std::map<std::uint32_t, Tracks> by_domain;
  for (const TrackKind kind : {TrackKind::kNvtxProcessRanges, TrackKind::kNvtxRanges, TrackKind::kNvtxMarks})
    for (const Track* track : select(tracks, kind)) by_domain[track->key.domain].push_back(track);
  for (const auto& [domain, of_domain] : by_domain) {
    const std::string_view name = trace_.domain_name(of_domain.front()->key.process, domain);
    const std::string label = name.empty() ? std::string("NVTX") : name == kPythonLockDomain ? std::string(name) : "NVTX · " + std::string(name);
    set_levels(add_row(key + "/nvtx:" + std::to_string(domain), Message::verbatim(label), RowKind::kNvtx, parent), of_domain);
  }
}

}  // namespace lanescope::timeline

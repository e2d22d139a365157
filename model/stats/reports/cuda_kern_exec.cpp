// cuda_kern_exec_sum, cuda_kern_exec_trace: from the launching call to the end of the kernel.
//
// For each kernel: T is the time from the call's start until call and kernel have ended; A is the call; Q is the wait between the call's end and the
// kernel's start, if the kernel did not start before; K is the kernel.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>

#include "../by_start.h"
#include "../columns/kernel_names.h"
#include "../columns/run_column.h"
#include "../in_parts.h"
#include "../label_groups.h"
#include "../launches.h"
#include "../report_functions.h"
#include "grid_text.h"
#include "model/stats/device_ordinals.h"
#include "model/trace/combining/parts.h"
#include "model/trace/workers/parallel.h"

namespace lanescope::stats {
namespace {

// The times of a call and its kernel.
struct Times {
  Nanoseconds call_begin, call_end, kernel_begin, kernel_end;

  static Times of(const Lane& call_lane, EventIndex call, const Lane& kernel_lane, EventIndex kernel) {
    const Nanoseconds call_begin = call_lane.start(call), kernel_begin = kernel_lane.start(kernel);
    return {call_begin, call_begin + call_lane.duration(call), kernel_begin, kernel_begin + kernel_lane.duration(kernel)};
  }
  [[nodiscard]] Nanoseconds call_length() const noexcept { return call_end - call_begin; }
  [[nodiscard]] Nanoseconds kernel_length() const noexcept { return kernel_end - kernel_begin; }
  [[nodiscard]] Nanoseconds total() const noexcept { return std::max(call_end, kernel_end) - call_begin; }
  [[nodiscard]] Nanoseconds queue() const noexcept { return kernel_begin - call_end; }
  [[nodiscard]] bool queued() const noexcept { return queue() >= 0; }
};

enum class Part : std::uint8_t { kTotal, kCall, kQueue, kKernel };
constexpr std::size_t kParts = 4;

// The times of many kernels. Times that fit in 32 bits, as nearly all do, are stored together: one write a kernel, and half the memory.
class Group {
 public:
  void add(const Times& times) {
    const Nanoseconds queue = times.queued() ? times.queue() : 0;
    const Nanoseconds largest = std::max({times.total(), times.call_length(), queue, times.kernel_length()});
    if (largest < Nanoseconds{kNotQueued})
      compact_.push_back({static_cast<std::uint32_t>(times.total()), static_cast<std::uint32_t>(times.call_length()),
                          times.queued() ? static_cast<std::uint32_t>(queue) : kNotQueued, static_cast<std::uint32_t>(times.kernel_length())});
    else
      large_.push_back(times);
  }
  void add(Group&& other) {
    if (compact_.empty())
      compact_ = std::move(other.compact_);
    else
      compact_.insert(compact_.end(), other.compact_.begin(), other.compact_.end());
    large_.insert(large_.end(), other.large_.begin(), other.large_.end());
  }
  // Replaces the samples by those of one part. Kernels that did not wait in the queue have no sample of that part.
  void samples(Part part, Samples& samples) const {
    samples.clear();
    for (const std::array<std::uint32_t, kParts>& times : compact_)
      if (const std::uint32_t time = times[static_cast<std::size_t>(part)]; time != kNotQueued) samples.push_back(time);
    for (const Times& times : large_) {
      if (part == Part::kQueue && !times.queued()) continue;
      const Nanoseconds parts[kParts] = {times.total(), times.call_length(), times.queue(), times.kernel_length()};
      samples.push_back(parts[static_cast<std::size_t>(part)]);
    }
  }

 private:
  static constexpr std::uint32_t kNotQueued = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::array<std::uint32_t, kParts>> compact_;  // by Part
  std::vector<Times> large_;
};

struct GroupKey {
  std::int64_t pid, tid, device;
  ProcessId process;  // processes of several files may have the same numbers
  std::string_view call;
  NameId range, kernel;
  auto operator<=>(const GroupKey&) const = default;
};

std::map<GroupKey, Group> group(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const LaunchIndex& index = selection.launch_index();
  const InnermostRanges ranges(selection, options);
  // Groups are first made by ids, which are quick to compare: thread, GPU, call, range, kernel. Versions of a call are then merged under its name.
  using Groups = GroupsByIds<5, Group>;
  const auto add = [&](Groups& groups, const Track& track, const EventView& kernel) {
    const EventRef call = index.find(track.key.process, kernel.correlation(), kernel.start());
    if (!call.valid()) return;
    const Lane& lane = trace.lane(call.lane);
    groups[{trace.track_of(call.lane).key.thread, track.key.gpu, lane.name(call.index), ranges.of_call(call), kernel_name(trace, kernel, options.kernel_names)}]
        .add(Times::of(lane, call.index, trace.lane(kernel.ref.lane), kernel.ref.index));
  };
  const DeviceOrdinals device(trace);
  std::map<GroupKey, Group> groups;
  for (Groups& part : visit_in_parts(selection, TrackKind::kKernels, Groups(), add))
    for (auto& [ids, of_ids] : part) {
      const Thread& thread = trace.threads()[ids[0]];
      groups[{trace.processes()[thread.process].pid, thread.tid, device(thread.process, ids[1]), thread.process, api_display_name(trace.name(ids[2])), ids[3],
              ids[4]}]
          .add(std::move(of_ids));
    }
  return groups;
}

// The launches of the trace report, and the lanes in which its cells are looked up.
struct ListedLaunches {
  std::vector<Lane> lanes;
  Launches launches;

  [[nodiscard]] const Lane& call_lane(std::size_t row) const { return lanes[launches[row].call.lane]; }
  [[nodiscard]] const Lane& kernel_lane(std::size_t row) const { return lanes[launches[row].operation.lane]; }
  [[nodiscard]] Times times(std::size_t row) const {
    return Times::of(call_lane(row), launches[row].call.index, kernel_lane(row), launches[row].operation.index);
  }
  [[nodiscard]] NameId call_name(std::size_t row) const { return call_lane(row).name(launches[row].call.index); }
  [[nodiscard]] DetailId detail(std::size_t row) const { return kernel_lane(row).detail(launches[row].operation.index); }
};

Launches launches_by_start(const Selection& selection) {
  const Trace& trace = selection.trace();
  std::vector<Launches> lists;
  for (auto& [thread, launches] : launches_by_thread(selection, {TrackKind::kKernels})) lists.push_back(std::move(launches));
  return merge_sorted(std::move(lists), [&](const Launch& launch) { return trace.lane(launch.call.lane).start(launch.call.index); });
}

// The texts of rows: names of calls by name, names of kernels row by row.
struct LaunchTexts {
  std::vector<TextId> calls;
  Texts kernels;
};

LaunchTexts add_texts(const Selection& selection, const ReportOptions& options, const ListedLaunches& listed, Table& table) {
  const Trace& trace = selection.trace();
  const InnermostRanges ranges(selection, options);
  LaunchTexts texts{std::vector<TextId>(trace.name_count()), {}};
  texts.kernels.reserve(listed.launches.size());
  GroupsByIds<2, TextId> known;
  for (std::size_t row = 0; row < listed.launches.size(); ++row) {
    TextId& call = texts.calls[listed.call_name(row)];
    if (call == TextId{0}) call = table.add_text(std::string(api_display_name(trace.name(listed.call_name(row)))));
    const EventRef operation = listed.launches[row].operation;
    const Lane& lane = listed.lanes[operation.lane];
    const NameId range = ranges.of_call(listed.launches[row].call);
    const NameId kernel = kernel_name(trace, lane.name(operation.index), lane.detail(operation.index), options.kernel_names);
    TextId& text = known[{range, kernel}];
    if (text == TextId{0}) text = table.add_text(prefixed(trace, range, kernel));
    texts.kernels.push_back(text);
  }
  return texts;
}

struct SummaryRow {
  const GroupKey* key;
  const Group* group;
  std::array<Summary, kParts> parts;  // by Part
  [[nodiscard]] const Summary& of(Part part) const { return parts[static_cast<std::size_t>(part)]; }
};

std::vector<SummaryRow> summarized(const std::map<GroupKey, Group>& groups, const Percentiles& percentiles) {
  std::vector<SummaryRow> rows;
  for (const auto& [key, group] : groups) rows.push_back({&key, &group, {}});
  constexpr std::size_t kAtOnce = 2;  // parts, in the same memory; the remaining tasks still keep all cores busy on one long row
  constexpr std::size_t kTasks = kParts / kAtOnce;
  parallel_for(kTasks * rows.size(), [&](std::size_t i) {
    SummaryRow& row = rows[i / kTasks];
    Samples samples;
    for (std::size_t part = i % kTasks * kAtOnce, end = part + kAtOnce; part < end; ++part) {
      row.group->samples(static_cast<Part>(part), samples);
      row.parts[part] = summarize(samples, percentiles);
    }
  });
  std::stable_sort(rows.begin(), rows.end(), [](const SummaryRow& a, const SummaryRow& b) { return a.of(Part::kTotal).average > b.of(Part::kTotal).average; });
  return rows;
}

}  // namespace

Table cuda_kern_exec_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const std::map<GroupKey, Group> groups = group(selection, options);

  std::vector<Column> columns = {identifiers("PID"), identifiers("TID"), identifiers("DevId"), integers("Count"), integers("QCount")};
  for (const std::string_view prefix : {"T", "A", "Q", "K"}) append_summary_columns(columns, prefix, Unit::kNanoseconds, options.percentiles);
  columns.push_back(texts("API Name"));
  columns.push_back(texts("Kernel Name"));
  Table table(std::move(columns));
  Texts files;
  for (const SummaryRow& row : summarized(groups, options.percentiles)) {
    const GroupKey* key = row.key;
    std::vector<Cell> cells = {key->pid, key->tid, key->device, row.of(Part::kTotal).count, row.of(Part::kQueue).count};
    for (const Summary& summary : row.parts) append_summary_cells(cells, summary, options.percentiles);
    cells.emplace_back(table.add_text(std::string(key->call)));
    cells.emplace_back(table.add_text(prefixed(trace, key->range, key->kernel)));
    table.add_cells(cells);
    const TracePart* const part = part_of_process(trace, key->process);
    files.push_back(table.add_text(part == nullptr ? std::string() : part->label));
  }
  if (!trace.parts().empty()) table.insert_column(table.columns().size(), {"File", Unit::kNone, std::move(files)});
  return table;
}

Table cuda_kern_exec_trace(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  const auto listed = std::make_shared<const ListedLaunches>(ListedLaunches{trace.lanes(), launches_by_start(selection)});
  Table table;
  LaunchTexts texts = add_texts(selection, options, *listed, table);

  const auto of_times = [&](std::int64_t (*value)(const Times&)) {
    return Computed<std::int64_t>([listed, value](std::size_t row) { return value(listed->times(row)); });
  };
  // Columns whose value is the same for all calls, or all kernels, of a lane.
  const auto of_lanes = [&](auto value, EventRef Launch::*side) {
    std::vector<std::int64_t> values;
    for (LaneId id = 0; id < trace.lanes().size(); ++id) values.push_back(value(trace.track_of(id).key));
    return Computed<std::int64_t>([listed, values = std::move(values), side](std::size_t row) { return values[(listed->launches[row].*side).lane]; });
  };
  const auto thread_of = [&](const TrackKey& key) { return key.thread != kNone ? &trace.threads()[key.thread] : nullptr; };
  const auto pid = [&](const TrackKey& key) {
    const Thread* thread = thread_of(key);
    return thread ? std::int64_t{trace.processes()[thread->process].pid} : kNoInteger;
  };
  const auto tid = [&](const TrackKey& key) {
    const Thread* thread = thread_of(key);
    return thread ? std::int64_t{thread->tid} : kNoInteger;
  };
  const DeviceOrdinals device(trace);
  const auto device_of = [&](const TrackKey& key) { return key.gpu != kNone ? device(key.process, key.gpu) : kNoInteger; };

  std::vector<TextId> grids, blocks;  // by detail
  for (std::size_t row = 0; row < listed->launches.size(); ++row) {
    const DetailId detail = listed->detail(row);
    if (detail < grids.size()) continue;
    for (DetailId id = static_cast<DetailId>(grids.size()); id <= detail; ++id) {
      grids.push_back(table.add_text(grid_text(trace.kernel_detail(id).grid)));
      blocks.push_back(table.add_text(grid_text(trace.kernel_detail(id).block)));
    }
  }
  const auto of_details = [&](std::vector<TextId> values) {
    return Computed<TextId>([listed, values = std::move(values)](std::size_t row) { return values[listed->detail(row)]; });
  };
  const auto call_text = [listed, calls = std::move(texts.calls)](std::size_t row) { return calls[listed->call_name(row)]; };

  table.set_columns({{"API Start", Unit::kNanoseconds, of_times([](const Times& t) { return t.call_begin; })},
                     {"API Dur", Unit::kNanoseconds, of_times([](const Times& t) { return t.call_length(); })},
                     {"Queue Start", Unit::kNanoseconds, of_times([](const Times& t) { return t.queued() ? t.call_end : kNoInteger; })},
                     {"Queue Dur", Unit::kNanoseconds, of_times([](const Times& t) { return t.queued() ? t.queue() : kNoInteger; })},
                     {"Kernel Start", Unit::kNanoseconds, of_times([](const Times& t) { return t.kernel_begin; })},
                     {"Kernel Dur", Unit::kNanoseconds, of_times([](const Times& t) { return t.kernel_length(); })},
                     {"Total Dur", Unit::kNanoseconds, of_times([](const Times& t) { return t.total(); })},
                     {"PID", Unit::kIdentifier, of_lanes(pid, &Launch::call)},
                     {"TID", Unit::kIdentifier, of_lanes(tid, &Launch::call)},
                     {"DevId", Unit::kIdentifier, of_lanes(device_of, &Launch::operation)},
                     {"API Function", Unit::kNone, Computed<TextId>(call_text)},
                     {"GridXYZ", Unit::kNone, of_details(std::move(grids))},
                     {"BlockXYZ", Unit::kNone, of_details(std::move(blocks))},
                     {"Kernel Name", Unit::kNone, std::move(texts.kernels)}},
                    listed->launches.size());
  add_origins(trace, table, [&](std::size_t row) { return trace.track_of(listed->launches[row].operation.lane).key.process; });
  return table;
}

}  // namespace lanescope::stats

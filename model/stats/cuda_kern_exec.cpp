// cuda_kern_exec_sum, cuda_kern_exec_trace: from the launching call to the end of the kernel.
//
// Of a kernel: T is the time from the call's start until call and kernel have ended; A the call; Q the wait between the call's end and the
// kernel's start, where the kernel did not start before; K the kernel.
#include <algorithm>
#include <map>

#include "by_start.h"
#include "event_columns.h"
#include "grid_text.h"
#include "kernel_names.h"
#include "label_groups.h"
#include "launches.h"
#include "model/stats/device_ordinals.h"
#include "parallel.h"
#include "report_functions.h"

namespace lanescope::stats {
namespace {

// The times of a call and its kernel, each read when it is asked for.
class Times {
 public:
  Times(const Trace& trace, const Launch& launch)
      : launch_(launch), call_(trace.lane(launch.call.lane)), kernel_(trace.lane(launch.operation.lane)) {}
  [[nodiscard]] Nanoseconds call_begin() const noexcept { return call_.start(launch_.call.index); }
  [[nodiscard]] Nanoseconds call_length() const noexcept { return call_.duration(launch_.call.index); }
  [[nodiscard]] Nanoseconds call_end() const noexcept { return call_begin() + call_length(); }
  [[nodiscard]] Nanoseconds kernel_begin() const noexcept { return kernel_.start(launch_.operation.index); }
  [[nodiscard]] Nanoseconds kernel_length() const noexcept { return kernel_.duration(launch_.operation.index); }
  [[nodiscard]] Nanoseconds total() const noexcept { return std::max(call_end(), kernel_begin() + kernel_length()) - call_begin(); }
  [[nodiscard]] Nanoseconds queue() const noexcept { return kernel_begin() - call_end(); }
  [[nodiscard]] bool queued() const noexcept { return queue() >= 0; }

 private:
  const Launch& launch_;
  const Lane& call_;
  const Lane& kernel_;
};

// What the two reports ask of a launch.
class Executions {
 public:
  Executions(const Selection& selection, const ReportOptions& options)
      : trace_(selection.trace()), options_(options), threads_(launches_by_thread(selection, {TrackKind::kKernels})) {
    if (options.range_prefix == RangePrefix::kInnermostRange) ranges_ = InnermostRanges(selection, threads_);
  }

  [[nodiscard]] std::map<ThreadId, Launches>& threads() noexcept { return threads_; }
  [[nodiscard]] Times times(const Launch& launch) const { return {trace_, launch}; }
  [[nodiscard]] NameId call(const Launch& launch) const { return trace_.lane(launch.call.lane).name(launch.call.index); }
  [[nodiscard]] NameId range(const Launch& launch) const {
    return options_.range_prefix == RangePrefix::kInnermostRange ? ranges_.name(launch.operation) : NameId{0};
  }
  [[nodiscard]] NameId kernel(const Launch& launch) const {
    const Lane& lane = trace_.lane(launch.operation.lane);
    return kernel_name(trace_, lane.name(launch.operation.index), lane.detail(launch.operation.index), options_.kernel_names);
  }

 private:
  const Trace& trace_;
  const ReportOptions& options_;
  std::map<ThreadId, Launches> threads_;
  InnermostRanges ranges_;
};

struct Group {
  Samples total, call, queue, kernel;

  void add(const Times& times) {
    total.push_back(times.total());
    call.push_back(times.call_length());
    if (times.queued()) queue.push_back(times.queue());
    kernel.push_back(times.kernel_length());
  }
  void add(Group&& other) {
    append(total, std::move(other.total));
    append(call, std::move(other.call));
    append(queue, std::move(other.queue));
    append(kernel, std::move(other.kernel));
  }

 private:
  static void append(Samples& samples, Samples&& others) {
    if (samples.empty())
      samples = std::move(others);
    else
      samples.insert(samples.end(), others.begin(), others.end());
  }
};

struct GroupKey {
  std::int64_t pid, tid, device;
  std::string_view call;
  NameId range, kernel;
  auto operator<=>(const GroupKey&) const = default;
};

std::map<GroupKey, Group> group(const Trace& trace, Executions& executions) {
  // First by ids, which are quick to compare; versions of a call then meet under its name.
  struct OfThread {
    ThreadId thread;
    const Launches* launches;
    GroupsByIds<4, Group> groups;
  };
  std::vector<OfThread> threads;
  for (const auto& [thread, launches] : executions.threads()) threads.push_back({thread, &launches, {}});
  parallel_for(threads.size(), [&](std::size_t i) {
    for (const Launch& launch : *threads[i].launches)
      threads[i]
          .groups[{trace.track_of(launch.operation.lane).key.gpu, executions.call(launch), executions.range(launch),
                   executions.kernel(launch)}]
          .add(executions.times(launch));
  });
  const DeviceOrdinals device(trace);
  std::map<GroupKey, Group> groups;
  for (OfThread& of_thread : threads) {
    const Thread& thread = trace.threads()[of_thread.thread];
    for (auto& [ids, of_ids] : of_thread.groups)
      groups[{trace.processes()[thread.process].pid, thread.tid, device(thread.process, ids[0]), api_display_name(trace.name(ids[1])),
              ids[2], ids[3]}]
          .add(std::move(of_ids));
  }
  return groups;
}

// The columns of the trace report that have a value of their own in each row, or a place among shared ones. Filled in one pass, piece by
// piece on all cores: what a row reads lies close together.
struct LaunchColumns {
  LaunchColumns(const Trace& trace, const Executions& executions, const Launches& launches, Table& table)
      : trace_(trace), executions_(executions), launches_(launches), table_(table) {}

  void fill() {
    constexpr std::size_t kPiece = 1u << 16;
    const std::size_t pieces = (launches_.size() + kPiece - 1) / kPiece;
    Integers* const own[] = {&api_starts, &api_durations, &queue_starts, &queue_durations, &kernel_starts, &kernel_durations, &totals};
    std::vector<std::uint32_t>* const places[] = {&threads, &tracks, &shapes};
    parallel_for(std::size(own) + std::size(places), [&](std::size_t i) {
      if (i < std::size(own))
        own[i]->resize(launches_.size());
      else
        places[i - std::size(own)]->resize(launches_.size());
    });
    parallel_for(pieces + 1, [&](std::size_t i) {
      if (i == 0)
        add_texts();
      else
        fill((i - 1) * kPiece, std::min(launches_.size(), i * kPiece));
    });
  }

  Integers api_starts, api_durations, queue_starts, queue_durations, kernel_starts, kernel_durations, totals;
  std::vector<std::uint32_t> threads, tracks, shapes;
  Texts calls, kernels;

 private:
  void fill(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Launch& launch = launches_[i];
      const Times times = executions_.times(launch);
      api_starts[i] = times.call_begin();
      api_durations[i] = times.call_length();
      kernel_starts[i] = times.kernel_begin();
      kernel_durations[i] = times.kernel_length();
      const Nanoseconds call_end = api_starts[i] + api_durations[i], queue = kernel_starts[i] - call_end;
      queue_starts[i] = queue >= 0 ? call_end : kNoInteger;
      queue_durations[i] = queue >= 0 ? queue : kNoInteger;
      totals[i] = std::max(call_end, kernel_starts[i] + kernel_durations[i]) - api_starts[i];
      threads[i] = trace_.track_of(launch.call.lane).key.thread;
      tracks[i] = static_cast<std::uint32_t>(&trace_.track_of(launch.operation.lane) - trace_.tracks().data());
      shapes[i] = trace_.lane(launch.operation.lane).detail(launch.operation.index);
    }
  }

  void add_texts() {
    NameTexts call_texts(table_, trace_);
    calls = column_of<Texts>(launches_, [&](const Launch& launch) {
      return call_texts(executions_.call(launch), [&](NameId name) { return api_display_name(trace_.name(name)); });
    });
    GroupsByIds<2, TextId> known;
    kernels = column_of<Texts>(launches_, [&](const Launch& launch) {
      const NameId range = executions_.range(launch), kernel = executions_.kernel(launch);
      TextId& text = known[{range, kernel}];
      if (text == TextId{0}) text = table_.add_text(prefixed(trace_, range, kernel));
      return text;
    });
  }

  const Trace& trace_;
  const Executions& executions_;
  const Launches& launches_;
  Table& table_;
};

struct SummaryRow {
  const GroupKey* key;
  Group* group;
  Summary total, call, queue, kernel;
};

std::vector<SummaryRow> summarized(std::map<GroupKey, Group>& groups, const Percentiles& percentiles) {
  std::vector<SummaryRow> rows;
  for (auto& [key, group] : groups) rows.push_back({&key, &group, {}, {}, {}, {}});
  constexpr std::size_t kParts = 4;
  parallel_for(kParts * rows.size(), [&](std::size_t i) {
    constexpr Samples Group::*kSamples[kParts] = {&Group::total, &Group::call, &Group::queue, &Group::kernel};
    constexpr Summary SummaryRow::*kSummaries[kParts] = {&SummaryRow::total, &SummaryRow::call, &SummaryRow::queue, &SummaryRow::kernel};
    SummaryRow& row = rows[i / kParts];
    row.*kSummaries[i % kParts] = summarize(row.group->*kSamples[i % kParts], percentiles);
  });
  std::stable_sort(rows.begin(), rows.end(), [](const SummaryRow& a, const SummaryRow& b) { return a.total.average > b.total.average; });
  return rows;
}

}  // namespace

Table cuda_kern_exec_sum(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  Executions executions(selection, options);
  std::map<GroupKey, Group> groups = group(trace, executions);

  std::vector<Column> columns = {identifiers("PID"), identifiers("TID"), identifiers("DevId"), integers("Count"), integers("QCount")};
  for (const std::string_view prefix : {"T", "A", "Q", "K"})
    append_summary_columns(columns, prefix, Unit::kNanoseconds, options.percentiles);
  columns.push_back(texts("API Name"));
  columns.push_back(texts("Kernel Name"));
  Table table(std::move(columns));
  for (const auto& [key, group, total, call, queue, kernel] : summarized(groups, options.percentiles)) {
    std::vector<Cell> cells = {key->pid, key->tid, key->device, total.count, queue.count};
    for (const Summary* summary : {&total, &call, &queue, &kernel}) append_summary_cells(cells, *summary, options.percentiles);
    cells.emplace_back(table.add_text(std::string(key->call)));
    cells.emplace_back(table.add_text(prefixed(trace, key->range, key->kernel)));
    table.add_cells(cells);
  }
  return table;
}

Table cuda_kern_exec_trace(const Selection& selection, const ReportOptions& options) {
  const Trace& trace = selection.trace();
  Executions executions(selection, options);
  std::vector<Launches> lists;
  for (auto& [thread, launches] : executions.threads()) lists.push_back(std::move(launches));
  const Launches launches =
      merge_sorted(std::move(lists), [&](const Launch& launch) { return trace.lane(launch.call.lane).start(launch.call.index); });
  Table table;
  const DeviceOrdinals device(trace);
  LaunchColumns columns(trace, executions, launches, table);
  columns.fill();
  const auto shared = [](std::vector<std::uint32_t>& places) {
    return std::make_shared<const std::vector<std::uint32_t>>(std::move(places));
  };
  const DetailId details = columns.shapes.empty() ? 0 : *std::max_element(columns.shapes.begin(), columns.shapes.end()) + 1;
  const Places threads = shared(columns.threads), tracks = shared(columns.tracks), shapes = shared(columns.shapes);

  Shared<Texts> grids{shapes, {}}, blocks{shapes, {}};
  for (DetailId id = 0; id < details; ++id) {
    grids.values.push_back(table.add_text(grid_text(trace.kernel_detail(id).grid)));
    blocks.values.push_back(table.add_text(grid_text(trace.kernel_detail(id).block)));
  }
  const auto pid = [&](const Thread& thread) { return trace.processes()[thread.process].pid; };
  const auto tid = [](const Thread& thread) { return thread.tid; };
  const auto device_of = [&](const Track& track) { return device(track.key.process, track.key.gpu); };
  table.set_columns({{"API Start", Unit::kNanoseconds, std::move(columns.api_starts)},
                     {"API Dur", Unit::kNanoseconds, std::move(columns.api_durations)},
                     {"Queue Start", Unit::kNanoseconds, std::move(columns.queue_starts)},
                     {"Queue Dur", Unit::kNanoseconds, std::move(columns.queue_durations)},
                     {"Kernel Start", Unit::kNanoseconds, std::move(columns.kernel_starts)},
                     {"Kernel Dur", Unit::kNanoseconds, std::move(columns.kernel_durations)},
                     {"Total Dur", Unit::kNanoseconds, std::move(columns.totals)},
                     {"PID", Unit::kIdentifier, shared_integers(threads, trace.threads(), pid)},
                     {"TID", Unit::kIdentifier, shared_integers(threads, trace.threads(), tid)},
                     {"DevId", Unit::kIdentifier, shared_integers(tracks, trace.tracks(), device_of)},
                     {"API Function", Unit::kNone, std::move(columns.calls)},
                     {"GridXYZ", Unit::kNone, std::move(grids)},
                     {"BlockXYZ", Unit::kNone, std::move(blocks)},
                     {"Kernel Name", Unit::kNone, std::move(columns.kernels)}},
                    launches.size());
  return table;
}

}  // namespace lanescope::stats

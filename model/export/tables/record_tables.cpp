#include "record_tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lanescope::exporters {
namespace {

constexpr auto kInt = ColumnType::kInt64;
constexpr auto kUnsigned = ColumnType::kUint64;
constexpr auto kDouble = ColumnType::kDouble;
constexpr auto kBool = ColumnType::kBool;
constexpr auto kText = ColumnType::kText;

Cell instance_of(const Trace& trace, ProcessId process) { return process == kNone ? 0 : trace.processes()[process].instance; }
Cell pid_of(const Trace& trace, ProcessId process) { return process == kNone ? 0 : trace.processes()[process].pid; }
Cell double_cell(double value) { return std::bit_cast<std::int64_t>(value); }

template <typename Row>
constexpr ColumnSource<Row> kProcess{"process", kInt, [](const Row& r) { return instance_of(r.trace, r.process()); }};
template <typename Row>
constexpr ColumnSource<Row> kPid{"pid", kInt, [](const Row& r) { return pid_of(r.trace, r.process()); }};

bool is_wanted(const ExportSelection& selection, TimeRange time) {
  if (!selection.window) return true;
  const bool begins_inside = time.begin >= selection.window->begin && time.begin < selection.window->end;
  return begins_inside || (time.begin < selection.window->end && time.end > selection.window->begin);
}

const Counter& counter_of(const Trace& trace, std::int64_t cell) { return trace.counters()[static_cast<CounterId>(cell)]; }
std::string counter_gpu(const Trace& trace, std::int64_t cell) { return gpu_uuid(trace, counter_of(trace, cell).gpu); }
std::string counter_name(const Trace& trace, std::int64_t cell) { return counter_of(trace, cell).name; }
std::string counter_unit(const Trace& trace, std::int64_t cell) { return counter_of(trace, cell).unit; }

constexpr ColumnSource<CounterRow> kCounterColumns[] = {
    {"start", kInt, [](const CounterRow& r) -> Cell { return r.sample.time; }},
    {"duration", kInt, [](const CounterRow& r) -> Cell { return r.sample.duration; }},
    kProcess<CounterRow>,
    {"gpu_uuid", kText, [](const CounterRow& r) -> Cell { return r.counter; }, counter_gpu},
    {"name", kText, [](const CounterRow& r) -> Cell { return r.counter; }, counter_name},
    {"unit", kText, [](const CounterRow& r) -> Cell { return r.counter; }, counter_unit},
    {"value", kDouble, [](const CounterRow& r) { return double_cell(static_cast<double>(r.sample.value) * r.trace.counters()[r.counter].resolution); }},
};

std::string metric_name(const Trace& trace, std::int64_t cell) { return trace.kernel_records().metrics[static_cast<std::size_t>(cell)]; }
std::string replay_name(const Trace&, std::int64_t cell) {
  static constexpr std::array<std::string_view, 5> kWords = {"none", "kernel", "spread", "application", "range"};
  return std::string(kWords[static_cast<std::size_t>(cell) % kWords.size()]);
}
const TrackKey& key_of(const KernelMetricRow& r) { return r.trace.track_of(r.kernel.lane).key; }

constexpr ColumnSource<KernelMetricRow> kKernelMetricColumns[] = {
    kProcess<KernelMetricRow>,
    kPid<KernelMetricRow>,
    {"start", kInt, [](const KernelMetricRow& r) -> Cell { return r.event.start; }},
    {"duration", kInt, [](const KernelMetricRow& r) -> Cell { return r.event.duration; }},
    {"name", kText, [](const KernelMetricRow& r) -> Cell { return r.event.name; }},
    {"device", kInt, [](const KernelMetricRow& r) -> Cell { return device_ordinal(r.trace, r.process(), key_of(r).gpu); }},
    {"context", kInt, [](const KernelMetricRow& r) -> Cell { return key_of(r).context; }},
    {"stream", kInt, [](const KernelMetricRow& r) -> Cell { return key_of(r).stream; }},
    {"correlation", kInt, [](const KernelMetricRow& r) -> Cell { return r.launch.correlation; }},
    {"metric", kText, [](const KernelMetricRow& r) -> Cell { return r.value.metric; }, metric_name},
    {"value", kDouble, [](const KernelMetricRow& r) { return double_cell(r.value.value); }},
    {"replay", kText, [](const KernelMetricRow& r) -> Cell { return static_cast<std::int64_t>(r.launch.replay); }, replay_name},
    {"passes", kInt, [](const KernelMetricRow& r) -> Cell { return r.launch.passes; }},
    {"launches", kInt, [](const KernelMetricRow& r) -> Cell { return 1 + static_cast<std::int64_t>(r.launch.other_launches.size()); }},
    {"spent", kInt, [](const KernelMetricRow& r) -> Cell { return r.launch.spent; }},
};

// The first kernel of each launch; an invalid reference if the trace has no kernel of it.
template <typename Launch>
std::vector<EventRef> kernels_of(const Trace& trace, const std::vector<std::shared_ptr<const Launch>>& launches) {
  const auto key = [](ProcessId process, std::uint32_t correlation) { return std::uint64_t{process} << 32 | correlation; };
  std::unordered_map<std::uint64_t, EventRef> found;
  for (const auto& launch : launches) found.try_emplace(key(launch->process, launch->correlation));
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kKernels || found.empty()) continue;
    for (const LaneId lane : track.lanes) {
      const Lane& events = trace.lane(lane);
      for (EventIndex i = 0; i < events.size(); ++i) {
        const auto place = found.find(key(track.key.process, events.correlation(i)));
        if (place == found.end()) continue;
        if (!place->second.valid() || events.start(i) < trace.event(place->second).start) place->second = {lane, i};
      }
    }
  }
  std::vector<EventRef> kernels;
  for (const auto& launch : launches) kernels.push_back(found.at(key(launch->process, launch->correlation)));
  return kernels;
}

// The launches with a selected kernel, by its start.
template <typename Launch>
std::vector<Record> launches_by_start(const Trace& trace, const ExportSelection& selection, const std::vector<std::shared_ptr<const Launch>>& launches) {
  const std::vector<EventRef> kernels = kernels_of(trace, launches);
  std::vector<Record> records;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!kernels[i].valid() || !selection.takes(kernels[i].lane)) continue;
    const Event event = trace.event(kernels[i]);
    if (is_wanted(selection, {event.start, event.end()})) records.push_back({{event.start, event.end()}, kernels[i], i});
  }
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.time.begin < b.time.begin; });
  return records;
}

const MeasuredLaunch& measured(const Trace& trace, const Record& record) { return *trace.kernel_records().measured[record.index]; }
const InstructionCounts& counted(const Trace& trace, const Record& record) { return *trace.kernel_records().counted[record.index]; }
const PcSampleWindow& window(const Trace& trace, const Record& record) { return *trace.kernel_records().windows[record.index]; }

const GpuFunction& function_of(const InstructionCountRow& r) { return r.trace.kernel_records().functions[r.counts.rows[r.row].function]; }

constexpr ColumnSource<InstructionCountRow> kInstructionCountColumns[] = {
    kProcess<InstructionCountRow>,
    kPid<InstructionCountRow>,
    {"start", kInt, [](const InstructionCountRow& r) -> Cell { return r.event.start; }},
    {"name", kText, [](const InstructionCountRow& r) -> Cell { return function_of(r).name; }},
    {"correlation", kInt, [](const InstructionCountRow& r) -> Cell { return r.counts.correlation; }},
    {"offset", kInt, [](const InstructionCountRow& r) -> Cell { return r.counts.rows[r.row].pc; }},
    {"metric", kText, [](const InstructionCountRow& r) -> Cell { return r.counts.metrics[r.metric]; }, metric_name},
    {"value", kInt, [](const InstructionCountRow& r) -> Cell { return static_cast<std::int64_t>(r.counts.value(r.metric, r.row)); }},
    {"code_object", kUnsigned, [](const InstructionCountRow& r) -> Cell { return static_cast<std::int64_t>(function_of(r).code_object); }},
};

template <typename Row>
constexpr ColumnSource<Row> kWindowStart{"start", kInt, [](const Row& r) -> Cell { return r.window.time.begin; }};
template <typename Row>
constexpr ColumnSource<Row> kWindowDuration{"duration", kInt, [](const Row& r) -> Cell { return r.window.time.end - r.window.time.begin; }};
template <typename Row>
constexpr ColumnSource<Row> kWindowDevice{"device", kInt, [](const Row& r) -> Cell { return device_ordinal(r.trace, r.process(), r.window.gpu); }};
template <typename Row>
constexpr ColumnSource<Row> kWindowContext{"context", kInt, [](const Row& r) -> Cell { return r.window.context; }};

constexpr ColumnSource<PcWindowRow> kPcWindowColumns[] = {
    kProcess<PcWindowRow>,
    kPid<PcWindowRow>,
    kWindowStart<PcWindowRow>,
    kWindowDuration<PcWindowRow>,
    kWindowDevice<PcWindowRow>,
    kWindowContext<PcWindowRow>,
    {"period", kInt, [](const PcWindowRow& r) -> Cell { return static_cast<std::int64_t>(r.window.period); }},
    {"dropped", kInt, [](const PcWindowRow& r) -> Cell { return static_cast<std::int64_t>(r.window.dropped); }},
    {"other_samples", kInt, [](const PcWindowRow& r) -> Cell { return static_cast<std::int64_t>(r.window.other_samples); }},
    {"buffer_was_full", kBool, [](const PcWindowRow& r) -> Cell { return r.window.buffer_was_full; }},
    {"every", kInt, [](const PcWindowRow& r) -> Cell { return r.window.every; }},
};

const GpuFunction& function_of(const PcSampleRow& r) { return r.trace.kernel_records().functions[r.sample.function]; }
std::string reason_name(const Trace& trace, std::int64_t cell) { return trace.kernel_records().reasons[static_cast<std::size_t>(cell)]; }

constexpr ColumnSource<PcSampleRow> kPcSampleColumns[] = {
    kProcess<PcSampleRow>,
    kPid<PcSampleRow>,
    kWindowStart<PcSampleRow>,
    kWindowDuration<PcSampleRow>,
    {"name", kText, [](const PcSampleRow& r) -> Cell { return function_of(r).name; }},
    kWindowDevice<PcSampleRow>,
    kWindowContext<PcSampleRow>,
    {"offset", kInt, [](const PcSampleRow& r) -> Cell { return r.sample.pc; }},
    {"reason", kText, [](const PcSampleRow& r) -> Cell { return r.sample.reason; }, reason_name},
    {"samples", kInt, [](const PcSampleRow& r) -> Cell { return r.sample.samples; }},
    {"not_issued", kInt, [](const PcSampleRow& r) -> Cell { return r.sample.not_issued; }},
    {"code_object", kUnsigned, [](const PcSampleRow& r) -> Cell { return static_cast<std::int64_t>(function_of(r).code_object); }},
};

std::size_t window_count(const Trace& trace) { return trace.kernel_records().windows.size(); }
std::vector<Record> windows_by_start(const Trace& trace, const ExportSelection& selection) {
  const auto& windows = trace.kernel_records().windows;
  std::vector<Record> records;
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (is_wanted(selection, windows[i]->time)) records.push_back({windows[i]->time, {}, i});
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.time.begin < b.time.begin; });
  return records;
}

constexpr CounterTable kCounters{"counters", kCounterColumns};
constexpr RecordTable<KernelMetricRow> kKernelMetrics{
    "kernel_metrics",
    kKernelMetricColumns,
    [](const Trace& trace, const ExportSelection& selection) { return launches_by_start(trace, selection, trace.kernel_records().measured); },
    [](const Trace& trace) { return trace.kernel_records().measured.size(); },
    [](const Trace& trace, const Record& record) { return measured(trace, record).values.size(); },
    [](const Trace& trace, const Record& record, std::size_t index) {
      const MeasuredLaunch& launch = measured(trace, record);
      return KernelMetricRow{trace, launch, record.kernel, trace.event(record.kernel), launch.values[index]};
    },
    [](const Trace& trace, const Record& record) { return measured(trace, record).correlation; }};
constexpr RecordTable<InstructionCountRow> kInstructionCounts{
    "instruction_counts",
    kInstructionCountColumns,
    [](const Trace& trace, const ExportSelection& selection) { return launches_by_start(trace, selection, trace.kernel_records().counted); },
    [](const Trace& trace) { return trace.kernel_records().counted.size(); },
    [](const Trace& trace, const Record& record) { return counted(trace, record).metrics.size() * counted(trace, record).rows.size(); },
    [](const Trace& trace, const Record& record, std::size_t index) {
      const InstructionCounts& counts = counted(trace, record);
      return InstructionCountRow{trace, counts, trace.event(record.kernel), index / counts.rows.size(), index % counts.rows.size()};
    },
    [](const Trace& trace, const Record& record) { return counted(trace, record).correlation; }};
constexpr RecordTable<PcWindowRow> kPcWindows{"pc_sample_windows",
                                              kPcWindowColumns,
                                              windows_by_start,
                                              window_count,
                                              [](const Trace&, const Record&) { return std::size_t{1}; },
                                              [](const Trace& trace, const Record& record, std::size_t) {
                                                return PcWindowRow{trace, window(trace, record)};
                                              },
                                              nullptr};
constexpr RecordTable<PcSampleRow> kPcSamples{"pc_samples",
                                              kPcSampleColumns,
                                              windows_by_start,
                                              window_count,
                                              [](const Trace& trace, const Record& record) { return window(trace, record).samples.size(); },
                                              [](const Trace& trace, const Record& record, std::size_t index) {
                                                return PcSampleRow{trace, window(trace, record), window(trace, record).samples[index]};
                                              },
                                              nullptr};

}  // namespace

// Values are merged instead of sorted, because a series may contain far more values than the file has bytes.
void for_each_row(const CounterTable&, const Trace& trace, const ExportSelection& selection, const std::function<bool(const CounterRow&)>& visit) {
  struct Cursor {
    CounterSample sample;
    CounterId counter;
    std::size_t next, last;
    CounterReader reader;
    bool operator>(const Cursor& other) const { return std::pair(sample.time, counter) > std::pair(other.sample.time, other.counter); }
  };
  const auto advance = [&](Cursor& cursor) {
    while (cursor.next < cursor.last)
      if (cursor.sample = cursor.reader.sample(cursor.next++); cursor.sample.has_value()) return true;
    return false;
  };
  std::priority_queue<Cursor, std::vector<Cursor>, std::greater<>> cursors;
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    if (trace.counters()[id].origin == CounterOrigin::kComputed) continue;
    const auto [first, last] = selection.values(trace, id);
    if (Cursor cursor{{}, id, first, last, CounterReader(trace.counter_series(id))}; advance(cursor)) cursors.push(std::move(cursor));
  }
  while (!cursors.empty()) {
    Cursor earliest = cursors.top();
    cursors.pop();
    if (!visit({trace, earliest.counter, earliest.sample})) return;
    if (advance(earliest)) cursors.push(std::move(earliest));
  }
}

const CounterTable& counter_table() noexcept { return kCounters; }
const RecordTable<KernelMetricRow>& kernel_metric_table() noexcept { return kKernelMetrics; }
const RecordTable<InstructionCountRow>& instruction_count_table() noexcept { return kInstructionCounts; }
const RecordTable<PcWindowRow>& pc_window_table() noexcept { return kPcWindows; }
const RecordTable<PcSampleRow>& pc_sample_table() noexcept { return kPcSamples; }

}  // namespace lanescope::exporters

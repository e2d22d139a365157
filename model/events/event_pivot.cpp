#include "model/events/event_pivot.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "model/events/column_reader.h"
#include "model/events/name_family.h"
#include "model/trace/saturated.h"
#include "range_finder.h"
#include "track_texts.h"

namespace lanescope {
namespace {

constexpr std::size_t kEventsAtOnce = 1u << 14;  // read between checks of the stop token

bool is_family(PivotColumn column) noexcept { return column == PivotColumn::kFamily || column == PivotColumn::kNvtxFamily; }

// The column of an events table with the same values.
EventColumn event_column_of(PivotColumn column) noexcept {
  switch (column) {
    case PivotColumn::kName:
    case PivotColumn::kFamily:
      return EventColumn::kName;
    case PivotColumn::kKind:
      return EventColumn::kKind;
    case PivotColumn::kProcess:
      return EventColumn::kProcess;
    case PivotColumn::kThread:
      return EventColumn::kThread;
    case PivotColumn::kDevice:
      return EventColumn::kDevice;
    case PivotColumn::kContext:
      return EventColumn::kContext;
    case PivotColumn::kStream:
      return EventColumn::kStream;
    case PivotColumn::kRun:
      return EventColumn::kRun;
    case PivotColumn::kNvtxRange:
    case PivotColumn::kNvtxFamily:
      return EventColumn::kNvtxRange;
    case PivotColumn::kGrid:
      return EventColumn::kGrid;
    case PivotColumn::kBlock:
      return EventColumn::kBlock;
    case PivotColumn::kRegisters:
      return EventColumn::kRegisters;
    case PivotColumn::kSharedMemory:
      return EventColumn::kSharedMemory;
    case PivotColumn::kOccupancy:
      return EventColumn::kOccupancy;
    case PivotColumn::kWaves:
      return EventColumn::kWaves;
    case PivotColumn::kMemory:
      return EventColumn::kMemory;
    case PivotColumn::kBytes:
      return EventColumn::kBytes;
    case PivotColumn::kDomain:
      break;  // a table has no such column, and the value is of the track
  }
  return EventColumn::kName;
}

std::string text_of(const EventValues& values, EventRef event, PivotColumn column) {
  std::string text = values.text(event, event_column_of(column));
  return is_family(column) ? name_family(text) : text;
}

// Each name is examined once. Names of CUDA calls are shown without a suffix; other events keep it.
std::size_t place_of_name(const Trace& trace, EventRef event) {
  const bool is_call = trace.track_of(event.lane).key.kind == TrackKind::kCudaApi;
  return 2 * std::size_t{listed_name(trace, event)} + (is_call ? 1 : 0);
}

// The different values of a column, numbered in the order of their first occurrence. Each id in the trace that stands for a value (a name, a track, a detail)
// is looked up once.
class ColumnNumbers {
 public:
  ColumnNumbers(const EventValues& values, PivotColumn column, const std::stop_token& stop) : values_(values), trace_(values.trace()), column_(column) {
    if (is_of_track(column)) {
      for (const std::string& text : track_texts(trace_, column)) of_place_.push_back(number_of(text));
      return;
    }
    const bool is_name = column == PivotColumn::kName || column == PivotColumn::kFamily;
    const bool is_shape = column == PivotColumn::kGrid || column == PivotColumn::kBlock;  // numbers give only the size of these
    if (is_name)
      of_place_.assign(2 * trace_.name_count(), kNone);
    else if (column == PivotColumn::kKind)
      of_place_.assign(kEventKindCount, kNone);
    else if (!is_shape)
      reader_.emplace(values, event_column_of(column), stop);
  }

  void read(std::span<const EventRef> events, std::span<std::uint32_t> numbers) {
    if (reader_) return read_numbers(events, numbers);
    for (std::size_t i = 0; i < events.size(); ++i) numbers[i] = number_of(events[i]);
  }
  [[nodiscard]] const std::string& text(std::uint32_t number) const { return *texts_[number]; }

 private:
  std::uint32_t number_of(std::string text) {
    const auto [place, is_new] = numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&place->first);
    return place->second;
  }
  std::uint32_t number_at(std::size_t place, EventRef event) {
    if (of_place_[place] == kNone) of_place_[place] = number_of(text_of(values_, event, column_));
    return of_place_[place];
  }
  std::uint32_t number_of(EventRef event) {
    const Track& track = trace_.track_of(event.lane);
    switch (column_) {
      case PivotColumn::kName:
      case PivotColumn::kFamily:
        return number_at(place_of_name(trace_, event), event);
      case PivotColumn::kKind:
        return number_at(static_cast<std::size_t>(event_kind(trace_, event)), event);
      case PivotColumn::kGrid:
      case PivotColumn::kBlock: {
        if (track.key.kind != TrackKind::kKernels) return number_of(std::string());
        const DetailId detail = trace_.lane(event.lane).detail(event.index);
        if (detail >= of_place_.size()) of_place_.resize(detail + std::size_t{1}, kNone);
        return number_at(detail, event);
      }
      default:  // columns of the track
        return of_place_[static_cast<std::size_t>(&track - trace_.tracks().data())];
    }
  }
  void read_numbers(std::span<const EventRef> events, std::span<std::uint32_t> numbers) {
    read_.resize(events.size());
    reader_->read(events, read_);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto [place, is_new] = of_read_.try_emplace(read_[i], kNone);
      if (is_new) place->second = number_of(read_[i] == ColumnReader::kMissing ? std::string() : text_of(values_, events[i], column_));
      numbers[i] = place->second;
    }
  }

  const EventValues& values_;
  const Trace& trace_;
  PivotColumn column_;
  std::optional<ColumnReader> reader_;
  std::vector<std::uint32_t> of_place_;  // by track, name, kind or detail; kNone: not looked up yet
  std::unordered_map<std::int64_t, std::uint32_t> of_read_;
  std::vector<std::int64_t> read_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> texts_;  // keys of numbers_, whose addresses are stable
};

}  // namespace

struct PivotSums::State {
  const Trace* trace;
  std::vector<std::unique_ptr<ColumnNumbers>> columns;
  // Combines the columns up to one: from the number of the combination before it and the number of its own value.
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> together;  // one for each column after the first
  std::unordered_map<std::uint32_t, std::uint32_t> group_of;               // by the combination of all columns
  std::vector<PivotGroup> groups;
};

PivotSums::PivotSums(const EventValues& values, std::span<const PivotColumn> columns, std::stop_token stop) : state_(std::make_unique<State>()) {
  state_->trace = &values.trace();
  for (const PivotColumn column : columns) state_->columns.push_back(std::make_unique<ColumnNumbers>(values, column, stop));
  if (!columns.empty()) state_->together.resize(columns.size() - 1);
}

PivotSums::~PivotSums() = default;

void PivotSums::add(std::span<const EventRef> events) {
  State& state = *state_;
  std::vector<std::vector<std::uint32_t>> read(state.columns.size());
  std::vector<std::uint32_t> together;
  for (; !events.empty(); events = events.subspan(std::min(events.size(), kEventsAtOnce))) {
    const std::span<const EventRef> some = events.first(std::min(events.size(), kEventsAtOnce));
    together.assign(some.size(), 0);
    for (std::size_t c = 0; c < state.columns.size(); ++c) {
      read[c].resize(some.size());
      state.columns[c]->read(some, read[c]);
      if (c == 0) {
        together = read[c];
        continue;
      }
      auto& numbers = state.together[c - 1];
      for (std::size_t i = 0; i < some.size(); ++i)
        together[i] = numbers.try_emplace(std::uint64_t{together[i]} << 32 | read[c][i], static_cast<std::uint32_t>(numbers.size())).first->second;
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto [place, is_new] = state.group_of.try_emplace(together[i], static_cast<std::uint32_t>(state.groups.size()));
      if (is_new) {
        PivotGroup& added = state.groups.emplace_back();
        for (std::size_t c = 0; c < state.columns.size(); ++c) added.values.push_back(state.columns[c]->text(read[c][i]));
      }
      PivotGroup& group = state.groups[place->second];
      const Nanoseconds duration = state.trace->lane(some[i].lane).duration(some[i].index);
      if (group.count == 0 || duration > group.maximum) {
        group.maximum = duration;
        group.longest = some[i];
      }
      group.minimum = group.count == 0 ? duration : std::min(group.minimum, duration);
      group.total = saturated_sum(group.total, duration);
      ++group.count;
    }
  }
}

std::vector<PivotGroup> PivotSums::take() {
  std::stable_sort(state_->groups.begin(), state_->groups.end(), [](const PivotGroup& a, const PivotGroup& b) { return a.total > b.total; });
  return std::move(state_->groups);
}

std::vector<PivotGroup> sum_by_columns(const EventValues& values, std::span<const EventRef> events, std::span<const PivotColumn> columns,
                                       const std::stop_token& stop) {
  PivotSums sums(values, columns, stop);
  for (; !events.empty() && !stop.stop_requested(); events = events.subspan(std::min(events.size(), kEventsAtOnce)))
    sums.add(events.first(std::min(events.size(), kEventsAtOnce)));
  return stop.stop_requested() ? std::vector<PivotGroup>() : sums.take();
}

std::vector<PivotGroup> sum_by_columns(const EventValues& values, const EventStream& events, std::span<const PivotColumn> columns,
                                       const std::function<void(std::uint64_t)>& progress, const std::stop_token& stop) {
  PivotSums sums(values, columns, stop);
  std::uint64_t seen = 0;
  const auto add = [&](std::span<const EventRef> some) {
    for (; !some.empty(); some = some.subspan(std::min(some.size(), kEventsAtOnce))) {
      if (stop.stop_requested()) return false;
      const std::span<const EventRef> part = some.first(std::min(some.size(), kEventsAtOnce));
      sums.add(part);
      seen += part.size();
    }
    if (progress) progress(seen);
    return true;
  };
  events.visit(add, stop);
  return stop.stop_requested() ? std::vector<PivotGroup>() : sums.take();
}

struct HasValues::State {
  explicit State(const Trace& of) : trace(of), values(std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &of), EventScope()) {}

  const Trace& trace;
  EventValues values;                  // without lanes: rows and gaps are not needed
  std::vector<ColumnValue> of_events;  // values that have to be checked for each event
  std::vector<std::uint8_t> tracks;    // by id
  std::vector<std::uint8_t> names;     // by place_of_name(); empty if names do not matter
  // The NVTX range around an event, if that matters: by name, and whether there may be none.
  std::optional<RangeFinder> ranges;
  std::vector<std::uint8_t> range_names;
  bool may_be_outside = true;

  bool may_hold(const Track& track) const { return tracks[static_cast<std::size_t>(&track - trace.tracks().data())] != 0; }
  // Checks the columns except those of NVTX ranges.
  bool has(EventRef event) const {
    if (!may_hold(trace.track_of(event.lane))) return false;
    if (!names.empty() && names[place_of_name(trace, event)] == 0) return false;
    return std::all_of(of_events.begin(), of_events.end(), [&](const ColumnValue& value) { return text_of(values, event, value.column) == value.text; });
  }
  // `range`: the innermost range around the event; invalid if there is none.
  bool has_around(EventRef range) const { return range.valid() ? range_names[trace.lane(range.lane).name(range.index)] != 0 : may_be_outside; }
};

HasValues::HasValues(const Trace& trace, std::vector<ColumnValue> values) {
  auto state = std::make_unique<State>(trace);
  state->tracks.assign(trace.tracks().size(), 1);
  for (ColumnValue& value : values) {
    const bool is_name = value.column == PivotColumn::kName || value.column == PivotColumn::kFamily;
    if (event_column_of(value.column) == EventColumn::kNvtxRange) {
      if (!state->ranges) state->ranges.emplace(state->values);
      if (state->range_names.empty()) state->range_names.assign(trace.name_count(), 1);
      for (std::size_t i = 0; i < state->range_names.size(); ++i) {
        const std::string name(trace.name(static_cast<NameId>(i)));
        if ((is_family(value.column) ? name_family(name) : name) != value.text) state->range_names[i] = 0;
      }
      state->may_be_outside = state->may_be_outside && value.text.empty();
    } else if (is_of_track(value.column)) {
      const std::vector<std::string> texts = track_texts(trace, value.column);
      for (std::size_t i = 0; i < texts.size(); ++i)
        if (texts[i] != value.text) state->tracks[i] = 0;
    } else if (is_name) {
      if (state->names.empty()) state->names.assign(2 * trace.name_count(), 1);
      for (std::size_t i = 0; i < state->names.size(); ++i) {
        const std::string_view name = trace.name(static_cast<NameId>(i / 2));
        const std::string text(i % 2 == 1 ? api_display_name(name) : name);
        if ((value.column == PivotColumn::kFamily ? name_family(text) : text) != value.text) state->names[i] = 0;
      }
    } else {
      state->of_events.push_back(std::move(value));
    }
  }
  state_ = std::move(state);
}

HasValues::~HasValues() = default;
HasValues::HasValues(HasValues&&) noexcept = default;
HasValues& HasValues::operator=(HasValues&&) noexcept = default;

bool HasValues::may_hold(const Track& track) const { return state_->may_hold(track); }

bool HasValues::operator()(EventRef event) const {
  const State& state = *state_;
  if (!state.has(event)) return false;
  return !state.ranges || state.has_around(state.values.enclosing_range(event).value_or(EventRef()));
}

void HasValues::keep(std::vector<EventRef>& events, std::size_t first) const {
  const State& state = *state_;
  const auto begin = events.begin() + static_cast<std::ptrdiff_t>(first);
  events.erase(std::remove_if(begin, events.end(), [&](EventRef event) { return !state.has(event); }), events.end());
  if (!state.ranges) return;
  std::vector<EventRef> around(std::min(kEventsAtOnce, events.size() - first));
  std::size_t kept = first;
  for (std::size_t at = first; at < events.size(); at += around.size()) {
    around.resize(std::min(kEventsAtOnce, events.size() - at));
    state.ranges->find(std::span(events).subspan(at, around.size()), around);
    for (std::size_t i = 0; i < around.size(); ++i)
      if (state.has_around(around[i])) events[kept++] = events[at + i];
  }
  events.resize(kept);
}

}  // namespace lanescope

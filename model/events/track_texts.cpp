#include "track_texts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "model/events/event_values.h"
#include "model/trace/combining/parts.h"

namespace lanescope {
namespace {

using Identity = std::array<std::uint32_t, 3>;  // identifies what a text names

struct Named {
  Identity identity{};
  std::string text;                     // empty: the track has no such property
  std::vector<std::string> qualifiers;  // they distinguish it from others of the same text, the simplest first
};

std::string part_label(const Trace& trace, TrackId track) {
  const TracePart* const part = part_of(trace, track);
  return part == nullptr ? std::string() : part->label;
}

Named named(const Trace& trace, PivotColumn column, TrackId id) {
  const TrackKey& key = trace.tracks()[id].key;
  const bool on_stream = is_on_stream(key.kind);
  const std::string part = part_label(trace, id);
  switch (column) {
    case PivotColumn::kProcess:
      return {{key.process}, process_label(trace, key.process), {part}};
    case PivotColumn::kThread:
      if (!on_stream) return {{key.thread}, thread_label(trace, key.thread), {process_label(trace, key.process), part}};
      break;
    case PivotColumn::kDevice:
      if (on_stream) return {{key.gpu}, gpu_label(trace, key.gpu), {key.gpu < trace.gpus().size() ? trace.gpus()[key.gpu].bus_id : std::string(), part}};
      break;
    case PivotColumn::kContext:
      if (on_stream) return {{key.context}, std::to_string(key.context), {}};
      break;
    case PivotColumn::kStream:
      if (on_stream)
        return {{key.process, key.context, key.stream},
                stream_label(trace, key.process, key.context, key.stream).english(),
                {process_label(trace, key.process), "context " + std::to_string(key.context), part}};
      break;
    case PivotColumn::kDomain:
      return {{}, std::string(trace.domain_name(key.process, key.domain)), {}};
    case PivotColumn::kRun:
      return {{}, std::string(run_of(trace, trace.tracks()[id])), {}};
    default:
      break;
  }
  return {};
}

}  // namespace

bool is_of_track(PivotColumn column) noexcept {
  return column == PivotColumn::kProcess || column == PivotColumn::kThread || column == PivotColumn::kDevice || column == PivotColumn::kContext ||
         column == PivotColumn::kStream || column == PivotColumn::kDomain || column == PivotColumn::kRun;
}

std::vector<std::string> track_texts(const Trace& trace, PivotColumn column) {
  std::vector<Named> all;
  std::size_t most_qualifiers = 0;
  for (TrackId id = 0; id < trace.tracks().size(); ++id) {
    all.push_back(named(trace, column, id));
    most_qualifiers = std::max(most_qualifiers, all.back().qualifiers.size());
  }
  for (std::size_t i = 0; i < most_qualifiers; ++i) {
    std::map<std::string, std::set<Identity>> things;
    for (const Named& each : all) things[each.text].insert(each.identity);
    for (Named& each : all)
      if (!each.text.empty() && i < each.qualifiers.size() && !each.qualifiers[i].empty() && things[each.text].size() > 1)
        each.text += " · " + each.qualifiers[i];
  }
  std::vector<std::string> texts;
  for (Named& each : all) texts.push_back(std::move(each.text));
  return texts;
}

}  // namespace lanescope

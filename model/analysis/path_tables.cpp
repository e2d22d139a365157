#include "model/analysis/path_tables.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "model/events/event_values.h"
#include "model/trace/text/utf8.h"
#include "wording.h"

namespace lanescope::analysis {
namespace {

constexpr std::size_t kShownSums = 20;
constexpr std::size_t kShownParts = 40;

// Where a part was: on a GPU, or in a thread.
struct Where {
  GpuId gpu = kNone;
  ProcessId process = kNone;
  ThreadId thread = kNone;
};

Where where(const Trace& trace, const PathPart& part) {
  if (!part.event.valid()) return part.thread == kNone ? Where{} : Where{kNone, trace.threads()[part.thread].process, part.thread};
  const TrackKey& key = trace.track_of(part.event.lane).key;
  return {is_gpu_work(key.kind) ? key.gpu : kNone, key.process, key.thread};
}

std::string name_of(const Trace& trace, const PathPart& part) {
  if (!part.event.valid()) return {};
  const std::string_view name = trace.name(trace.event(part.event).name);
  return std::string(trace.track_of(part.event.lane).key.kind == TrackKind::kCudaApi ? api_display_name(name) : name);
}

// As a line has room for it: a kernel without its parameters, templates and namespaces, and no line breaks.
std::string short_name_of(const Trace& trace, const PathPart& part) {
  if (part.event.valid() && trace.track_of(part.event.lane).key.kind == TrackKind::kKernels)
    if (const NameId name = trace.kernel_detail(trace.event(part.event).detail).short_name; name != 0) return printable(trace.name(name), LineBreaks::kEscaped);
  return printable(name_of(trace, part), LineBreaks::kEscaped);
}

std::vector<stats::Cell> place_cells(const Trace& trace, const PathPart& part, stats::Table& table) {
  const Where place = where(trace, part);
  const std::optional<std::uint32_t> rank = rank_of(trace, part);
  return {table.add_text(path_words(part)),
          place.gpu == kNone ? stats::kNoInteger : std::int64_t{trace.gpus()[place.gpu].ordinal},
          rank ? std::int64_t{*rank} : stats::kNoInteger,
          place.process == kNone ? stats::kNoInteger : std::int64_t{trace.processes()[place.process].pid},
          place.thread == kNone ? stats::kNoInteger : std::int64_t{trace.threads()[place.thread].tid},
          table.add_text(name_of(trace, part))};
}

void add_place_columns(std::vector<stats::Column>& columns) {
  for (stats::Column& column : std::vector<stats::Column>{stats::words("What"), stats::identifiers("GPU"), stats::identifiers("Rank"),
                                                          stats::identifiers("PID"), stats::identifiers("TID"), stats::texts("Name")})
    columns.push_back(std::move(column));
}

// For several files, in which GPUs and processes may have the same numbers.
void add_file_column(const Trace& trace, const std::vector<PathPart>& parts, stats::Table& table) {
  if (trace.parts().empty()) return;
  stats::Texts files;
  for (const PathPart& part : parts) {
    const ProcessId process = where(trace, part).process;
    files.push_back(table.add_text(process == kNone ? std::string() : file_of_process(trace, process)));
  }
  table.insert_column(table.columns().size(), {"File", stats::Unit::kNone, std::move(files)});
}

Message thread_text(const Trace& trace, const Where& place) {
  const std::string file = file_of_process(trace, place.process), thread = std::to_string(trace.threads()[place.thread].tid);
  return file.empty() ? Message("thread {number}", {{"number", thread}}) : Message("{file}: thread {number}", {{"file", file}, {"number", thread}});
}

// "GPU 0, rank 3", "thread 4711, rank 3"; empty if it is not known.
Message place_text(const Trace& trace, const GpuTexts& gpus, const PathPart& part) {
  const Where place = where(trace, part);
  if (place.gpu == kNone && place.thread == kNone) return {};
  Message text = place.gpu == kNone ? thread_text(trace, place) : Message::verbatim(gpus.plain(place.gpu));
  const std::optional<std::uint32_t> rank = rank_of(trace, part);
  return rank ? listed(std::move(text), Message("rank {rank}", {{"rank", std::to_string(*rank)}})) : text;
}

Message part_text(const Trace& trace, const GpuTexts& gpus, const PathPart& part) {
  const std::string name = short_name_of(trace, part);
  const Message place = place_text(trace, gpus, part), what = path_words(part);
  if (place.empty()) return name.empty() ? what : Message("{what}: {name}", {{"what", what}, {"name", name}});
  return name.empty() ? Message("{what}, {place}", {{"what", what}, {"place", place}})
                      : Message("{what}, {place}: {name}", {{"what", what}, {"place", place}, {"name", name}});
}

std::string seconds_text(Nanoseconds time) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.6f s", static_cast<double>(time) / 1e9);
  return text.data();
}

}  // namespace

stats::Table path_table(const Trace& trace, const CriticalPath& path) {
  std::vector<stats::Column> columns{stats::integers("Start", stats::Unit::kNanoseconds), stats::integers("Duration", stats::Unit::kNanoseconds)};
  add_place_columns(columns);
  stats::Table table(std::move(columns));
  for (const PathPart& part : path.parts) {
    std::vector<stats::Cell> cells{part.range.begin, part.range.length()};
    for (stats::Cell& cell : place_cells(trace, part, table)) cells.push_back(cell);
    table.add_cells(cells);
  }
  add_file_column(trace, path.parts, table);
  return table;
}

stats::Table path_sums_table(const Trace& trace, const CriticalPath& path) {
  std::vector<stats::Column> columns{stats::integers("Total Time", stats::Unit::kNanoseconds), stats::reals("Time", stats::Unit::kPercent),
                                     stats::integers("Parts"), stats::integers("Longest", stats::Unit::kNanoseconds),
                                     stats::integers("Longest Start", stats::Unit::kNanoseconds)};
  add_place_columns(columns);
  stats::Table table(std::move(columns));
  std::vector<PathPart> longest;
  for (const PathSum& sum : path_sums(trace, path)) {
    std::vector<stats::Cell> cells{sum.time, percent_of(sum.time, path.range.length()), static_cast<std::int64_t>(sum.parts), sum.longest.range.length(),
                                   sum.longest.range.begin};
    for (stats::Cell& cell : place_cells(trace, sum.longest, table)) cells.push_back(cell);
    table.add_cells(cells);
    longest.push_back(sum.longest);
  }
  add_file_column(trace, longest, table);
  return table;
}

std::string path_text(const Trace& trace, const CriticalPath& path, const Language& language) {
  const GpuTexts gpus(trace);
  std::string text;
  const auto say = [&](const Message& line) { text += line.in(language) + '\n'; };
  const std::vector<PathSum> sums = path_sums(trace, path);
  Nanoseconds rest = path.range.length();
  for (std::size_t i = 0; i < std::min(kShownSums, sums.size()); ++i) {
    rest -= sums[i].time;
    const std::vector<Message::Value> values{{"time", duration_text(sums[i].time)},
                                             {"share", percent_text(sums[i].time, path.range.length())},
                                             {"what", part_text(trace, gpus, sums[i].longest)},
                                             {"parts", counted(sums[i].parts, "part")},
                                             {"longest", duration_text(sums[i].longest.range.length())},
                                             {"begin", seconds_text(sums[i].longest.range.begin)}};
    say(sums[i].parts == 1 ? Message("   {time} ({share})  {what}; from {begin} on", values)
                           : Message("   {time} ({share})  {what}; in {parts}, the longest {longest} from {begin} on", values));
  }
  if (sums.size() > kShownSums)
    say(Message("   {others}, {time} together", {{"others", counted(sums.size() - kShownSums, "further sum")}, {"time", duration_text(rest)}}));

  std::vector<const PathPart*> parts;
  for (const PathPart& part : path.parts) parts.push_back(&part);
  if (parts.size() > kShownParts) {
    std::nth_element(parts.begin(), parts.begin() + kShownParts, parts.end(),
                     [](const PathPart* a, const PathPart* b) { return a->range.length() > b->range.length(); });
    parts.resize(kShownParts);
    std::sort(parts.begin(), parts.end(), [](const PathPart* a, const PathPart* b) { return a->range.begin < b->range.begin; });
  }
  text += '\n';
  say(path.parts.size() > kShownParts ? Message("The longest of its {parts}, in order of time:", {{"parts", counted(path.parts.size(), "part")}})
                                      : Message("In order of time:"));
  rest = path.range.length();
  for (const PathPart* const part : parts) {
    rest -= part->range.length();
    say(Message("   {begin}  {time}  {what}",
                {{"begin", seconds_text(part->range.begin)}, {"time", duration_text(part->range.length())}, {"what", part_text(trace, gpus, *part)}}));
  }
  if (path.parts.size() > kShownParts)
    say(Message("   {others}, {time} together", {{"others", counted(path.parts.size() - kShownParts, "further part")}, {"time", duration_text(rest)}}));
  return text;
}

}  // namespace lanescope::analysis

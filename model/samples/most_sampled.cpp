#include "model/samples/most_sampled.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "model/trace/percent.h"

namespace lanescope::samples {
namespace {

struct Place {
  CodeKind kind = CodeKind::kNative;
  NameId module = 0;
  CodeFunction function;
};

Place place_of(const CallStacks& stacks, CodeLocationId location) {
  return {stacks.location(location).kind, stacks.location(location).module, stacks.functions(location).front()};
}

// The functions of Python's import system, which stand between an import statement and what it runs.
bool imports_modules(const Trace& trace, const Place& place) { return trace.name(place.function.source_file).starts_with("<frozen importlib"); }

// Of an empty chain: nothing known.
Place standing_for(const Trace& trace, CallNodeId chain, ChainPart part) {
  if (chain == 0) return {};
  const CallStacks& stacks = trace.call_stacks();
  if (part == ChainPart::kInnermostPython)
    for (CallNodeId call = chain; call != 0; call = stacks.node(call).parent)
      if (const CodeLocationId location = stacks.node(call).location; stacks.location(location).kind == CodeKind::kPython)
        if (const Place place = place_of(stacks, location); !imports_modules(trace, place)) return place;
  return place_of(stacks, stacks.node(chain).location);
}

}  // namespace

std::vector<MostSampled> most_sampled(const Trace& trace, ThreadId thread, TimeRange window, ChainPart part, std::size_t limit) {
  SampleSelection selection;
  selection.window = window;
  selection.threads = {thread};
  return most_sampled(trace, sampled_stacks(trace, selection), part, limit);
}

std::vector<MostSampled> most_sampled(const Trace& trace, std::span<const SampledStack> stacks, ChainPart part, std::size_t limit) {
  // Python's functions are told apart by their files: each has a <module>, and many a forward().
  const auto file_of = [](const Place& place) { return place.kind == CodeKind::kPython ? place.function.source_file : NameId{0}; };
  std::map<std::tuple<CodeKind, NameId, NameId, NameId>, std::map<std::pair<NameId, std::uint32_t>, std::uint64_t>> lines_of_function;
  std::uint64_t all = 0;
  for (const SampledStack& stack : stacks) {
    const Place place = standing_for(trace, stack.chain, part);
    auto& lines = lines_of_function[{place.kind, place.module, place.function.function, file_of(place)}];
    lines[{place.function.source_file, place.function.source_line}] += stack.weight.count;
    all += stack.weight.count;
  }
  std::vector<MostSampled> functions;
  for (const auto& [function, lines] : lines_of_function) {
    MostSampled& found = functions.emplace_back();
    std::tie(found.kind, found.module, found.function, std::ignore) = function;
    std::uint64_t most = 0;
    for (const auto& [line, count] : lines) {
      found.count += count;
      const auto text_of = [&](NameId file, std::uint32_t number) { return std::pair(trace.name(file), number); };
      if (count < most || (count == most && text_of(line.first, line.second) >= text_of(found.source_file, found.source_line))) continue;
      most = count;
      std::tie(found.source_file, found.source_line) = line;
    }
    found.share = static_cast<double>(found.count) / static_cast<double>(all);
  }
  // Numbers of names are the file's: of equals, another form of the same recording would have another one first.
  const auto key = [&](const MostSampled& each) {
    return std::tuple(~each.count, trace.name(each.function), trace.name(each.module), each.kind, trace.name(each.source_file), each.source_line);
  };
  std::sort(functions.begin(), functions.end(), [&](const MostSampled& a, const MostSampled& b) { return key(a) < key(b); });
  if (functions.size() > limit) functions.resize(limit);
  return functions;
}

std::string place_text(const Trace& trace, const MostSampled& function) {
  std::string text(trace.name(function.function));
  if (function.source_file == 0) return text;
  const std::string_view path = trace.name(function.source_file);
  std::size_t begin = path.find_last_of('/') + 1;
  if (path.substr(begin) == "__init__.py" && begin > 1) begin = path.find_last_of('/', begin - 2) + 1;  // what a package is, its folder says
  text.append(" in ").append(path.substr(begin));
  return function.source_line == 0 ? text : text + ":" + std::to_string(function.source_line);
}

std::string most_sampled_text(const Trace& trace, const ChainCounts& chains, ChainPart part, std::size_t limit, double least_share) {
  std::vector<SampledStack> stacks;
  for (const auto& [chain, count] : chains) stacks.push_back({chain, {count, 0}});
  std::string text;
  for (const MostSampled& function : most_sampled(trace, stacks, part, limit)) {
    if (function.function == 0 || function.share < least_share) continue;
    text.append(text.empty() ? "" : ", ").append(place_text(trace, function));
    text.append(" (").append(format_percent(100 * function.share, 0)).append(")");
  }
  return text;
}

}  // namespace lanescope::samples

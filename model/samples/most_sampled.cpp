#include "model/samples/most_sampled.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/file/last_path_part.h"
#include "model/trace/text/kernel_name.h"
#include "model/trace/text/percent.h"
#include "model/trace/text/utf8.h"

namespace lanescope::samples {
namespace {

struct Place {
  CodeKind kind = CodeKind::kNative;
  NameId module = 0;
  CodeFunction function;
};

// Code without a known function is identified by its file only.
Place place_of(const Trace& trace, CodeLocationId location) {
  const CodeLocation& code = trace.call_stacks().location(location);
  const CodeFunction& function = trace.call_stacks().functions(location).front();
  if (code.kind == CodeKind::kNative && code.module != 0 && is_address_text(trace.name(function.function))) return {code.kind, code.module, {}};
  return {code.kind, code.module, function};
}

// The functions of Python's import system, which are between an import statement and the imported code.
bool imports_modules(const Trace& trace, const Place& place) { return trace.name(place.function.source_file).starts_with("<frozen importlib"); }

// For an empty chain, everything is unknown.
Place standing_for(const Trace& trace, CallNodeId chain, ChainPart part) {
  if (chain == 0) return {};
  const CallStacks& stacks = trace.call_stacks();
  if (part == ChainPart::kInnermostPython)
    for (CallNodeId call = chain; call != 0; call = stacks.node(call).parent)
      if (const CodeLocationId location = stacks.node(call).location; stacks.location(location).kind == CodeKind::kPython)
        if (const Place place = place_of(trace, location); !imports_modules(trace, place)) return place;
  return place_of(trace, stacks.node(chain).location);
}

void add_share(Message& text, const Message& what, double share) {
  text = listed(std::move(text), Message("{what} ({share})", {{"what", what}, {"share", format_percent(100 * share, 0)}}));
}

}  // namespace

std::vector<MostSampled> most_sampled(const Trace& trace, ThreadId thread, TimeRange window, ChainPart part, std::size_t limit) {
  SampleSelection selection;
  selection.window = window;
  selection.threads = {thread};
  ChainCounts chains;
  for (const SampledStack& stack : sampled_stacks(trace, selection)) chains[stack.chain] += stack.weight.count;
  return most_sampled(trace, chains, part, limit);
}

std::vector<MostSampled> most_sampled(const Trace& trace, const ChainCounts& chains, ChainPart part, std::size_t limit) {
  // Python functions are distinguished by file, because each file has a <module>, and many have a forward().
  const auto file_of = [](const Place& place) { return place.kind == CodeKind::kPython ? place.function.source_file : NameId{0}; };
  std::map<std::tuple<CodeKind, NameId, NameId, NameId>, std::map<std::pair<NameId, std::uint32_t>, std::uint64_t>> lines_of_function;
  std::uint64_t all = 0;
  for (const auto& [chain, samples] : chains) {
    const Place place = standing_for(trace, chain, part);
    auto& lines = lines_of_function[{place.kind, place.module, place.function.function, file_of(place)}];
    lines[{place.function.source_file, place.function.source_line}] += samples;
    all += samples;
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
  // Name ids depend on the file. With them, equal entries would be in another order in another form of the same recording.
  const auto key = [&](const MostSampled& each) {
    return std::tuple(~each.count, trace.name(each.function), trace.name(each.module), each.kind, trace.name(each.source_file), each.source_line);
  };
  std::sort(functions.begin(), functions.end(), [&](const MostSampled& a, const MostSampled& b) { return key(a) < key(b); });
  if (functions.size() > limit) functions.resize(limit);
  return functions;
}

Message place_text(const Trace& trace, const MostSampled& function) {
  if (function.function == 0) return Message::verbatim(std::string(last_path_part(trace.name(function.module))));
  constexpr std::size_t kLongest = 100;  // characters
  std::string text(trace.name(function.function));
  if (function.kind == CodeKind::kNative) text = scoped_function_name(text);
  if (const std::string_view front = first_characters(text, kLongest); front.size() < text.size()) text = std::string(front) + "...";
  if (function.source_file == 0) return Message::verbatim(std::move(text));
  const std::string_view path = trace.name(function.source_file);
  std::size_t begin = path.find_last_of('/') + 1;
  if (path.substr(begin) == "__init__.py" && begin > 1) begin = path.find_last_of('/', begin - 2) + 1;  // a package is identified by its folder
  std::string place(path.substr(begin));
  if (function.source_line != 0) place += ":" + std::to_string(function.source_line);
  return Message("{function} in {place}", {{"function", std::move(text)}, {"place", std::move(place)}});
}

Message most_sampled_text(const Trace& trace, const ChainCounts& chains, ChainPart part, std::size_t limit, double least_share) {
  Message text;
  for (const MostSampled& function : most_sampled(trace, chains, part, limit)) {
    if ((function.function == 0 && function.module == 0) || function.share < least_share) continue;
    add_share(text, place_text(trace, function), function.share);
  }
  return text;
}

std::vector<MostSampledFile> most_sampled_files(const Trace& trace, const ChainCounts& chains, std::size_t limit) {
  std::map<std::string_view, std::uint64_t> counts;
  std::uint64_t all = 0;
  for (const auto& [chain, count] : chains) {
    all += count;
    if (chain == 0) continue;
    const CallStacks& stacks = trace.call_stacks();
    const CodeLocation& code = stacks.location(stacks.node(chain).location);
    if (code.kind == CodeKind::kPython)
      counts["Python"] += count;
    else if (code.module != 0)
      counts[last_path_part(trace.name(code.module))] += count;
  }
  std::vector<MostSampledFile> files;
  for (const auto& [name, count] : counts) files.push_back({std::string(name), static_cast<double>(count) / static_cast<double>(all)});
  std::stable_sort(files.begin(), files.end(), [](const MostSampledFile& a, const MostSampledFile& b) { return a.share > b.share; });
  if (files.size() > limit) files.resize(limit);
  return files;
}

Message most_sampled_files_text(const Trace& trace, const ChainCounts& chains, std::size_t limit, double least_share) {
  Message text;
  for (const MostSampledFile& file : most_sampled_files(trace, chains, limit))
    if (file.share >= least_share) add_share(text, Message::verbatim(file.name), file.share);
  return text;
}

}  // namespace lanescope::samples

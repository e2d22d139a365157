#include "samples/sample_profile.h"

#include <map>
#include <optional>

#include "kernels/source_files.h"
#include "model/file/last_path_part.h"
#include "model/samples/gpu_time.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

using samples::StackSource;
using samples::WeightBy;

stats::Table table_of(const Trace& trace, const SampleProfile& profile) {
  using namespace stats;
  const double all = samples::amount(profile.top_down.total(), profile.by);
  const auto share = [&](const samples::Weight& part) { return all > 0 ? 100 * samples::amount(part, profile.by) / all : 0.0; };
  std::vector<Column> columns{reals("Self", Unit::kPercent), reals("Total", Unit::kPercent)};
  const bool timed = profile.by == WeightBy::kTime;
  columns.push_back(timed ? integers("Self Time", Unit::kNanoseconds) : integers("Self Samples"));
  columns.push_back(timed ? integers("Total Time", Unit::kNanoseconds) : integers("Total Samples"));
  for (const char* title : {"Function", "Module", "Source"}) columns.push_back(texts(title));
  Table table(std::move(columns));
  const auto value = [&](const samples::Weight& weight) { return timed ? weight.time : static_cast<std::int64_t>(weight.count); };
  for (const samples::FunctionWeight& each : profile.functions) {
    const samples::SampledFunction& function = profile.top_down.functions()[each.function];
    table.add_row(share(each.self), share(each.total), value(each.self), value(each.total), table.add_text(function.name),
                  table.add_text(module_text(trace, function)), table.add_text(source_text(trace, function)));
  }
  return table;
}

// Texts are read only of the files with the heaviest lines, because nobody looks at the others.
constexpr std::size_t kMostFiles = 64;
constexpr qsizetype kLongestText = 200;  // letters of a line

class SourceTexts {
 public:
  SourceTexts(const Trace& trace, const QStringList& folders) : trace_(trace), folders_(folders) {}
  [[nodiscard]] std::string text(NameId file, std::uint32_t line) {
    if (!files_.contains(file) && files_.size() < kMostFiles) files_[file] = read_source(std::string(trace_.name(file)), folders_);
    const auto found = files_.find(file);
    if (found == files_.end() || !found->second || line == 0 || line > static_cast<std::uint32_t>(found->second->lines.size())) return {};
    return found->second->lines[static_cast<qsizetype>(line) - 1].left(kLongestText).trimmed().toStdString();
  }

 private:
  const Trace& trace_;
  const QStringList& folders_;
  std::map<NameId, std::optional<SourceText>> files_;
};

stats::Table table_of_lines(const Trace& trace, const SampleProfile& profile, const QStringList& folders) {
  using namespace stats;
  const double all = samples::amount(profile.top_down.total(), profile.by);
  const auto share = [&](const samples::Weight& part) { return all > 0 ? 100 * samples::amount(part, profile.by) / all : 0.0; };
  const bool timed = profile.by == WeightBy::kTime;
  std::vector<Column> columns{reals("Self", Unit::kPercent), reals("Total", Unit::kPercent)};
  columns.push_back(timed ? integers("Self Time", Unit::kNanoseconds) : integers("Self Samples"));
  columns.push_back(timed ? integers("Total Time", Unit::kNanoseconds) : integers("Total Samples"));
  for (const char* title : {"Source", "Text", "Function", "File"}) columns.push_back(texts(title));
  Table table(std::move(columns));
  SourceTexts sources(trace, folders);
  const auto value = [&](const samples::Weight& weight) { return timed ? weight.time : static_cast<std::int64_t>(weight.count); };
  for (const samples::LineWeight& line : profile.lines) {
    const std::string_view file = trace.name(line.file);
    const std::string place = std::string(last_path_part(file)) + (line.line == 0 ? std::string() : ":" + std::to_string(line.line));
    table.add_row(share(line.self), share(line.total), value(line.self), value(line.total), table.add_text(place),
                  table.add_text(sources.text(line.file, line.line)), table.add_text(std::string(trace.name(line.function))),
                  table.add_text(std::string(file)));
  }
  return table;
}

// Only for GPU operations: for code on a CPU, namespaces show which component it belongs to.
std::vector<std::string> labels_of(const samples::CallTree& tree) {
  std::vector<std::string_view> kernels;
  for (const samples::SampledFunction& function : tree.functions())
    if (function.kind == samples::FrameKind::kOperation) kernels.push_back(function.name);
  std::vector<std::string> short_names = timeline::distinct_kernel_names(kernels);
  std::vector<std::string> labels;
  std::size_t next = 0;
  for (const samples::SampledFunction& function : tree.functions())
    labels.push_back(function.kind == samples::FrameKind::kOperation ? std::move(short_names[next++]) : function.name);
  return labels;
}

}  // namespace

std::string source_text(const Trace& trace, const samples::SampledFunction& function) {
  if (function.source_file == 0) return {};
  std::string text(last_path_part(trace.name(function.source_file)));
  if (function.source_line != 0) text += ":" + std::to_string(function.source_line);
  return text;
}

Message weight_text(const samples::Weight& weight, StackSource source) {
  const std::string time = timeline::format_duration(weight.time);
  const auto in = [&](Message calls) { return Message("{time} in {calls}", {{"time", time}, {"calls", std::move(calls)}}); };
  switch (source) {
    case StackSource::kGpuWork:  // lines of a kernel have only an estimate
      return weight.count == 0 && weight.time > 0 ? Message("about {time}", {{"time", time}}) : in(timeline::format_counted(weight.count, "operation"));
    case StackSource::kBacktraces:
      return in(timeline::format_counted(weight.count, "call"));
    case StackSource::kCpuSamples:
      break;
  }
  Message samples = timeline::format_counted(weight.count, "sample");
  if (weight.time == 0) return samples;
  return Message("{samples}, about {time}", {{"samples", std::move(samples)}, {"time", time}});
}

std::shared_ptr<const SampleProfile> make_profile(const Trace& trace, const ProfileRequest& request, const std::stop_token& stop) {
  using samples::CallTreeOrder;
  const StackSource source = request.selection.source;
  auto profile = std::make_shared<SampleProfile>();
  profile->source = source;
  profile->by = source == StackSource::kCpuSamples ? WeightBy::kCount : WeightBy::kTime;
  std::vector<samples::SampledStack> stacks;
  if (source != StackSource::kGpuWork) stacks = sampled_stacks(trace, request.selection, stop);
  const auto tree = [&](CallTreeOrder order) {
    return source == StackSource::kGpuWork ? gpu_time_tree(trace, request.selection, order, request.calls, stop)
                                           : make_call_tree(trace, stacks, order, request.calls);
  };
  if (stop.stop_requested()) return nullptr;
  profile->top_down = tree(CallTreeOrder::kTopDown);
  if (stop.stop_requested()) return nullptr;
  if (request.trees == CallTrees::kBoth) profile->bottom_up = tree(CallTreeOrder::kBottomUp);
  if (stop.stop_requested()) return nullptr;
  profile->top_down_labels = labels_of(profile->top_down);
  profile->bottom_up_labels = labels_of(profile->bottom_up);
  profile->functions = function_weights(profile->top_down);
  profile->table = std::make_shared<const stats::Table>(table_of(trace, *profile));
  if (request.lines == SourceLines::kNone) return profile;
  profile->lines = line_weights(trace, stacks, request.calls, profile->by);
  profile->line_table = std::make_shared<const stats::Table>(table_of_lines(trace, *profile, request.source_folders));
  return profile;
}

}  // namespace lanescope::ui

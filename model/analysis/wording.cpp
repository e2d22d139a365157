#include "wording.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

#include "model/analysis/finding.h"
#include "model/events/event_values.h"
#include "model/trace/text/duration.h"
#include "model/trace/text/grouped_digits.h"
#include "model/trace/text/percent.h"

namespace lanescope::analysis {
namespace {

std::string formatted(const char* format, double value, std::string_view unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return std::string(text.data()).append(" ").append(unit);
}

// Three significant digits.
std::string three_digits(double value, std::string_view unit) {
  const double magnitude = std::abs(value);
  return formatted(magnitude >= 99.95 ? "%.0f" : magnitude >= 9.995 ? "%.1f" : "%.2f", value, unit);
}

}  // namespace

std::string duration_text(Nanoseconds duration) { return format_short_duration(duration); }

Message cost_text(const Finding& finding) {
  if (finding.cost <= 0) return "not known";
  if (finding.hidden == finding.cost) return Message("nothing as it is; up to {time} where the CPU keeps up", {{"time", duration_text(finding.cost)}});
  if (finding.hidden > 0)
    return Message("up to {time}; {all} where the CPU keeps up",
                   {{"time", duration_text(finding.cost - finding.hidden)}, {"all", duration_text(finding.cost)}});
  if (finding.cost_iterations > 0)
    return Message("up to {time} in all {iterations}", {{"time", duration_text(finding.cost)}, {"iterations", counted(finding.cost_iterations, "iteration")}});
  return Message(finding.recurrence == Recurrence::kOnce ? "up to {time}, once" : "up to {time}", {{"time", duration_text(finding.cost)}});
}

std::string percent_text(Nanoseconds part, Nanoseconds whole) {
  const double share = whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (share > 0 && share < 0.05) return "<0.1 %";
  return format_percent(share, share != 0 && share < 9.95 ? 1 : 0);
}

Message counted(std::uint64_t number, std::string_view noun) {
  return Message("{number} " + std::string(noun) + (number == 1 ? "" : "s"), {{"number", grouped_digits(number)}});
}

Message rows_left_out_text(std::string_view rule, std::uint64_t shown, std::uint64_t all) {
  return Message("The table shows {shown} of its {rows}. All of them: {rule}:rows=-1",
                 {{"shown", grouped_digits(shown)}, {"rows", counted(all, "row")}, {"rule", std::string(rule)}});
}

std::string bytes_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9) return three_digits(value / 1e9, "GB");
  if (value >= 1e6) return three_digits(value / 1e6, "MB");
  if (value >= 1e3) return three_digits(value / 1e3, "kB");
  return std::to_string(bytes) + " B";
}

std::string file_of_process(const Trace& trace, ProcessId process) {
  const TracePart* const part = part_of_process(trace, process);
  return part == nullptr ? std::string() : part->label;
}

std::string file_of_gpu(const PartsOfGpus& parts, GpuId gpu) {
  const TracePart* const part = parts.of(gpu);
  return part == nullptr ? std::string() : part->label;
}

void add_files(const Trace& trace, const std::vector<GpuId>& gpus, stats::Table& table) {
  if (trace.parts().empty()) return;
  const PartsOfGpus parts(trace);
  stats::Texts files;
  for (const GpuId gpu : gpus) files.push_back(table.add_text(file_of_gpu(parts, gpu)));
  table.insert_column(table.columns().size(), {"File", stats::Unit::kNone, std::move(files)});
}

GpuTexts::GpuTexts(const Trace& trace) : trace_(trace), parts_(trace) {
  for (const Gpu& gpu : trace.gpus()) ++gpus_[gpu.ordinal];
}

std::string GpuTexts::with_file(GpuId gpu, std::string text) const {
  if (gpus_.at(trace_.gpus()[gpu].ordinal) < 2) return text;
  const std::string file = file_of_gpu(parts_, gpu);
  return file.empty() ? text : file + ": " + text;
}

std::string GpuTexts::plain(GpuId gpu) const { return with_file(gpu, "GPU " + std::to_string(trace_.gpus()[gpu].ordinal)); }
std::string GpuTexts::named(GpuId gpu) const { return with_file(gpu, gpu_label(trace_, gpu)); }

Message range_text(const Trace& trace, std::string_view name) {
  const bool nvtx = trace.provenance().format != "Chrome JSON";
  return nvtx ? Message("NVTX range \"{name}\"", {{"name", name}}) : Message("range \"{name}\"", {{"name", name}});
}

std::string_view loop_name(std::string_view family) noexcept {
  constexpr std::string_view kModule = "hlo_module=";
  const std::size_t found = family.starts_with("XlaModule:#") ? family.find(kModule) : std::string_view::npos;
  if (found == std::string_view::npos) return family;
  const std::string_view module = family.substr(found + kModule.size());
  return module.substr(0, module.find_first_of(",#"));
}

Message loop_text(std::string_view family) {
  const std::string_view name = loop_name(family);
  return name == family ? Message("the loop \"{name}\"", {{"name", name}}) : Message("the loop of module \"{name}\"", {{"name", name}});
}

std::size_t distinct_gpus(const Trace& trace, std::span<const GpuId> gpus) {
  std::set<std::string_view> known;
  std::size_t unknown = 0;
  for (const GpuId gpu : gpus) {
    const std::string& uuid = trace.gpus()[gpu].uuid;
    if (uuid.empty())
      ++unknown;
    else
      known.insert(uuid);
  }
  return known.size() + unknown;
}

Message gpus_counted(const Trace& trace, std::span<const GpuId> gpus) {
  const std::size_t distinct = distinct_gpus(trace, gpus);
  if (distinct == 1 && gpus.size() > 1) return Message("1 GPU, in {recordings},", {{"recordings", counted(gpus.size(), "recording")}});
  return counted(distinct, "GPU");
}

std::string name_in_domain(std::string_view family, std::string_view domain) {
  constexpr std::size_t kLongest = 64;  // bytes
  if (domain.empty()) return std::string(family);
  std::size_t length = std::min(kLongest, domain.size());
  while (length < domain.size() && length > 0 && (static_cast<unsigned char>(domain[length]) & 0xC0) == 0x80) --length;  // not within a character
  return std::string(family) + "@" + std::string(domain.substr(0, length)) + (length < domain.size() ? "..." : "");
}

std::string_view range_name(const Trace& trace, EventRef range) noexcept {
  return range.valid() ? trace.name(trace.lane(range.lane).name(range.index)) : std::string_view();
}

}  // namespace lanescope::analysis

#include "kernel_metrics/plan.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace lanescope::kernel_metrics {
namespace {

using gpu_metrics::CuptiFunctions;
using gpu_metrics::MetricProgram;

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

MetricProgram program_of(const CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> metrics) {
  return MetricProgram(cupti, chip, {}, metrics, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
}

std::vector<std::string> known_metrics(const CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> metrics) {
  if (metrics.empty()) return {};
  if (passes_of(cupti, chip, metrics) > 0) return {metrics.begin(), metrics.end()};
  if (metrics.size() == 1) return {};
  const std::size_t half = metrics.size() / 2;
  std::vector<std::string> known = known_metrics(cupti, chip, metrics.first(half));
  const std::vector<std::string> rest = known_metrics(cupti, chip, metrics.subspan(half));
  known.insert(known.end(), rest.begin(), rest.end());
  return known;
}

std::size_t passes_of(const CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> metrics) {
  return program_of(cupti, chip, metrics).passes();
}

OnePassGroups groups_of_one_pass(const CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> always,
                                 std::span<const std::string> metrics) {
  const std::vector<std::string> first(always.begin(), always.end());
  OnePassGroups result;
  const auto fits = [&](const std::vector<std::string>& group) { return passes_of(cupti, chip, group) == 1; };
  for (const std::string& metric : metrics) {
    if (std::find(always.begin(), always.end(), metric) != always.end()) continue;
    if (!result.groups.empty()) {
      result.groups.back().push_back(metric);
      if (fits(result.groups.back())) continue;
      result.groups.back().pop_back();
    }
    std::vector<std::string> group = first;
    group.push_back(metric);
    if (fits(group))
      result.groups.push_back(std::move(group));
    else
      result.left_out.push_back(metric);
  }
  if (result.groups.empty() && !first.empty()) result.groups.push_back(first);
  return result;
}

OnePassGroups groups_of_runs(const CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> always, std::span<const std::string> metrics) {
  OnePassGroups result = groups_of_one_pass(cupti, chip, always, metrics);
  std::vector<std::string> alone;
  bool has_rates = false;
  for (const std::string& metric : result.left_out) {
    const bool is_rate = metric.starts_with(kOfInstructions) && metric.ends_with(std::string(".sum") + kPerCycle);
    has_rates |= is_rate;
    alone.push_back(is_rate ? metric.substr(0, metric.size() - std::strlen(kPerCycle)) : metric);
  }
  if (has_rates && std::find(metrics.begin(), metrics.end(), kCycles) == metrics.end()) {
    std::vector<std::string> with_cycles(metrics.begin(), metrics.end());
    with_cycles.emplace_back(kCycles);
    result.groups = groups_of_one_pass(cupti, chip, always, with_cycles).groups;
  }
  OnePassGroups further = groups_of_one_pass(cupti, chip, {}, alone);
  std::move(further.groups.begin(), further.groups.end(), std::back_inserter(result.groups));
  result.left_out = std::move(further.left_out);
  return result;
}

PlanWriter::PlanWriter(channel::CounterReplay replay, const channel::LaunchChoice& choice) {
  plan_.version = channel::kCounterPlanVersion;
  plan_.replay = replay;
  plan_.choice = choice;
}

PlanWriter::PlanWriter(std::span<const std::string> instruction_metrics, const channel::LaunchChoice& choice)
    : PlanWriter(channel::CounterReplay::kNone, choice) {
  plan_.kind = channel::CounterKind::kInstructions;
  channel::CounterSet set{};
  set.passes = 1;
  add(set, {}, instruction_metrics);
}

void PlanWriter::add(const CuptiFunctions& cupti, const std::string& chip, std::span<const std::string> metrics) {
  add(program_of(cupti, chip, metrics), chip, metrics);
}

void PlanWriter::add(const MetricProgram& counted, const std::string& chip, std::span<const std::string> metrics) {
  channel::CounterSet set{};
  std::strncpy(set.chip, chip.c_str(), sizeof(set.chip) - 1);
  set.passes = static_cast<std::uint32_t>(counted.passes());
  add(set, counted.config(), metrics);
}

void PlanWriter::add(const channel::CounterSet& facts, std::span<const std::uint8_t> config, std::span<const std::string> metrics) {
  std::string names;
  for (const std::string& metric : metrics) names.append(metric).push_back('\0');
  channel::CounterSet set = facts;
  set.metrics = static_cast<std::uint32_t>(metrics.size());
  set.config_bytes = config.size();
  set.name_bytes = names.size();
  append(bytes_, set);
  bytes_.append(reinterpret_cast<const char*>(config.data()), config.size());
  bytes_ += names;
  bytes_.resize((bytes_.size() + 7) / 8 * 8);
  ++plan_.sets;
}

bool PlanWriter::write(const std::filesystem::path& folder) {
  const std::filesystem::path place = folder / channel::kCounterPlanFile;
  std::filesystem::path unfinished = place;
  unfinished += ".new";
  std::ofstream file(unfinished, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&plan_), sizeof(plan_));
  file.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  file.close();
  std::error_code failure;
  // Readable also by programs that run as another user.
  std::filesystem::permissions(unfinished, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write | std::filesystem::perms::others_read,
                               failure);
  if (file && !failure) std::filesystem::rename(unfinished, place, failure);
  return file && !failure;
}

Result<ReadPlan> read_plan(const std::filesystem::path& folder) {
  std::ifstream file(folder / channel::kCounterPlanFile, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const Error damaged{"The plan of the counters is damaged."};
  channel::CounterPlan plan;
  if (bytes.size() < sizeof(plan)) return damaged;
  std::memcpy(&plan, bytes.data(), sizeof(plan));
  if (plan.version != channel::kCounterPlanVersion) return damaged;
  ReadPlan read{plan.kind, plan.replay, {}};
  std::size_t at = sizeof(plan);
  for (std::uint32_t i = 0; i < plan.sets; ++i) {
    channel::CounterSet set;
    if (bytes.size() - at < sizeof(set)) return damaged;
    std::memcpy(&set, bytes.data() + at, sizeof(set));
    at += sizeof(set);
    if (set.config_bytes > bytes.size() - at || set.name_bytes > bytes.size() - at - set.config_bytes) return damaged;
    PlannedSet planned{std::string(set.chip, strnlen(set.chip, sizeof(set.chip))), set.passes, {}};
    const std::string_view names(bytes.data() + at + set.config_bytes, set.name_bytes);
    for (std::size_t begin = 0; begin < names.size();) {
      const std::size_t end = std::min(names.find('\0', begin), names.size());
      planned.metrics.emplace_back(names.substr(begin, end - begin));
      begin = end + 1;
    }
    read.sets.push_back(std::move(planned));
    at = std::min(bytes.size(), at + (set.config_bytes + set.name_bytes + 7) / 8 * 8);
  }
  return read;
}

}  // namespace lanescope::kernel_metrics

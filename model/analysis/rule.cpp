#include "model/analysis/rule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include "collectors.h"
#include "idle/shared_idle.h"
#include "model/trace/combining/combine.h"
#include "model/trace/combining/parts.h"
#include "model/trace/workers/parallel.h"
#include "nsight/nsight_rules.h"
#include "own_rules.h"

namespace lanescope::analysis {
namespace {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

struct TimeUnitName {
  std::string_view name;
  double nanoseconds;
};
constexpr TimeUnitName kTimeUnits[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};

std::optional<Nanoseconds> parse_duration(std::string_view text, Nanoseconds default_unit) {
  auto unit = static_cast<double>(default_unit);
  for (const TimeUnitName& candidate : kTimeUnits) {
    if (!text.ends_with(candidate.name)) continue;
    unit = candidate.nanoseconds;
    text.remove_suffix(candidate.name.size());
    break;
  }
  const std::optional<double> value = parse_number(text);
  if (!value || std::abs(*value * unit) > 9e18) return std::nullopt;
  return static_cast<Nanoseconds>(std::llround(*value * unit));
}

Error no_value(const RuleOption& option, std::string_view value, std::string_view wanted) {
  return {"'" + std::string(value) + "' is no value for " + std::string(option.name) + ": give " + std::string(wanted) + ", not less than " +
              std::to_string(option.least) + ".",
          ErrorKind::kUsage};
}

std::string option_names(const Rule& rule) {
  std::string names;
  for (const RuleOption& option : rule.options) names.append(names.empty() ? "" : ", ").append(option.name);
  return names.empty() ? "none" : names;
}

Result<void> set_argument(const Rule& rule, RuleArguments& arguments, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto option = std::find_if(rule.options.begin(), rule.options.end(), [&](const RuleOption& known) { return known.name == name; });
  if (option == rule.options.end() || equals == std::string_view::npos)
    return Error{"The rule " + std::string(rule.name) + " has no argument " + std::string(text) + ". Its arguments (name=value): " + option_names(rule) + ".",
                 ErrorKind::kUsage};
  return arguments.set(*option, text.substr(equals + 1));
}

// Calls apply(i, its context) for each request. Rules that go through idle time run on threads of their own and wait for each other, so that they go
// through it once. At most as many rules as there are cores run at the same time.
template <typename Apply>
void on_all_cores(std::span<const RuleRequest> requests, const RuleContext& context, const Apply& apply) {
  std::vector<std::size_t> others, of_idle_time;
  others.reserve(requests.size());
  of_idle_time.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    (requests[i].rule->needs == Rule::Needs::kIdleTime && context.time == kWholeTrace ? of_idle_time : others).push_back(i);
  SharedIdle::Cores cores(usable_cores());
  RuleContext sharing = context;
  sharing.shared_idle = std::make_shared<SharedIdle>(of_idle_time.size(), cores);
  std::once_flag has_failed;
  std::exception_ptr failure;
  const auto on_a_core = [&](std::size_t i, const RuleContext& of_rule) noexcept {
    cores.acquire();
    try {
      apply(i, of_rule);
    } catch (...) {
      std::call_once(has_failed, [&failure] { failure = std::current_exception(); });
    }
    if (of_rule.shared_idle) of_rule.shared_idle->leave();
    cores.release();
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(of_idle_time.size());
    for (const std::size_t i : of_idle_time) {
      try {
        threads.emplace_back([&on_a_core, &sharing, i] { on_a_core(i, sharing); });
      } catch (const std::exception&) {  // no room for another thread
        sharing.shared_idle->leave();
        others.push_back(i);
      }
    }
    parallel_for(others.size(), [&](std::size_t k) { on_a_core(others[k], context); });
  }
  if (failure) std::rethrow_exception(failure);
}

// Null if the trace has no part that only counted instructions.
std::shared_ptr<const Trace> without_counting_runs(const Trace& trace) {
  const std::vector<const TracePart*> parts = parts_that_only_count(trace);
  return parts.empty() ? nullptr : without_events_of(trace, parts);
}

}  // namespace

void rank(std::vector<Finding>& findings) {
  const auto key = [](const Finding& finding) { return std::tuple(finding.recurrence, finding.hidden - finding.cost, -finding.cost); };
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

Result<void> RuleArguments::set(const RuleOption& option, std::string_view value) {
  switch (option.type) {
    case OptionType::kDuration: {
      const std::optional<Nanoseconds> duration = parse_duration(value, option.unit);
      if (!duration || *duration < option.least) return no_value(option, value, "a time such as 10us or 2.5ms");
      integers_[std::string(option.name)] = *duration;
      return {};
    }
    case OptionType::kInteger: {
      const std::optional<double> number = parse_number(value);
      if (!number || *number != std::floor(*number) || *number < option.least || *number > 9e18) return no_value(option, value, "a whole number");
      integers_[std::string(option.name)] = static_cast<std::int64_t>(*number);
      return {};
    }
    case OptionType::kReal: {
      const std::optional<double> number = parse_number(value);
      if (!number || *number < option.least) return no_value(option, value, "a number");
      reals_[std::string(option.name)] = *number;
      return {};
    }
    case OptionType::kText:
      texts_[std::string(option.name)] = std::string(value);
      return {};
  }
  return {};
}

std::span<const Rule> rules() {
  static const std::vector<Rule> all = [] {
    const std::span<const Rule> own = own_rules();
    std::vector<Rule> list(own.begin(), own.end());
    const std::span<const Rule> nsight = nsight_rules();
    list.insert(list.end(), nsight.begin(), nsight.end());
    return list;
  }();
  return all;
}

const Rule* find_rule(std::string_view name) {
  const std::span<const Rule> all = rules();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Rule& rule) { return rule.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<RuleRequest> parse_rule(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  RuleRequest request{find_rule(name), {}};
  if (request.rule == nullptr) return Error{"There is no rule " + std::string(name) + ". See: lanescope analyze --help-rules", ErrorKind::kUsage};
  for (const RuleOption& option : request.rule->options) {
    const Result<void> set = request.arguments.set(option, option.default_value);
    if (!set) return set.error();
  }
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;) {
    const std::size_t next = text.find(':', colon + 1);
    const std::string_view argument = text.substr(colon + 1, next == std::string_view::npos ? next : next - colon - 1);
    const Result<void> set = set_argument(*request.rule, request.arguments, argument);
    if (!set) return set.error();
    colon = next;
  }
  return request;
}

Result<RuleAnswer> apply_rule(const Trace& trace, const RuleRequest& request, std::stop_token stop) {
  const auto judged = without_counting_runs(trace);
  return request.rule->apply(RuleContext{.trace = judged ? *judged : trace, .stop = std::move(stop), .requests = {&request, 1}}, request.arguments);
}

Result<std::vector<RuleAnswer>> apply_rules(const Trace& trace, std::span<const RuleRequest> requests, std::stop_token stop, TimeRange time,
                                            RuleTables tables) {
  std::vector<Result<RuleAnswer>> results(requests.size(), RuleAnswer{});
  const auto judged = without_counting_runs(trace);
  const RuleContext context{.trace = judged ? *judged : trace, .time = time, .tables = tables, .stop = stop, .requests = requests};
  for (const RuleRequest& request : requests)
    if (request.rule->collect != nullptr && !stop.stop_requested()) request.rule->collect(context, request.arguments);
  context.collectors->collect(context);
  on_all_cores(requests, context, [&](std::size_t i, const RuleContext& of_rule) {
    if (!stop.stop_requested()) results[i] = requests[i].rule->apply(of_rule, requests[i].arguments);
  });
  std::vector<RuleAnswer> answers(stop.stop_requested() ? requests.size() : 0);
  if (!answers.empty()) return answers;
  for (Result<RuleAnswer>& result : results) {
    if (!result) return result.error();
    answers.push_back(*std::move(result));
  }
  return answers;
}

}  // namespace lanescope::analysis

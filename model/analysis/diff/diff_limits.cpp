#include "model/analysis/diff/diff_limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lanescope::analysis {
namespace {

constexpr std::string_view kDuration = "Duration";  // of kernels; limits on time apply to it, too

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// NaN is never beyond the limit. Nor is what differs from it by rounding: 210 ns are 5 % more than 200 ns, but 100 * (210.0 / 200 - 1) is more than 5.
bool is_beyond(double change, double limit) noexcept {
  const double rounding = 1e-9 * (100 + std::abs(limit));
  return std::signbit(limit) ? change < limit - rounding : change > limit + rounding;
}

}  // namespace

Result<DiffLimit> parse_diff_limit(std::string_view text) {
  DiffLimit limit;
  std::string_view share = text;
  if (const std::size_t equals = text.rfind('='); equals != std::string_view::npos) {
    const std::string_view name = trimmed(text.substr(0, equals));
    const auto metrics = compared_metrics();
    const auto known = std::find_if(metrics.begin(), metrics.end(), [&](std::string_view metric) { return same_letters(metric, name); });
    if (known == metrics.end()) {
      std::string names;
      for (const std::string_view metric : metrics) names.append(names.empty() ? "" : ", ").append(metric);
      return Error{"No metric of kernels is called '" + std::string(name) + "'. Those that are compared: " + names + ".", ErrorKind::kUsage};
    }
    limit.metric = *known;
    share = text.substr(equals + 1);
  }
  std::string_view number = trimmed(share);
  if (number.ends_with('%')) number = trimmed(number.substr(0, number.size() - 1));
  if (number.starts_with('+') && !number.starts_with("+-")) number.remove_prefix(1);  // from_chars does not accept a plus
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), limit.percent);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(limit.percent))
    return Error{"'" + std::string(text) + "' is no limit: give a share such as --fail-above 5%, or one of a metric such as --fail-above 'L2 hit rate=-2%'.",
                 ErrorKind::kUsage};
  if (limit.metric.empty() && std::signbit(limit.percent))
    return Error{"'" + std::string(text) + "' is no limit on time: give a share of 0 % or more.", ErrorKind::kUsage};
  return limit;
}

LimitVerdict judge(const DiffLimit& limit, const DiffItem& item) noexcept {
  const bool counts = item.kind == DiffKind::kDuration || item.kind == DiffKind::kGpuBusy;
  if (!limit.metric.empty() || !counts) return LimitVerdict::kKept;
  const bool is_noise = item.verdict == DiffVerdict::kSame || item.is_too_noisy();
  if (is_noise) return item.difference() != 0 && is_beyond(item.change_high, limit.percent) ? LimitVerdict::kUnsure : LimitVerdict::kKept;
  if (item.verdict == DiffVerdict::kUnsure) return is_beyond(item.change, limit.percent) ? LimitVerdict::kUnsure : LimitVerdict::kKept;  // noise is not known
  if (item.verdict == DiffVerdict::kOnlySecond) return LimitVerdict::kExceeded;  // growth from nothing is more than any share
  return is_beyond(item.change, limit.percent) ? LimitVerdict::kExceeded : LimitVerdict::kKept;
}

LimitVerdict judge(const DiffLimit& limit, const CounterChange& change) noexcept {
  if (change.what != (limit.metric.empty() ? kDuration : limit.metric)) return LimitVerdict::kKept;
  const bool grew_beyond = change.is_from_nothing() && !std::signbit(limit.percent);  // growth from nothing is more than any share
  if (!grew_beyond && !is_beyond(change.change, limit.percent)) return LimitVerdict::kKept;
  if (change.verdict == DiffVerdict::kMore || change.verdict == DiffVerdict::kLess) return LimitVerdict::kExceeded;
  return change.verdict == DiffVerdict::kUnsure && !limit.metric.empty() ? LimitVerdict::kUnsure : LimitVerdict::kKept;
}

}  // namespace lanescope::analysis

#include "model/analysis/diff/diff_words.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "../wording.h"
#include "model/trace/text/grouped_digits.h"
#include "model/trace/text/percent.h"
#include "model/trace/text/utf8.h"

namespace lanescope::analysis {
namespace {

struct ComparedIterations {
  std::size_t compared, skipped, disturbed, left_out, inside, elsewhere, runs;
};

// "18 (without the first 2)"; "54 of 3 runs (without 6 at their beginning)"; "4,769 (without 443 that were not recorded whole)"
Message iterations_words(const ComparedIterations& iterations) {
  Message count = Message::verbatim(grouped_digits(iterations.compared));
  if (iterations.runs > 1) count = Message("{number} of {runs}", {{"number", std::move(count)}, {"runs", counted(iterations.runs, "run")}});
  const std::string skipped = grouped_digits(iterations.skipped);
  Message without;
  if (iterations.skipped > 0)
    without = iterations.runs > 1 ? Message("{number} at their beginning", {{"number", skipped}}) : Message("the first {number}", {{"number", skipped}});
  const auto add = [&without](Message other) {
    without = without.empty() ? std::move(other) : Message("{one}, and {other}", {{"one", std::move(without)}, {"other", std::move(other)}});
  };
  if (iterations.disturbed > 0) add(Message("{number} in which counters of kernels were read", {{"number", grouped_digits(iterations.disturbed)}}));
  if (iterations.left_out > 0) add(Message("{number} that were not recorded whole", {{"number", grouped_digits(iterations.left_out)}}));
  if (iterations.inside > 0) add(Message("{number} inside another", {{"number", grouped_digits(iterations.inside)}}));
  if (iterations.elsewhere > 0) add(Message("{number} on other threads at the same time", {{"number", grouped_digits(iterations.elsewhere)}}));
  return without.empty() ? count : Message("{number} (without {what})", {{"number", std::move(count)}, {"what", std::move(without)}});
}

}  // namespace

std::string abbreviated_name(const std::string& name) {
  constexpr std::size_t kLongest = 60;  // characters
  const std::string_view front = first_characters(name, kLongest);
  return front.size() == name.size() ? name : std::string(front) + "...";
}

Message alignment_words(const TraceDiff& diff) {
  if (!diff.by_iteration())
    return Message("Whole traces are compared: they have no NVTX range that repeats in both, and no kernel that does so at regular times.");
  std::vector<Message::Value> values = {{"name", diff.aligned_by.empty() ? abbreviated_name(diff.repeating_work) : diff.aligned_by},
                                        {"first", iterations_words({diff.first_iterations, diff.first_skipped, diff.first_disturbed, diff.first_left_out,
                                                                    diff.first_inside, diff.first_elsewhere, diff.first_runs})},
                                        {"second", iterations_words({diff.second_iterations, diff.second_skipped, diff.second_disturbed, diff.second_left_out,
                                                                     diff.second_inside, diff.second_elsewhere, diff.second_runs})}};
  if (diff.aligned_by.empty()) return Message("Compared from one launch to the next of the kernel \"{name}\": {first} in A, {second} in B.", std::move(values));
  return Message("Compared by iteration of \"{name}\": {first} in A, {second} in B.", std::move(values));
}

Message bounded_change_words(double change, double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high)) return Message::verbatim(format_change(change));
  return Message("{change} (between {low} and {high})", {{"change", format_change(change)}, {"low", format_change(low)}, {"high", format_change(high)}});
}

Message verdict_reason(DiffVerdict verdict) {
  if (verdict == DiffVerdict::kSame) return Message("no more than noise");
  if (verdict == DiffVerdict::kUnsure) return Message("measured too seldom: noise is not known");
  return {};
}

Message verdict_reason(const DiffItem& item) {
  if (item.was_left_out) return Message("differs least of very many: not told from noise");
  return item.is_too_noisy() ? Message("too noisy to tell") : verdict_reason(item.verdict);
}

Message change_words(const DiffItem& item) {
  if (std::isnan(item.change)) return item.verdict == DiffVerdict::kSame ? verdict_reason(item) : Message("was not there before");
  return listed(bounded_change_words(item.change, item.change_low, item.change_high), verdict_reason(item));
}

Message caution_about(const TraceDiff& diff) {
  const bool has_changes =
      std::any_of(diff.items.begin(), diff.items.end(), [](const DiffItem& item) { return item.verdict != DiffVerdict::kSame && !item.is_too_noisy(); });
  if (diff.first_runs + diff.second_runs > 2 || !has_changes) return {};
  return Message("One run a side can't tell a change from what differs from run to run. With several: lanescope diff A... --against B...");
}

}  // namespace lanescope::analysis

#include "growth_findings.h"

#include <algorithm>
#include <optional>

#include "loop/iterations.h"
#include "wording.h"

namespace lanescope::analysis::tail {
namespace {

// A process whose iterations become longer and longer.
struct Slower {
  const OfProcess* of = nullptr;
  Growth growth;
  IndexRange first, last;   // the first and the last tenth
  Nanoseconds cost = 0;     // of all iterations together, above the first tenth's median
  Nanoseconds waiting = 0;  // the part of the growth in which an iteration waits longer for ranks that come later
  Excess most;              // what grew most on a GPU, in one iteration
  [[nodiscard]] Nanoseconds own() const { return growth.last - growth.first - waiting; }
};

std::optional<Slower> find_slower(const Search& search, const OfProcess& of) {
  const Iterations& iterations = of.iterations;
  const IndexRange compared = compared_of(search.trace, of);
  const std::vector<Nanoseconds> times = times_with_work(iterations, compared);
  const std::optional<Growth> growth = growth_of(times);
  if (!growth) return std::nullopt;
  Slower found{&of, *growth, {compared.first, compared.first + growth->tenth}, {compared.end - growth->tenth, compared.end}, 0, 0, {}};
  for (const Nanoseconds time : times) found.cost += time - growth->first;
  if (found.cost <= 0 || !is_enough(search, found.cost, least_time(search, of, compared))) return std::nullopt;
  const Usual first = usual_times(iterations, found.first), last = usual_times(iterations, found.last);
  for (const auto& [gpu, times_of_gpu] : last.gpus)
    for (std::size_t i = 0; i < kComponents; ++i) {
      const Nanoseconds excess = times_of_gpu.components[i] - first.gpus.at(gpu).components[i];
      if (excess > found.most.time) found.most = {i, excess};
      if (i == kWaiting) found.waiting = std::max(found.waiting, excess);
    }
  return found;
}

std::string_view advice_about_growth(const Excess& most, Waiting waiting) {
  if (most.time > 0 && most.component == kWork)
    return "Compare kernels and copies of one of the last iterations and of one of the first: inputs that become longer, data that is kept and "
           "processed again, or a GPU that becomes warm and slower (lanescope profile --gpu-metrics-devices shows its clocks).";
  if (most.time > 0 && most.component >= kCommunicating) return advice_about(most.component, waiting);
  return "Compare one of the last iterations with one of the first: lists, caches and logs that grow, memory that is never freed or falls into "
         "pieces, and files that become longer are usual reasons.";
}

Finding finding_of(const Search& search, const Slower& slower, std::size_t others) {
  const IterationSeries& series = *slower.of->series;
  const Iterations& iterations = slower.of->iterations;
  Finding finding;
  finding.rule = "tail";
  finding.key = "growth";
  finding.cost = slower.cost;
  finding.title =
      Message(search.named == Named::kRange
                  ? "{iterations} (\"{range}\") became slower and slower, from {first} (first tenth) to {last} (last tenth): together {time} more than "
                    "if they had stayed as fast."
                  : "{iterations} (\"{range}\") of {process} became slower and slower, from {first} (first tenth) to {last} (last tenth): together "
                    "{time} more than if they had stayed as fast.",
              with_names(search.trace, search.families, series,
                         {{"iterations", counted(slower.last.end - slower.first.first, "iteration")},
                          {"first", duration_text(slower.growth.first)},
                          {"last", duration_text(slower.growth.last)},
                          {"time", duration_text(slower.cost)}}));
  CriticalPaths paths(search.trace);
  const auto held_up = [&](IndexRange range) {
    const std::size_t iteration = nearest_to(iterations, range, usual_length(iterations, range));
    return held_up_times(paths, search.families, iterations.all[iteration].range, search.stop);
  };
  const HeldUp on_path = most_of(excess_of(held_up(slower.last), held_up(slower.first)));
  const Message on_gpu =
      slower.most.time == 0
          ? Message()
          : Message("What grew most is {what}: {time} more in one of the last tenth than in one of the first.",
                    {{"what", component_name(slower.most.component, search.ranks.waiting_of(series.process))}, {"time", duration_text(slower.most.time)}});
  // What the thread did tells more only if the GPU did not work longer.
  const Message on_cpu = on_path.time == 0 || (slower.most.time > 0 && slower.most.component >= kWork)
                             ? Message()
                             : Message("Most of it on the critical path: {what}, {time}.",
                                       {{"what", held_up_words(search.families, series.family, on_path.longest)}, {"time", duration_text(on_path.time)}});
  finding.seen = followed_by(on_gpu, on_cpu);
  if (others > 0)
    finding.seen = followed_by(finding.seen, Message("Iterations of {ranks} became slower at the same time.", {{"ranks", counted(others, "other rank")}}));
  finding.place.range = {iterations.all[slower.last.first].time.begin, iterations.all[slower.last.end - 1].time.end};
  finding.place.event = iterations.all[slower.last.end - 1].range;
  finding.place.process = series.process;
  finding.place.thread = search.trace.track_of(finding.place.event.lane).key.thread;
  finding.advice = Message(advice_about_growth(slower.most, search.ranks.waiting_of(series.process)));
  return finding;
}

}  // namespace

std::vector<Finding> growth_findings(const Search& search, std::span<const OfProcess> processes) {
  struct Told {
    Slower slower;
    std::size_t others = 0;
  };
  std::vector<Slower> all;
  for (const OfProcess& one : processes)
    if (std::optional<Slower> slower = find_slower(search, one)) all.push_back(*std::move(slower));
  std::stable_sort(all.begin(), all.end(), [](const Slower& a, const Slower& b) { return a.own() > b.own(); });
  const auto time_of = [](const Slower& one) { return TimeRange{one.of->iterations.all.front().time.begin, one.of->iterations.all.back().time.end}; };
  std::vector<Told> told;
  for (const Slower& one : all) {
    const auto leader = std::find_if(told.begin(), told.end(), [&](const Told& other) {
      return other.slower.of->series->family == one.of->series->family && !time_of(other.slower).intersected(time_of(one)).empty();
    });
    if (leader == told.end())
      told.push_back({one});
    else
      ++leader->others;
  }
  std::vector<Finding> findings;
  for (const Told& one : told) findings.push_back(finding_of(search, one.slower, one.others));
  return findings;
}

}  // namespace lanescope::analysis::tail

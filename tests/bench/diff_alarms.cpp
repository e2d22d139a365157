// How often `lanescope diff` reports a change between runs of one unchanged program: --pairs N pairs of runs for each kind of noise, number of ranks and of
// iterations. Prints the table of docs/measurements.md.
#include <atomic>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <span>
#include <thread>

#include "equal_runs.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/trace/workers/usable_cores.h"

using namespace lanescope;
using analysis::TraceDiff;
using test::EqualRun;
using test::Noise;

namespace {

struct Alarms {
  std::atomic<std::size_t> any{0};       // comparisons with a change
  std::atomic<std::size_t> duration{0};  // those with a change of the iteration's duration
  std::atomic<std::size_t> items{0};     // all items that were compared
};

struct Setup {
  std::string noise;
  EqualRun first, second;
  std::size_t runs = 1;  // on each side
};

void compare_pair(const Setup& setup, std::uint64_t pair, Alarms& alarms) {
  std::vector<std::shared_ptr<const Trace>> runs;
  for (std::uint64_t run = 0; run < 2 * setup.runs; ++run)
    runs.push_back(test::equal_run(run < setup.runs ? setup.first : setup.second, 1 + pair * 2 * setup.runs + run));
  const std::span<const std::shared_ptr<const Trace>> all(runs);
  const Result<TraceDiff> diff = analysis::compare_runs(all.first(setup.runs), all.subspan(setup.runs));
  if (!diff) return;
  const auto changed = [](const analysis::DiffItem& item) {
    return item.verdict != analysis::DiffVerdict::kSame && item.verdict != analysis::DiffVerdict::kUnsure;
  };
  alarms.any += std::any_of(diff->items.begin(), diff->items.end(), changed) ? 1 : 0;
  alarms.duration += changed(diff->items.front()) ? 1 : 0;
  alarms.items += diff->items.size();
}

void print(const Setup& setup, std::size_t pairs) {
  Alarms alarms;
  std::atomic<std::uint64_t> next{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < usable_cores(); ++i)
      threads.emplace_back([&] {
        for (std::uint64_t pair = next++; pair < pairs; pair = next++) compare_pair(setup, pair, alarms);
      });
  }
  const auto percent = [&](std::size_t count) { return 100.0 * static_cast<double>(count) / static_cast<double>(pairs); };
  std::printf("| %s | %d | %d and %d | %zu | %.1f | %.2f %% | %.2f %% |\n", setup.noise.c_str(), setup.first.ranks, setup.first.iterations,
              setup.second.iterations, setup.runs, static_cast<double>(alarms.items) / static_cast<double>(pairs), percent(alarms.any),
              percent(alarms.duration));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How often equal runs are said to differ.");
  std::size_t pairs = 100;
  std::string only;
  app.add_option("--pairs", pairs, "Pairs of runs for each row");
  app.add_option("--noise", only, "Only rows of noise whose name begins so, as 'a log'");
  CLI11_PARSE(app, argc, argv);
  const auto row = [&](const Setup& setup) {
    if (setup.noise.starts_with(only)) print(setup, pairs);
  };
  std::printf("| noise | ranks | iterations | runs a side | items | any change | another duration |\n|---|---|---|---|---|---|---|\n");
  for (const int ranks : {1, 2, 8})
    for (const int iterations : {5, 20, 100, 500}) {
      const EqualRun run{.ranks = ranks, .iterations = iterations};
      row({"independent", run, run, 1});
    }
  const EqualRun few{.iterations = 5}, many{.iterations = 500};
  row({"independent", few, many, 1});
  struct Shape {
    const char* name;
    Noise noise;
  };
  for (const auto& [name, noise] : {Shape{"skewed", Noise::kSkewed}, Shape{"spikes", Noise::kSpikes}, Shape{"alike, 0.3", Noise::kAlike},
                                    Shape{"alike, 0.6", Noise::kVeryAlike}, Shape{"alike, 0.9", Noise::kMostAlike}})
    for (const int iterations : {5, 10, 20, 100, 500}) {
      const EqualRun run{.iterations = iterations, .noise = noise};
      row({name, run, run, 1});
    }
  for (const int every : {7, 10, 16, 50})
    for (const auto& [first, second] : {std::pair(5, 500), std::pair(10, 500), std::pair(25, 500), std::pair(100, 100), std::pair(100, 105)})
      row({"a log each " + std::to_string(every) + " steps", {.iterations = first, .log_every = every}, {.iterations = second, .log_every = every}, 1});
  for (const int iterations : {5, 25}) row({"spikes", {.iterations = iterations, .noise = Noise::kSpikes}, {.iterations = 2'000, .noise = Noise::kSpikes}, 1});
  for (const std::size_t runs : {1U, 2U, 3U, 5U}) {
    const EqualRun run{.iterations = 50, .between_runs = 0.02};
    row({"2 % from run to run", run, run, runs});
  }
}

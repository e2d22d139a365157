// How often `lanescope analyze` reports that a rank keeps the others waiting beyond chance (ranks_that_stand_out): for equal ranks, and for ranks of which one
// computes longer in each step. Steps take 5 ms and vary by 10 %, all ranks are in one group, and nothing is recorded; a step is correlated with the one
// before. Prints the tables of docs/measurements.md.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "rules/latecomers.h"

using namespace lanescope;

namespace {

struct Program {
  std::size_t ranks = 2, steps = 20;
  double alike = 0;   // correlation of a rank's step with the one before
  double longer = 0;  // ms that the last rank computes longer in each step
};

// The rank that comes last makes each other rank wait for as long as that rank was earlier. If there are more than kMostSteps steps, some are counted together.
analysis::TimeBySteps waiting_of(const Program& program, std::mt19937_64& random) {
  constexpr double kStep = 5, kVaries = 0.5;  // ms
  std::normal_distribution<double> normal;
  const std::size_t parts = std::min(program.steps, analysis::kMostSteps);
  analysis::TimeBySteps waiting{program.ranks, std::vector<Nanoseconds>(parts * program.ranks)};
  std::vector<double> last(program.ranks), computes(program.ranks);
  for (double& rank : last) rank = normal(random);
  for (std::size_t step = 0; step < program.steps; ++step) {
    for (std::size_t rank = 0; rank < program.ranks; ++rank) {
      last[rank] = program.alike * last[rank] + std::sqrt(1 - program.alike * program.alike) * normal(random);
      computes[rank] = kStep + kVaries * last[rank] + (rank + 1 == program.ranks ? program.longer : 0);
    }
    const auto latest = std::max_element(computes.begin(), computes.end());
    double waits = 0;
    for (const double one : computes) waits += *latest - one;
    waiting.times[step * parts / program.steps * program.ranks + static_cast<std::size_t>(latest - computes.begin())] += static_cast<Nanoseconds>(1e6 * waits);
  }
  return waiting;
}

void print(Program program, std::size_t draws) {
  std::printf("| %zu | %.1f | %.1f ms |", program.ranks, program.alike, program.longer);
  for (const std::size_t steps : {5, 8, 20, 40, 100, 500}) {
    program.steps = steps;
    std::mt19937_64 random(program.ranks * 1'000 + steps);
    std::size_t named = 0;
    for (std::size_t draw = 0; draw < draws; ++draw) {
      const std::vector<std::size_t> found = analysis::ranks_that_stand_out(waiting_of(program, random));
      named += program.longer > 0 ? !found.empty() && found.front() + 1 == program.ranks : !found.empty();
    }
    std::printf(" %.1f %% |", 100.0 * static_cast<double>(named) / static_cast<double>(draws));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How often a rank is said to keep the others waiting.");
  std::size_t draws = 1'000;
  app.add_option("--draws", draws, "Programs for each figure");
  CLI11_PARSE(app, argc, argv);
  std::printf("| ranks | correlation | computes longer by | 5 steps | 8 steps | 20 steps | 40 steps | 100 steps | 500 steps |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  for (const double longer : {0.0, 1.0})
    for (const double alike : {0.0, 0.3, 0.6, 0.9})
      for (const std::size_t ranks : {2, 4, 8}) print({ranks, 0, alike, longer}, draws);
}

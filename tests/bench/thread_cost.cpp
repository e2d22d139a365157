// The cost of observing threads for these threads. Use: thread_cost [ROUNDS]
//
// Runs itself as a program, alone and recorded in each way, in turn, so that ratios hold if the machine's speed drifts:
//   busy    the processor time of a fixed piece of work that keeps one thread on a processor, in calls 20 deep
//   switch  the processor time of a switch between two threads on one processor, which wait for each other by pipes
// Prints the best and the median round of each. Says so if it has no rights to observe threads.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "collector/cpu/access.h"
#include "collector/session/recording.h"
#include "model/trace/load.h"

namespace {

// Processor time of the whole process: it includes the kernel's work for its threads, but not the work of other processes.
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

volatile std::uint64_t sink = 0;

__attribute__((noinline)) void work(int depth) {
  if (depth > 0) {
    work(depth - 1);
  } else {
    for (int i = 0; i < 30'000'000; ++i) sink = sink + static_cast<std::uint64_t>(i);
  }
  sink = sink + 1;
}

// ns for each piece of work: the best of ten pieces.
double busy() {
  double best = 1e18;
  for (int piece = 0; piece < 10; ++piece) {
    const double begin = processor_time();
    work(20);
    best = std::min(best, (processor_time() - begin));
  }
  return best;
}

// ns for each switch: the best of ten measurements.
double switches() {
  constexpr int kTurns = 20'000;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof(one), &one);
  int there[2];
  int back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 0;
  double best = 1e18;
  for (int round = 0; round < 10; ++round) {
    std::thread other([&] {
      char byte = 0;
      for (int i = 0; i < kTurns; ++i)
        if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1) return;
    });
    const double begin = processor_time();
    char byte = 0;
    for (int i = 0; i < kTurns; ++i)
      if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return 0;
    best = std::min(best, (processor_time() - begin) / (2.0 * kTurns));
    other.join();
  }
  return best;
}

struct Way {
  const char* name;
  lanescope::cpu::CpuSettings settings;
};

double run_alone(const std::string& program, const std::string& what) {
  FILE* output = popen((program + " --" + what).c_str(), "r");
  double figure = 0;
  if (output == nullptr || std::fscanf(output, "%lf", &figure) != 1) figure = 0;
  if (output != nullptr) pclose(output);
  return figure;
}

double run_recorded(const std::string& program, const std::string& what, const Way& way) {
  lanescope::session::LaunchRequest request;
  request.command = {program, "--" + what};
  request.target_output = lanescope::session::TargetOutput::kStore;
  request.settings.trace_cuda = request.settings.trace_nvtx = false;
  request.settings.cpu = way.settings;
  request.output = "/tmp/thread_cost_%p";
  auto recording = lanescope::session::Recording::launch(request);
  if (!recording) {
    std::cerr << recording.error().text << '\n';
    std::exit(1);
  }
  (*recording)->wait_for(std::chrono::minutes(5));
  const auto trace = lanescope::load_trace((*recording)->path());
  std::string output;
  if (trace)
    for (const auto& text : (*trace)->output()) output += text.bytes;
  std::filesystem::remove((*recording)->path());
  return std::atof(output.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--busy" || first == "--switch") {
    std::printf("%.1f\n", first == "--busy" ? busy() : switches());
    return 0;
  }
  using namespace lanescope::cpu;
  const Access access = probe_access();
  if (!access.own_processes) {
    std::cerr << "Threads can't be observed here: " << access.reason << ".\n";
    return 1;
  }
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
  constexpr Scope kTree = Scope::kProcessTree;
  const std::array<Way, 5> ways{{{"states", {kTree, Scope::kNone, CallChains::kNone, 1000, {}}},
                                 {"samples, fp, 1 kHz", {Scope::kNone, kTree, CallChains::kFramePointers, 1000, {}}},
                                 {"samples, dwarf, 1 kHz", {Scope::kNone, kTree, CallChains::kDwarf, 1000, {}}},
                                 {"states, samples, fp, 1 kHz", {kTree, kTree, CallChains::kFramePointers, 1000, {}}},
                                 {"states, samples, dwarf, 1 kHz", {kTree, kTree, CallChains::kDwarf, 1000, {}}}}};
  std::error_code ignored;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  for (const std::string what : {"busy", "switch"}) {
    std::vector<std::vector<double>> figures(ways.size() + 1);
    for (int round = 0; round < rounds; ++round) {
      figures[0].push_back(run_alone(program, what));
      for (std::size_t i = 0; i < ways.size(); ++i) figures[i + 1].push_back(run_recorded(program, what, ways[i]));
    }
    for (std::vector<double>& each : figures) std::sort(each.begin(), each.end());
    std::printf("%s, ns: best, median of %d rounds\n", what.c_str(), rounds);
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const double best = figures[i].front();
      const double median = figures[i][figures[i].size() / 2];
      std::printf("  %-32s %14.1f %14.1f   %+7.2f %% %+7.2f %%\n", i == 0 ? "alone" : ways[i - 1].name, best, median, 100 * (best / figures[0].front() - 1),
                  100 * (median / figures[0][figures[0].size() / 2] - 1));
    }
  }
}

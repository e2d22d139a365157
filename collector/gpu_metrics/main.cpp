// lanescope-gpu-metrics: samples the metrics of this machine's GPUs and writes them as frames to its standard output.
//
// It is a process of its own for two reasons: the performance monitors need rights that the rest of a recording does not (given with setcap or sudo),
// and it loads the driver's libraries, which a session should not load. The session controls it through its standard input: "f" asks for everything
// up to now, "p" pauses the sampling and "r" resumes it. An empty frame answers each. The end of input ends the sampling.
// each. The end of input ends the sampling.
#include <poll.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "sampling.h"

namespace {

using namespace lanescope;
using namespace lanescope::gpu_metrics;

constexpr std::uint64_t kLowestFrequency = 10;
constexpr std::uint64_t kHighestFrequency = 200'000;

// A program with rights of its own (setcap) must not let the user's environment choose what code it loads, and some variables name libraries that
// libcuda would load. Injection variables are removed even without such rights, because tools for CUDA programs must not enter this process.
void forget_environment() {
  for (const char* injection : {"CUDA_INJECTION64_PATH", "CUDA_INJECTION32_PATH", "NVTX_INJECTION64_PATH"}) unsetenv(injection);
  if (getauxval(AT_SECURE) == 0) return;
  std::vector<std::pair<std::string, std::string>> kept;
  for (const char* harmless : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
    if (const char* value = std::getenv(harmless)) kept.emplace_back(harmless, value);
  clearenv();
  for (const auto& [name, value] : kept) setenv(name.c_str(), value.c_str(), 1);
}

int list_sets() {
  for (const MetricSet& set : metric_sets()) std::printf("%-8s %s.\n", std::string(set.name).c_str(), std::string(set.description).c_str());
  std::printf("A file may name others, one metric a line, and behind it what to call it.\n");
  return 0;
}

void follow_session(Sampling& sampling) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, -1) >= 0 || errno == EINTR) {
    char commands[64];
    const ssize_t count = read(STDIN_FILENO, commands, sizeof(commands));
    if (count == 0 || (count < 0 && errno != EINTR)) return;
    for (ssize_t i = 0; i < count; ++i) {
      if (commands[i] == 'f') sampling.hand_over();
      if (commands[i] == 'p') sampling.rest();
      if (commands[i] == 'r') sampling.go_on();
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  forget_environment();
  CLI::App app("Samples the metrics of GPUs, for lanescope.", "lanescope-gpu-metrics");
  std::string devices = "all";
  std::string set = "default";
  std::uint64_t frequency = 10'000;
  Effort effort;
  int look_every = static_cast<int>(effort.look_every.count());
  int nvml_every = static_cast<int>(effort.nvml_every.count());
  int patience = static_cast<int>(effort.patience.count());
  std::size_t buffer = effort.hardware_buffer >> 20;
  bool accounts = false;
  bool by_cupti = false;
  bool lists = false;
  bool checks = false;
  app.add_option("--devices", devices, "all, cuda-visible, or numbers as nvidia-smi has them");
  app.add_option("--set", set, "Name of a set of metrics, or a file that names one a line");
  app.add_option("--frequency", frequency, "Samples a second")->check(CLI::Range(kLowestFrequency, kHighestFrequency));
  // Options for measuring what the sampling costs.
  app.add_option("--look-every", look_every, "Milliseconds between looks at what the hardware has counted; 0: as fits the frequency")
      ->check(CLI::Range(0, 60'000));
  app.add_option("--nvml-every", nvml_every, "Milliseconds between readings of NVML; 0: none")->check(CLI::Range(0, 60'000));
  app.add_option("--evaluators", effort.evaluators, "Threads for the values of one GPU's samples where one falls behind; 0: as fits the machine")
      ->check(CLI::Range(0, 64));
  app.add_option("--patience", patience, "Milliseconds that counted samples may wait for a processor to be fetched; 0: as fits")->check(CLI::Range(0, 60'000));
  app.add_flag("--by-cupti", by_cupti, "Fetches by CUPTI, although the library below it may be there");
  app.add_option("--hardware-buffer", buffer, "MiB that the hardware counts into")->check(CLI::Range(32, 65'536));
  app.add_flag("--account", accounts, "Says at the end, on standard error, what fetching and evaluating took");
  app.add_option("--nice", effort.niceness, "Niceness of all its threads")->check(CLI::Range(0, 19));
  app.add_flag("--list-sets", lists, "Says which sets there are");
  app.add_flag("--check", checks, "Says what can be sampled here, and why not more");
  CLI11_PARSE(app, count, arguments);
  if (lists) return list_sets();

  const auto choice = parse_devices(devices);
  const auto wishes = read_metric_set(set);
  if (!choice || !wishes) {
    std::fprintf(stderr, "%s\n", !choice ? ("There are no GPUs called " + devices + ".").c_str() : wishes.error().text.c_str());
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);  // Ctrl+C is handled by the session, which ends this process by closing its input
  if (checks) {
    for (const std::string& sentence : check(*choice, *wishes, frequency)) std::printf("%s\n", sentence.c_str());
    return 0;
  }
  FrameOutput output(STDOUT_FILENO);
  effort.look_every = std::chrono::milliseconds(look_every);
  effort.nvml_every = std::chrono::milliseconds(nvml_every);
  effort.patience = std::chrono::milliseconds(patience);
  effort.hardware_buffer = buffer << 20;
  if (by_cupti) effort.fetching = Effort::Fetching::kByCupti;
  const auto account = accounts ? SamplingRequest::Account::kStandardError : SamplingRequest::Account::kNone;
  Sampling sampling({*choice, *wishes, frequency, effort, account}, output);
  output.acknowledge();  // it now samples, or has reported why it can't
  follow_session(sampling);
  return 0;
}

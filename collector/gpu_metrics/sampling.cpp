#include "sampling.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "agent/cupti/library/library.h"
#include "collector/channel/clock.h"
#include "processor_share.h"
#include "samplers/gpm_sampler.h"
#include "samplers/nvml_sampler.h"
#include "samplers/pm_sampler.h"
#include "worker.h"

namespace lanescope::gpu_metrics {
namespace {

using namespace std::chrono_literals;

// Loads libcupti with the functions for sampling; the process keeps it.
const CuptiFunctions* load_cupti(int driver_version, Refusal& refusal) {
  agent::cupti::DamagedFile damaged;
  void* library = agent::cupti::open_library(driver_version / 1000, damaged);
  if (library == nullptr && damaged.path[0] != '\0') {
    refusal = {proto::STATE_NO_LIBRARY, std::string("The performance monitors of GPUs can't be sampled: ") + damaged.path +
                                            " is damaged or was cut short. Install it anew, or set LANESCOPE_CUPTI_LIBRARY to another file."};
    return nullptr;
  }
  if (library == nullptr) {
    refusal = {proto::STATE_NO_LIBRARY,
               "The performance monitors of GPUs can't be sampled: CUPTI (libcupti.so) was not found. Install the CUDA toolkit, or set "
               "LANESCOPE_CUPTI_LIBRARY to the file."};
    return nullptr;
  }
  static std::optional<CuptiFunctions> functions;
  functions = resolve_cupti(library);
  if (!functions) {
    refusal = {proto::STATE_VERSION_MISMATCH, "The performance monitors of GPUs can't be sampled: this CUPTI is older than CUDA 12.6."};
    return nullptr;
  }
  CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
  if (const CUptiResult result = functions->initialize(&initialize); result != CUPTI_SUCCESS) {
    refusal = {proto::STATE_FAILED, "The performance monitors of GPUs can't be sampled: cuptiProfilerInitialize says " + result_text(*functions, result) + "."};
    return nullptr;
  }
  return &*functions;
}

// The library that fetches samples: the one below CUPTI if it can be used.
PmLibraries libraries_for(const CuptiFunctions& cupti, const Effort& effort) {
  static std::string why_not;
  static std::optional<nvperf::Functions> below;
  if (effort.fetching == Effort::Fetching::kByCupti) return {cupti, nullptr, {}};
  if (!below && why_not.empty()) below = nvperf::load(reinterpret_cast<const void*>(cupti.get_version), why_not);
  return {cupti, below ? &*below : nullptr, why_not};
}

std::string sampled_text(const PmSampler& sampler, const GpuDevice& gpu, std::uint64_t frequency) {
  return "GPU " + std::to_string(gpu.ordinal) + ", " + gpu.name + " (" + sampler.chip() + "): " + std::to_string(sampler.metrics().size()) + " metrics at " +
         std::to_string(frequency) + " Hz, fetched " + sampler.way() + ".";
}

std::string account_text(const PmSampler& sampler) {
  const PmAccount& account = sampler.account();
  const auto milliseconds = [](std::int64_t nanoseconds) { return std::to_string(nanoseconds / 1'000'000) + " ms"; };
  return sampler.chip() + ", " + sampler.way() + ": " + std::to_string(account.samples) + " samples in " + std::to_string(account.rounds) +
         " rounds; decoding took " + milliseconds(account.decoding) + ", evaluation " + milliseconds(account.evaluation) + "; longest pause " +
         milliseconds(account.longest_pause) + "; most samples that waited " + std::to_string(account.most_waiting) + "; " +
         std::to_string(account.sample_bytes) + " bytes a sample, hardware buffer " + std::to_string(account.hardware_buffer >> 20) + " MiB (most in it " +
         std::to_string(account.most_unread >> 20) + "), " + std::to_string(account.overflows) + " overflows.";
}

// Limits how often a driver is asked while programs compute on all processors: the readings take at most two hundredths of a processor.
class Moderation {
 public:
  // True if it is too early to ask again.
  [[nodiscard]] bool rests() {
    const std::int64_t now = channel::monotonic_now();
    if (all_processors_are_busy()) busy_until_ = now + kMemory;
    if (now < busy_until_ && now < rests_until_) return true;
    began_ = processor_time();
    return false;
  }
  void has_read() { rests_until_ = channel::monotonic_now() + (processor_time() - began_) * kShare; }

 private:
  static constexpr std::int64_t kMemory = 1'000'000'000;  // ns; a machine that was busy is assumed to stay busy for this time
  static constexpr std::int64_t kShare = 50;

  static bool all_processors_are_busy() {
    char text[128] = {};
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t size = read(file, text, sizeof(text) - 1);
    close(file);
    int running = 0;  // includes this thread
    return size > 0 && std::sscanf(text, "%*s %*s %*s %d/", &running) == 1 && running > sysconf(_SC_NPROCESSORS_ONLN);
  }

  std::int64_t busy_until_ = 0;
  std::int64_t rests_until_ = 0;
  std::int64_t began_ = 0;
};

std::string in_place_text(const GpuDevice& gpu) {
  return "GPU " + std::to_string(gpu.ordinal) + ", " + gpu.name +
         ": SMs, tensor cores, memory bandwidth and links ten times a second from NVML, without its performance monitors.";
}

proto::Resources described(const std::vector<GpuDevice>& gpus) {
  proto::Resources resources;
  for (const GpuDevice& gpu : gpus) {
    proto::Device& device = *resources.add_devices();
    device.set_id(static_cast<std::uint32_t>(gpu.ordinal));
    device.set_name(gpu.name);
    device.set_uuid(gpu.uuid);
    device.set_bus_id(gpu.bus_id);
    device.set_compute_major(gpu.compute_major);
    device.set_compute_minor(gpu.compute_minor);
    device.set_memory_bytes(gpu.memory_bytes);
  }
  return resources;
}

std::string no_driver(const Driver& driver) { return "GPU metrics can't be sampled here: " + driver.failure + "."; }

}  // namespace

Sampling::Sampling(const SamplingRequest& request, FrameOutput& output) : output_(output) {
  if (request.effort.niceness != 0) setpriority(PRIO_PROCESS, 0, request.effort.niceness);  // threads that are started later inherit it
  const Driver driver = open_driver(request.devices);
  if (!driver.answers) {
    output.diagnose(proto::SEVERITY_WARNING, proto::STATE_NO_DRIVER, no_driver(driver));
  } else if (driver.gpus.empty()) {
    output.diagnose(proto::SEVERITY_WARNING, proto::STATE_FAILED, "GPU metrics can't be sampled: none of the chosen GPUs is there.");
  } else {
    output.write(proto::FRAME_RESOURCES, described(driver.gpus));
    // In the order in which their counters are shown.
    const std::vector<GpuDevice> without_monitors = start_monitors(driver, request);
    start_nvml(driver, request.effort.nvml_every, without_monitors);
    watch_ = std::make_unique<Watch>(workers_);
  }
}

// The samplers of one GPU that use NVML.
struct Sampling::Nvml {
  std::unique_ptr<NvmlSampler> board;
  std::unique_ptr<GpmSampler> in_place_of_monitors;
};

void Sampling::start_nvml(const Driver& driver, std::chrono::milliseconds period, const std::vector<GpuDevice>& without_monitors) {
  const auto nvml = period > 0ms ? open_nvml() : nullptr;
  if (!nvml) return;
  auto samplers = std::make_shared<std::vector<Nvml>>();
  for (const GpuDevice& gpu : driver.gpus) {
    Nvml& sampler = samplers->emplace_back();
    const auto is_this = [&](const GpuDevice& other) { return other.ordinal == gpu.ordinal; };
    std::string refusal;
    if (std::any_of(without_monitors.begin(), without_monitors.end(), is_this)) sampler.in_place_of_monitors = GpmSampler::open(nvml, gpu, output_, refusal);
    if (sampler.in_place_of_monitors) output_.diagnose(proto::SEVERITY_INFO, proto::STATE_RECORDING, in_place_text(gpu));
    if (!refusal.empty()) output_.diagnose(proto::SEVERITY_INFO, proto::STATE_NO_PERMISSION, refusal);
    sampler.board = NvmlSampler::open(nvml, gpu, output_);
  }
  const auto flush = [samplers] {
    for (Nvml& sampler : *samplers) {
      if (sampler.in_place_of_monitors) sampler.in_place_of_monitors->flush();
      if (sampler.board) sampler.board->flush();
    }
  };
  const auto pace = std::make_shared<Moderation>();
  // It has a usual share of the processor, because the driver holds locks during a reading, and the program may wait for these.
  workers_.push_back(std::make_unique<Worker>(Worker::Job{period,
                                                          [this, samplers, pace](Due) {
                                                            if (rests_.load(std::memory_order_relaxed) || pace->rests()) return Round::kDone;
                                                            for (Nvml& sampler : *samplers) {
                                                              if (sampler.in_place_of_monitors) sampler.in_place_of_monitors->read(channel::monotonic_now());
                                                              if (sampler.board) sampler.board->read();
                                                            }
                                                            pace->has_read();
                                                            return Round::kDone;
                                                          },
                                                          flush,
                                                          flush,
                                                          {}}));
}

std::vector<GpuDevice> Sampling::start_monitors(const Driver& driver, const SamplingRequest& request) {
  const auto refused = [this](const Refusal& refusal) { output_.diagnose(proto::SEVERITY_WARNING, refusal.state, refusal.text); };
  Refusal refusal;
  if (request.wishes.empty()) return driver.gpus;  // NVML's values are enough
  const CuptiFunctions* cupti = load_cupti(driver.version, refusal);
  if (cupti == nullptr) {
    refused(refusal);
    return driver.gpus;
  }
  std::vector<GpuDevice> without;
  const PmLibraries libraries = libraries_for(*cupti, request.effort);
  const PmPace pace{request.frequency, request.effort, driver.gpus.size()};
  const bool returns = can_return_from_left_over();
  for (const GpuDevice& gpu : driver.gpus) {
    const std::shared_ptr<PmSampler> sampler = PmSampler::open(libraries, gpu, request.wishes, pace, output_, refusal);
    if (!sampler || !sampler->start()) {
      if (sampler) refusal = {proto::STATE_FAILED, "The performance monitors of GPU " + std::to_string(gpu.ordinal) + " could not be started."};
      refused(refusal);
      without.push_back(gpu);
      continue;
    }
    output_.diagnose(proto::SEVERITY_INFO, proto::STATE_RECORDING, sampled_text(*sampler, gpu, request.frequency));
    Worker::Job job;
    job.period = pace.look_every();
    job.sample = [this, sampler, returns](Due due) {
      if (rests_.load(std::memory_order_relaxed) || ends_.load(std::memory_order_relaxed)) {
        sampler->stop_with_rest();
        return Round::kDone;
      }
      if (!sampler->is_started()) sampler->start();
      const bool is_watched = returns || sampler->keeps_its_time();
      return sampler->collect(due == Due::kNo && !is_watched ? Due::kUrgent : due);
    };
    job.flush = [] {};  // values are written as soon as they are known
    job.hand_over = [sampler] { sampler->finish(); };
    if (returns) job.patience = [sampler] { return sampler->patience(); };
    workers_.push_back(std::make_unique<Worker>(std::move(job)));
    if (request.account != SamplingRequest::Account::kNone) accounted_.push_back(sampler);
  }
  return without;
}

Sampling::~Sampling() {
  ends_.store(true, std::memory_order_relaxed);
  watch_.reset();
  workers_.clear();
  for (const auto& sampler : accounted_) std::fprintf(stderr, "%s\n", account_text(*sampler).c_str());
}

void Sampling::hand_over() {
  for (const auto& worker : workers_) worker->ask();
  for (const auto& worker : workers_) worker->wait_for_answer();
  output_.acknowledge();
}

void Sampling::rest() {
  rests_.store(true, std::memory_order_relaxed);
  hand_over();
}

void Sampling::go_on() {
  rests_.store(false, std::memory_order_relaxed);
  hand_over();
}

std::vector<std::string> check(const DeviceChoice& devices, std::span<const MetricWish> wishes, std::uint64_t frequency) {
  const Driver driver = open_driver(devices);
  if (!driver.answers) return {no_driver(driver)};
  std::vector<std::string> sentences;
  FrameOutput nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  Refusal refusal;
  const CuptiFunctions* cupti = wishes.empty() ? nullptr : load_cupti(driver.version, refusal);
  const auto nvml = open_nvml();
  if (cupti == nullptr && !wishes.empty()) sentences.push_back(refusal.text);
  for (const GpuDevice& gpu : driver.gpus) {
    const auto sampler = cupti != nullptr ? PmSampler::open(libraries_for(*cupti, {}), gpu, wishes, {frequency, {}}, nowhere, refusal) : nullptr;
    if (sampler || cupti != nullptr) sentences.push_back(sampler ? sampled_text(*sampler, gpu, frequency) : refusal.text);
    if (sampler || !nvml) continue;
    std::string reason;
    if (GpmSampler::open(nvml, gpu, nowhere, reason)) sentences.push_back(in_place_text(gpu));
    if (!reason.empty()) sentences.push_back(reason);
  }
  sentences.push_back(nvml ? "Power, temperature, memory in use, clocks and utilization: from NVML, 20 times a second."
                           : "Power, temperature and clocks can't be read: libnvidia-ml.so.1 was not found.");
  return sentences;
}

}  // namespace lanescope::gpu_metrics

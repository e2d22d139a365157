#include "pm_sampler.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <limits>
#include <thread>

#include "collector/channel/clock.h"

namespace lanescope::gpu_metrics {
namespace {

constexpr std::size_t kHardwareBuffer = 512u << 20;  // bytes; what CUPTI's documentation takes
constexpr std::size_t kSmallestBuffer = 32u << 20;
constexpr std::uint64_t kSystemClock = 1'400'000'000;   // Hz, nearly, of the chips that count samples in its cycles
constexpr std::size_t kMostEvaluators = 4;              // threads
constexpr std::int64_t kClockInterval = 1'000'000'000;  // ns between readings of both clocks

bool counts_in_cycles(const std::string& chip) { return chip.starts_with("TU") || chip == "GA100"; }

std::string own_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

}  // namespace

std::chrono::milliseconds PmPace::look_every() const noexcept {
  constexpr std::uint64_t kMostSamples = 2'000;  // to be worked on at a time
  constexpr std::chrono::milliseconds kShortest{5};
  const std::chrono::milliseconds enough(kMostSamples * 1000 / std::max<std::uint64_t>(frequency, 1));
  return std::max(std::min(enough, effort.look_every), kShortest);
}

std::uint64_t PmPace::samples_per_look() const noexcept { return frequency * static_cast<std::uint64_t>(look_every().count()) / 1000; }

Refusal PmSampler::refused(const std::string& what, CUptiResult result) const {
  const std::string gpu = "GPU " + std::to_string(gpu_.ordinal) + " (" + gpu_.name + ")";
  const std::string code = what + " says " + result_text(cupti_, result);
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return {proto::STATE_NO_PERMISSION,
              "The performance monitors of " + gpu +
                  " are for administrators here. Allow this program to use them with: sudo setcap cap_sys_admin+ep " + own_path() +
                  " (in a container: --cap-add SYS_ADMIN); or allow everyone with: echo options nvidia "
                  "NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf, and a restart."};
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_INVALID_OPERATION:
    case CUPTI_ERROR_UNKNOWN:
      return {proto::STATE_OWNED_BY_OTHER,
              "The performance monitors of " + gpu + " could not be had (" + code +
                  "): another tool probably uses them. End ncu, nsys or other recordings on this GPU; where DCGM "
                  "watches it, pause that with: dcgmi profile --pause"};
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return {proto::STATE_FAILED, gpu + " is divided (MIG): its performance monitors can't be sampled."};
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return {proto::STATE_VERSION_MISMATCH, "The performance monitors of " + gpu + " can't be sampled by this CUPTI (" + code + ")."};
    default:
      return {proto::STATE_FAILED, "The performance monitors of " + gpu + " can't be sampled: " + code + "."};
  }
}

std::unique_ptr<PmSampler> PmSampler::open(const CuptiFunctions& cupti, const GpuDevice& gpu, std::span<const MetricWish> wishes,
                                           const PmPace& pace, FrameOutput& output, Refusal& refusal) {
  std::unique_ptr<PmSampler> sampler(new PmSampler(cupti, gpu, output));
  if (std::optional<Refusal> reason = sampler->prepare(wishes, pace)) {
    refusal = std::move(*reason);
    return nullptr;
  }
  return sampler;
}

std::optional<Refusal> PmSampler::prepare(std::span<const MetricWish> wishes, const PmPace& pace) {
  const auto device = static_cast<std::size_t>(gpu_.ordinal);
  CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
  chip.deviceIndex = device;
  if (const CUptiResult result = cupti_.get_chip_name(&chip); result != CUPTI_SUCCESS) return refused("cuptiDeviceGetChipName", result);
  chip_ = chip.pChipName;

  CUpti_PmSampling_GetCounterAvailability_Params availability{CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE};
  availability.deviceIndex = device;
  CUptiResult result = cupti_.get_availability(&availability);
  availability_.resize(result == CUPTI_SUCCESS ? availability.counterAvailabilityImageSize : 0);
  availability.pCounterAvailabilityImage = availability_.data();
  if (result == CUPTI_SUCCESS) result = cupti_.get_availability(&availability);
  if (result != CUPTI_SUCCESS) return refused("cuptiPmSamplingGetCounterAvailability", result);

  metrics_ = choose_metrics(wishes, [this](std::span<const std::string> metrics) {
    return MetricProgram(cupti_, chip_, availability_, metrics).fits_one_pass();
  });
  if (metrics_.empty())
    return Refusal{proto::STATE_VERSION_MISMATCH,
                   "GPU " + std::to_string(gpu_.ordinal) + " (" + chip_ + ") has none of the metrics asked for."};
  std::vector<std::string> names;
  for (const ChosenMetric& metric : metrics_) names.push_back(metric.metric);

  CUpti_PmSampling_Enable_Params enable{CUpti_PmSampling_Enable_Params_STRUCT_SIZE};
  enable.deviceIndex = device;
  result = cupti_.enable(&enable);
  if (result != CUPTI_SUCCESS) return refused("cuptiPmSamplingEnable", result);
  sampling_ = enable.pPmSamplingObject;
  const std::size_t usual = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, kMostEvaluators);
  const std::size_t threads = pace.effort.evaluators != 0 ? pace.effort.evaluators : usual;
  for (std::size_t i = 0; i < threads; ++i) programs_.push_back(std::make_unique<MetricProgram>(cupti_, chip_, availability_, names));
  result = configure(pace.frequency);
  if (result != CUPTI_SUCCESS) return refused("cuptiPmSamplingSetConfig", result);

  CUpti_PmSampling_GetCounterDataSize_Params size{CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE};
  size.pPmSamplingObject = sampling_;
  size.pMetricNames = const_cast<const char**>(programs_.front()->names().data());
  size.numMetrics = names.size();
  // Room for five times what is counted between two looks: what finds none is gone.
  constexpr std::uint64_t kDelay = 5;
  expected_ = pace.samples_per_look();
  size.maxSamples = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(expected_ * kDelay, 512, 10'000));
  result = cupti_.get_data_size(&size);
  if (result != CUPTI_SUCCESS) return refused("cuptiPmSamplingGetCounterDataSize", result);
  data_.resize(size.counterDataSize);
  integers_.resize(names.size());
  return std::nullopt;
}

CUptiResult PmSampler::configure(std::uint64_t frequency) {
  CUpti_PmSampling_SetConfig_Params set{CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE};
  set.pPmSamplingObject = sampling_;
  set.configSize = programs_.front()->config().size();
  set.pConfig = programs_.front()->config().data();
  set.hardwareBufferSize = kHardwareBuffer;
  set.triggerMode =
      counts_in_cycles(chip_) ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  set.samplingInterval = (counts_in_cycles(chip_) ? kSystemClock : 1'000'000'000) / frequency;
  set.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  CUptiResult result = cupti_.set_config(&set);
  if (result == CUPTI_ERROR_INVALID_PARAMETER) {  // of a CUPTI that does not know the last member yet
    set.structSize = CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params, triggerMode);
    result = cupti_.set_config(&set);
  }
  while (result == CUPTI_ERROR_OUT_OF_MEMORY && set.hardwareBufferSize > kSmallestBuffer) {
    set.hardwareBufferSize /= 2;
    result = cupti_.set_config(&set);
  }
  return result;
}

PmSampler::~PmSampler() {
  stop();
  if (sampling_ == nullptr) return;
  CUpti_PmSampling_Disable_Params disable{CUpti_PmSampling_Disable_Params_STRUCT_SIZE};
  disable.pPmSamplingObject = sampling_;
  cupti_.disable(&disable);
}

bool PmSampler::start() {
  if (!counters_) {
    std::vector<proto::Counter> counters;
    for (const ChosenMetric& metric : metrics_) {
      proto::Counter& counter = counters.emplace_back();
      counter.set_name(metric.name);
      counter.set_group(metric.group);
      counter.set_unit(metric.unit);
      counter.set_resolution(metric.resolution);
      counter.set_maximum(metric.maximum);
      counter.set_source_name(metric.metric);
      counter.set_description(metric.description);
      counter.set_gpu_uuid(gpu_.uuid);
    }
    counters_ = std::make_unique<CounterStream>(output_, std::move(counters));
  }
  CUpti_PmSampling_Start_Params start{CUpti_PmSampling_Start_Params_STRUCT_SIZE};
  start.pPmSamplingObject = sampling_;
  first_sample_ = true;
  started_ = reset_data() && cupti_.start(&start) == CUPTI_SUCCESS;
  return started_;
}

void PmSampler::stop() {
  if (!std::exchange(started_, false)) return;
  CUpti_PmSampling_Stop_Params stop{CUpti_PmSampling_Stop_Params_STRUCT_SIZE};
  stop.pPmSamplingObject = sampling_;
  cupti_.stop(&stop);
}

bool PmSampler::reset_data() {
  CUpti_PmSampling_CounterDataImage_Initialize_Params reset{CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE};
  reset.pPmSamplingObject = sampling_;
  reset.counterDataSize = data_.size();
  reset.pCounterData = data_.data();
  return cupti_.initialize_data(&reset) == CUPTI_SUCCESS;
}

void PmSampler::collect() {
  if (!started_) return;
  const std::int64_t now = channel::monotonic_now();
  if (now - last_clock_reading_ >= kClockInterval) {
    last_clock_reading_ = now;
    clocks_.add(agent::encode::read_clocks());
  }
  while (decode()) {
  }
}

bool PmSampler::decode() {
  CUpti_PmSampling_DecodeData_Params decode{CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE};
  decode.pPmSamplingObject = sampling_;
  decode.pCounterDataImage = data_.data();
  decode.counterDataImageSize = data_.size();
  const CUptiResult result = cupti_.decode(&decode);
  if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_OUT_OF_MEMORY) {
    tell_once("cuptiPmSamplingDecodeData", result);
    return false;
  }
  CUpti_PmSampling_GetCounterDataInfo_Params info{CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE};
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  if (cupti_.get_data_info(&info) != CUPTI_SUCCESS) return false;
  evaluate(info.numCompletedSamples);
  for (std::size_t i = 0; i < info.numCompletedSamples; ++i) take(i);
  reset_data();
  // What the hardware had counted beyond that is gone.
  if (decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL && !std::exchange(told_of_overflow_, true))
    output_.diagnose(proto::SEVERITY_WARNING, proto::STATE_RECORDING,
                     "Metrics of GPU " + std::to_string(gpu_.ordinal) +
                         " could not be fetched as fast as they were counted, so some samples are missing: choose a lower "
                         "--gpu-metrics-frequency or --gpu-metrics-set=light.");
  const bool overflowed = decode.overflow != 0 || result == CUPTI_ERROR_OUT_OF_MEMORY;
  if (overflowed) {
    if (!std::exchange(told_of_overflow_, true))
      output_.diagnose(
          proto::SEVERITY_WARNING, proto::STATE_RECORDING,
          "GPU " + std::to_string(gpu_.ordinal) +
              " counted metrics faster than they could be fetched, so some samples are missing: choose a lower --gpu-metrics-frequency.");
    if (started_) {
      stop();
      start();
    }
    return false;
  }
  return decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL && info.numCompletedSamples > 0;
}

// CUPTI takes some 3 us for a metric of a sample. One thread does ten thousand samples a second, and disturbs the program less than
// several, but not by a wide margin: where it has fallen behind, others help.
void PmSampler::evaluate(std::size_t samples) {
  constexpr std::size_t kFewest = 64;  // samples for which a thread is worth it
  const std::size_t metrics = metrics_.size();
  values_.assign(samples * metrics, std::numeric_limits<double>::quiet_NaN());
  const bool is_behind = samples > expected_ + expected_ / 2;
  const std::size_t threads = is_behind ? std::clamp<std::size_t>(samples / kFewest, 1, programs_.size()) : 1;
  const auto work = [&](std::size_t number) {
    bool understood = true;
    for (std::size_t i = samples * number / threads; i < samples * (number + 1) / threads; ++i)
      understood = programs_[number]->evaluate(data_, i, std::span(values_).subspan(i * metrics, metrics)) && understood;
    return understood;
  };
  std::vector<std::future<bool>> others;
  for (std::size_t number = 1; number < threads; ++number) others.push_back(std::async(std::launch::async, work, number));
  bool understood = work(0);
  for (std::future<bool>& other : others) understood = other.get() && understood;
  if (!understood) tell_once("cuptiProfilerHostEvaluateToGpuValues", CUPTI_ERROR_UNKNOWN);
}

void PmSampler::take(std::size_t index) {
  CUpti_PmSampling_CounterData_GetSampleInfo_Params sample{CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE};
  sample.pPmSamplingObject = sampling_;
  sample.pCounterDataImage = data_.data();
  sample.counterDataImageSize = data_.size();
  sample.sampleIndex = index;
  if (cupti_.get_sample_info(&sample) != CUPTI_SUCCESS) return;
  if (std::exchange(first_sample_, false)) return;  // it began before the sampling did
  settle_clock(sample.endTimestamp);
  const std::span<const double> reals = std::span(values_).subspan(index * metrics_.size(), metrics_.size());
  for (std::size_t i = 0; i < reals.size(); ++i)
    integers_[i] = std::isfinite(reals[i]) ? std::llround(reals[i] / metrics_[i].resolution) : CounterStream::kMissing;
  counters_->add(converted(sample.startTimestamp), converted(sample.endTimestamp), integers_);
}

std::int64_t PmSampler::converted(std::uint64_t time) const {
  return clocks_.to_monotonic(static_cast<std::int64_t>(time) + clock_offset_.value_or(0));
}

// CUPTI's times are on CLOCK_REALTIME. Where they are not, the newest sample was counted just before it was fetched.
void PmSampler::settle_clock(std::uint64_t newest) {
  constexpr std::int64_t kPlausible = 2'000'000'000;  // ns between counting and fetching
  if (clock_offset_) return;
  const std::int64_t behind = channel::realtime_now() - static_cast<std::int64_t>(newest);
  clock_offset_ = behind >= -kPlausible && behind <= kPlausible ? 0 : behind;
  if (*clock_offset_ != 0)
    output_.diagnose(proto::SEVERITY_WARNING, proto::STATE_RECORDING,
                     "The times of the metrics of GPU " + std::to_string(gpu_.ordinal) +
                         " are on a clock of their own: they may be up to 50 ms early or late against everything else.");
}

void PmSampler::tell_once(const std::string& what, CUptiResult result) {
  if (std::exchange(told_of_failure_, true)) return;
  output_.diagnose(
      proto::SEVERITY_WARNING, proto::STATE_FAILED,
      "Some metrics of GPU " + std::to_string(gpu_.ordinal) + " are missing: " + what + " says " + result_text(cupti_, result) + ".");
}

}  // namespace lanescope::gpu_metrics

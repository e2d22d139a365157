#include "samplers/pm_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>

#include "collector/channel/clock.h"
#include "processor_share.h"
#include "samplers/record_source.h"

namespace lanescope::gpu_metrics {
namespace {

constexpr std::size_t kMostEvaluators = 4;              // threads
constexpr std::int64_t kClockInterval = 2'000'000'000;  // ns between readings of both clocks; two minutes of them are kept
constexpr std::int64_t kFramePeriod = 120'000'000;      // ns; a viewer of the live recording gets several updates a second

std::string own_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

}  // namespace

Refusal PmSampler::refused(const std::string& what, CUptiResult result) const {
  const std::string gpu = "GPU " + std::to_string(gpu_.ordinal) + " (" + gpu_.name + ")";
  const std::string code = what + " says " + result_text(cupti_, result);
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return {proto::STATE_NO_PERMISSION, "The performance monitors of " + gpu +
                                              " are for administrators here. Allow this program to use them with: sudo setcap cap_sys_admin,cap_sys_nice+ep " +
                                              own_path() +
                                              " (in a container: --cap-add SYS_ADMIN); or allow everyone with: echo options nvidia "
                                              "NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf, and a restart."};
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_INVALID_OPERATION:
    case CUPTI_ERROR_UNKNOWN:
      return {proto::STATE_OWNED_BY_OTHER, "The performance monitors of " + gpu + " could not be had (" + code +
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

std::unique_ptr<PmSampler> PmSampler::open(const PmLibraries& libraries, const GpuDevice& gpu, std::span<const MetricWish> wishes, const PmPace& pace,
                                           FrameOutput& output, Refusal& refusal) {
  std::unique_ptr<PmSampler> sampler(new PmSampler(libraries, gpu, output));
  if (std::optional<Refusal> reason = sampler->prepare(libraries, wishes, pace)) {
    refusal = std::move(*reason);
    return nullptr;
  }
  return sampler;
}

std::optional<Refusal> PmSampler::prepare(const PmLibraries& libraries, std::span<const MetricWish> wishes, const PmPace& pace) {
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

  metrics_ =
      choose_metrics(wishes, [this](std::span<const std::string> metrics) { return MetricProgram(cupti_, chip_, availability_, metrics).fits_one_pass(); });
  if (metrics_.empty())
    return Refusal{proto::STATE_VERSION_MISMATCH, "GPU " + std::to_string(gpu_.ordinal) + " (" + chip_ + ") has none of the metrics asked for."};
  std::vector<std::string> names;
  for (const ChosenMetric& metric : metrics_) names.push_back(metric.metric);

  const std::size_t usual = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 2, kMostEvaluators);
  const std::size_t threads = pace.effort.evaluators != 0 ? std::max<std::size_t>(pace.effort.evaluators, 2) : usual;
  for (std::size_t i = 0; i < threads; ++i) programs_.push_back(std::make_unique<MetricProgram>(cupti_, chip_, availability_, names));
  if (std::optional<Refusal> refusal = open_source(libraries, pace)) return refusal;
  integers_.resize(names.size());
  begin_evaluation(pace, names);
  return std::nullopt;
}

std::optional<Refusal> PmSampler::open_source(const PmLibraries& libraries, const PmPace& pace) {
  const MetricProgram& program = *programs_.front();
  std::string why_not = libraries.why_not;
  if (libraries.below != nullptr) source_ = RecordSource::open(*libraries.below, {gpu_, chip_, availability_, program, pace, *this, account_}, why_not);
  if (source_) {
    way_ = "by libnvperf_target, as processors are idle";
    return std::nullopt;
  }
  way_ = "by CUPTI" + (why_not.empty() ? "" : ", since " + why_not);
  CuptiSource::Failure failure;
  source_ = CuptiSource::open(cupti_, gpu_, chip_, program, pace, *this, account_, failure);
  if (!source_) return refused(failure.call, failure.result);
  return std::nullopt;
}

// CUPTI takes about 3 us for a metric of a sample.
void PmSampler::begin_evaluation(const PmPace& pace, const std::vector<std::string>& names) {
  evaluation_ = std::make_unique<Evaluation>(
      Evaluation::Work{names.size(), programs_.size(), pace.effort.waiting,
                       [this](std::size_t thread, std::span<const std::uint8_t> image, std::span<const SampleTime> samples, std::span<double> values) {
                         const std::int64_t begin = processor_time();
                         const std::size_t metrics = metrics_.size();
                         bool understood = true;
                         for (std::size_t i = 0; i < samples.size(); ++i)
                           understood = programs_[thread]->evaluate(image, samples[i].index, values.subspan(i * metrics, metrics)) && understood;
                         account_.evaluation += processor_time() - begin;
                         return understood;
                       },
                       [this](std::span<const SampleTime> times, std::span<const double> values, bool understood) {
                         if (!understood) tell_once("cuptiProfilerHostEvaluateToGpuValues", result_text(cupti_, CUPTI_ERROR_UNKNOWN));
                         write(times, values);
                       }});
}

PmSampler::~PmSampler() {
  if (source_) source_->stop();
  evaluation_.reset();
  if (counters_) counters_->flush();
}

void PmSampler::describe_counters() {
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

bool PmSampler::start() {
  if (!counters_) describe_counters();
  return source_->start();
}

Round PmSampler::collect(Due due) {
  if (!is_started()) return Round::kDone;
  read_clocks();
  const Round round = source_->fetch(due);
  account_.most_waiting = std::max(account_.most_waiting, evaluation_->waiting());
  return round;
}

void PmSampler::stop_with_rest() {
  if (!is_started()) return;
  read_clocks();
  source_->stop_with_rest();
  account_.most_waiting = std::max(account_.most_waiting, evaluation_->waiting());
}

void PmSampler::read_clocks() {
  constexpr std::uint64_t kUncertain = 100'000;  // ns; above that, the thread lost its processor between the readings
  const std::int64_t now = channel::monotonic_now();
  if (now - last_clock_reading_ < kClockInterval) return;
  const std::optional<agent::encode::ClockReading> own = source_->read_clock();
  const bool is_first = last_clock_reading_ == 0;
  if (own) clock_offset_ = 0;
  has_own_clock_ = has_own_clock_ || own;
  if ((has_own_clock_ && !own) || (own && own->uncertainty > kUncertain && !is_first)) return;
  clocks_.add(own ? *own : agent::encode::read_clocks());
  last_clock_reading_ = now;
}

void PmSampler::began() { first_sample_ = true; }

void PmSampler::take(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::span<const RawSample> samples) {
  evaluation_->add(fresh, image, times_of(samples));
}

void PmSampler::await_image() { evaluation_->await_image(); }

void PmSampler::take(OwnedImage image, std::span<const RawSample> samples) { evaluation_->add(std::move(image), times_of(samples)); }

void PmSampler::evaluate() { evaluation_->finish(); }

void PmSampler::lost_some(const std::string& sentence) {
  if (!std::exchange(told_of_loss_, true)) output_.diagnose(proto::SEVERITY_WARNING, proto::STATE_RECORDING, sentence, proto::DIAGNOSTIC_LOSS);
}

void PmSampler::failed(const std::string& call, const std::string& answer) { tell_once(call, answer); }

std::vector<SampleTime> PmSampler::times_of(std::span<const RawSample> samples) {
  std::vector<SampleTime> times;
  if (samples.empty()) return times;
  settle_clock(samples.back().end);
  for (const RawSample& sample : samples) {
    if (std::exchange(first_sample_, false)) continue;   // it began before the sampling did
    if (sample.begin == 0 || sample.end == 0) continue;  // likewise, or it ended after the sampling did
    times.push_back({sample.index, converted(sample.begin), converted(sample.end)});
  }
  return times;
}

void PmSampler::write(std::span<const SampleTime> times, std::span<const double> values) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::span<const double> reals = values.subspan(i * metrics_.size(), metrics_.size());
    for (std::size_t k = 0; k < reals.size(); ++k)
      integers_[k] = std::isfinite(reals[k]) ? std::llround(reals[k] / metrics_[k].resolution) : CounterStream::kMissing;
    counters_->add(times[i].begin, times[i].end, integers_);
  }
  const std::int64_t now = channel::monotonic_now();
  if (now - last_flush_ < kFramePeriod) return;
  last_flush_ = now;
  counters_->flush();
}

void PmSampler::finish() {
  evaluation_->finish();
  if (counters_) counters_->flush();
}

std::int64_t PmSampler::converted(std::uint64_t time) const { return clocks_.to_monotonic(static_cast<std::int64_t>(time) + clock_offset_.value_or(0)); }

// CUPTI's times are on CLOCK_REALTIME. If they are not, the newest sample is assumed to have been counted just before it was fetched.
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

void PmSampler::tell_once(const std::string& what, const std::string& answer) {
  if (told_of_failure_.exchange(true)) return;
  output_.diagnose(proto::SEVERITY_WARNING, proto::STATE_FAILED,
                   "Some metrics of GPU " + std::to_string(gpu_.ordinal) + " are missing: " + what + " says " + answer + ".");
}

}  // namespace lanescope::gpu_metrics

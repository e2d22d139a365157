#include "pm_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>

#include "collector/channel/clock.h"
#include "free_memory.h"
#include "processor_share.h"

namespace lanescope::gpu_metrics {
namespace {

constexpr std::size_t kSmallestBuffer = 32u << 20;  // bytes, of what the hardware counts into
constexpr std::size_t kCountedBytes = 32u << 10;    // of a sample there, at most, on chips with hundreds of units that count
constexpr std::uint64_t kLeastDecoded = 96u << 20;  // bytes that samples may be decoded into after a pause, however little memory is free
constexpr std::uint64_t kShareOfFree = 32;          // of the free memory
constexpr double kDecoding = 60e-6;                 // s of a processor for a sample, of which CUPTI takes 45 to 60 us
constexpr std::int64_t kSlack = 50'000'000;         // ns by which a round may begin late
constexpr std::int64_t kLongSlack = 500'000'000;    // the same after a pause
constexpr std::uint64_t kSystemClock = 1'400'000'000;   // Hz, nearly, of the chips that count samples in its cycles
constexpr std::size_t kMostEvaluators = 4;              // threads
constexpr std::int64_t kClockInterval = 1'000'000'000;  // ns between readings of both clocks
constexpr std::int64_t kFramePeriod = 120'000'000;      // ns, so that somebody who watches sees it several times a second

bool counts_in_cycles(const std::string& chip) { return chip.starts_with("TU") || chip == "GA100"; }

// Of what is asked for, what neither the machine nor the GPU feels.
std::size_t modest_buffer(std::size_t asked, const GpuDevice& gpu) {
  constexpr std::uint64_t kShare = 16;
  const auto machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t size = std::min<std::uint64_t>(asked, machine / kShare);
  if (gpu.memory_bytes > 0) size = std::min<std::uint64_t>(size, gpu.memory_bytes / kShare);
  return std::max<std::size_t>(static_cast<std::size_t>(size) & ~(kSmallestBuffer - 1), kSmallestBuffer);
}

std::string own_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

}  // namespace

std::chrono::milliseconds PmPace::look_every() const noexcept {
  constexpr std::uint64_t kMostSamples = 2'000;  // to be worked on at a time
  constexpr std::chrono::milliseconds kShortest{5};
  constexpr std::chrono::milliseconds kLongest{100};  // so that somebody who watches sees it several times a second
  if (effort.look_every.count() > 0) return effort.look_every;
  const std::chrono::milliseconds enough(kMostSamples * 1000 / std::max<std::uint64_t>(frequency, 1));
  return std::clamp(enough, kShortest, kLongest);
}

std::uint64_t PmPace::samples_per_look() const noexcept { return frequency * static_cast<std::uint64_t>(look_every().count()) / 1000; }

std::chrono::milliseconds PmPace::patience(std::size_t hardware_buffer) const noexcept {
  // The rest of the buffer is for the time that fetching takes.
  const std::chrono::milliseconds third_full(hardware_buffer / 3 * 1000 / kCountedBytes / std::max<std::uint64_t>(frequency, 1));
  return std::max(std::min(effort.patience, third_full), look_every());
}

Refusal PmSampler::refused(const std::string& what, CUptiResult result) const {
  const std::string gpu = "GPU " + std::to_string(gpu_.ordinal) + " (" + gpu_.name + ")";
  const std::string code = what + " says " + result_text(cupti_, result);
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return {proto::STATE_NO_PERMISSION,
              "The performance monitors of " + gpu +
                  " are for administrators here. Allow this program to use them with: sudo setcap cap_sys_admin,cap_sys_nice+ep " + own_path() +
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
  const std::size_t usual = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 2, kMostEvaluators);
  const std::size_t threads = pace.effort.evaluators != 0 ? std::max<std::size_t>(pace.effort.evaluators, 2) : usual;
  for (std::size_t i = 0; i < threads; ++i) programs_.push_back(std::make_unique<MetricProgram>(cupti_, chip_, availability_, names));
  result = configure(pace);
  if (result != CUPTI_SUCCESS) return refused("cuptiPmSamplingSetConfig", result);

  frequency_ = pace.frequency;
  const std::int64_t look_every = std::chrono::nanoseconds(pace.look_every()).count();
  usual_.samples = std::clamp<std::size_t>(room_for(look_every + look_every / 4 + kSlack), 512, 65'536);
  std::size_t usual_bytes = 0;
  result = size_image(usual_.samples, usual_bytes);
  if (result != CUPTI_SUCCESS) return refused("cuptiPmSamplingGetCounterDataSize", result);
  usual_.data.resize(usual_bytes);
  account_.sample_bytes = usual_bytes / usual_.samples;
  decoded_bytes_ = std::max(std::min<std::uint64_t>(pace.effort.decoded, free_memory() / kShareOfFree), kLeastDecoded);
  const auto most = static_cast<std::size_t>(decoded_bytes_ / std::max<std::size_t>(account_.sample_bytes, 1));
  const std::int64_t longest = std::max(time_for(most) - kLongSlack, time_for(usual_.samples)) / 1'000'000;
  usual_patience_ = std::min<std::int64_t>(pace.patience(account_.hardware_buffer).count(), longest);
  patience_ = usual_patience_;
  integers_.resize(names.size());
  begin_evaluation(pace, names);
  return std::nullopt;
}

CUptiResult PmSampler::size_image(std::size_t samples, std::size_t& bytes) const {
  CUpti_PmSampling_GetCounterDataSize_Params size{CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE};
  size.pPmSamplingObject = sampling_;
  size.pMetricNames = const_cast<const char**>(programs_.front()->names().data());
  size.numMetrics = programs_.front()->names().size();
  size.maxSamples = static_cast<std::uint32_t>(samples);
  const CUptiResult result = cupti_.get_data_size(&size);
  bytes = result == CUPTI_SUCCESS ? size.counterDataSize : 0;
  return result;
}

// CUPTI takes some 3 us for a metric of a sample.
void PmSampler::begin_evaluation(const PmPace& pace, const std::vector<std::string>& names) {
  evaluation_ = std::make_unique<Evaluation>(Evaluation::Work{
      names.size(), programs_.size(), pace.effort.waiting,
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
        if (!understood) tell_once("cuptiProfilerHostEvaluateToGpuValues", CUPTI_ERROR_UNKNOWN);
        take(times, values);
      }});
}

CUptiResult PmSampler::configure(const PmPace& pace) {
  CUpti_PmSampling_SetConfig_Params set{CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE};
  set.pPmSamplingObject = sampling_;
  set.configSize = programs_.front()->config().size();
  set.pConfig = programs_.front()->config().data();
  set.hardwareBufferSize = modest_buffer(pace.effort.hardware_buffer, gpu_);
  set.triggerMode =
      counts_in_cycles(chip_) ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  set.samplingInterval = (counts_in_cycles(chip_) ? kSystemClock : 1'000'000'000) / pace.frequency;
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
  account_.hardware_buffer = set.hardwareBufferSize;
  return result;
}

PmSampler::~PmSampler() {
  stop();
  evaluation_.reset();
  if (counters_) counters_->flush();
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
  last_round_ = channel::monotonic_now();
  started_ = prepare_usual() && cupti_.start(&start) == CUPTI_SUCCESS;
  return started_;
}

void PmSampler::stop() {
  if (!std::exchange(started_, false)) return;
  CUpti_PmSampling_Stop_Params stop{CUpti_PmSampling_Stop_Params_STRUCT_SIZE};
  stop.pPmSamplingObject = sampling_;
  cupti_.stop(&stop);
}

CUptiResult PmSampler::reset(std::span<std::uint8_t> image) const {
  CUpti_PmSampling_CounterDataImage_Initialize_Params reset{CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE};
  reset.pPmSamplingObject = sampling_;
  reset.counterDataSize = image.size();
  reset.pCounterData = image.data();
  return cupti_.initialize_data(&reset);
}

bool PmSampler::prepare_usual() {
  if (!usual_.fresh.empty()) return true;
  if (const CUptiResult result = reset(usual_.data); result != CUPTI_SUCCESS) {
    fail("cuptiPmSamplingCounterDataImageInitialize", result);
    return false;
  }
  usual_.fresh = usual_.data;
  return true;
}

double PmSampler::decoding_share() const {
  constexpr double kMost = 0.8;  // what takes more can't be kept up with
  return std::min(static_cast<double>(frequency_) * kDecoding, kMost);
}

std::size_t PmSampler::room_for(std::int64_t pause) const {
  return static_cast<std::size_t>(static_cast<double>(pause) * 1e-9 * static_cast<double>(frequency_) / (1 - decoding_share()));
}

std::int64_t PmSampler::time_for(std::size_t samples) const {
  return static_cast<std::int64_t>(static_cast<double>(samples) * 1e9 / static_cast<double>(frequency_) * (1 - decoding_share()));
}

Round PmSampler::collect(Due due) {
  if (!started_) return Round::kDone;
  const std::int64_t now = channel::monotonic_now();
  if (now - last_clock_reading_ >= kClockInterval) {
    last_clock_reading_ = now;
    clocks_.add(agent::encode::read_clocks());
  }
  if (due == Due::kNo && !is_left_alone()) return Round::kPutOff;
  const std::int64_t since = std::exchange(last_round_, now);
  account_.longest_pause = std::max(account_.longest_pause, now - since);
  const std::int64_t begin = processor_time();
  bool has_more = fetch(since);
  while (has_more) has_more = fetch_as_usual();
  account_.decoding += processor_time() - begin;
  account_.most_waiting = std::max(account_.most_waiting, evaluation_->waiting());
  patience_ = usual_patience_;
  return Round::kDone;
}

bool PmSampler::fetch(std::int64_t since) {
  return room_for(channel::monotonic_now() - since + kSlack) <= usual_.samples ? fetch_as_usual() : fetch_into_own(since);
}

bool PmSampler::fetch_as_usual() {
  patience_ = std::min(time_for(usual_.samples) / 1'000'000, usual_patience_);
  const std::optional<Decoded> decoded = decode(usual_.data);
  if (!decoded) return false;
  evaluation_->add(usual_.fresh, usual_.data, times_of(usual_.data, decoded->samples));
  return go_on_after(*decoded);
}

bool PmSampler::fetch_into_own(std::int64_t since) {
  evaluation_->await_image();
  const std::int64_t pause = channel::monotonic_now() - since;
  const std::uint64_t most_bytes = std::max(std::min<std::uint64_t>(decoded_bytes_, free_memory() / 2), kLeastDecoded);
  const std::size_t most = static_cast<std::size_t>(most_bytes / std::max<std::size_t>(account_.sample_bytes, 1));
  const std::size_t samples = std::max(std::min(room_for(pause + kLongSlack), most), usual_.samples);
  patience_ = (pause + kLongSlack / 2) / 1'000'000;
  std::size_t bytes = 0;
  if (const CUptiResult result = size_image(samples, bytes); result != CUPTI_SUCCESS) {
    fail("cuptiPmSamplingGetCounterDataSize", result);
    return false;
  }
  OwnedImage image(bytes);
  if (image.size == 0) return fetch_as_usual();
  if (const CUptiResult result = reset(image.bytes()); result != CUPTI_SUCCESS) {
    fail("cuptiPmSamplingCounterDataImageInitialize", result);
    return false;
  }
  const std::optional<Decoded> decoded = decode(image.bytes());
  if (!decoded) return false;
  std::vector<SampleTime> times = times_of(image.bytes(), decoded->samples);
  evaluation_->add(std::move(image), std::move(times));
  return go_on_after(*decoded);
}

std::optional<PmSampler::Decoded> PmSampler::decode(std::span<std::uint8_t> image) {
  CUpti_PmSampling_DecodeData_Params decode{CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE};
  decode.pPmSamplingObject = sampling_;
  decode.pCounterDataImage = image.data();
  decode.counterDataImageSize = image.size();
  const CUptiResult result = cupti_.decode(&decode);
  CUpti_PmSampling_GetCounterDataInfo_Params info{CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE};
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  const bool is_decoded = result == CUPTI_SUCCESS || result == CUPTI_ERROR_OUT_OF_MEMORY;
  const CUptiResult known = is_decoded ? cupti_.get_data_info(&info) : result;
  if (known != CUPTI_SUCCESS) {
    usual_.fresh.clear();  // made fresh anew before it is used again
    fail(is_decoded ? "cuptiPmSamplingGetCounterDataInfo" : "cuptiPmSamplingDecodeData", known);
    return std::nullopt;
  }
  account_.samples += info.numCompletedSamples;
  ++account_.rounds;
  return Decoded{info.numCompletedSamples, decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL,
                 decode.overflow != 0 || result == CUPTI_ERROR_OUT_OF_MEMORY};
}

bool PmSampler::go_on_after(const Decoded& decoded) {
  if (decoded.is_full)  // what the hardware had counted beyond that is gone
    lost_some("Metrics of GPU " + std::to_string(gpu_.ordinal) +
              " could not be fetched as fast as they were counted, so some samples are missing: choose a lower "
              "--gpu-metrics-frequency or --gpu-metrics-set=light.");
  if (decoded.overflowed) {
    lost_some("GPU " + std::to_string(gpu_.ordinal) +
              " counted metrics faster than they could be fetched, so some samples are missing: choose a lower --gpu-metrics-frequency.");
    stop();
    start();
    return false;
  }
  return decoded.is_full && decoded.samples > 0;
}

// Samples are fetched sooner from here on.
void PmSampler::lost_some(const std::string& sentence) {
  constexpr std::int64_t kShortest = 20;  // ms
  ++account_.overflows;
  usual_patience_ = std::max(usual_patience_ / 2, kShortest);
  if (!std::exchange(told_of_overflow_, true)) output_.diagnose(proto::SEVERITY_WARNING, proto::STATE_RECORDING, sentence);
}

std::vector<SampleTime> PmSampler::times_of(std::span<const std::uint8_t> image, std::size_t samples) {
  std::vector<std::pair<std::size_t, CUpti_PmSampling_CounterData_GetSampleInfo_Params>> known;
  for (std::size_t i = 0; i < samples; ++i) {
    CUpti_PmSampling_CounterData_GetSampleInfo_Params sample{CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE};
    sample.pPmSamplingObject = sampling_;
    sample.pCounterDataImage = const_cast<std::uint8_t*>(image.data());
    sample.counterDataImageSize = image.size();
    sample.sampleIndex = i;
    if (cupti_.get_sample_info(&sample) != CUPTI_SUCCESS) continue;
    if (std::exchange(first_sample_, false)) continue;  // it began before the sampling did
    known.emplace_back(i, sample);
  }
  std::vector<SampleTime> times;
  if (known.empty()) return times;
  settle_clock(known.back().second.endTimestamp);
  for (const auto& [index, sample] : known) times.push_back({index, converted(sample.startTimestamp), converted(sample.endTimestamp)});
  return times;
}

void PmSampler::take(std::span<const SampleTime> times, std::span<const double> values) {
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

void PmSampler::fail(const std::string& what, CUptiResult result) {
  tell_once(what, result);
  stop();
}

void PmSampler::tell_once(const std::string& what, CUptiResult result) {
  if (told_of_failure_.exchange(true)) return;
  output_.diagnose(
      proto::SEVERITY_WARNING, proto::STATE_FAILED,
      "Some metrics of GPU " + std::to_string(gpu_.ordinal) + " are missing: " + what + " says " + result_text(cupti_, result) + ".");
}

}  // namespace lanescope::gpu_metrics

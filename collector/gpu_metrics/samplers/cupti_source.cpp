#include "samplers/cupti_source.h"

#include <algorithm>
#include <utility>

#include "collector/channel/clock.h"
#include "model/file/memory_limits.h"
#include "processor_share.h"

namespace lanescope::gpu_metrics {
namespace {

constexpr std::size_t kLargestBuffer = 2048u << 20;  // largest hardware buffer, bytes: images have no room for more
constexpr std::size_t kCountedBytes = 32u << 10;     // most bytes of a sample in that buffer, on chips with hundreds of units that count
constexpr std::uint64_t kLeastDecoded = 96u << 20;   // bytes that samples may be decoded into after a pause, even if little memory is free
constexpr std::uint64_t kShareOfFree = 32;           // one part in 32 of the free memory may be used
constexpr double kDecoding = 60e-6;                  // s of processor time for each sample; CUPTI takes 45 to 60 us of it
constexpr std::int64_t kSlack = 50'000'000;          // ns by which a round may begin late
constexpr std::int64_t kLongSlack = 500'000'000;     // the same after a pause

// How long samples may wait to be fetched from a hardware buffer of this size without any being lost.
std::chrono::milliseconds patience_of(const PmPace& pace, std::size_t hardware_buffer) {
  constexpr std::chrono::milliseconds kUsual{10'000};
  // The rest of the buffer is reserved for the time that fetching takes.
  const std::chrono::milliseconds third_full(hardware_buffer / 3 * 1000 / kCountedBytes / std::max<std::uint64_t>(pace.frequency, 1));
  return std::max(std::min(pace.effort.patience.count() > 0 ? pace.effort.patience : kUsual, third_full), pace.look_every());
}

}  // namespace

std::unique_ptr<CuptiSource> CuptiSource::open(const CuptiFunctions& cupti, const GpuDevice& gpu, const std::string& chip, const MetricProgram& program,
                                               const PmPace& pace, SampleReceiver& receiver, PmAccount& account, Failure& failure) {
  std::unique_ptr<CuptiSource> source(new CuptiSource(cupti, gpu, program, receiver, account));
  const auto succeeds = [&failure](const char* call, CUptiResult result) {
    if (result != CUPTI_SUCCESS) failure = {call, result};
    return result == CUPTI_SUCCESS;
  };
  CUpti_PmSampling_Enable_Params enable{CUpti_PmSampling_Enable_Params_STRUCT_SIZE};
  enable.deviceIndex = static_cast<std::size_t>(gpu.ordinal);
  if (!succeeds("cuptiPmSamplingEnable", cupti.enable(&enable))) return nullptr;
  source->sampling_ = enable.pPmSamplingObject;
  if (!succeeds("cuptiPmSamplingSetConfig", source->configure(chip, pace))) return nullptr;

  source->frequency_ = pace.frequency;
  const std::int64_t look_every = std::chrono::nanoseconds(pace.look_every()).count();
  Image& usual = source->usual_;
  usual.samples = std::clamp<std::size_t>(source->room_for(look_every + look_every / 4 + kSlack), 512, 65'536);
  std::size_t usual_bytes = 0;
  if (!succeeds("cuptiPmSamplingGetCounterDataSize", source->size_image(usual.samples, usual_bytes))) return nullptr;
  usual.data.resize(usual_bytes);
  account.sample_bytes = usual_bytes / usual.samples;
  source->decoded_bytes_ = std::max(std::min<std::uint64_t>(pace.effort.decoded, free_memory() / kShareOfFree), kLeastDecoded);
  const auto most = static_cast<std::size_t>(source->decoded_bytes_ / std::max<std::size_t>(account.sample_bytes, 1));
  const std::int64_t longest = std::max(source->time_for(most) - kLongSlack, source->time_for(usual.samples)) / 1'000'000;
  source->usual_patience_ = std::min<std::int64_t>(patience_of(pace, account.hardware_buffer).count(), longest);
  source->patience_ = source->usual_patience_;
  return source;
}

CUptiResult CuptiSource::configure(const std::string& chip, const PmPace& pace) {
  CUpti_PmSampling_SetConfig_Params set{CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE};
  set.pPmSamplingObject = sampling_;
  set.configSize = program_.config().size();
  set.pConfig = program_.config().data();
  set.hardwareBufferSize = modest_buffer(std::min(pace.effort.hardware_buffer, kLargestBuffer), gpu_, pace.gpus);
  set.triggerMode = counts_in_cycles(chip) ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  set.samplingInterval = (counts_in_cycles(chip) ? kSystemClock : 1'000'000'000) / pace.frequency;
  set.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  CUptiResult result = cupti_.set_config(&set);
  if (result == CUPTI_ERROR_INVALID_PARAMETER) {  // this CUPTI does not know the last member yet
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

CuptiSource::~CuptiSource() {
  stop();
  if (sampling_ == nullptr) return;
  CUpti_PmSampling_Disable_Params disable{CUpti_PmSampling_Disable_Params_STRUCT_SIZE};
  disable.pPmSamplingObject = sampling_;
  cupti_.disable(&disable);
}

bool CuptiSource::start() {
  CUpti_PmSampling_Start_Params start{CUpti_PmSampling_Start_Params_STRUCT_SIZE};
  start.pPmSamplingObject = sampling_;
  receiver_.began();
  last_round_ = channel::monotonic_now();
  started_ = prepare_usual() && cupti_.start(&start) == CUPTI_SUCCESS;
  return started_;
}

void CuptiSource::stop() {
  if (!std::exchange(started_, false)) return;
  CUpti_PmSampling_Stop_Params stop{CUpti_PmSampling_Stop_Params_STRUCT_SIZE};
  stop.pPmSamplingObject = sampling_;
  cupti_.stop(&stop);
}

void CuptiSource::stop_with_rest() {
  fetch(Due::kAll);
  stop();
}

CUptiResult CuptiSource::size_image(std::size_t samples, std::size_t& bytes) const {
  CUpti_PmSampling_GetCounterDataSize_Params size{CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE};
  size.pPmSamplingObject = sampling_;
  size.pMetricNames = const_cast<const char**>(program_.names().data());
  size.numMetrics = program_.names().size();
  size.maxSamples = static_cast<std::uint32_t>(samples);
  const CUptiResult result = cupti_.get_data_size(&size);
  bytes = result == CUPTI_SUCCESS ? size.counterDataSize : 0;
  return result;
}

CUptiResult CuptiSource::reset(std::span<std::uint8_t> image) const {
  CUpti_PmSampling_CounterDataImage_Initialize_Params reset{CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE};
  reset.pPmSamplingObject = sampling_;
  reset.counterDataSize = image.size();
  reset.pCounterData = image.data();
  return cupti_.initialize_data(&reset);
}

bool CuptiSource::prepare_usual() {
  if (!usual_.fresh.empty()) return true;
  if (const CUptiResult result = reset(usual_.data); result != CUPTI_SUCCESS) {
    fail("cuptiPmSamplingCounterDataImageInitialize", result);
    return false;
  }
  usual_.fresh = usual_.data;
  return true;
}

double CuptiSource::decoding_share() const {
  constexpr double kMost = 0.8;  // a higher share could not keep up
  return std::min(static_cast<double>(frequency_) * kDecoding, kMost);
}

std::size_t CuptiSource::room_for(std::int64_t pause) const {
  return static_cast<std::size_t>(static_cast<double>(pause) * 1e-9 * static_cast<double>(frequency_) / (1 - decoding_share()));
}

std::int64_t CuptiSource::time_for(std::size_t samples) const {
  return static_cast<std::int64_t>(static_cast<double>(samples) * 1e9 / static_cast<double>(frequency_) * (1 - decoding_share()));
}

Round CuptiSource::fetch(Due due) {
  if (!started_) return Round::kDone;
  if (due == Due::kNo && !is_left_alone()) return Round::kPutOff;
  const std::int64_t now = channel::monotonic_now();
  const std::int64_t since = std::exchange(last_round_, now);
  account_.longest_pause = std::max(account_.longest_pause, now - since);
  const std::int64_t begin = processor_time();
  bool has_more = fetch_after(since);
  while (has_more) has_more = fetch_as_usual();
  account_.decoding += processor_time() - begin;
  patience_ = usual_patience_;
  return Round::kDone;
}

bool CuptiSource::fetch_after(std::int64_t since) {
  return room_for(channel::monotonic_now() - since + kSlack) <= usual_.samples ? fetch_as_usual() : fetch_into_own(since);
}

bool CuptiSource::fetch_as_usual() {
  patience_ = std::min(time_for(usual_.samples) / 1'000'000, usual_patience_);
  const std::optional<Decoded> decoded = decode(usual_.data);
  if (!decoded) return false;
  receiver_.take(usual_.fresh, usual_.data, samples_of(usual_.data, decoded->samples));
  return go_on_after(*decoded);
}

bool CuptiSource::fetch_into_own(std::int64_t since) {
  receiver_.await_image();
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
  const std::vector<RawSample> known = samples_of(image.bytes(), decoded->samples);
  receiver_.take(std::move(image), known);
  return go_on_after(*decoded);
}

std::optional<CuptiSource::Decoded> CuptiSource::decode(std::span<std::uint8_t> image) {
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
    usual_.fresh.clear();  // must be made fresh again before it is used
    fail(is_decoded ? "cuptiPmSamplingGetCounterDataInfo" : "cuptiPmSamplingDecodeData", known);
    return std::nullopt;
  }
  account_.samples += info.numCompletedSamples;
  ++account_.rounds;
  return Decoded{info.numCompletedSamples, decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL,
                 decode.overflow != 0 || result == CUPTI_ERROR_OUT_OF_MEMORY};
}

bool CuptiSource::go_on_after(const Decoded& decoded) {
  if (decoded.is_full)  // samples that the hardware had counted beyond that are lost
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

// From here on, samples are fetched sooner.
void CuptiSource::lost_some(const std::string& sentence) {
  constexpr std::int64_t kShortest = 20;  // ms
  ++account_.overflows;
  usual_patience_ = std::max(usual_patience_ / 2, kShortest);
  receiver_.lost_some(sentence);
}

std::vector<RawSample> CuptiSource::samples_of(std::span<const std::uint8_t> image, std::size_t samples) const {
  std::vector<RawSample> known;
  for (std::size_t i = 0; i < samples; ++i) {
    CUpti_PmSampling_CounterData_GetSampleInfo_Params sample{CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE};
    sample.pPmSamplingObject = sampling_;
    sample.pCounterDataImage = const_cast<std::uint8_t*>(image.data());
    sample.counterDataImageSize = image.size();
    sample.sampleIndex = i;
    if (cupti_.get_sample_info(&sample) == CUPTI_SUCCESS) known.push_back({i, sample.startTimestamp, sample.endTimestamp});
  }
  return known;
}

void CuptiSource::fail(const std::string& call, CUptiResult result) {
  stop();
  receiver_.failed(call, result_text(cupti_, result));
}

}  // namespace lanescope::gpu_metrics

#include "samplers/record_source.h"

#include <algorithm>
#include <utility>

#include "collector/channel/clock.h"

namespace lanescope::gpu_metrics {
namespace {

constexpr std::size_t kMostSamples = 512;             // in an image
constexpr std::size_t kLargestImage = 4u << 20;       // bytes
constexpr double kExpectedBytes = 16u << 10;          // of a sample in the buffer: 9 to 22 KB for the default set at 10 kHz on an H200
constexpr std::int64_t kEnoughOfBuffer = 60;          // s until the buffer would be full, if such a buffer is smaller than what is asked for
constexpr std::int64_t kUsualWait = 100'000'000'000;  // ns; readings of the clocks are kept for two minutes
constexpr std::int64_t kHandOnEvery = 1'000'000'000;  // ns, if somebody waits

// If more than `most` bytes wait while a program uses all processors, records are fetched until this many bytes are left.
constexpr std::size_t low_mark(std::size_t most) { return most / 9 * 8; }

// True if means and sums over the GPU's units are not enough.
bool needs_each_unit(std::span<const char* const> metrics) {
  return std::any_of(metrics.begin(), metrics.end(), [](const char* metric) {
    const std::string_view name(metric);
    return name.find(".max") != std::string_view::npos || name.find(".min") != std::string_view::npos;
  });
}

std::int64_t nanoseconds(std::chrono::milliseconds time) { return std::chrono::nanoseconds(time).count(); }

}  // namespace

RecordSource::RecordSource(const nvperf::Functions& functions, const Order& order, std::function<bool()> left_alone)
    : functions_(functions),
      gpu_(order.gpu),
      config_(order.program.config()),
      receiver_(order.receiver),
      account_(order.account),
      left_alone_(std::move(left_alone)) {}

std::unique_ptr<RecordSource> RecordSource::open(const nvperf::Functions& functions, const Order& order, std::string& reason,
                                                 std::function<bool()> left_alone) {
  std::unique_ptr<RecordSource> source(new RecordSource(functions, order, std::move(left_alone)));
  const std::optional<std::size_t> device = nvperf::find_device(functions, order.gpu.bus_id);
  if (!device) {
    reason = "libnvperf_target.so does not know the GPU";
    return nullptr;
  }
  source->device_ = *device;
  const nvperf::Units units = needs_each_unit(order.program.names()) ? nvperf::Units::kEach : nvperf::Units::kSum;
  source->prefix_ = nvperf::image_prefix(functions, source->config_, order.chip, order.availability, units);
  if (source->prefix_.empty()) {
    reason = "libnvperf_host.so does not know what the GPU counts";
    return nullptr;
  }
  if (!source->begin_session(order, reason)) return nullptr;

  const PmPace& pace = order.pace;
  source->look_every_ = nanoseconds(pace.look_every());
  source->longest_wait_ = pace.effort.patience.count() > 0 ? nanoseconds(pace.effort.patience) : kUsualWait;
  source->rate_ = kExpectedBytes * static_cast<double>(pace.frequency) * 1e-9;
  if (!source->make_image(kMostSamples) || !source->make_image(std::clamp<std::size_t>(kLargestImage / order.account.sample_bytes, 1, kMostSamples))) {
    reason = "libnvperf_target.so makes no image of samples";
    return nullptr;
  }
  source->set_patience(0);
  if (!source->read_clock()) {
    reason = "the GPU's clock can't be read";
    return nullptr;
  }
  return source;
}

bool RecordSource::begin_session(const Order& order, std::string& reason) {
  const bool in_cycles = counts_in_cycles(order.chip);
  const std::uint32_t trigger = in_cycles ? nvperf::BeginSession::kClockInterval : nvperf::BeginSession::kTimeInterval;
  const double enough = kExpectedBytes * static_cast<double>(order.pace.frequency) * kEnoughOfBuffer;
  const auto asked = static_cast<std::size_t>(std::min(static_cast<double>(order.pace.effort.hardware_buffer), enough));
  nvperf::BeginSession begin;
  begin.device = device_;
  begin.triggers = &trigger;
  begin.interval = (in_cycles ? kSystemClock : 1'000'000'000) / order.pace.frequency;
  begin.buffer_size = modest_buffer(asked, gpu_, order.pace.gpus);
  int answer = functions_.begin_session(&begin);
  while (answer == nvperf::kOutOfMemory && begin.buffer_size > kSmallestBuffer) {
    begin.buffer_size /= 2;
    answer = functions_.begin_session(&begin);
  }
  if (answer != 0) {
    reason = "NVPW_GPU_PeriodicSampler_BeginSession_V2 says " + std::to_string(answer);
    return false;
  }
  in_session_ = true;
  nvperf::BufferStatus now;
  now.device = device_;
  if (const int known = functions_.get_buffer_status(&now); known != 0 || now.total == 0) {
    reason = "NVPW_GPU_PeriodicSampler_GetRecordBufferStatus_V2 says " + std::to_string(known);
    return false;
  }
  total_ = account_.hardware_buffer = now.total;  // the library may have made the buffer smaller
  return true;
}

RecordSource::~RecordSource() {
  stop();
  nvperf::OfDevice end;
  end.device = device_;
  if (in_session_) functions_.end_session(&end);
}

bool RecordSource::make_image(std::size_t samples) {
  nvperf::ImageOptions options;
  options.prefix = prefix_.data();
  options.prefix_size = prefix_.size();
  options.samples = static_cast<std::uint32_t>(samples);
  nvperf::ImageSize size;
  size.device = device_;
  size.options = &options;
  if (functions_.get_image_size(&size) != 0) return false;
  fresh_.resize(size.size);
  nvperf::InitializeImage initialize;
  initialize.device = device_;
  initialize.options = &options;
  initialize.image = fresh_.data();
  initialize.size = fresh_.size();
  if (functions_.initialize_image(&initialize) != 0) return false;
  room_ = samples;
  account_.sample_bytes = std::max<std::size_t>(fresh_.size() / samples, 1);
  return true;
}

bool RecordSource::start() {
  nvperf::SetConfig config;  // also clears the state that an overflow has left
  config.device = device_;
  config.config = config_.data();
  config.config_size = config_.size();
  nvperf::OfDevice start;
  start.device = device_;
  acknowledge();
  receiver_.began();
  started_ = functions_.set_config(&config) == 0 && functions_.start(&start) == 0;
  halted_ = false;
  image_ = fresh_;
  handed_on_ = 0;
  taken_ = 0;
  started_at_ = last_round_ = channel::monotonic_now();
  set_patience(0);
  return started_;
}

void RecordSource::halt() {
  nvperf::OfDevice stop;
  stop.device = device_;
  if (!std::exchange(halted_, true)) functions_.stop(&stop);
}

void RecordSource::stop() {
  if (std::exchange(started_, false)) halt();
}

void RecordSource::stop_with_rest() {
  if (!started_) return;
  halt();
  ends_ = true;
  fetch(Due::kAll);
  ends_ = started_ = false;
}

Round RecordSource::fetch(Due due) {
  if (!started_) return Round::kDone;
  if (due == Due::kNo && !left_alone_()) {
    if (channel::monotonic_now() < deadline_) return Round::kPutOff;
    due = Due::kUrgent;
  }
  const std::int64_t now = channel::monotonic_now();
  account_.longest_pause = std::max(account_.longest_pause, now - std::exchange(last_round_, now));
  const std::optional<nvperf::BufferStatus> buffer = status();
  if (!buffer) return Round::kDone;
  if (buffer->overflow != 0) {  // the hardware has stopped counting
    halt();
    due = Due::kAll;
  }
  const std::size_t most = most_that_waits();
  const std::size_t kept = buffer->unread < most ? buffer->unread : low_mark(most);
  const std::size_t left = fetch_down_to(due == Due::kUrgent ? kept : 0, buffer->unread, due);
  if (!started_ || !acknowledge()) return Round::kDone;
  if (buffer->overflow != 0) begin_anew();
  set_patience(left);
  return Round::kDone;
}

std::size_t RecordSource::fetch_down_to(std::size_t goal, std::size_t unread, Due due) {
  std::int64_t handed_on = channel::monotonic_now();
  while (unread > goal) {
    const std::int64_t begin = channel::monotonic_now();
    const std::int64_t used = processor_time();
    const std::optional<std::size_t> gone = fetch_piece(unread);
    if (!gone || *gone == 0) break;
    unread -= std::min(*gone, unread);
    const std::int64_t end = channel::monotonic_now();
    constexpr std::int64_t kMoment = 1'000'000;  // ns
    const bool is_disturbed = end - begin > (processor_time() - used) * 3 / 2 + kMoment;
    if (due == Due::kNo && is_disturbed) break;
    if (consumed_ > total_ / 16 && !acknowledge()) break;
    if (due == Due::kAll && end - handed_on > kHandOnEvery) {
      receiver_.evaluate();
      handed_on = channel::monotonic_now();
    }
  }
  return unread;
}

std::optional<std::size_t> RecordSource::fetch_piece(std::size_t unread) {
  const std::int64_t begin = processor_time();
  nvperf::Decode decode;
  decode.device = device_;
  decode.image = image_.data();
  decode.image_size = image_.size();
  decode.most_bytes = unread;
  if (const int answer = functions_.decode(&decode); answer != 0) {
    fail("NVPW_GPU_PeriodicSampler_DecodeCounters_V3", answer);
    return std::nullopt;
  }
  consumed_ += decode.consumed;
  taken_ += decode.consumed;
  nvperf::ImageInfo info;
  info.image = image_.data();
  info.image_size = image_.size();
  if (const int answer = functions_.get_image_info(&info); answer != 0) {
    fail("NVPW_PeriodicSampler_CounterData_GetInfo", answer);
    return std::nullopt;
  }
  account_.decoding += processor_time() - begin;
  ++account_.rounds;
  hand_on(info.completed);
  if (info.completed >= room_) {
    image_ = fresh_;
    handed_on_ = 0;
  }
  return decode.consumed;
}

void RecordSource::hand_on(std::size_t whole) {
  if (whole <= handed_on_) return;
  std::vector<RawSample> samples;
  samples.reserve(whole - handed_on_);
  for (std::size_t i = handed_on_; i < whole; ++i) {
    nvperf::SampleTimes times;
    times.image = image_.data();
    times.index = i;
    if (functions_.get_sample_times(&times) == 0) samples.push_back({i, times.begin, times.end});
  }
  if (samples.size() < whole - handed_on_)
    receiver_.lost_some("Some samples of the metrics of GPU " + std::to_string(gpu_.ordinal) + " are missing: libnvperf_target.so does not tell their times.");
  account_.samples += whole - handed_on_;
  handed_on_ = whole;
  copy_ = image_;  // the receiver makes its image fresh again
  receiver_.take(fresh_, copy_, samples);
}

bool RecordSource::acknowledge() {
  nvperf::Acknowledge acknowledge;
  acknowledge.device = device_;
  acknowledge.bytes = std::exchange(consumed_, 0);
  const int answer = acknowledge.bytes == 0 ? 0 : functions_.acknowledge(&acknowledge);
  if (answer != 0) fail("NVPW_GPU_PeriodicSampler_AcknowledgeRecordBuffer", answer);
  return answer == 0;
}

void RecordSource::begin_anew() {
  ++account_.overflows;
  receiver_.lost_some("GPU " + std::to_string(gpu_.ordinal) +
                      " counted metrics faster than they could be fetched, so some samples are missing: choose a lower --gpu-metrics-frequency.");
  if (ends_) return;
  started_ = false;
  start();
}

std::optional<nvperf::BufferStatus> RecordSource::status() {
  nvperf::BufferStatus now;
  now.device = device_;
  if (const int answer = functions_.get_buffer_status(&now); answer != 0) {
    fail("NVPW_GPU_PeriodicSampler_GetRecordBufferStatus_V2", answer);
    return std::nullopt;
  }
  account_.most_unread = std::max(account_.most_unread, now.unread);
  const std::int64_t passed = channel::monotonic_now() - started_at_;
  constexpr std::int64_t kSteady = 1'000'000'000;  // ns
  if (passed > kSteady && taken_ + now.unread > 0 && !halted_) rate_ = static_cast<double>(taken_ + now.unread) / static_cast<double>(passed);
  return now;
}

std::size_t RecordSource::most_that_waits() const noexcept {
  return std::min(total_ / 4 * 3, static_cast<std::size_t>(rate_ * static_cast<double>(longest_wait_)));
}

void RecordSource::set_patience(std::size_t unread) {
  const std::size_t most = most_that_waits();
  const auto until_then = static_cast<std::int64_t>(static_cast<double>(most - std::min(unread, most)) / rate_);
  const std::int64_t patience = std::max(until_then, look_every_);
  patience_ = patience / 1'000'000;
  deadline_ = channel::monotonic_now() + patience;
}

std::optional<agent::encode::ClockReading> RecordSource::read_clock() {
  constexpr int kAttempts = 5;
  std::optional<agent::encode::ClockReading> best;
  for (int i = 0; i < kAttempts; ++i) {
    nvperf::GpuTime get;
    get.device = device_;
    const std::int64_t before = channel::monotonic_now();
    if (functions_.get_gpu_time(&get) != 0) break;
    const std::int64_t after = channel::monotonic_now();
    const auto uncertainty = static_cast<std::uint64_t>(after - before);
    if (!best || uncertainty < best->uncertainty)
      best = agent::encode::ClockReading{before + (after - before) / 2, static_cast<std::int64_t>(get.time), uncertainty};
  }
  return best;
}

void RecordSource::fail(const std::string& call, int answer) {
  stop();
  receiver_.failed(call, std::to_string(answer));
}

}  // namespace lanescope::gpu_metrics

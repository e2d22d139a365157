#include "collector/machine_metrics/sampler.h"

#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "collector/channel/clock.h"
#include "collector/counters/counter_stream.h"
#include "collector/machine_metrics/sampled_devices.h"
#include "devices.h"

namespace lanescope::machine_metrics {
namespace {

using counters::CounterStream;

constexpr std::int64_t kFlush = 500'000'000;  // ns between chunks
constexpr double kShareResolution = 0.01;     // %

double resolution_of(Measure measure) { return measure == Measure::kShare ? kShareResolution : 1; }

// What a device did between two readings, as an integer of the counter. A total that became smaller was reset in between; its sample is missing.
std::int64_t sample(Measure measure, std::optional<std::uint64_t> before, std::optional<std::uint64_t> now, std::int64_t duration) {
  if (!now || (measure != Measure::kLevel && (!before || *now < *before))) return CounterStream::kMissing;
  if (measure == Measure::kLevel) return static_cast<std::int64_t>(std::min<std::uint64_t>(*now, INT64_MAX));
  const double added = static_cast<double>(*now - *before);
  constexpr double kMostPerSecond = 9e18;
  if (measure == Measure::kPerSecond) return std::llround(std::min(added * 1e9 / static_cast<double>(duration), kMostPerSecond));
  return std::llround(std::min(added * 1e6 / static_cast<double>(duration) * 100, 100.0) / kShareResolution);
}

std::vector<Device> read_devices(const Settings& settings, const std::filesystem::path& root) {
  std::vector<Device> devices;
  const auto add = [&devices](std::vector<Device> more) { std::move(more.begin(), more.end(), std::back_inserter(devices)); };
  if (settings.networks) add(networks(root));
  if (settings.networks) add(adapters(root));
  if (settings.storage) add(disks(root));
  return devices;
}

}  // namespace

std::filesystem::path machine_root() {
  const char* root = std::getenv("LANESCOPE_MACHINE_ROOT");
  return root != nullptr && *root != '\0' ? root : "/";
}

std::vector<SampledDevice> sampled_devices(const Settings& settings, const std::filesystem::path& root) {
  std::vector<SampledDevice> sampled;
  for (const Device& device : read_devices(settings, root)) {
    SampledDevice& each = sampled.emplace_back(SampledDevice{device.kind, device.name, {}});
    for (std::size_t i = 0; i < device.quantities.size(); ++i)
      if (device.totals[i]) each.counters.emplace_back(device.quantities[i].name);
  }
  return sampled;
}

class Sampler::Work final : private counters::CounterSink {
 public:
  Work(const Settings& settings, std::filesystem::path root, std::chrono::milliseconds period) : settings_(settings), root_(std::move(root)), period_(period) {
    const std::vector<Device> found = read_devices(settings_, root_);
    const auto has = [&](std::string_view kind) { return std::any_of(found.begin(), found.end(), [&](const Device& device) { return device.kind == kind; }); };
    if (settings_.networks && !has(kNetworks) && !has(kAdapters) && !has(kElasticAdapters))
      lacks.emplace_back("There is no network device here whose traffic could be sampled.");
    if (settings_.storage && !has(kDisks)) lacks.emplace_back("There is no disk here whose traffic could be sampled.");
    take(found, channel::monotonic_now());
    thread_ = std::thread([this] { run(); });
  }
  ~Work() { stop(); }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void ask() {
    {
      const std::lock_guard lock(mutex_);
      ++asked_;
    }
    changed_.notify_all();
  }
  [[nodiscard]] bool has_answered() {
    const std::lock_guard lock(mutex_);
    return answered_ == asked_;
  }

  void hand_on(const Take& take) {
    std::vector<Frame> frames;
    {
      const std::lock_guard lock(mutex_);
      frames.swap(frames_);
    }
    for (const Frame& frame : frames) take(frame.type, *frame.message);
  }

  std::vector<std::string> lacks;  // does not change

 private:
  struct Frame {
    proto::FrameType type;
    std::unique_ptr<google::protobuf::MessageLite> message;
  };
  struct Sampled {
    std::vector<std::size_t> counted;  // positions of the quantities that the device counts
    std::vector<std::optional<std::uint64_t>> totals;
    std::int64_t time;  // of the last reading, CLOCK_MONOTONIC ns
    CounterStream counters;
  };

  using Key = std::pair<std::string, std::string>;  // kind and name

  void write(proto::FrameType type, const google::protobuf::MessageLite& message) override {
    Frame frame{type, std::unique_ptr<google::protobuf::MessageLite>(message.New())};
    frame.message->CheckTypeAndMergeFrom(message);
    const std::lock_guard lock(mutex_);
    frames_.push_back(std::move(frame));
  }
  std::uint32_t new_counter_id() override { return ++counters_; }

  void meet(const Device& device, std::int64_t now) {
    std::vector<std::size_t> counted;
    std::vector<proto::Counter> described;
    for (std::size_t i = 0; i < device.quantities.size(); ++i) {
      if (!device.totals[i]) continue;
      const Quantity& quantity = device.quantities[i];
      proto::Counter& counter = described.emplace_back();
      counter.set_name(device.name + " " + quantity.name);
      counter.set_group(device.kind);
      counter.set_unit(quantity.unit);
      counter.set_resolution(resolution_of(quantity.measure));
      counter.set_maximum(quantity.measure == Measure::kShare ? 100 : quantity.reaches_speed ? device.speed : 0);
      counter.set_source_name(quantity.source);
      counter.set_description(quantity.description);
      counted.push_back(i);
    }
    sampled_.try_emplace(Key(device.kind, device.name), Sampled{std::move(counted), device.totals, now, CounterStream(*this, std::move(described))});
  }

  void take(const std::vector<Device>& devices, std::int64_t now) {
    for (const Device& device : devices) {
      const auto known = sampled_.find(Key(device.kind, device.name));
      if (known == sampled_.end()) {
        meet(device, now);
        continue;
      }
      Sampled& sampled = known->second;
      const std::int64_t duration = now - sampled.time;
      if (sampled.time == last_reading_ && duration > 0) {  // otherwise the device was absent in between
        std::vector<std::int64_t> values;
        for (const std::size_t i : sampled.counted) values.push_back(sample(device.quantities[i].measure, sampled.totals[i], device.totals[i], duration));
        sampled.counters.add(sampled.time, now, values);
      }
      sampled.totals = device.totals;
      sampled.time = now;
    }
    last_reading_ = now;
    if (now - last_flush_ < kFlush) return;
    last_flush_ = now;
    flush();
  }

  void flush() {
    for (auto& [key, sampled] : sampled_) sampled.counters.flush();
  }

  void run() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock(mutex_);
    for (bool ends = false; !ends;) {
      changed_.wait_for(lock, period_, [this] { return ends_ || asked_ != answered_; });
      ends = ends_;
      const unsigned asked = asked_;
      const bool hands_over = ends || asked != answered_;
      lock.unlock();
      look();
      if (hands_over) flush();
      lock.lock();
      answered_ = asked;
    }
  }

  // If there is no memory for a reading, it is left out.
  void look() {
    try {
      const std::vector<Device> devices = read_devices(settings_, root_);
      take(devices, channel::monotonic_now());
    } catch (const std::exception&) {
    }
  }

  const Settings settings_;
  const std::filesystem::path root_;
  const std::chrono::milliseconds period_;

  // Used only by the thread once it runs.
  std::map<Key, Sampled> sampled_;
  std::uint32_t counters_ = 0;
  std::int64_t last_reading_ = 0;  // CLOCK_MONOTONIC ns
  std::int64_t last_flush_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  unsigned asked_ = 0;
  unsigned answered_ = 0;
  std::vector<Frame> frames_;

  std::thread thread_;  // last: it uses all of the above
};

Sampler::Sampler(const Settings& settings, std::filesystem::path root, std::chrono::milliseconds period)
    : work_(std::make_unique<Work>(settings, std::move(root), period)) {}
Sampler::~Sampler() = default;

const std::vector<std::string>& Sampler::lacks() const noexcept { return work_->lacks; }
void Sampler::drain(const Take& take) { work_->hand_on(take); }
void Sampler::ask_for_rest() { work_->ask(); }
bool Sampler::has_answered() const { return work_->has_answered(); }
void Sampler::end(const Take& take) {
  work_->stop();
  work_->hand_on(take);
}

}  // namespace lanescope::machine_metrics

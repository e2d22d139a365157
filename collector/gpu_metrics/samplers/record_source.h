// Samples of one GPU from the records that its monitors write into memory (nvperf.h), decoded piece by piece.
//
// Decoding is what sampling costs: 30 to 45 us of a processor for a sample, where writing costs none. So records wait while programs keep all
// processors busy, until that memory is three quarters full, and are decoded when a processor is idle or when the sampling ends. They are decoded
// into one image that a processor's cache holds, of 0.6 KB a sample: the sums of all units of the GPU. The newest records may be a part of a
// sample; decoding into the same image goes on with it, so an image is made fresh only once all of its samples are whole.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "processor_share.h"
#include "samplers/nvperf.h"
#include "samplers/sample_source.h"
#include "values/chip_metrics.h"

namespace lanescope::gpu_metrics {

class RecordSource final : public SampleSource {
 public:
  // What is sampled, and for whom. All of it outlives the source.
  struct Order {
    const GpuDevice& gpu;
    const std::string& chip;
    std::span<const std::uint8_t> availability;
    const MetricProgram& program;
    const PmPace& pace;  // read in open() alone
    SampleReceiver& receiver;
    PmAccount& account;
  };
  // Takes the GPU's monitors; fails with a reason that ends a sentence. `left_alone`: whether nobody else wants the thread's processor.
  static std::unique_ptr<RecordSource> open(const nvperf::Functions& functions, const Order& order, std::string& reason,
                                            std::function<bool()> left_alone = is_left_alone);
  ~RecordSource() override;

  bool start() override;
  void stop() override;
  [[nodiscard]] bool is_started() const noexcept override { return started_; }
  Round fetch(Due due) override;
  void stop_with_rest() override;
  [[nodiscard]] std::chrono::milliseconds patience() const noexcept override { return std::chrono::milliseconds(patience_.load()); }
  [[nodiscard]] bool keeps_its_time() const noexcept override { return true; }
  [[nodiscard]] std::optional<agent::encode::ClockReading> read_clock() override;

 private:
  RecordSource(const nvperf::Functions& functions, const Order& order, std::function<bool()> left_alone);
  [[nodiscard]] bool begin_session(const Order& order, std::string& reason);
  // An image with room for so many samples.
  [[nodiscard]] bool make_image(std::size_t samples);
  [[nodiscard]] std::optional<nvperf::BufferStatus> status();
  // Fetches until so many bytes are left or, where it is not due, somebody else wants the processor. Returns how many are left.
  std::size_t fetch_down_to(std::size_t goal, std::size_t unread, Due due);
  // Bytes that are gone from the buffer; none where it failed.
  std::optional<std::size_t> fetch_piece(std::size_t unread);
  // Samples of the image from `handed_on_` on, which are whole.
  void hand_on(std::size_t whole);
  bool acknowledge();
  void begin_anew();
  // Nothing is counted from here on.
  void halt();
  // Bytes in the buffer that may wait while programs keep all processors busy.
  [[nodiscard]] std::size_t most_that_waits() const noexcept;
  // As long as it takes until there are more, beside those that are there.
  void set_patience(std::size_t unread);
  void fail(const std::string& call, int answer);

  const nvperf::Functions& functions_;
  const GpuDevice& gpu_;
  std::span<const std::uint8_t> config_;
  SampleReceiver& receiver_;
  PmAccount& account_;
  const std::function<bool()> left_alone_;
  std::size_t device_ = 0;
  std::vector<std::uint8_t> prefix_;
  std::vector<std::uint8_t> fresh_;  // an image without samples
  std::vector<std::uint8_t> image_;  // the one that is being filled
  std::vector<std::uint8_t> copy_;   // of it, for the receiver
  std::size_t room_ = 0;             // samples of an image
  std::size_t handed_on_ = 0;        // samples of image_
  std::int64_t look_every_ = 0;      // ns
  std::int64_t longest_wait_ = 0;
  std::size_t total_ = 0;        // bytes of the buffer
  double rate_ = 0;              // bytes per ns
  std::size_t consumed_ = 0;     // bytes that were decoded, and whose room the hardware does not know to be free yet
  std::uint64_t taken_ = 0;      // bytes since the start
  std::int64_t started_at_ = 0;  // CLOCK_MONOTONIC ns
  std::int64_t last_round_ = 0;
  std::int64_t deadline_ = 0;
  std::atomic<std::int64_t> patience_ = 0;  // ms
  bool in_session_ = false;
  bool started_ = false;
  bool halted_ = false;  // nothing is counted any more
  bool ends_ = false;    // the rest is fetched
};

}  // namespace lanescope::gpu_metrics

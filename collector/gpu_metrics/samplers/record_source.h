// Samples of one GPU from the records that its monitors write into memory (nvperf.h), decoded in pieces.
//
// Decoding is the cost of sampling: 30 to 45 us of a processor for a sample; writing costs nothing. So while programs keep all processors busy,
// records wait until that memory is three quarters full. They are decoded when a processor is idle or when the sampling ends. They are decoded into
// one image that fits into a processor's cache, of 0.6 KB a sample: the sums of all units of the GPU. The newest records may contain only a part of a
// sample. Decoding into the same image completes it, so an image is made fresh only when all of its samples are complete.
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
  // What is sampled, and for whom. All members must outlive the source.
  struct Order {
    const GpuDevice& gpu;
    const std::string& chip;
    std::span<const std::uint8_t> availability;
    const MetricProgram& program;
    const PmPace& pace;  // used in open() only
    SampleReceiver& receiver;
    PmAccount& account;
  };
  // Takes the GPU's monitors; if that fails, `reason` is the end of a sentence. `left_alone` returns true if nobody else wants the thread's
  // processor.
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
  // Makes an image with room for this many samples.
  [[nodiscard]] bool make_image(std::size_t samples);
  [[nodiscard]] std::optional<nvperf::BufferStatus> status();
  // Fetches until `goal` bytes are left or, if it is not due, until somebody else wants the processor. Returns the number of bytes left.
  std::size_t fetch_down_to(std::size_t goal, std::size_t unread, Due due);
  // Returns the bytes that were removed from the buffer; nothing if it failed.
  std::optional<std::size_t> fetch_piece(std::size_t unread);
  // Hands on the samples of the image from `handed_on_` up to `whole`, which are complete.
  void hand_on(std::size_t whole);
  bool acknowledge();
  void begin_anew();
  // Notes that nothing is counted from here on.
  void halt();
  // Most bytes in the buffer that may wait while programs keep all processors busy.
  [[nodiscard]] std::size_t most_that_waits() const noexcept;
  // Sets patience to the time until more bytes than that wait, given those that wait already.
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
  std::vector<std::uint8_t> image_;  // the image that is being filled
  std::vector<std::uint8_t> copy_;   // copy of image_, for the receiver
  std::size_t room_ = 0;             // samples that fit into an image
  std::size_t handed_on_ = 0;        // samples of image_ that were handed on
  std::int64_t look_every_ = 0;      // ns
  std::int64_t longest_wait_ = 0;
  std::size_t total_ = 0;        // bytes of the buffer
  double rate_ = 0;              // bytes per ns
  std::size_t consumed_ = 0;     // bytes that were decoded, but not yet acknowledged to the hardware as free
  std::uint64_t taken_ = 0;      // bytes since the start
  std::int64_t started_at_ = 0;  // CLOCK_MONOTONIC ns
  std::int64_t last_round_ = 0;
  std::int64_t deadline_ = 0;
  std::atomic<std::int64_t> patience_ = 0;  // ms
  bool in_session_ = false;
  bool started_ = false;
  bool halted_ = false;  // the hardware has stopped counting
  bool ends_ = false;    // the rest is being fetched
};

}  // namespace lanescope::gpu_metrics

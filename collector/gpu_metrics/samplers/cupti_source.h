// Samples of one GPU, fetched by CUPTI alone.
//
// CUPTI always decodes everything that was counted, even if the image has no room for it. So the image must be large enough. An image of a fixed size
// is used for samples counted between two looks, and a separate image after a pause.
#pragma once

#include <memory>
#include <vector>

#include "samplers/sample_source.h"
#include "values/chip_metrics.h"

namespace lanescope::gpu_metrics {

class CuptiSource final : public SampleSource {
 public:
  struct Failure {
    std::string call;
    CUptiResult result = CUPTI_SUCCESS;
  };
  // Takes the GPU's monitors. All arguments must outlive the source.
  static std::unique_ptr<CuptiSource> open(const CuptiFunctions& cupti, const GpuDevice& gpu, const std::string& chip, const MetricProgram& program,
                                           const PmPace& pace, SampleReceiver& receiver, PmAccount& account, Failure& failure);
  ~CuptiSource() override;

  bool start() override;
  void stop() override;
  [[nodiscard]] bool is_started() const noexcept override { return started_; }
  Round fetch(Due due) override;
  void stop_with_rest() override;
  [[nodiscard]] std::chrono::milliseconds patience() const noexcept override { return std::chrono::milliseconds(patience_.load()); }
  [[nodiscard]] bool keeps_its_time() const noexcept override { return false; }
  [[nodiscard]] std::optional<agent::encode::ClockReading> read_clock() override { return std::nullopt; }

 private:
  CuptiSource(const CuptiFunctions& cupti, const GpuDevice& gpu, const MetricProgram& program, SampleReceiver& receiver, PmAccount& account)
      : cupti_(cupti), gpu_(gpu), program_(program), receiver_(receiver), account_(account) {}
  // An image that CUPTI decodes into in each round. It has a fixed number of samples and is made fresh once.
  struct Image {
    std::size_t samples = 0;
    std::vector<std::uint8_t> fresh;
    std::vector<std::uint8_t> data;  // equal to `fresh` between rounds
  };
  [[nodiscard]] CUptiResult configure(const std::string& chip, const PmPace& pace);
  [[nodiscard]] CUptiResult size_image(std::size_t samples, std::size_t& bytes) const;
  [[nodiscard]] CUptiResult reset(std::span<std::uint8_t> image) const;
  [[nodiscard]] bool prepare_usual();
  // Number of samples that may have been counted when everything counted in `pause` ns is fetched: more are counted while CUPTI decodes.
  [[nodiscard]] std::size_t room_for(std::int64_t pause) const;
  // ns in which room for this many samples fills up, minus the part that is counted while CUPTI decodes.
  [[nodiscard]] std::int64_t time_for(std::size_t samples) const;
  [[nodiscard]] double decoding_share() const;  // share of a processor that decoding takes
  // Each returns true if there may be more.
  bool fetch_after(std::int64_t since);
  bool fetch_as_usual();
  bool fetch_into_own(std::int64_t since);
  struct Decoded {
    std::size_t samples = 0;
    bool is_full = false;
    bool overflowed = false;
  };
  [[nodiscard]] std::optional<Decoded> decode(std::span<std::uint8_t> image);
  bool go_on_after(const Decoded& decoded);
  [[nodiscard]] std::vector<RawSample> samples_of(std::span<const std::uint8_t> image, std::size_t samples) const;
  void lost_some(const std::string& sentence);
  void fail(const std::string& call, CUptiResult result);

  const CuptiFunctions& cupti_;
  const GpuDevice& gpu_;
  const MetricProgram& program_;
  SampleReceiver& receiver_;
  PmAccount& account_;
  CUpti_PmSampling_Object* sampling_ = nullptr;
  std::uint64_t frequency_ = 0;
  Image usual_;                      // for samples counted between two looks; after a pause, samples get an image of their own
  std::uint64_t decoded_bytes_ = 0;  // most bytes of that image
  std::int64_t last_round_ = 0;
  std::int64_t usual_patience_ = 0;         // ms between rounds
  std::atomic<std::int64_t> patience_ = 0;  // ms, at present
  bool started_ = false;
};

}  // namespace lanescope::gpu_metrics

// PC samples of one CUDA context, from CUPTI's PC Sampling API in continuous mode, in which kernels run as usual.
//
// CUPTI's own worker reads samples from the hardware every tenth of a second; take() fetches what it has so far. If sampling is limited to windows of time, the
// samples of a window are complete a tenth of a second after its end.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/kernels/code_objects.h"
#include "agent/kernels/functions.h"
#include "agent/kernels/gpu_claim.h"
#include "agent/kernels/pc_chunk.h"
#include "agent/kernels/pc_dictionary.h"

namespace lanescope::agent::kernels {

class PcSampler {
 public:
  // Samples go to the dictionary, and the sampled code is marked as wanted. Both outlive *this.
  PcSampler(const Functions& functions, CUcontext context, PcDictionary& dictionary, CodeObjects& code) noexcept;
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;
  ~PcSampler();

  // Sampling should begin: an attempt that was refused before is made once more.
  void expect() noexcept { is_expected_ = !is_on_; }
  [[nodiscard]] bool is_expected() const noexcept { return is_expected_; }

  // Starts sampling every 2^period cycles (0: the usual period), only in windows or all the time. Takes about 70 ms. After a failure nothing is left behind,
  // and sampling is no longer expected. Requires: nothing else samples the GPU in this process.
  enum class Begin { kSampled, kGpuInUse, kRefused };  // kGpuInUse: another process samples it; kRefused: by CUPTI
  enum class Times { kAll, kWindows };
  Begin begin(std::uint32_t period, Times times) noexcept;
  [[nodiscard]] CUptiResult refusal() const noexcept { return refusal_; }
  // A window lasts from begin_window() to end_window(). The very first of a process takes 300 ms to begin, others a tenth of one; ending one takes 4 ms. After
  // a failure sampling is off.
  CUptiResult begin_window() noexcept;
  CUptiResult end_window() noexcept;
  // Fetches the samples since the last call, as far as CUPTI has them. After a failure sampling is off.
  CUptiResult take() noexcept;
  // The same, including the remaining samples, for which it waits; sampling is then off.
  CUptiResult end() noexcept;
  // The same for a context that does not exist after the call; context() is null then.
  CUptiResult leave_context() noexcept;
  // For a context that is gone, or ends while CUPTI can't be asked: its remaining samples are lost, and its buffers stay allocated.
  void lose_context() noexcept;

  // In a forked child.
  void give_gpu_back() noexcept { claim_.give_back(); }

  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  [[nodiscard]] bool is_in_window() const noexcept { return window_.begin != 0 && window_.end == 0; }
  [[nodiscard]] CUcontext context() const noexcept { return context_; }
  [[nodiscard]] PcChunk& chunk() noexcept { return chunk_; }
  // The last window: ns; its end is 0 while it lasts, its begin 0 if there was none.
  struct Window {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] const Window& window() const noexcept { return window_; }
  void forget_window() noexcept { window_ = {}; }
  [[nodiscard]] std::uint32_t context_id() const noexcept { return context_id_; }
  [[nodiscard]] std::uint32_t device() const noexcept { return device_; }
  [[nodiscard]] std::uint64_t period_in_cycles() const noexcept { return std::uint64_t{1} << period_; }

 private:
  static constexpr std::size_t kMostReasons = 64;       // of a chip; GH100 has 40
  static constexpr std::size_t kFetchedPcs = 4'096;     // in one call
  static constexpr std::size_t kRemainingPcs = 16'384;  // that CUPTI delivers when it is switched off

  // A buffer that CUPTI fills.
  struct Buffer {
    CUpti_PCSamplingData data;
    std::size_t bytes = 0;  // after data.pPcData
  };
  struct Reason {
    std::uint32_t index = 0;  // CUPTI's index
    std::uint32_t id = 0;     // id in the dictionary
    bool is_not_issued = false;
  };

  CUptiResult switch_on(std::uint32_t period, Times times) noexcept;
  CUptiResult find_reasons() noexcept;
  CUptiResult configure(std::uint32_t period, Times times) noexcept;
  CUptiResult switch_off() noexcept;
  bool prepare(Buffer& buffer, std::size_t pcs) noexcept;
  void release(Buffer& buffer) noexcept;
  void read(const CUpti_PCSamplingData& data) noexcept;
  void read(const CUpti_PCSamplingPCData& pc) noexcept;

  const Functions& functions_;
  CUcontext context_;
  PcDictionary& dictionary_;
  CodeObjects& code_;
  std::uint32_t context_id_ = 0;
  std::uint32_t device_ = 0;
  std::uint32_t period_ = 0;
  bool is_on_ = false;
  bool is_expected_ = true;
  CUptiResult refusal_ = CUPTI_SUCCESS;
  GpuClaim claim_;
  std::size_t reason_count_ = 0;
  Reason reasons_[kMostReasons] = {};
  Buffer fetched_;
  Buffer remaining_;
  PcChunk chunk_;
  Window window_;
};

}  // namespace lanescope::agent::kernels

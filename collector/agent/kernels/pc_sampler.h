// PC samples of one CUDA context, as CUPTI's PC Sampling API gives them in continuous mode, beside which kernels run as they would.
//
// CUPTI's own worker takes samples from the hardware every tenth of a second; what it has by then is fetched by take(). Where it samples in windows of time,
// what was sampled in one has come by a tenth of a second after its end.
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
  // What is sampled goes to the dictionary, and the code that it is of is marked as wanted. Both outlive *this.
  PcSampler(const Functions& functions, CUcontext context, PcDictionary& dictionary, CodeObjects& code) noexcept;
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;
  ~PcSampler();

  // To be begun: what was refused before is tried once more.
  void expect() noexcept { is_expected_ = !is_on_; }
  [[nodiscard]] bool is_expected() const noexcept { return is_expected_; }

  // Switches sampling on, every 2^period cycles; 0: as is usual; in windows alone, or all the time. Takes about 70 ms. Where it fails nothing is left
  // behind, and it is expected no more. Requires: nothing else samples the GPU in this process.
  enum class Begin { kSampled, kGpuInUse, kRefused };  // another process samples it; CUPTI said no
  enum class Times { kAll, kWindows };
  Begin begin(std::uint32_t period, Times times) noexcept;
  [[nodiscard]] CUptiResult refusal() const noexcept { return refusal_; }
  // A window from the first to the second. The very first of a process takes 300 ms, others a tenth of one; to end one takes 4 ms. Sampling is off behind
  // a failure.
  CUptiResult begin_window() noexcept;
  CUptiResult end_window() noexcept;
  // What was sampled since the last time, as far as CUPTI has it. Sampling is off behind a failure.
  CUptiResult take() noexcept;
  // The same, and the rest, which it waits for; sampling is off.
  CUptiResult end() noexcept;
  // The same for a context that is no more behind it; context() is null then.
  CUptiResult leave_context() noexcept;
  // For a context that is no more, or ends while CUPTI can't be asked: what it did not give yet is lost, and its buffers stay with it.
  void lose_context() noexcept;

  // In a forked child.
  void give_gpu_back() noexcept { claim_.give_back(); }

  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  [[nodiscard]] bool is_in_window() const noexcept { return window_.begin != 0 && window_.end == 0; }
  [[nodiscard]] CUcontext context() const noexcept { return context_; }
  [[nodiscard]] PcChunk& chunk() noexcept { return chunk_; }
  // The last window: ns, its end 0 while it lasts; its begin 0 where there was none.
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
  static constexpr std::size_t kMostReasons = 64;       // of a chip; there are 40 on GH100
  static constexpr std::size_t kFetchedPcs = 4'096;     // at a time
  static constexpr std::size_t kRemainingPcs = 16'384;  // that CUPTI hands over when it is switched off

  // A buffer as CUPTI fills it.
  struct Buffer {
    CUpti_PCSamplingData data;
    std::size_t bytes = 0;  // behind data.pPcData
  };
  struct Reason {
    std::uint32_t index = 0;  // CUPTI's
    std::uint32_t id = 0;     // of the dictionary
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

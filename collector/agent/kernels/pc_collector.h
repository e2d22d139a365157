// Collects PC samples of all contexts of the process, and the code that they are of.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/kernels/code_objects.h"
#include "agent/kernels/collector.h"
#include "agent/kernels/functions.h"
#include "agent/kernels/pc_dictionary.h"
#include "agent/kernels/pc_sampler.h"
#include "agent/kernels/turn.h"

namespace lanescope::agent::kernels {

class PcCollector final : public Collector {
 public:
  PcCollector(Host& host, const Functions& functions) noexcept : host_(host), functions_(functions), code_(functions_.get_cubin_crc) {}

  void begin(const Request& request) noexcept override;
  void collect() noexcept override;
  void end() noexcept override;
  void begin_session() noexcept override;
  void process_forked() noexcept override;
  void context_created(CUcontext context) noexcept override;
  void context_ends(CUcontext context) noexcept override;
  void module_loaded(std::span<const std::byte> image) noexcept override;
  void module_unloads(CUcontext context) noexcept override;

 private:
  static constexpr std::size_t kMostContexts = 64;

  [[nodiscard]] std::optional<PcSampler>* find(CUcontext context) noexcept;
  // Whether it is a new one.
  bool add(CUcontext context) noexcept;
  bool add_present_contexts() noexcept;  // likewise, any of them
  // Begins with contexts of GPUs of which none is sampled.
  void sample_free_gpus() noexcept;
  [[nodiscard]] bool is_sampled(std::uint32_t device) const noexcept;
  void take(PcSampler& sampler) noexcept;
  void write(PcSampler& sampler) noexcept;
  void write_code() noexcept;
  void tell(CUptiResult result) noexcept;
  void tell_once(Outcome outcome, const char* sentence) noexcept;

  Host& host_;
  const Functions functions_;
  CodeObjects code_;
  Turn turn_;
  // Guarded by it:
  PcDictionary dictionary_;
  std::optional<PcSampler> samplers_[kMostContexts];
  Request request_;
  bool is_collecting_ = false;
  bool has_told_ = false;
  bool has_told_of_code_ = false;
};

}  // namespace lanescope::agent::kernels

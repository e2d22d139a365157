// Collects PC samples of all contexts of the process, and the code that was sampled.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/kernels/code_objects.h"
#include "agent/kernels/collector.h"
#include "agent/kernels/context_notes.h"
#include "agent/kernels/functions.h"
#include "agent/kernels/pc_dictionary.h"
#include "agent/kernels/pc_sampler.h"
#include "agent/kernels/turn.h"

namespace lanescope::agent::kernels {

class PcCollector final : public Collector {
 public:
  PcCollector(Host& host, const Functions& functions) noexcept : host_(host), functions_(functions), code_(functions_.get_cubin_crc) {}

  void begin(const Request& request) noexcept override;
  std::int64_t collect() noexcept override;
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
  // Returns true if it is new.
  bool add(CUcontext context) noexcept;
  bool add_present_contexts() noexcept;  // likewise; true if any of them is
  // Does the work while launches of the program wait. Returns false, without doing anything, if a launch in progress does not return within `patience` ns.
  template <typename Work>
  bool between_launches(std::int64_t patience, Work work) noexcept;
  // Handles what was noted by threads that did not have the turn.
  void follow_notes() noexcept;
  void lose(PcSampler& sampler) noexcept;
  // Begins to sample contexts on GPUs of which no context is sampled. Requires: launches wait, or none can be in progress.
  void sample_free_gpus() noexcept;
  [[nodiscard]] bool awaits_sampling() const noexcept;  // true if a context of such a GPU waits for it
  // Ends sampling that an earlier recording could not end. Requires the same.
  void end_left_over() noexcept;
  [[nodiscard]] bool is_sampled(std::uint32_t device) const noexcept;
  [[nodiscard]] bool samples_any() const noexcept;
  // Begins or ends a window of all contexts if that is due. Returns the ns until the next look.
  std::int64_t follow_windows() noexcept;
  void begin_window() noexcept;
  void end_window() noexcept;
  void note_put_off() noexcept;  // reports a program that lets no window begin or end for a long time
  void take(PcSampler& sampler) noexcept;
  void write(PcSampler& sampler) noexcept;
  void write_code() noexcept;
  void tell(CUptiResult result) noexcept;
  void tell_once(Outcome outcome, const char* sentence) noexcept;

  Host& host_;
  const Functions functions_;
  CodeObjects code_;
  ContextNotes created_;  // noted without the turn
  ContextNotes ended_;
  Turn turn_;
  // Guarded by turn_:
  PcDictionary dictionary_;
  std::optional<PcSampler> samplers_[kMostContexts];
  Request request_;
  enum class State { kIdle, kCollecting, kInWindow } state_ = State::kIdle;  // kInWindow: collecting, and a window has begun
  std::int64_t window_begun_ = 0;                                            // begin of the last window
  std::int64_t next_change_ = 0;                                             // when a window must begin or end
  std::int64_t put_off_since_ = 0;                                           // since when that has been impossible; 0: it is possible
  bool has_told_ = false;
  bool has_told_of_code_ = false;
};

}  // namespace lanescope::agent::kernels

// Collects PC samples of all contexts of the process, and the code that they are of.
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
  // Whether it is a new one.
  bool add(CUcontext context) noexcept;
  bool add_present_contexts() noexcept;  // likewise, any of them
  // Does the work while the launches of the program wait. False where one that is under way does not come back within so many ns, and nothing was done.
  template <typename Work>
  bool between_launches(std::int64_t patience, Work work) noexcept;
  // What came to be known without the turn.
  void follow_notes() noexcept;
  void lose(PcSampler& sampler) noexcept;
  // Begins with contexts of GPUs of which none is sampled. While launches wait, or none can be under way.
  void sample_free_gpus() noexcept;
  [[nodiscard]] bool awaits_sampling() const noexcept;  // a context of such a GPU does
  // Ends what an earlier recording had to leave on, likewise.
  void end_left_over() noexcept;
  [[nodiscard]] bool is_sampled(std::uint32_t device) const noexcept;
  [[nodiscard]] bool samples_any() const noexcept;
  // Begins or ends a window of all contexts where that is due, and returns in how many ns to look again.
  std::int64_t follow_windows() noexcept;
  void begin_window() noexcept;
  void end_window() noexcept;
  void follow_put_off(bool could_change) noexcept;  // tells of a program that lets no window begin or end for long
  void take(PcSampler& sampler) noexcept;
  void write(PcSampler& sampler) noexcept;
  void write_code() noexcept;
  void tell(CUptiResult result) noexcept;
  void tell_once(Outcome outcome, const char* sentence) noexcept;

  Host& host_;
  const Functions functions_;
  CodeObjects code_;
  ContextNotes created_;  // without the turn
  ContextNotes ended_;
  Turn turn_;
  // Guarded by it:
  PcDictionary dictionary_;
  std::optional<PcSampler> samplers_[kMostContexts];
  Request request_;
  bool is_collecting_ = false;
  bool is_in_window_ = false;
  std::int64_t window_begun_ = 0;   // the last
  std::int64_t next_change_ = 0;    // when one is to begin or to end
  std::int64_t put_off_since_ = 0;  // since when it could not; 0: it could
  bool has_told_ = false;
  bool has_told_of_code_ = false;
};

}  // namespace lanescope::agent::kernels

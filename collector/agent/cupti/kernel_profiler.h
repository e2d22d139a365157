// Records what limits kernels: the agent's side of liblanescope-kernels.so (kernels/collector.h), which is loaded if a recording asks for it.
//
// A fault in a call into the library only ends this collection for the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "agent/cupti/library/injection.h"
#include "agent/cupti/library/library.h"
#include "agent/encode/frame_writer.h"
#include "agent/kernels/collector.h"

namespace lanescope::agent::cupti {

class KernelProfiler final : private kernels::Host {
 public:
  KernelProfiler() noexcept = default;
  KernelProfiler(const KernelProfiler&) = delete;
  KernelProfiler& operator=(const KernelProfiler&) = delete;

  // From here on follows contexts and modules, if the settings ask for any of it; tells the user if that is impossible. May be called any number of times.
  // `functions` outlive *this.
  void watch(const Functions& functions, CUpti_SubscriberHandle subscriber, const channel::Settings& settings, Arrival arrival) noexcept;

  // Called on the agent's own thread, or before it runs. Frames go to `frames`, which must live until end() has returned.
  void begin(const channel::Settings& settings, encode::FrameWriter& frames) noexcept;
  // Hands over what was collected, if that is due.
  void collect(std::int64_t now) noexcept;
  void end() noexcept;
  // Starts another session. Requires: end().
  void begin_session() noexcept;
  // In a forked child; nothing else is called there any more.
  void process_forked() noexcept;
  // ns until collect() is due; `otherwise` if nothing is collected.
  [[nodiscard]] std::int64_t until_due(std::int64_t now, std::int64_t otherwise) const noexcept;

  // CUPTI's callback in the resource domain, on any thread.
  void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& resource) noexcept;

 private:
  void write_frame(std::uint16_t type, std::span<const std::byte> payload) noexcept override;
  [[nodiscard]] std::int64_t event_time(std::int64_t monotonic) const noexcept override;
  void tell(kernels::Outcome outcome, const char* sentence) noexcept override;
  void follow_launches() noexcept override;
  void leave_launches() noexcept override;
  bool hold_launches(std::int64_t patience) noexcept override;
  void let_launches_go() noexcept override;
  void follow_launched_code() noexcept override;

  bool load(const Functions& functions) noexcept;
  template <typename Work>
  void ask(Work work) noexcept;

  std::atomic<kernels::Collector*> collector_{nullptr};
  std::atomic<bool> has_faulted_{false};
  const Functions* functions_ = nullptr;  // null: not watched yet
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool was_tried_ = false;
  bool is_collecting_ = false;
  bool follows_launched_code_ = false;
  Arrival arrival_ = Arrival::kWithDriver;  // at the first watch()
  std::int64_t next_ = 0;
  encode::FrameWriter* frames_ = nullptr;
};

}  // namespace lanescope::agent::cupti

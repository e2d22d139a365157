#include "agent/channel/capture.h"

#include <atomic>
#include <string_view>

#include "agent/channel/membership.h"
#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constexpr std::int64_t kPatience = 10 * kSecond;  // for the host to answer: it may have to end the capture before this one first
constexpr std::int64_t kPause = 100'000;          // ns between checks
constexpr std::string_view kGaveUp =
    "A capture was to begin, and the recorder was not ready for it within 10 s: what the program did from there until it was is missing.";

constinit std::atomic<void (*)()> source{nullptr};

void await_source() noexcept {
  if (auto* follow_settings = source.load(std::memory_order_acquire)) follow_settings();
}

bool is_answered(const channel::SharedHeader& header, std::uint32_t begins) noexcept {
  return static_cast<std::int32_t>(header.settings.capture_answers.load(std::memory_order_acquire) - begins) >= 0;
}

// A session that another one has followed in the meantime answers no more, although the other one is alive.
void await_host(const channel::SharedHeader& header, std::uint32_t begins) noexcept {
  const std::int64_t give_up = monotonic_now() + kPatience;
  while (!is_answered(header, begins) && is_of_session(header) && session_state() != SessionState::kNone) {
    if (monotonic_now() >= give_up) return report(Component::kSession, ComponentState::kFailed, Severity::kWarning, kGaveUp);
    system::sleep(kPause);
  }
}

}  // namespace

void begin_capture(channel::SharedHeader& header, std::uint64_t key) noexcept {
  std::uint64_t none = 0;
  if (!header.status.capture_under_way.compare_exchange_strong(none, key)) return;
  const Quiet quiet;
  const std::uint32_t begins = header.status.capture_begins.fetch_add(1, std::memory_order_acq_rel) + 1;
  await_host(header, begins);
  await_source();
}

void end_capture(channel::SharedHeader& header, std::uint64_t key) noexcept {
  if (header.status.capture_under_way.load(std::memory_order_relaxed) != key) return;
  const Quiet quiet;
  if (!captures_by(header.settings, channel::CaptureTrigger::kHost)) header.settings.recording.store(0, std::memory_order_release);
  await_source();
  header.status.capture_under_way.store(0, std::memory_order_release);
  header.status.capture_ends.fetch_add(1, std::memory_order_acq_rel);
}

void follow_capture() noexcept {
  const Quiet quiet;
  await_source();
}

void end_capture_of_thread(channel::SharedHeader& header, std::uint32_t thread) noexcept {
  const std::uint64_t key = header.status.capture_under_way.load(std::memory_order_relaxed);
  if ((key & kPushedRange) != 0 && (key & ~kPushedRange) >> 32 == thread) end_capture(header, key);
}

void on_capture_change(void (*follow_settings)()) noexcept { source.store(follow_settings, std::memory_order_release); }

}  // namespace lanescope::agent

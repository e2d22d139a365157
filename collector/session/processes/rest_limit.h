// How long records that wait in memory are still written once a recording has ended. What is left then is dropped and counted, because whoever ended the
// recording waits for it. On a busy machine that takes many seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "clock.h"

namespace lanescope::session {

class RestLimit {
 public:
  using Report = std::function<void(const std::string&)>;
  // `patience`: ns from now on. `report` is told once, after a second, that records are still being written.
  RestLimit(std::int64_t patience, Report report) : begin_(monotonic_now()), patience_(patience), report_(std::move(report)) {}

  [[nodiscard]] bool is_over() const { return monotonic_now() - begin_ >= patience_; }
  // `left`: bytes that one process still has.
  void tell(std::uint64_t left) {
    constexpr std::int64_t kQuiet = 1'000'000'000;  // ns
    if (is_told_ || monotonic_now() - begin_ < kQuiet) return;
    is_told_ = true;
    report_("Writing what was recorded until the end: " + std::to_string((left >> 20) + 1) + " MiB of records are left. What is not written " + in_seconds() +
            " after the end is dropped, and counted.");
  }
  [[nodiscard]] std::string in_seconds() const { return std::to_string(patience_ / 1'000'000'000) + " s"; }

 private:
  std::int64_t begin_;
  std::int64_t patience_;
  Report report_;
  bool is_told_ = false;
};

}  // namespace lanescope::session

// How long records that wait in memory are still written once nothing more is added to them. What is left then is dropped and counted.
//
// If somebody has ended the recording, he waits for it, so the time is limited as a whole; on a busy machine much may be left. If the program has ended by
// itself, writing goes on for as long as it makes progress.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "clock.h"

namespace lanescope::session {

// Whether memory is still being emptied. `patience`: ns.
class RestProgress {
 public:
  explicit RestProgress(std::int64_t patience) noexcept : patience_(patience) {}

  // `left`: bytes in memory at `now`. True if less than a mebibyte has left it within the patience, as with a disk that hardly writes. Call it often.
  bool has_stalled(std::uint64_t left, std::int64_t now) noexcept {
    constexpr std::uint64_t kLeast = 1u << 20;
    if (!mark_ || left + kLeast <= mark_->left || left > mark_->left) mark_ = Mark{left, now};
    return now - mark_->time >= patience_;
  }

 private:
  struct Mark {
    std::uint64_t left;
    std::int64_t time;
  };
  std::int64_t patience_;
  std::optional<Mark> mark_;
};

class RestLimit {
 public:
  enum class Kind {
    kWhole,     // the patience holds for everything
    kProgress,  // it holds while there is no progress
  };
  using Report = std::function<void(const std::string&)>;
  // `patience`: ns, from now on. `report` is told once, after a second, that records are still being written.
  RestLimit(Kind kind, std::int64_t patience, Report report)
      : kind_(kind), begin_(monotonic_now()), patience_(patience), progress_(patience), report_(std::move(report)) {}

  // `left`: bytes that are still in memory.
  [[nodiscard]] bool is_over(std::uint64_t left) {
    const std::int64_t now = monotonic_now();
    return kind_ == Kind::kProgress ? progress_.has_stalled(left, now) : now - begin_ >= patience_;
  }
  void tell(std::uint64_t left) {
    constexpr std::int64_t kQuiet = 1'000'000'000;  // ns
    if (is_told_ || monotonic_now() - begin_ < kQuiet) return;
    is_told_ = true;
    report_("Writing what was recorded until the end: " + std::to_string((left >> 20) + 1) + " MiB of records are left. " +
            (kind_ == Kind::kProgress ? "If hardly anything is written for " + in_seconds() + ", the rest is dropped, and counted."
                                      : "What is not written " + in_seconds() + " after the end is dropped, and counted."));
  }
  // The end of a sentence that says that records could not be written.
  [[nodiscard]] std::string in_words() const {
    return kind_ == Kind::kProgress ? "because hardly anything was written for " + in_seconds() : "within " + in_seconds() + " after the end of the recording";
  }

 private:
  [[nodiscard]] std::string in_seconds() const { return std::to_string(patience_ / 1'000'000'000) + " s"; }

  Kind kind_;
  std::int64_t begin_;
  std::int64_t patience_;
  RestProgress progress_;
  Report report_;
  bool is_told_ = false;
};

}  // namespace lanescope::session

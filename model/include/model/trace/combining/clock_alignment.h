// How the clocks of several recordings relate to each other, so that they can be one trace (combine.h).
//
// Recordings of one boot of a machine have one clock. Recordings of several machines are aligned by collectives that their ranks have in common: NCCL's
// kernels of one collective end on all ranks at nearly the same moment, whenever each of them started. If there are no such collectives, they are
// aligned by the time of day, as precisely as the machines are synchronized. If the time of day is not known either, their first events are taken to
// start together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/trace/combining/clock_line.h"
#include "model/trace/trace.h"

namespace lanescope {

// How the times of one recording were put on the clock of another.
enum class ClockSource : std::uint8_t {
  kSameClock,    // they have the same clock
  kCollectives,  // by the ends of collectives in which both took part
  kTimeOfDay,
  kFirstEvents,  // unknown: their first events are drawn together
};
struct ClockAlignment {
  ClockLine clock;  // from times of the one to times of the other
  ClockSource by = ClockSource::kSameClock;
  std::uint32_t collectives = 0;  // kCollectives: how many were used
  Nanoseconds spread = 0;         // kCollectives: the median of their distances from the line
  bool operator==(const ClockAlignment&) const = default;
};

// The shift of the second trace with which equal times of day coincide; nothing if one of the two does not know its time of day.
[[nodiscard]] std::optional<Nanoseconds> shift_by_utc(const Trace& first, const Trace& second) noexcept;
// The shift with which their first events start together.
[[nodiscard]] Nanoseconds shift_by_start(const Trace& first, const Trace& second) noexcept;
// The shift with which one machine's clock reads the same; nothing unless they are known to be of one boot.
[[nodiscard]] std::optional<Nanoseconds> shift_by_boot(const Trace& first, const Trace& second) noexcept;

// For each trace, the line from its times to times of the first trace. Each trace is aligned with the first one, or with another that has been aligned,
// by one machine's clock or else by collectives. If neither is possible, it is aligned with the first by the time of day or else by first events.
// Returns an empty vector if asked to stop. Requires: at least one trace, none null.
[[nodiscard]] std::vector<ClockAlignment> align_clocks(std::span<const std::shared_ptr<const Trace>> traces, const std::stop_token& stop = {});
// The same without a look at any event, and so at once: as if no two traces had collectives in common.
[[nodiscard]] std::vector<ClockAlignment> align_clocks_at_once(std::span<const std::shared_ptr<const Trace>> traces);
// As sentences: "The clock of rank1.trace was set by 84 collectives in common with others, to within 4.0 us.", followed by "It runs 1.250 ppm slower."
// if it drifts. Empty for kSameClock.
[[nodiscard]] std::string alignment_sentence(const std::string& name, const ClockAlignment& alignment);

}  // namespace lanescope

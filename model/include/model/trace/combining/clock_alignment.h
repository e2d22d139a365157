// How the clocks of several recordings stand to each other, so that they can be one trace (combine.h).
//
// Recordings of one boot of a machine have one clock. Those of several machines are set to each other by collectives that their ranks have
// in common: NCCL's kernels of one collective end on all ranks at nearly the same moment, whenever each of them began. Where there are no
// such collectives, the time of day says it, to what the machines' synchronization is worth; where that is not known either, first events
// are taken to begin together.
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

// How it is known when the times of one recording were, on the clock of another.
enum class ClockSource : std::uint8_t {
  kSameClock,    // they have one
  kCollectives,  // by the ends of collectives that both took part in
  kTimeOfDay,
  kFirstEvents,  // it is not known: their first events are drawn together
};
struct ClockAlignment {
  ClockLine clock;  // from times of the one to times of the other
  ClockSource by = ClockSource::kSameClock;
  std::uint32_t collectives = 0;  // kCollectives: how many said so
  Nanoseconds spread = 0;         // and the median of how far each is from the line
  bool operator==(const ClockAlignment&) const = default;
};

// What the second trace must be shifted by so that equal times of day coincide; none where one of the two does not know its own.
[[nodiscard]] std::optional<Nanoseconds> shift_by_utc(const Trace& first, const Trace& second) noexcept;
// So that their first events begin together.
[[nodiscard]] Nanoseconds shift_by_start(const Trace& first, const Trace& second) noexcept;
// So that one machine's clock reads the same; none where they are not known to be of one boot.
[[nodiscard]] std::optional<Nanoseconds> shift_by_boot(const Trace& first, const Trace& second) noexcept;
// So that the ends of collectives coincide, as well as they can: they say by how much the second's clock is off, and how fast it runs.
//
// The line is fitted to medians of windows of 10 s, of short recordings to those of quarters, by least squares with Huber's weights, as
// docs/fleets.md says. Where it does not say more than noise of the ends does, the median of all is the answer, and no drift. None where fewer
// than three are in common: they are matched by NCCL's id of the communicator and by how many came before, which takes recordings from the
// communicator's begin on, with NCCL's NVTX ranges. O(n log n) of these ranges and of the
// calls within them.
[[nodiscard]] std::optional<ClockAlignment> clock_by_collectives(const Trace& first, const Trace& second);

// For each trace what makes times of the first of its times: from the first or another that has been set, by one machine's clock
// or else by collectives; where neither can be, by the time of day or else by first events, from the first. None at all when asked to stop. Requires: at least
// one trace, none null.
[[nodiscard]] std::vector<ClockAlignment> align_clocks(std::span<const std::shared_ptr<const Trace>> traces, const std::stop_token& stop = {});
// The same without a look at any event, and so at once: as where no two have collectives in common.
[[nodiscard]] std::vector<ClockAlignment> align_clocks_at_once(std::span<const std::shared_ptr<const Trace>> traces);
// In one sentence: "The clock of rank1.trace was set by 84 collectives in common with others, to within 4.0 us." With
// "It runs 1.250 ppm slower." where it drifts. Empty for kSameClock.
[[nodiscard]] std::string alignment_sentence(const std::string& name, const ClockAlignment& alignment);

}  // namespace lanescope

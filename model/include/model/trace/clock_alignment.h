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
  Nanoseconds shift = 0;  // what is to be added to times of the one for times of the other
  ClockSource by = ClockSource::kSameClock;
  std::uint32_t collectives = 0;  // kCollectives: how many said so
  Nanoseconds spread = 0;         // and the median of how far each is from the shift
  bool operator==(const ClockAlignment&) const = default;
};

// What the second trace must be shifted by so that equal times of day coincide; none where one of the two does not know its own.
[[nodiscard]] std::optional<Nanoseconds> shift_by_utc(const Trace& first, const Trace& second) noexcept;
// So that their first events begin together.
[[nodiscard]] Nanoseconds shift_by_start(const Trace& first, const Trace& second) noexcept;
// So that one machine's clock reads the same; none where they are not known to be of one boot.
[[nodiscard]] std::optional<Nanoseconds> shift_by_boot(const Trace& first, const Trace& second) noexcept;
// So that the ends of collectives coincide: the median over those that both have, with the median distance from it. None where fewer than
// three are in common, or where they contradict each other by more than 200 us: they are matched by NCCL's id of the communicator and by how
// many came before, which takes recordings from the communicator's begin on, with NCCL's NVTX ranges. O(n log n) of these ranges and of the
// calls within them.
[[nodiscard]] std::optional<ClockAlignment> shift_by_collectives(const Trace& first, const Trace& second);

// For each trace what its times must be shifted by to be times of the first: from the first or another that has been set, by one machine's clock
// or else by collectives; where neither can be, by the time of day or else by first events, from the first. None at all when asked to stop. Requires: at least
// one trace, none null.
[[nodiscard]] std::vector<ClockAlignment> align_clocks(std::span<const std::shared_ptr<const Trace>> traces, const std::stop_token& stop = {});
// In one sentence: "The clock of rank1.trace was set by 84 collectives in common with others, to within 4.0 us." Empty for kSameClock.
[[nodiscard]] std::string alignment_sentence(const std::string& name, const ClockAlignment& alignment);

}  // namespace lanescope

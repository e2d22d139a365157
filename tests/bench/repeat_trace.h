// Makes large traces out of recorded ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "model/file/result.h"

namespace lanescope::bench {

// Writes the events of `sources` repeatedly along time to `output`, until there are at least `events`. Every round after the first shortens durations by up
// to a tenth and exchanges one name in ten with a neighbour's, so that rounds differ as real iterations do. Correlation ids continue, so that launches and
// GPU work stay paired. Works on all cores, and holds a round for each. Up to 100 million events get an outline. Returns the number of events written.
Result<std::uint64_t> repeat_trace(const std::vector<std::filesystem::path>& sources, std::uint64_t events, const std::filesystem::path& output);

}  // namespace lanescope::bench

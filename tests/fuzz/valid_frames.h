// Valid frames: one of every type, with events of every kind.
#pragma once

#include <vector>

#include "frame_sequence.h"

namespace lanescope::fuzz {

// The start of a recording: its processes, and what events refer to.
[[nodiscard]] std::vector<Frame> first_frames();
// Frames of events: one of each kind that a chunk can hold.
[[nodiscard]] std::vector<Frame> event_frames();
// What follows events: names of code, counters, output, ends of processes and of the session, the outline.
[[nodiscard]] std::vector<Frame> last_frames();
// What a compacted file has instead of events: tables, and a segment of a track of each kind.
std::vector<Frame> compacted_frames();

}  // namespace lanescope::fuzz

// Kinds of events whose names we give. The names of all other events are those of the program or of NVIDIA's libraries and are never translated.
#pragma once

#include "model/events/event_column.h"
#include "model/trace/trace.h"

namespace lanescope::timeline {

// True if the names are translated where they are shown: "Running", "Context synchronization", "CUPTI buffer flush". Exports have them in English.
[[nodiscard]] constexpr bool has_given_names(TrackKind kind) noexcept {
  return kind == TrackKind::kThreadStates || kind == TrackKind::kSynchronizations || kind == TrackKind::kOverhead;
}
[[nodiscard]] constexpr bool has_given_names(EventKind kind) noexcept {
  return kind == EventKind::kThreadState || kind == EventKind::kSynchronization || kind == EventKind::kOverhead;
}

}  // namespace lanescope::timeline

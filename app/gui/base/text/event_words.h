// What is known of an event now, in the words of the timeline.
#pragma once

#include <vector>

#include "base/state/selection_state.h"
#include "timeline/core/words/describe.h"

namespace lanescope::ui {

// As describe_event(); an event that is still open is described up to the present time. Requires: an event of the shown trace.
[[nodiscard]] std::vector<timeline::Property> words_of_event(const SelectionState& state, EventRef event);

}  // namespace lanescope::ui

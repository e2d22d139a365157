#include "base/text/event_words.h"

namespace lanescope::ui {

std::vector<timeline::Property> words_of_event(const SelectionState& state, EventRef event) {
  const std::optional<Nanoseconds> now = state.openAt(event);
  return now ? timeline::describe_open_event(*state.trace(), event, *now) : timeline::describe_event(*state.trace(), event);
}

}  // namespace lanescope::ui

// Tooltips: facts about an event, or about a column in which many events share a pixel.
#pragma once

#include <optional>

#include <QString>

#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/rows/answer_row.h"

namespace lanescope::timeline {

// The first is for an open event. `waited`: for the kernel of a collective, the time in which it waited for another rank.
[[nodiscard]] QString open_tool_tip(const Trace& trace, EventRef event, Nanoseconds now);
[[nodiscard]] QString event_tool_tip(const Trace& trace, EventRef event, std::optional<TimeRange> waited);
// For a counter in the time of one pixel.
[[nodiscard]] QString counter_tool_tip(const Trace& trace, CounterId counter, TimeRange pixel);
[[nodiscard]] QString gap_tool_tip(const IdleTime& idle, const Gap& gap);
// For a call of a stack chart, by its first sample.
[[nodiscard]] QString call_tool_tip(const Trace& trace, EventRef first_sample, const Event& call);
// For a range of an answer, or a pixel with many ranges; `length`: of the pixel, in ns. Empty if there is none.
[[nodiscard]] QString answer_tool_tip(const AnswerRow& answer, const PixelHit& pixel, double length);
// `length`: of the column, in ns.
[[nodiscard]] QString column_tool_tip(const Trace& trace, const Column& column, double length, std::size_t sharers);

}  // namespace lanescope::timeline

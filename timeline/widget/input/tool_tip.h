// Tooltips: what is known of an event, or of a column in which many events share a pixel.
#pragma once

#include <optional>

#include <QString>

#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/rows/answer_row.h"

namespace lanescope::timeline {

// `waited`: of the kernel of a collective, when it waited for another rank.
[[nodiscard]] QString event_tool_tip(const Trace& trace, EventRef event, std::optional<TimeRange> waited);
// Of a counter in the time of one pixel.
[[nodiscard]] QString counter_tool_tip(const Trace& trace, CounterId counter, TimeRange pixel);
[[nodiscard]] QString gap_tool_tip(const IdleTime& idle, const Gap& gap);
// Of a call of a stack chart, by its first sample.
[[nodiscard]] QString call_tool_tip(const Trace& trace, EventRef first_sample, const Event& call);
// Of a range of an answer, or of a pixel with many; `length`: of the pixel, in ns. Empty where there is none.
[[nodiscard]] QString answer_tool_tip(const AnswerRow& answer, const PixelHit& pixel, double length);
// `length`: of the column, in ns.
[[nodiscard]] QString column_tool_tip(const Trace& trace, const Column& column, double length, std::size_t sharers);

}  // namespace lanescope::timeline

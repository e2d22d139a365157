// The timeline as a picture in a file.
#pragma once

#include <memory>

#include <QString>

#include "export/exports.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

// What writes it: PNG as the timeline is seen now, at `scale` device pixels a logical one; where the path ends in .svg, SVG of the rows that are in
// sight. Empty where there is not enough memory for so many pixels. `idle`, `communication`: null where they are not known.
[[nodiscard]] Exports::Write picture_writer(timeline::TimelineView& view, const std::shared_ptr<const timeline::IdleTime>& idle,
                                            const std::shared_ptr<const timeline::CommunicationTime>& communication, const QString& path, double scale);

}  // namespace lanescope::ui

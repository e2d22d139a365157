// Writes the timeline as a picture file.
#pragma once

#include <memory>

#include <QString>

#include "export/exports.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

// Returns the function that writes the file: PNG of the timeline as it is seen now, at `scale` device pixels per logical pixel; if the path ends in .svg, SVG
// of the rows in sight. Empty if there is not enough memory for so many pixels. `idle`, `communication`: null if not known.
[[nodiscard]] Exports::Write picture_writer(timeline::TimelineView& view, const std::shared_ptr<const timeline::IdleTime>& idle,
                                            const std::shared_ptr<const timeline::CommunicationTime>& communication, const QString& path, double scale);

}  // namespace lanescope::ui

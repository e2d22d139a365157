// The timeline as a picture in a file.
#pragma once

#include <memory>

#include <QString>

#include "timeline/core/idle_time.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

// What the ending of the path says: SVG of the rows that say most of what is visible; else PNG, as the timeline is seen. Empty,
// or a sentence that says why not. `idle`, `communication`: null where they are not known.
[[nodiscard]] QString save_picture(timeline::TimelineView& view, const std::shared_ptr<const Trace>& trace,
                                   const std::shared_ptr<const timeline::IdleTime>& idle,
                                   const std::shared_ptr<const timeline::CommunicationTime>& communication, const QString& path);

}  // namespace lanescope::ui

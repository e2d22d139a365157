// A recording on another machine, or on several, whose local copies are drawn as they grow.
#pragma once

#include <functional>
#include <string_view>

#include "loading/recording_source.h"
#include "record/remote_settings.h"

namespace lanescope::ui {

// Returns at once: problems with the connection are reported by messages and the outcome. If there are several files or several machines, the first is drawn.
// Fails with one sentence if the settings make no sense. `outlines` takes outlines of what is drawn (trace_of_outline) while its copy is far behind. It is
// called as the sink is.
[[nodiscard]] Result<std::unique_ptr<RecordingSource>> remote_source(const RemoteSettings& settings, session::FrameSink sink,
                                                                     std::function<void(std::string_view frames)> outlines);

}  // namespace lanescope::ui

// A recording on another machine, or the same on several, whose copies here are drawn as they grow.
#pragma once

#include "loading/recording_source.h"
#include "record/remote_settings.h"

namespace lanescope::ui {

// Returns at once: what the link comes to is told by messages and the outcome. Of several files that are made there, and of several machines, the first is
// drawn. Fails with one sentence where what is asked for makes no sense.
[[nodiscard]] Result<std::unique_ptr<RecordingSource>> remote_source(const RemoteSettings& settings, session::FrameSink sink);

}  // namespace lanescope::ui

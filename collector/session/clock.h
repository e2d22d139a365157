// The clocks of a recording.
#pragma once

#include "collector/channel/clock.h"

namespace lanescope::session {

using channel::monotonic_now;
using channel::realtime_now;

}  // namespace lanescope::session

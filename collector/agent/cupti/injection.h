// The agent as a CUPTI client.
#pragma once

namespace lanescope::agent::cupti {

// Starts to record GPU activity, where there is a session that wants it: returns once CUPTI is on, so that nothing which follows is missed.
// What can't be had is reported to the user; the target runs on in any case. Any thread; only the first call counts.
void inject() noexcept;

}  // namespace lanescope::agent::cupti

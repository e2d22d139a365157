// Texts about CUPTI for the user.
#pragma once

#include <cstdint>
#include <cstdio>

#include "agent/channel/membership.h"

namespace lanescope::agent::cupti {

inline constexpr const char* kFaultedBefore =
    "GPU activity is not recorded: CUPTI faulted in an earlier recording of this process. Start the program anew to record it.";

// "CUPTI 13.0" for 130000 and for 130001; CUPTI of CUDA 12 has version numbers of its own.
inline void describe_cupti(std::uint32_t version, char (&text)[48]) noexcept {
  if (version >= 100'000)
    std::snprintf(text, sizeof(text), "CUPTI %u.%u", version / 10'000, version % 10'000 / 100);
  else
    std::snprintf(text, sizeof(text), "CUPTI of CUDA 12 (API version %u)", version);
}

// One sentence, formatted as by std::snprintf; at most 511 bytes.
template <typename... Arguments>
void tell(DiagnosticKind kind, ComponentState state, Severity severity, const char* format, Arguments... arguments) noexcept {
  char text[512];
  std::snprintf(text, sizeof(text), format, arguments...);
  report(Component::kCupti, state, severity, text, kind);
}
template <typename... Arguments>
void tell(ComponentState state, Severity severity, const char* format, Arguments... arguments) noexcept {
  tell(DiagnosticKind::kOther, state, severity, format, arguments...);
}

}  // namespace lanescope::agent::cupti

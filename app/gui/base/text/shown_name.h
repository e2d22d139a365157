// Names as lists have them.
#pragma once

#include <QString>

#include "model/events/event_query.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

// Kernels without namespaces and parameters, which are told apart by what is left; CUDA calls without their versions. Other names are
// whole.
[[nodiscard]] QString shown_name(const Trace& trace, EventKind kind, NameId name);

}  // namespace lanescope::ui

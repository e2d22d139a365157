// Names as lists show them.
#pragma once

#include <QString>

#include "model/events/event_query.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

// Kernels without return types, parameters and namespaces (timeline::compact_kernel_name()), CUDA calls without their versions; names that we give
// (timeline::has_given_names()) in the language of the viewer. Other names are shown whole.
[[nodiscard]] QString shown_name(const Trace& trace, EventKind kind, NameId name);

}  // namespace lanescope::ui

#include "base/text/shown_name.h"

#include "timeline/core/words/describe.h"
#include "timeline/core/words/given_names.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {

QString shown_name(const Trace& trace, EventKind kind, NameId name) {
  const std::string_view whole = trace.name(name);
  if (kind == EventKind::kKernel) return QString::fromStdString(timeline::compact_kernel_name(whole));
  if (timeline::has_given_names(kind)) return shown_text(whole);
  const std::string_view shown = kind == EventKind::kCudaApi ? api_display_name(whole) : whole;
  return QString::fromUtf8(shown.data(), static_cast<qsizetype>(shown.size()));
}

}  // namespace lanescope::ui

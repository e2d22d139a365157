#include "window/docks/telling_panel.h"

#include <algorithm>

namespace lanescope::ui {
namespace {

bool has_events(const Trace& trace, bool (*of)(TrackKind)) {
  return std::any_of(trace.tracks().begin(), trace.tracks().end(), [&](const Track& track) {
    return of(track.key.kind) && std::any_of(track.lanes.begin(), track.lanes.end(), [&](LaneId lane) { return trace.lane(lane).size() > 0; });
  });
}

// Other panels say something about every trace, or what to do.
bool tells(const QString& panel, const Trace& trace) {
  if (panel == u"bubbles") return has_events(trace, [](TrackKind kind) { return is_gpu_work(kind); });
  if (panel == u"kernel" || panel == u"source") return has_events(trace, [](TrackKind kind) { return kind == TrackKind::kKernels; });
  if (panel == u"samples") return has_events(trace, [](TrackKind kind) { return kind == TrackKind::kCpuSamples; });
  return true;
}

}  // namespace

void TellingPanel::showFor(const Trace& trace) {
  QString own = docks_.isInFront(stand_in_) ? usual_ : QString();
  for (const char* panel : {"bubbles", "kernel", "source"})
    if (docks_.isInFront(QLatin1String(panel))) own = QLatin1String(panel);
  usual_.clear();
  stand_in_.clear();
  if (own.isEmpty()) return;  // the user has chosen another one
  const QString wanted = tells(own, trace) ? own : standInFor(own, trace);
  docks_.raise(wanted);
  if (wanted == own) return;
  usual_ = own;
  stand_in_ = wanted;
}

void TellingPanel::giveBack() {
  if (docks_.isInFront(stand_in_)) docks_.raise(usual_);
}

QString TellingPanel::standInFor(const QString& silent, const Trace& trace) const {
  for (const char* panel : {"samples", "events", "statistics", "findings"})
    if (docks_.isBesideInTabs(silent, QLatin1String(panel)) && tells(QLatin1String(panel), trace)) return QLatin1String(panel);
  return silent;
}

}  // namespace lanescope::ui

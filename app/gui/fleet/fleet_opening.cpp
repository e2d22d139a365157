#include "fleet/fleet_opening.h"

#include <utility>

#include <QFileInfo>

#include "analysis/place.h"

namespace lanescope::ui {

FleetOpening::FleetOpening(SessionController& session, SelectionState& state, QObject* parent) : QObject(parent), session_(session), state_(state) {
  connect(&session_, &SessionController::opened, this, &FleetOpening::showOpened);
  connect(&session_, &SessionController::openedBeside, this, &FleetOpening::alignOpened);
  connect(&session_, &SessionController::failed, this, [this] { waiting_.clear(); });
}

void FleetOpening::open(std::vector<FleetPlace> places) {
  waiting_ = std::move(places);
  const QStringList all = files();
  emit wished({WishKind::kOpen, all.first(), all.size() > 2 ? all.mid(1) : QStringList()});
}

// Ranks of the same recording are opened together.
QStringList FleetOpening::files() const {
  QStringList all;
  for (const FleetPlace& place : waiting_) all += place.file;
  all.removeDuplicates();
  return all;
}

// The second file is requested when the first is open: if a recording is running, the user is asked only once what becomes of it.
void FleetOpening::showOpened(const QString& path) {
  if (waiting_.empty()) return;
  if (path != waiting_.front().file) return waiting_.clear();
  if (const QStringList all = files(); all.size() == 2) return emit wished({WishKind::kOpenBeside, all[1]});
  TimeRange time = std::exchange(waiting_, {}).front().at.time;
  const std::string name = QFileInfo(path).fileName().toStdString();
  for (const TracePart& part : state_.trace()->parts())
    if (part.label == name || part.label.ends_with("  " + name)) time = part.clock(time);
  show_place(state_, time, {});
}

void FleetOpening::alignOpened(const QString& path) {
  std::vector<FleetPlace> places = std::exchange(waiting_, {});
  std::erase_if(places, [&](const FleetPlace& each) { return &each != &places.front() && each.file == places.front().file; });
  TracePair& pair = session_.pair();
  if (places.size() < 2 || pair.first().path != places[0].file || path != places[1].file) return;
  // Times correspond if they are equal after both are shifted to the fleet's axis.
  const TimeRange first = places[0].at.time;
  const Nanoseconds begin = first.begin + places[0].at.shift - places[1].at.shift;
  pair.alignPlaces({first, {begin, begin + first.length()}, {}});
}

}  // namespace lanescope::ui

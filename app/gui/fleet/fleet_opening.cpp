#include "fleet/fleet_opening.h"

#include <utility>

#include "analysis/place.h"

namespace lanescope::ui {

FleetOpening::FleetOpening(SessionController& session, SelectionState& state, QObject* parent) : QObject(parent), session_(session), state_(state) {
  connect(&session_, &SessionController::opened, this, &FleetOpening::showOpened);
  connect(&session_, &SessionController::openedBeside, this, &FleetOpening::alignOpened);
  connect(&session_, &SessionController::failed, this, [this] { waiting_.clear(); });
}

void FleetOpening::open(std::vector<FleetPlace> places) {
  // Ranks of one recording are there together.
  if (places.size() > 1 && places[0].file == places[1].file) places.pop_back();
  waiting_ = std::move(places);
  session_.wish({WishKind::kOpen, waiting_.front().file});
}

// The second one is wished for once the first is there: where a recording runs, the user is asked once what becomes of it.
void FleetOpening::showOpened(const QString& path) {
  if (waiting_.empty()) return;
  if (path != waiting_.front().file) return waiting_.clear();
  if (waiting_.size() > 1) return session_.wish({WishKind::kOpenBeside, waiting_[1].file});
  show_place(state_, std::exchange(waiting_, {}).front().at.time, {});
}

void FleetOpening::alignOpened(const QString& path) {
  const std::vector<FleetPlace> places = std::exchange(waiting_, {});
  TracePair& pair = session_.pair();
  if (places.size() < 2 || pair.first().path != places[0].file || path != places[1].file) return;
  // Times are equal where they are once both are shifted onto the fleet's axis.
  const TimeRange first = places[0].at.time;
  const Nanoseconds begin = first.begin + places[0].at.shift - places[1].at.shift;
  pair.alignPlaces({first, {begin, begin + first.length()}, {}});
}

}  // namespace lanescope::ui

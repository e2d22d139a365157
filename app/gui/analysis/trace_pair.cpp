#include "analysis/trace_pair.h"

#include <array>
#include <utility>

#include <QFileInfo>

#include "model/trace/combining/clock_alignment.h"
#include "model/trace/combining/combine.h"

namespace lanescope::ui {

QString TracePair::Side::name() const { return QFileInfo(path).fileName(); }

EventRef TracePair::Side::behind(EventRef event) const {
  if (event.valid()) event.lane += static_cast<LaneId>(trace->lanes().size());  // its lanes follow those of this trace
  return event;
}

TracePair::TracePair(QObject* parent) : QObject(parent) {}

bool TracePair::knowsUtc() const { return isOpen() && shift_by_utc(*first_.trace, *second_.trace).has_value(); }

void TracePair::open(Side first, Side second) {
  first_ = std::move(first);
  second_ = std::move(second);
  place_ = std::nullopt;
  alignInitially();
  emit sidesChanged();
  emit alignmentChanged();
  is_swapped_ = false;
  combine();
}

void TracePair::close() {
  if (!isOpen()) return;
  is_swapped_ = false;
  job_.cancel();
  first_ = second_ = {};
  emit sidesChanged();
}

void TracePair::swap() {
  std::swap(first_, second_);
  shift_ = -shift_;
  emit sidesChanged();
  emit alignmentChanged();
  is_swapped_ = !is_swapped_;
  combine();
}

void TracePair::alignInitially() {
  alignment_ = Alignment::kStart;
  shift_ = shift_by_start(*first_.trace, *second_.trace);
  const std::optional<Nanoseconds> utc = shift_by_utc(*first_.trace, *second_.trace);
  if (!utc) return;
  const TimeRange extent = second_.trace->scope();
  if (first_.trace->scope().intersected({extent.begin + *utc, extent.end + *utc}).empty()) return;
  alignment_ = Alignment::kUtc;
  shift_ = *utc;
}

void TracePair::alignByStart() { align(Alignment::kStart, shift_by_start(*first_.trace, *second_.trace)); }
void TracePair::alignByUtc() { align(Alignment::kUtc, *shift_by_utc(*first_.trace, *second_.trace)); }
void TracePair::setShift(Nanoseconds shift) { align(Alignment::kHand, shift); }

void TracePair::alignPlaces(const Place& place) {
  place_ = place;
  align(Alignment::kPlace, place.first.begin - place.second.begin);
}

void TracePair::reset() {
  alignInitially();
  align(alignment_, shift_);
}

void TracePair::align(Alignment alignment, Nanoseconds shift) {
  alignment_ = alignment;
  shift_ = shift;
  emit alignmentChanged();
  combine();
}

void TracePair::combine() {
  const TraceChange change = is_swapped_ ? TraceChange::kOther : TraceChange::kSnapshot;
  const auto source = [](const Side& side, std::string run, Nanoseconds shift) {
    TraceSource one{side.trace, run + "  " + side.name().toStdString(), shift};
    one.run = std::move(run);
    return one;
  };
  const std::array sources = {source(first_, "A", 0), source(second_, "B", shift_)};
  job_.start([this, sources, change](const LatestJob::Context& job) {
    std::shared_ptr<const Trace> trace = combine_traces(sources, job.stop());
    if (!trace) return;
    job.deliver([this, trace = std::move(trace), change] {
      is_swapped_ = false;
      emit combined(trace, change);
      if (!place_) return;
      const Place place = *std::exchange(place_, std::nullopt);
      emit placed({place.first.begin, place.first.begin + std::max(place.first.length(), place.second.length())}, place.event, place.gap);
    });
  });
}

}  // namespace lanescope::ui

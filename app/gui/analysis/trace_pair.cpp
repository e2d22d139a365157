#include "analysis/trace_pair.h"

#include <array>
#include <utility>

#include <QFileInfo>

#include "model/analysis/loop/loop_shift.h"
#include "model/trace/combining/clock_alignment.h"
#include "model/trace/combining/combine.h"
#include "model/trace/segments/demanded_segments.h"

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
  const bool have_memory = has_memory_for_events(*first_.trace) && has_memory_for_events(*second_.trace);
  loop_search_ = have_memory ? LoopSearch::kIfAny : LoopSearch::kNone;
  const std::optional<Nanoseconds> utc = shift_by_utc(*first_.trace, *second_.trace);
  if (!utc) return;
  const TimeRange extent = second_.trace->scope();
  if (first_.trace->scope().intersected({extent.begin + *utc, extent.end + *utc}).empty()) return;
  loop_search_ = LoopSearch::kNone;
  alignment_ = Alignment::kUtc;
  shift_ = *utc;
}

void TracePair::alignByLoop() {
  loop_search_ = LoopSearch::kWished;
  combine();
}

void TracePair::alignByLoopFound(std::optional<Nanoseconds> shift) {
  const LoopSearch search = std::exchange(loop_search_, LoopSearch::kNone);
  if (search == LoopSearch::kNone) return;
  if (shift) {
    alignment_ = Alignment::kLoop;
    shift_ = *shift;
  }
  emit alignmentChanged();
  if (!shift && search == LoopSearch::kWished) emit lacksLoop();
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
  emit alignmentChanged();
  combine();
}

void TracePair::align(Alignment alignment, Nanoseconds shift) {
  loop_search_ = LoopSearch::kNone;
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
  const std::array wished = {source(first_, "A", 0), source(second_, "B", shift_)};
  job_.start([this, wished, change, search = loop_search_](const LatestJob::Context& job) {
    std::array<TraceSource, 2> sources = wished;
    std::optional<Nanoseconds> by_loop;
    if (search != LoopSearch::kNone) by_loop = analysis::shift_by_loop(*sources[0].trace, *sources[1].trace);
    if (by_loop) sources[1].clock = *by_loop;
    std::shared_ptr<const Trace> trace = combine_traces(sources, job.stop());
    if (!trace) return;
    job.deliver([this, trace = std::move(trace), change, by_loop] {
      alignByLoopFound(by_loop);
      is_swapped_ = false;
      emit combined(trace, change);
      if (!place_) return;
      const Place place = *std::exchange(place_, std::nullopt);
      emit placed({place.first.begin, place.first.begin + std::max(place.first.length(), place.second.length())}, place.event, place.gap);
    });
  });
}

}  // namespace lanescope::ui

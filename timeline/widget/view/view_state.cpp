#include "view/view_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "input/edits.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/trace_builder.h"
#include "timeline/core/parallel.h"
#include "timeline/widget/surely.h"

namespace lanescope::timeline {
namespace {

// A loop with some room on both sides.
TimeRange with_room(TimeRange loop) {
  constexpr double kMargin = 0.02;  // of the loop, on each side
  return padded(loop, kMargin);
}

constexpr std::uint64_t kProjectedAtOnce = 4'000'000;  // events that can be processed in some tens of milliseconds
constexpr int kPausePerProjecting = 9;                 // as a multiple of the time that it takes
constexpr int kQuietBeforeCompletion = 600;            // ms without another part of a file that is being loaded

// NVTX ranges on the GPUs of a large trace are computed after it is shown.
Projecting projecting_at_once(const Trace& trace) { return trace.event_count() <= kProjectedAtOnce ? Projecting::kWhenAsked : Projecting::kAsBefore; }

// Rows that only group others are as high as their text.
RowMetrics scaled(RowMetrics rows, double scale) {
  for (std::int32_t* height : {&rows.level_height, &rows.stacked_height, &rows.counter_height})
    *height = static_cast<std::int32_t>(std::lround(*height * scale));
  return rows;
}

std::shared_ptr<const Trace> empty_trace() {
  TraceBuilder builder;
  return builder.snapshot();
}

}  // namespace

ViewState::ViewState(Selection& selection, QObject* parent)
    : QObject(parent), content_(std::make_unique<ViewContent>(empty_trace())), history_(range_), selection_(selection) {
  other_thread_.setMaxThreadCount(1);
  matching_thread_.setMaxThreadCount(1);
  completion_.setSingleShot(true);
  completion_.setInterval(kQuietBeforeCompletion);
  connect(&completion_, &QTimer::timeout, this, [this] {
    next_projection_ = {};
    if (!making_ready_) makeReady(tracePointer());
  });
  connect(&selection_, &Selection::eventChanged, this, [this] {
    correlate();
    emit selectionChanged();
  });
  connect(&selection_, &Selection::rangeChanged, this, &ViewState::selectedRangeChanged);
  connect(&selection_, &Selection::gapChanged, this, &ViewState::selectedGapChanged);
  connect(&selection_, &Selection::hoveredChanged, this, &ViewState::hoverChanged);
}

ViewState::~ViewState() {
  stop_refining_.request_stop();
  stop_matching_.request_stop();
  matching_thread_.waitForDone();
  other_thread_.waitForDone();
}

std::unique_ptr<ViewContent> ViewState::adopt(std::unique_ptr<ViewContent> content) {
  std::unique_ptr<ViewContent> before = std::exchange(content_, std::move(content));
  ++times_adopted_;
  ready_.reset();
  retired_.reset();
  completion_.stop();
  if (content_->has_pictures_of(*before)) {
    content_->continue_pictures(*before);
  } else {
    ++times_changed_;
    stop_refining_.request_stop();
  }
  wanted_.clear();  // the next painting requests them again
  wanted_sums_.clear();
  making_sums_.clear();  // they are forgotten, because rows may have changed
  wanted_counters_.clear();
  making_counters_.clear();  // likewise
  if (!content_->is_on_demand()) coarse_rows_ = coarse_overview_ = coarse_counters_ = false;
  if (content_->continues()) {
    content_->contents().take_over(before->contents());
    matches_.grow(tracePointer());
  } else {
    matches_ = {};
  }
  placeAnswer();
  layOut();
  if (!content_->continues()) match();
  return before;
}

Sight ViewState::sight() const {
  using enum Sight::Moves;
  return {.range = range_,
          .moves = range_ == bounds()            ? kWithAll
                   : follow_ == FollowLive::kYes ? kWithEnd
                                                 : kNo,
          .width = device_width_,
          .height = canvas_height_,
          .scroll = scroll_,
          .arrangement = arrangement_,
          .metrics = theme_.rows,
          .row_filter = filter_};
}

void ViewState::makeReady(std::shared_ptr<const Trace> trace) {
  waiting_ = std::move(trace);
  if (!making_ready_ && waiting_) startMakingReady();
}

void ViewState::setClock(Clock clock) {
  if (clock == clock_) return;
  clock_ = clock;
  if (!clock_) open_events_.clear();
  if (content_->is_on_demand()) return;  // it does not grow
  if (!making_ready_ && !waiting_) makeReady(tracePointer());
}

void ViewState::setOpenEvents(std::vector<EventRef> events) {
  std::sort(events.begin(), events.end());
  if (events == open_events_) return;
  open_events_ = std::move(events);
  emit openEventsChanged();
}

// The shown trace may be an earlier or later state than the one that the open events belong to.
bool ViewState::isOpen(EventRef event) const {
  return clock_ && std::binary_search(open_events_.begin(), open_events_.end(), event) && event.lane < trace().lanes().size() &&
         trace().lane(event.lane).size() == event.index + 1 && trace().lane(event.lane).end(event.index) < *clock_;
}

Event ViewState::drawnEvent(EventRef event) const {
  Event drawn = trace().event(event);
  if (isOpen(event)) drawn.duration = *clock_ - drawn.start;
  return drawn;
}

std::vector<EventRef> ViewState::openEventsOf(const Level& level) const {
  std::vector<EventRef> open;
  if (open_events_.empty()) return open;
  for (const LaneSource& source : level) {
    const auto found = std::lower_bound(open_events_.begin(), open_events_.end(), EventRef{source.lane, 0});
    if (found != open_events_.end() && found->lane == source.lane && source.whole() && isOpen(*found)) open.push_back(*found);
  }
  return open;
}

void ViewState::callOff() {
  waiting_.reset();
  ++times_called_off_;
}

// NVTX ranges on GPUs are computed only so often that they take a tenth of a core; snapshots in between have them in their earlier state.
void ViewState::startMakingReady() {
  struct Work {
    ViewContent::Base before;
    std::shared_ptr<const Trace> trace;
    Projecting projecting;
    Sight sight;
    std::unique_ptr<ViewContent> retired;
    std::unique_ptr<ViewContent> content;
    SteadyClock::duration took{};
    Clock clock;
  };
  const auto projecting = SteadyClock::now() < next_projection_ ? Projecting::kAsBefore : Projecting::kWhenAsked;
  const auto work = std::make_shared<Work>(
      Work{ViewContent::Base(*content_), std::exchange(waiting_, nullptr), projecting, sight(), std::move(retired_), nullptr, {}, clock_});
  other_thread_.start([this, work, times = times_called_off_] {
    const Outcome outcome = within_memory([&] {
      on_this_thread_alone([&] {
        const auto begin = SteadyClock::now();
        work->retired.reset();
        work->content = std::make_unique<ViewContent>(std::move(work->before), work->trace, work->projecting, work->clock);
        if (!work->content->is_on_demand()) work->content->compute_pixels(work->sight, work->content->range_after(work->sight));
        work->took = SteadyClock::now() - begin;
      });
    });
    deliver_surely(this, [this, work, times, outcome] {
      making_ready_ = false;
      if (work->projecting == Projecting::kWhenAsked) next_projection_ = SteadyClock::now() + kPausePerProjecting * work->took;
      if (times == times_called_off_) {
        if (outcome == Outcome::kDone)
          takeReady(std::move(work->content));
        else if (work->trace != content_->trace())
          emit traceReady(work->trace);  // without prepared content
      }
      if (!making_ready_ && waiting_) startMakingReady();
    });
  });
  making_ready_ = true;  // only now, because the code above may run out of memory
}

void ViewState::takeReady(std::unique_ptr<ViewContent> content) {
  if (content->trace() == content_->trace()) {  // it adds what was left out, or the clock has advanced
    const TimeRange range = content->range_after(sight());
    adopt(std::move(content));
    emit traceChanged(Change::kGrown);
    return navigate(range, Reason::kGrowth);
  }
  ready_ = std::move(content);
  emit traceReady(std::shared_ptr<const Trace>(ready_->trace()));
}

Painted ViewState::painted(Pane pane, std::span<const Level* const> levels, const Viewport& viewport) {
  if (pane == Pane::kRows && content_->contents().forget_unused()) content_->forget_pixels();
  Painted painted = content_->painted(pane, levels, viewport);
  if (content_->contents().lacks_projections() && !making_ready_ && !completion_.isActive()) completion_.start();
  const bool coarse = painted.detail == Painted::Detail::kOutline;
  if (std::exchange(pane == Pane::kRows ? coarse_rows_ : coarse_overview_, coarse) != coarse) emit detailChanged();
  if (!coarse) {
    wanted_.erase(pane);
    return painted;
  }
  WantedPane wanted{{}, viewport};
  for (const Level* level : levels) wanted.levels.push_back(*level);
  // Painting the same again waits for the running work: if it were cancelled each time, a picture whose first tile takes longer than painting would never be
  // finished.
  const auto making = making_.find(pane);
  if (making != making_.end() && making->second == wanted && !stop_refining_.stop_requested()) {
    wanted_.erase(pane);
    return painted;
  }
  wanted_[pane] = std::move(wanted);
  if (pane == Pane::kRows) stop_refining_.request_stop();  // the running work is not for what is in sight
  refineSoon();
  return painted;
}

std::optional<Picture::RowSum> ViewState::rowSum(const Row& row, TimeRange range) {
  const std::size_t sharers = sharers_of(row);
  if (!content_->is_on_demand())
    if (const LevelContent* content = content_->at_hand(row.all))
      return Picture::RowSum{range, row_busy(*content, range, sharers), content->count(range), sharers};
  if (const auto known = content_->sum_of(row.key, row.all, range, sharers)) return known;
  WantedSum wanted{row.all, range, sharers};
  if (const auto making = making_sums_.find(row.key); making != making_sums_.end() && making->second == wanted && !stop_refining_.stop_requested())
    return std::nullopt;
  wanted_sums_[row.key] = std::move(wanted);
  refineSoon();
  return std::nullopt;
}

CounterColumns ViewState::counterColumns(CounterId counter, const Viewport& viewport) {
  CounterColumns columns = content_->counter_columns(counter, viewport);
  if (columns.detail == CounterSeries::Detail::kExact) {
    wanted_counters_.erase(counter);
    return columns;
  }
  const auto making = making_counters_.find(counter);
  const bool is_made = making != making_counters_.end() && making->second == viewport && !stop_refining_.stop_requested();
  if (is_made) {
    wanted_counters_.erase(counter);
    return columns;
  }
  wanted_counters_[counter] = viewport;
  if (making != making_counters_.end()) stop_refining_.request_stop();  // the running work is not for what is in sight
  refineSoon();
  return columns;
}

void ViewState::setCountersDetail(CounterSeries::Detail detail) {
  const bool coarse = detail == CounterSeries::Detail::kOutline;
  if (std::exchange(coarse_counters_, coarse) != coarse) emit detailChanged();
}

// Everything that one painting requests is created together.
void ViewState::refineSoon() {
  if (refining_soon_) return;
  QMetaObject::invokeMethod(
      this,
      [this] {
        refining_soon_ = false;
        refine();
      },
      Qt::QueuedConnection);
  refining_soon_ = true;
}

// Rows first, then the overview, then counters, then sums: each is shown when it is finished.
void ViewState::refine() {
  if (refining_) return;
  std::erase_if(wanted_sums_, [this](const auto& sum) {
    const auto& [key, wanted] = sum;
    return content_->sum_of(key, wanted.level, wanted.range, wanted.sharers).has_value();  // since the request
  });
  if (wanted_.empty() && wanted_sums_.empty() && wanted_counters_.empty()) return;
  stop_refining_ = {};
  std::shared_ptr<Picture> picture;
  if (!wanted_.empty()) {
    making_.insert(wanted_.extract(wanted_.begin()));
    const auto& [pane, wanted] = *making_.begin();
    // The overview may be painted later than the rows.
    std::vector<Level> overview = pane == Pane::kRows ? content_->overview_to_make(wanted.viewport) : std::vector<Level>();
    picture = std::make_shared<Picture>(content_->take_picture({pane}));
    picture->want(pane, wanted.levels, wanted.viewport);
    if (!overview.empty()) picture->foresee_overview(std::move(overview));
  } else if (!wanted_counters_.empty()) {
    picture = std::make_shared<Picture>(content_->take_picture({}));
    making_counters_ = std::exchange(wanted_counters_, {});
    for (const auto& [counter, viewport] : making_counters_) picture->want(counter, trace().counter_series(counter), viewport);
  } else {
    picture = std::make_shared<Picture>(content_->take_picture({}));
    making_sums_ = std::exchange(wanted_sums_, {});
    for (const auto& [key, wanted] : making_sums_) picture->want(key, wanted.level, wanted.range, wanted.sharers);
  }
  other_thread_.start([this, picture, of = times_adopted_, of_pictures = times_changed_, stop = stop_refining_.get_token()] {
    const Outcome outcome = within_memory([&] { picture->make(stop); });
    deliver_surely(this, [this, picture, of, of_pictures, outcome] {
      refining_ = false;
      making_.clear();
      making_sums_.clear();
      making_counters_.clear();
      if (outcome == Outcome::kOutOfMemory) return giveUpRefining();
      if (of != times_adopted_) picture->forget_sums();
      if (of_pictures == times_changed_) content_->put(std::move(*picture));
      emit pictureMade();  // the next painting requests what is still missing
      refineSoon();
    });
  });
  refining_ = true;  // only now, because the code above may run out of memory
}

// Painting again would request the same again.
void ViewState::giveUpRefining() {
  wanted_.clear();
  wanted_sums_.clear();
  wanted_counters_.clear();
  const bool was_coarse = isCoarse();
  coarse_rows_ = coarse_overview_ = coarse_counters_ = false;
  if (was_coarse) emit detailChanged();
}

void ViewState::setTrace(std::shared_ptr<const Trace> trace) {
  arrangement_ = {.sides = arrangement_.sides};
  before_filter_ = {};
  edits_.clear();
  selection_.begin(trace);
  hover({}, std::nullopt);
  setMarkers({});
  marker_files_.clear();
  setPath({});
  setCurrentRow({});
  setIdleTime(nullptr);
  setCommunicationTime(nullptr);
  setLoops({});
  answer_.reset();
  callOff();
  // A part of a recording was requested, or the end of a running one is followed.
  const bool has_place = !trace || trace->provenance().part.has_value() || follow_ == FollowLive::kYes;
  place_ = has_place ? Place::kMoved : Place::kAsOpened;
  if (!trace) trace = empty_trace();
  adopt(std::make_unique<ViewContent>(trace, projecting_at_once(*trace)));
  if (content_->is_on_demand()) makeReady(trace);  // with the shares of all rows
  range_ = opening_range(*trace);
  history_ = ViewHistory(range_);
  setScroll(0);
  emit traceChanged(Change::kAnother);
  emit rangeChanged();
  emit historyChanged();
}

void ViewState::updateTrace(std::shared_ptr<const Trace> trace) {
  if (!trace) return setTrace(nullptr);
  const Sight before = sight();
  const std::optional<Anchor> place = anchor();
  for (PathPlace& place_of_path : path_) place_of_path.event = find_again(this->trace(), place_of_path.event, *trace);
  std::erase_if(path_, [](const PathPlace& each) { return !each.event.valid(); });
  if (ready_ && ready_->trace() == trace) {
    retired_ = adopt(std::move(ready_));
  } else if (!holds_events(*trace)) {
    callOff();
    adopt(std::make_unique<ViewContent>(trace, projecting_at_once(*trace)));
    makeReady(trace);
  } else {
    callOff();
    adopt(std::make_unique<ViewContent>(ViewContent::Base(*content_), trace, projecting_at_once(*trace), clock_));
  }
  returnTo(place);
  const TimeRange range = content_->range_after(before);
  selection_.moveTo(tracePointer());
  correlate();
  emit traceChanged(content_->continues() ? Change::kGrown : Change::kAnother);
  navigate(range, Reason::kGrowth);
}

void ViewState::layOut() {
  layout_ = RowLayout(tree(), arrangement_, theme_.rows, filter_);
  setScroll(scroll_);
  emit layoutChanged();
}

void ViewState::placeAnswer() {
  content_->set_answer(answer_ ? answer_->title() : std::string(), answer_ ? static_cast<std::uint32_t>(answer_->levels().size()) : 0);
}

void ViewState::setAnswer(std::shared_ptr<const AnswerRow> answer) {
  if (answer == answer_) return;
  answer_ = std::move(answer);
  if (answer_) arrangement_.hidden.erase(std::string(RowTree::kAnswerKey));
  placeAnswer();
  layOut();
}

void ViewState::setTheme(const Theme& theme) {
  theme_ = theme;
  usual_rows_ = theme.rows;
  theme_.rows = scaled(usual_rows_, row_scale_);
  layOut();
  emit themeChanged();
}

void ViewState::setRowScale(double scale) {
  scale = std::clamp(scale, kLowestRows, kHighestRows);
  if (scale == row_scale_) return;
  const double before = std::max(1, layout_.height());
  row_scale_ = scale;
  theme_.rows = scaled(usual_rows_, row_scale_);
  const int scroll = scroll_;
  layOut();
  setScroll(static_cast<int>(scroll * (layout_.height() / before)));
  emit rowScaleChanged();
}

void ViewState::navigate(TimeRange range, Reason reason) {
  if (reason != Reason::kGrowth) setFollow(FollowLive::kNo);
  if (reason == Reason::kWish || reason == Reason::kHistory) place_ = Place::kMoved;
  range = clamped(range, bounds());
  if (range == range_) return;
  range_ = range;
  if (reason == Reason::kWish || reason == Reason::kOpening) {
    history_.visit(range, ViewHistory::Clock::now());
    emit historyChanged();
  }
  emit rangeChanged();
}

void ViewState::setLoops(std::vector<TimelineView::Loop> loops) {
  if (loops == loops_) return;
  loops_ = std::move(loops);
  emit loopChanged();
}

const std::vector<TimelineView::Loop>& ViewState::loops() const {
  static const std::vector<TimelineView::Loop> none;
  return is_behind(trace().extent(), clock_) ? none : loops_;
}

void ViewState::showLoop() {
  const auto shown =
      std::find_if(loops_.begin(), loops_.end(), [this](const TimelineView::Loop& loop) { return range_ == clamped(with_room(loop.range), bounds()); });
  navigate(with_room((shown == loops_.end() || shown + 1 == loops_.end() ? loops_.begin() : shown + 1)->range));
}

void ViewState::openOnLoop() {
  if (place_ == Place::kMoved || loops().empty()) return;
  TimeRange all = loops_.front().range;
  for (const TimelineView::Loop& loop : loops_) all = {std::min(all.begin, loop.range.begin), std::max(all.end, loop.range.end)};
  const auto is_elsewhere = [all](TimeRange time) { return time.intersected(all).empty(); };
  if (selectedRange() && is_elsewhere(*selectedRange())) return;
  if (selected().valid()) {
    const Event event = trace().event(selected());
    if (is_elsewhere({event.start, std::max(event.end(), event.start + 1)})) return;
  }
  const bool is_most = all.length() >= bounds().length() / 2;
  navigate(is_most ? bounds() : with_room(all), Reason::kOpening);
}

void ViewState::goBack() {
  if (!history_.can_go_back()) return;
  navigate(history_.back(), Reason::kHistory);
  emit historyChanged();
}

void ViewState::goForward() {
  if (!history_.can_go_forward()) return;
  navigate(history_.forward(), Reason::kHistory);
  emit historyChanged();
}

void ViewState::setFollow(FollowLive follow) {
  if (follow == follow_) return;
  follow_ = follow;
  emit followChanged();
}

void ViewState::setScroll(int top) {
  top = std::clamp(top, 0, std::max(0, layout_.height() - canvas_height_));
  if (top == scroll_) return;
  scroll_ = top;
  emit scrollChanged();
}

void ViewState::setCanvasSize(int height, int device_width) {
  canvas_height_ = height;
  device_width_ = device_width;
  setScroll(scroll_);
}

void ViewState::scrollTo(RowIndex row) {
  const PlacedRow* placed = layout_.nearest_shown(row);
  if (placed == nullptr || placed->is_pinned()) return;
  const int room = std::min(canvas_height_ / 4, 60);
  if (placed->top - scroll_ < layout_.pinned_height())
    setScroll(placed->top - layout_.pinned_height() - room);
  else if (placed->top + placed->height > scroll_ + canvas_height_)
    setScroll(placed->top + placed->height - canvas_height_ + room);
}

void ViewState::editMarkers(const QString& text, std::vector<TimelineView::Marker> markers) {
  if (markers != markers_) edits_.push(new MarkersEdit(*this, text, markers_, std::move(markers)));
}

void ViewState::correlate() {
  correlated_ = correlated_events(trace(), selected());
  correlated_rows_.clear();
  for (const EventRef event : correlated_)
    if (const auto place = tree().place_of(event.lane)) correlated_rows_.push_back(place->row);
  std::sort(correlated_rows_.begin(), correlated_rows_.end());
  correlated_rows_.erase(std::unique(correlated_rows_.begin(), correlated_rows_.end()), correlated_rows_.end());
}

std::vector<EventRef> ViewState::correlatedInRange(std::size_t most) const {
  const bool all = correlated_.size() <= most;  // then they may be in any order
  const auto first_inside =
      all ? correlated_.begin()
          : std::partition_point(correlated_.begin(), correlated_.end(), [this](EventRef event) { return trace().event(event).start < range_.begin; });
  constexpr std::ptrdiff_t kStillRunning = 64;  // events that may have started before the range
  std::vector<EventRef> found;
  for (auto each = first_inside - std::min(kStillRunning, first_inside - correlated_.begin()); each != correlated_.end(); ++each) {
    const Event event = trace().event(*each);
    if (found.size() == most || (!all && event.start > range_.end)) break;
    if (event.start <= range_.end && event.end() >= range_.begin) found.push_back(*each);
  }
  return found;
}

void ViewState::reveal(EventRef event) {
  if (!event.valid()) return;
  setFollow(FollowLive::kNo);
  if (const auto place = tree().place_of(event.lane)) scrollTo(place->row);
  const Event found = trace().event(event);
  const bool in_sight = found.start < range_.end && std::max(found.end(), found.start + 1) > range_.begin;
  if (!in_sight) navigate(panned(range_, found.start + found.duration / 2 - (range_.begin + range_.length() / 2)));
}

void ViewState::hover(EventRef event, std::optional<Nanoseconds> time) {
  const bool other_time = time != hovered_time_;
  hovered_time_ = time;
  selection_.hover(event);
  if (other_time) emit hoveredTimeChanged();
}

void ViewState::setHighlighted(std::string text) {
  if (text == highlighted_) return;
  highlighted_ = std::move(text);
  match();
}

// Lanes that are searched while they are painted would be waited for.
void ViewState::match() {
  constexpr std::uint64_t kSearchedAtOnce = 200'000;  // events: a millisecond or two
  stop_matching_.request_stop();
  stop_matching_ = {};
  EventMatches matches(tracePointer(), highlighted_);
  if (matches.events_to_search() <= kSearchedAtOnce) {
    matches_ = std::move(matches);
    return emit highlightChanged();
  }
  matching_thread_.start([this, stop = stop_matching_.get_token(), found = std::make_shared<EventMatches>(std::move(matches))] {
    within_memory([&] { found->search_lanes(stop); });
    deliver_surely(this, [this, stop, found] {
      if (stop.stop_requested()) return;
      matches_ = std::move(*found);
      matches_.grow(tracePointer());
      emit highlightChanged();
    });
  });
}

void ViewState::setPath(std::vector<PathPlace> path) {
  if (path == path_) return;
  path_ = std::move(path);
  emit selectionChanged();
}

void ViewState::setMarkers(std::vector<TimelineView::Marker> markers) {
  if (markers == markers_) return;
  markers_ = std::move(markers);
  emit markersChanged();
}

void ViewState::setMarkerFiles(std::vector<TimelineView::MarkerFile> files) {
  marker_files_ = std::move(files);
  setMarkers(placed(markers_));
}

std::vector<TimelineView::Marker> ViewState::placed(std::vector<TimelineView::Marker> markers) const {
  std::vector<TimelineView::Marker> placed;
  for (TimelineView::Marker& marker : markers) {
    if (marker.file.isEmpty() && !marker_files_.empty()) {
      marker.file = marker_files_.front().path;
      marker.own_time = marker_files_.front().clock.back(marker.time);
    }
    const auto file = std::find_if(marker_files_.begin(), marker_files_.end(), [&](const auto& each) { return each.path == marker.file; });
    if (file != marker_files_.end()) marker.time = file->clock(marker.own_time);
    if (file != marker_files_.end() || marker.file.isEmpty()) placed.push_back(std::move(marker));
  }
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return placed;
}

}  // namespace lanescope::timeline

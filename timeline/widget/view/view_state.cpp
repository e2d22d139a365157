#include "view/view_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "input/edits.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/trace_builder.h"
#include "timeline/core/parallel.h"
#include "timeline/core/rows/row_pairs.h"
#include "timeline/widget/surely.h"

namespace lanescope::timeline {
namespace {

// A loop with some room on both sides.
TimeRange with_room(TimeRange loop) {
  constexpr double kMargin = 0.02;  // of the loop, on either side
  return padded(loop, kMargin);
}

constexpr std::uint64_t kProjectedAtOnce = 4'000'000;  // events that are looked through in some tens of milliseconds
constexpr int kPausePerProjecting = 9;                 // of the time that it takes
constexpr int kQuietBeforeCompletion = 600;            // ms without another part of a file that is being loaded

// NVTX ranges on the GPUs of a large trace are worked out after it is shown.
Projecting projecting_at_once(const Trace& trace) { return trace.event_count() <= kProjectedAtOnce ? Projecting::kWhenAsked : Projecting::kAsBefore; }

// Rows that only group others are as high as the writing in them.
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
  completion_.setSingleShot(true);
  completion_.setInterval(kQuietBeforeCompletion);
  connect(&completion_, &QTimer::timeout, this, [this] {
    next_projection_ = {};
    if (!making_ready_) make_ready(trace_pointer());
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
  wanted_.clear();  // who paints asks again
  wanted_sums_.clear();
  making_sums_.clear();  // which are forgotten, as rows may be others
  if (!content_->is_on_demand()) coarse_rows_ = coarse_overview_ = false;
  if (content_->continues()) {
    content_->contents().take_over(before->contents());
    matches_.grow(trace_pointer());
  } else {
    matches_ = EventMatches(trace_pointer(), matches_.text());
  }
  place_answer();
  lay_out();
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

void ViewState::make_ready(std::shared_ptr<const Trace> trace) {
  waiting_ = std::move(trace);
  if (!making_ready_ && waiting_) start_making_ready();
}

void ViewState::set_clock(Clock clock) {
  clock_ = clock;
  if (content_->is_on_demand()) return;  // it does not grow
  if (!making_ready_ && !waiting_) make_ready(trace_pointer());
}

void ViewState::call_off() {
  waiting_.reset();
  ++times_called_off_;
}

// NVTX ranges on GPUs are worked out as often as takes a tenth of a core: what is made in between has them as they were.
void ViewState::start_making_ready() {
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
          take_ready(std::move(work->content));
        else if (work->trace != content_->trace())
          emit traceReady(work->trace);  // without what was to be made ready
      }
      if (!making_ready_ && waiting_) start_making_ready();
    });
  });
  making_ready_ = true;  // only now: what is above may lack memory
}

void ViewState::take_ready(std::unique_ptr<ViewContent> content) {
  if (content->trace() == content_->trace()) {  // what it lacked, or the clock went on
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
  // Who paints the same again waits for it: called off each time, a picture whose first tile takes longer than painting would never come.
  const auto making = making_.find(pane);
  if (making != making_.end() && making->second == wanted && !stop_refining_.stop_requested()) {
    wanted_.erase(pane);
    return painted;
  }
  wanted_[pane] = std::move(wanted);
  if (pane == Pane::kRows) stop_refining_.request_stop();  // what it makes is not what is in sight
  refine_soon();
  return painted;
}

std::optional<Picture::RowSum> ViewState::row_sum(const Row& row, TimeRange range) {
  const std::size_t sharers = sharers_of(row);
  if (!content_->is_on_demand())
    if (const LevelContent* content = content_->at_hand(row.all))
      return Picture::RowSum{range, row_busy(*content, range, sharers), content->count(range), sharers};
  if (const auto known = content_->sum_of(row.key, row.all, range, sharers)) return known;
  WantedSum wanted{row.all, range, sharers};
  if (const auto making = making_sums_.find(row.key); making != making_sums_.end() && making->second == wanted && !stop_refining_.stop_requested())
    return std::nullopt;
  wanted_sums_[row.key] = std::move(wanted);
  refine_soon();
  return std::nullopt;
}

// All that one painting asks for is made together.
void ViewState::refine_soon() {
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

// Rows first, then the overview, then sums: each is shown when it is there.
void ViewState::refine() {
  if (refining_) return;
  std::erase_if(wanted_sums_, [this](const auto& sum) {
    const auto& [key, wanted] = sum;
    return content_->sum_of(key, wanted.level, wanted.range, wanted.sharers).has_value();  // since it was drawn
  });
  if (wanted_.empty() && wanted_sums_.empty()) return;
  stop_refining_ = {};
  std::shared_ptr<Picture> picture;
  if (!wanted_.empty()) {
    making_.insert(wanted_.extract(wanted_.begin()));
    const auto& [pane, wanted] = *making_.begin();
    picture = std::make_shared<Picture>(content_->take_picture({pane}));
    picture->want(pane, wanted.levels, wanted.viewport);
    const auto overview = wanted_.find(Pane::kOverview);
    if (overview != wanted_.end() && overview->second.viewport == wanted.viewport) picture->foresee_overview(overview->second.levels);
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
      if (outcome == Outcome::kOutOfMemory) return give_up_refining();
      if (of != times_adopted_) picture->forget_sums();
      if (of_pictures == times_changed_) content_->put(std::move(*picture));
      emit pictureMade();  // who paints now asks for what is still to be made
      refine_soon();
    });
  });
  refining_ = true;  // only now: what is above may lack memory
}

// To paint again would ask for the same again.
void ViewState::give_up_refining() {
  wanted_.clear();
  wanted_sums_.clear();
  const bool was_coarse = coarse_rows_ || coarse_overview_;
  coarse_rows_ = coarse_overview_ = false;
  if (was_coarse) emit detailChanged();
}

void ViewState::set_trace(std::shared_ptr<const Trace> trace) {
  arrangement_ = {.sides = arrangement_.sides};
  before_filter_ = {};
  edits_.clear();
  selection_.begin(trace);
  hover({}, std::nullopt);
  set_markers({});
  marker_files_.clear();
  set_path({});
  set_current_row({});
  set_idle_time(nullptr);
  set_communication_time(nullptr);
  set_loops({});
  answer_.reset();
  call_off();
  // A part of a recording was asked for, and the end of one that goes on is watched.
  const bool has_place = !trace || trace->provenance().part.has_value() || follow_ == FollowLive::kYes;
  place_ = has_place ? Place::kMoved : Place::kAsOpened;
  if (!trace) trace = empty_trace();
  adopt(std::make_unique<ViewContent>(trace, projecting_at_once(*trace)));
  if (content_->is_on_demand()) make_ready(trace);  // with the shares of all rows
  range_ = opening_range(*trace);
  history_ = ViewHistory(range_);
  set_scroll(0);
  emit traceChanged(Change::kAnother);
  emit rangeChanged();
  emit historyChanged();
}

void ViewState::update_trace(std::shared_ptr<const Trace> trace) {
  if (!trace) return set_trace(nullptr);
  const Sight before = sight();
  const std::optional<Anchor> place = anchor();
  if (ready_ && ready_->trace() == trace) {
    retired_ = adopt(std::move(ready_));
  } else if (!holds_events(*trace)) {
    call_off();
    adopt(std::make_unique<ViewContent>(trace, projecting_at_once(*trace)));
    make_ready(trace);
  } else {
    call_off();
    adopt(std::make_unique<ViewContent>(ViewContent::Base(*content_), trace, projecting_at_once(*trace), clock_));
  }
  return_to(place);
  const TimeRange range = content_->range_after(before);
  selection_.moveTo(trace_pointer());
  correlate();
  emit traceChanged(content_->continues() ? Change::kGrown : Change::kAnother);
  navigate(range, Reason::kGrowth);
}

void ViewState::lay_out() {
  layout_ = RowLayout(tree(), arrangement_, theme_.rows, filter_);
  set_scroll(scroll_);
  emit layoutChanged();
}

void ViewState::place_answer() {
  content_->set_answer(answer_ ? answer_->title() : std::string(), answer_ ? static_cast<std::uint32_t>(answer_->levels().size()) : 0);
}

void ViewState::set_answer(std::shared_ptr<const AnswerRow> answer) {
  if (answer == answer_) return;
  answer_ = std::move(answer);
  if (answer_) arrangement_.hidden.erase(std::string(RowTree::kAnswerKey));
  place_answer();
  lay_out();
}

void ViewState::set_theme(const Theme& theme) {
  theme_ = theme;
  usual_rows_ = theme.rows;
  theme_.rows = scaled(usual_rows_, row_scale_);
  lay_out();
  emit themeChanged();
}

void ViewState::set_row_scale(double scale) {
  scale = std::clamp(scale, kLowestRows, kHighestRows);
  if (scale == row_scale_) return;
  const double before = std::max(1, layout_.height());
  row_scale_ = scale;
  theme_.rows = scaled(usual_rows_, row_scale_);
  const int scroll = scroll_;
  lay_out();
  set_scroll(static_cast<int>(scroll * (layout_.height() / before)));
  emit rowScaleChanged();
}

void ViewState::navigate(TimeRange range, Reason reason) {
  if (reason != Reason::kGrowth) set_follow(FollowLive::kNo);
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

void ViewState::set_loops(std::vector<TimelineView::Loop> loops) {
  if (loops == loops_) return;
  loops_ = std::move(loops);
  emit loopChanged();
}

const std::vector<TimelineView::Loop>& ViewState::loops() const {
  static const std::vector<TimelineView::Loop> none;
  return is_behind(trace().extent(), clock_) ? none : loops_;
}

void ViewState::show_loop() {
  const auto shown =
      std::find_if(loops_.begin(), loops_.end(), [this](const TimelineView::Loop& loop) { return range_ == clamped(with_room(loop.range), bounds()); });
  navigate(with_room((shown == loops_.end() || shown + 1 == loops_.end() ? loops_.begin() : shown + 1)->range));
}

void ViewState::open_on_loop() {
  if (place_ == Place::kMoved || loops().empty()) return;
  TimeRange all = loops_.front().range;
  for (const TimelineView::Loop& loop : loops_) all = {std::min(all.begin, loop.range.begin), std::max(all.end, loop.range.end)};
  const auto is_elsewhere = [all](TimeRange time) { return time.intersected(all).empty(); };
  if (selected_range() && is_elsewhere(*selected_range())) return;
  if (selected().valid()) {
    const Event event = trace().event(selected());
    if (is_elsewhere({event.start, std::max(event.end(), event.start + 1)})) return;
  }
  const bool is_most = all.length() >= bounds().length() / 2;
  navigate(is_most ? bounds() : with_room(all), Reason::kOpening);
}

void ViewState::go_back() {
  if (!history_.can_go_back()) return;
  navigate(history_.back(), Reason::kHistory);
  emit historyChanged();
}

void ViewState::go_forward() {
  if (!history_.can_go_forward()) return;
  navigate(history_.forward(), Reason::kHistory);
  emit historyChanged();
}

void ViewState::set_follow(FollowLive follow) {
  if (follow == follow_) return;
  follow_ = follow;
  emit followChanged();
}

void ViewState::set_scroll(int top) {
  top = std::clamp(top, 0, std::max(0, layout_.height() - canvas_height_));
  if (top == scroll_) return;
  scroll_ = top;
  emit scrollChanged();
}

void ViewState::set_canvas_size(int height, int device_width) {
  canvas_height_ = height;
  device_width_ = device_width;
  set_scroll(scroll_);
}

void ViewState::scroll_to(RowIndex row) {
  const PlacedRow* placed = layout_.nearest_shown(row);
  if (placed == nullptr || placed->is_pinned()) return;
  const int room = std::min(canvas_height_ / 4, 60);
  if (placed->top - scroll_ < layout_.pinned_height())
    set_scroll(placed->top - layout_.pinned_height() - room);
  else if (placed->top + placed->height > scroll_ + canvas_height_)
    set_scroll(placed->top + placed->height - canvas_height_ + room);
}

void ViewState::set_row_state(const std::string& key, RowState state) {
  const auto row = tree().find(key);
  const bool expanded = state == RowState::kExpanded;
  if (!row || is_row_expanded(tree().row(*row)) == expanded) return;
  const std::optional<Anchor> before = anchor(*row);
  arrangement_.expanded[key] = expanded;
  if (sides() == TraceSides::kInterleaved)
    if (const auto other = row_of_other_trace(tree(), *row)) arrangement_.expanded[tree().row(*other).key] = expanded;
  lay_out();
  return_to(before);
}

void ViewState::open_rows_to(EventRef event) {
  const auto place = event.valid() ? tree().place_of(event.lane) : std::nullopt;
  if (!place) return;
  for (std::optional<RowIndex> row = place->row; row; row = tree().row(*row).parent)
    if (row != place->row || tree().row(*row).levels.size() > 1) set_row_state(tree().row(*row).key, RowState::kExpanded);
}

void ViewState::set_row_states(RowState state) {
  const bool expanded = state == RowState::kExpanded;
  const std::optional<Anchor> before = anchor();
  for (const Row& row : tree().rows())  // a stack chart is dozens of levels high: it is opened by itself alone
    if (!expanded || row.kind != RowKind::kStackChart) arrangement_.expanded[row.key] = expanded;
  lay_out();
  return_to(before);
}

void ViewState::set_pinned(const std::string& key, Pinned pinned) {
  const auto found = std::find(arrangement_.pinned.begin(), arrangement_.pinned.end(), key);
  if ((found != arrangement_.pinned.end()) == (pinned == Pinned::kYes)) return;
  RowArrangement arrangement = arrangement_;
  if (pinned == Pinned::kYes) {
    arrangement.pinned.push_back(key);
    return edit_rows(tr("Pin the row"), std::move(arrangement));
  }
  std::erase(arrangement.pinned, key);
  edit_rows(tr("Release the row from the top"), std::move(arrangement));
}

void ViewState::hide(const std::string& key) {
  RowArrangement arrangement = arrangement_;
  arrangement.hidden.insert(key);
  edit_rows(tr("Hide the row"), std::move(arrangement));
}

void ViewState::show_hidden() {
  RowArrangement arrangement = arrangement_;
  arrangement.hidden.clear();
  edit_rows(tr("Show hidden rows"), std::move(arrangement));
}

void ViewState::arrange_as_at_first() { edit_rows(tr("Arrange all rows as at first"), {}); }

void ViewState::edit_rows(const QString& text, RowArrangement arrangement) {
  if (arrangement != arrangement_) edits_.push(new RowsEdit(*this, text, arrangement_, std::move(arrangement)));
}

void ViewState::edit_markers(const QString& text, std::vector<TimelineView::Marker> markers) {
  if (markers != markers_) edits_.push(new MarkersEdit(*this, text, markers_, std::move(markers)));
}

void ViewState::move(const std::string& key, const std::string& sibling) {
  const auto row = tree().find(key);
  const auto other = tree().find(sibling);
  if (!row || !other || *row == *other || tree().row(*row).parent != tree().row(*other).parent) return;
  const std::optional<RowIndex> parent = tree().row(*row).parent;
  std::vector<std::string> keys;
  for (const RowIndex index : siblings_in_order(tree(), parent, arrangement_)) keys.push_back(tree().row(index).key);
  const auto from = std::find(keys.begin(), keys.end(), key);
  const auto to = std::find(keys.begin(), keys.end(), sibling);
  if (from < to)
    std::rotate(from, from + 1, to + 1);
  else
    std::rotate(to, from, from + 1);
  RowArrangement arrangement = arrangement_;
  arrangement.order[parent ? tree().row(*parent).key : std::string()] = std::move(keys);
  edit_rows(tr("Move the row"), std::move(arrangement));
}

void ViewState::order(const std::string& key, RowMeasure by) {
  const auto row = tree().find(key);
  const TimeRange range = selected_range().value_or(range_).intersected(trace().extent());
  if (!row || range.empty()) return;
  const std::optional<RowIndex> parent = tree().row(*row).parent;
  std::vector<const Level*> levels;
  for (const RowIndex sibling : siblings_in_order(tree(), parent, arrangement_)) levels.push_back(&tree().row(sibling).all);
  if (by != RowMeasure::kWaiting && !content_->is_on_demand()) (void)content_->contents().contents(levels);
  std::vector<std::pair<double, std::string>> measured;
  bool all_known = true;
  for (const RowIndex index : siblings_in_order(tree(), parent, arrangement_)) {
    const Row& sibling = tree().row(index);
    double value = 0;
    if (by == RowMeasure::kWaiting) {
      value = waiting_share(sibling, range);
    } else if (!sibling.all.empty()) {
      const std::optional<Picture::RowSum> sum = row_sum(sibling, range);
      all_known = all_known && sum.has_value();
      value = sum ? static_cast<double>(sum->busy) : 0;
    }
    measured.emplace_back(value, sibling.key);
  }
  if (!all_known) return;
  std::stable_sort(measured.begin(), measured.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  RowArrangement arrangement = arrangement_;
  std::vector<std::string>& keys = arrangement.order[parent ? tree().row(*parent).key : std::string()];
  keys.clear();
  for (auto& [value, each] : measured) keys.push_back(std::move(each));
  edit_rows(tr("Order the rows"), std::move(arrangement));
}

void ViewState::set_sides(TraceSides sides) {
  if (trace().parts().empty()) return;
  RowArrangement arrangement = arrangement_;
  arrangement.sides = sides;
  edit_rows(sides == TraceSides::kInterleaved ? tr("Interleave the rows of A and B") : tr("Show the rows of B below those of A"), std::move(arrangement));
}

void ViewState::arrange(RowArrangement arrangement) {
  if (arrangement == arrangement_) return;
  const std::optional<Anchor> before = anchor();
  arrangement_ = std::move(arrangement);
  lay_out();
  return_to(before);
}

std::optional<ViewState::Anchor> ViewState::anchor(std::optional<RowIndex> preferred) const {
  const auto of = [&](const PlacedRow& placed) { return Anchor{tree().row(placed.row).key, placed.top - scroll_ - layout_.pinned_height()}; };
  const auto in_sight = [&](const PlacedRow* placed) {
    return placed != nullptr && !placed->is_pinned() && placed->top - scroll_ >= layout_.pinned_height() && placed->top - scroll_ < canvas_height_;
  };
  std::vector<RowIndex> about;
  if (preferred) about.push_back(*preferred);
  if (const auto row = tree().find(current_row_)) about.push_back(*row);
  if (const auto place = selected().valid() ? tree().place_of(selected().lane) : std::nullopt) about.push_back(place->row);
  for (const RowIndex row : about)
    if (const PlacedRow* placed = layout_.nearest_shown(row); in_sight(placed)) return of(*placed);
  if (scroll_ == 0) return std::nullopt;
  const auto first = std::find_if(layout_.rows().begin(), layout_.rows().end(), [&](const PlacedRow& placed) { return in_sight(&placed); });
  return first == layout_.rows().end() ? std::nullopt : std::optional(of(*first));
}

void ViewState::return_to(const std::optional<Anchor>& anchor) {
  const auto row = anchor ? tree().find(anchor->row) : std::nullopt;
  const PlacedRow* placed = row ? layout_.nearest_shown(*row) : nullptr;
  if (placed != nullptr && !placed->is_pinned()) set_scroll(placed->top - layout_.pinned_height() - anchor->below_pinned);
}

std::size_t ViewState::hidden_count() const {
  return static_cast<std::size_t>(
      std::count_if(arrangement_.hidden.begin(), arrangement_.hidden.end(), [this](const std::string& key) { return tree().find(key).has_value(); }));
}

void ViewState::set_current_row(std::string key) {
  if (key == current_row_) return;
  current_row_ = std::move(key);
  emit currentRowChanged();
}

// Without a filter again, rows stand where they stood, unless another row was chosen meanwhile: that one is in sight.
void ViewState::set_filter(std::string filter) {
  if (filter == filter_) return;
  if (filter_.empty()) before_filter_ = {scroll_, current_row_};
  filter_ = std::move(filter);
  lay_out();
  if (!filter_.empty()) return;
  set_scroll(before_filter_.scroll);
  if (current_row_ == before_filter_.current_row) return;
  if (const auto row = tree().find(current_row_)) scroll_to(*row);
}

void ViewState::correlate() {
  correlated_ = correlated_events(trace(), selected());
  correlated_rows_.clear();
  for (const EventRef event : correlated_)
    if (const auto place = tree().place_of(event.lane)) correlated_rows_.push_back(place->row);
  std::sort(correlated_rows_.begin(), correlated_rows_.end());
  correlated_rows_.erase(std::unique(correlated_rows_.begin(), correlated_rows_.end()), correlated_rows_.end());
}

std::vector<EventRef> ViewState::correlated_in_range(std::size_t most) const {
  const bool all = correlated_.size() <= most;  // then they may be in any order
  const auto first_inside =
      all ? correlated_.begin()
          : std::partition_point(correlated_.begin(), correlated_.end(), [this](EventRef event) { return trace().event(event).start < range_.begin; });
  constexpr std::ptrdiff_t kStillRunning = 64;  // that may have begun before the range
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
  set_follow(FollowLive::kNo);
  if (const auto place = tree().place_of(event.lane)) scroll_to(place->row);
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

void ViewState::set_highlighted(std::string text) {
  if (text == matches_.text()) return;
  matches_ = EventMatches(trace_pointer(), std::move(text));
  emit highlightChanged();
}

void ViewState::set_path(std::vector<EventRef> path) {
  if (path == path_) return;
  path_ = std::move(path);
  emit selectionChanged();
}

void ViewState::set_markers(std::vector<TimelineView::Marker> markers) {
  if (markers == markers_) return;
  markers_ = std::move(markers);
  emit markersChanged();
}

void ViewState::set_marker_files(std::vector<TimelineView::MarkerFile> files) {
  marker_files_ = std::move(files);
  set_markers(placed(markers_));
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

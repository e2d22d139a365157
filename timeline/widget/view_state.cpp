#include "view_state.h"

#include <algorithm>
#include <utility>

#include "model/trace/trace_builder.h"

namespace lanescope::timeline {
namespace {

constexpr double kMargin = 0.01;                 // of the trace's length, free space before and after it
constexpr Nanoseconds kEmptyLength = 1'000'000;  // shown when there are no events yet

// Whether `now` has every lane of `before` under the same number, with more events or the same. Not so where one is a file's outline, or
// what a loader has of the file so far: then rows are the same, but nothing that counts in lanes may be carried over.
bool continues(const Trace& before, const Trace& now) {
  if (now.provenance().outline_only != before.provenance().outline_only || now.lanes().size() < before.lanes().size()) return false;
  const auto place = [](const Trace& trace, LaneId id) {
    const Track& track = trace.track_of(id);
    return std::pair(track.key, std::find(track.lanes.begin(), track.lanes.end(), id) - track.lanes.begin());
  };
  for (LaneId id = 0; id < before.lanes().size(); ++id)
    if (place(before, id) != place(now, id)) return false;
  return true;
}

std::shared_ptr<const Trace> empty_trace() {
  TraceBuilder builder;
  return builder.snapshot();
}

}  // namespace

ViewState::ViewState(QObject* parent) : QObject(parent), trace_(empty_trace()), contents_(trace_), history_(range_) {}

TimeRange ViewState::bounds() const {
  const TimeRange extent = trace_->extent();
  if (extent.empty()) return {extent.begin, extent.begin + kEmptyLength};
  const TimeRange wide = padded(extent, kMargin);
  return wide.length() >= kShortestRange ? wide : TimeRange{wide.begin, wide.begin + kShortestRange};
}

void ViewState::adopt(std::shared_ptr<const Trace> trace, Change change) {
  const std::shared_ptr<const Trace> before = std::exchange(trace_, trace ? std::move(trace) : empty_trace());
  tree_ = RowTree(*trace_, sums_);
  of_all_.forget();
  of_window_.forget();
  if (change == Change::kGrown && continues(*before, *trace_)) {
    contents_.grow(trace_);
    matches_.grow(trace_);
  } else {
    contents_ = ContentCache(trace_);
    matches_ = EventMatches(trace_, matches_.text());
  }
  lay_out();
}

std::vector<const LevelContent*> ViewState::contents(std::span<const Level* const> levels) {
  if (contents_.forget_unused()) {
    of_all_.forget();
    of_window_.forget();
  }
  return contents_.contents(levels);
}

void ViewState::set_trace(std::shared_ptr<const Trace> trace) {
  arrangement_ = {};
  select({});
  select_range(std::nullopt);
  hover({}, std::nullopt);
  set_markers({});
  set_current_row({});
  adopt(std::move(trace), Change::kAnother);
  range_ = bounds();
  history_ = ViewHistory(range_);
  set_scroll(0);
  emit traceChanged(Change::kAnother);
  emit rangeChanged();
  emit historyChanged();
}

void ViewState::update_trace(std::shared_ptr<const Trace> trace) {
  if (!trace) return set_trace(nullptr);
  const std::shared_ptr<const Trace> before = trace_;
  const TimeRange bounds_before = bounds();
  const bool all_was_visible = range_ == bounds_before;
  adopt(std::move(trace), Change::kGrown);
  selected_ = find_again(*before, selected_, *trace_);
  correlated_ = correlated_events(*trace_, selected_);
  hovered_ = find_again(*before, hovered_, *trace_);
  emit traceChanged(Change::kGrown);
  if (all_was_visible)
    set_range(bounds(), Step::kUnrecorded);
  else if (follow_ == FollowLive::kYes)
    set_range(panned(range_, bounds().end - range_.end), Step::kUnrecorded);
}

void ViewState::lay_out() {
  layout_ = RowLayout(tree_, arrangement_, theme_.rows, filter_);
  set_scroll(scroll_);
  emit layoutChanged();
}

void ViewState::set_theme(const Theme& theme) {
  theme_ = theme;
  lay_out();
  emit themeChanged();
}

void ViewState::set_range(TimeRange range, Step step) {
  range = clamped(range, bounds());
  if (range == range_) return;
  range_ = range;
  if (step == Step::kRecorded) {
    history_.visit(range, ViewHistory::Clock::now());
    emit historyChanged();
  }
  emit rangeChanged();
}

void ViewState::go_back() {
  if (!history_.can_go_back()) return;
  set_follow(FollowLive::kNo);
  set_range(history_.back(), Step::kUnrecorded);
  emit historyChanged();
}

void ViewState::go_forward() {
  if (!history_.can_go_forward()) return;
  set_follow(FollowLive::kNo);
  set_range(history_.forward(), Step::kUnrecorded);
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

void ViewState::set_canvas_height(int height) {
  canvas_height_ = height;
  set_scroll(scroll_);
}

void ViewState::scroll_to(RowIndex row) {
  const PlacedRow* placed = layout_.nearest_shown(row);
  if (placed == nullptr || placed->pinned) return;
  const int room = std::min(canvas_height_ / 4, 60);
  if (placed->top - scroll_ < layout_.pinned_height())
    set_scroll(placed->top - layout_.pinned_height() - room);
  else if (placed->top + placed->height > scroll_ + canvas_height_)
    set_scroll(placed->top + placed->height - canvas_height_ + room);
}

void ViewState::set_expanded(const std::string& key, bool expanded) {
  const auto row = tree_.find(key);
  if (!row || is_row_expanded(tree_.row(*row)) == expanded) return;
  arrangement_.expanded[key] = expanded;
  lay_out();
}

void ViewState::set_all_expanded(bool expanded) {
  for (const Row& row : tree_.rows()) arrangement_.expanded[row.key] = expanded;
  lay_out();
}

void ViewState::set_pinned(const std::string& key, Pinned pinned) {
  const auto found = std::find(arrangement_.pinned.begin(), arrangement_.pinned.end(), key);
  if ((found != arrangement_.pinned.end()) == (pinned == Pinned::kYes)) return;
  if (pinned == Pinned::kYes)
    arrangement_.pinned.push_back(key);
  else
    arrangement_.pinned.erase(found);
  lay_out();
}

void ViewState::hide(const std::string& key) {
  if (arrangement_.hidden.insert(key).second) lay_out();
}

void ViewState::show_hidden() {
  if (arrangement_.hidden.empty()) return;
  arrangement_.hidden.clear();
  lay_out();
}

void ViewState::move(const std::string& key, const std::string& sibling) {
  const auto row = tree_.find(key);
  const auto other = tree_.find(sibling);
  if (!row || !other || *row == *other || tree_.row(*row).parent != tree_.row(*other).parent) return;
  const std::optional<RowIndex> parent = tree_.row(*row).parent;
  std::vector<std::string> keys;
  for (const RowIndex index : siblings_in_order(tree_, parent, arrangement_)) keys.push_back(tree_.row(index).key);
  const auto from = std::find(keys.begin(), keys.end(), key);
  const auto to = std::find(keys.begin(), keys.end(), sibling);
  if (from < to)
    std::rotate(from, from + 1, to + 1);
  else
    std::rotate(to, from, from + 1);
  arrangement_.order[parent ? tree_.row(*parent).key : std::string()] = std::move(keys);
  lay_out();
}

void ViewState::arrange(RowArrangement arrangement) {
  if (arrangement == arrangement_) return;
  arrangement_ = std::move(arrangement);
  lay_out();
}

std::size_t ViewState::hidden_count() const {
  return static_cast<std::size_t>(std::count_if(arrangement_.hidden.begin(), arrangement_.hidden.end(),
                                                [this](const std::string& key) { return tree_.find(key).has_value(); }));
}

void ViewState::set_current_row(std::string key) {
  if (key == current_row_) return;
  current_row_ = std::move(key);
  emit currentRowChanged();
}

void ViewState::set_filter(std::string filter) {
  if (filter == filter_) return;
  filter_ = std::move(filter);
  lay_out();
}

void ViewState::select(EventRef event) {
  if (event == selected_) return;
  selected_ = event;
  correlated_ = correlated_events(*trace_, event);
  emit selectionChanged();
}

void ViewState::reveal(EventRef event) {
  if (!event.valid()) return;
  if (const auto place = tree_.place_of(event.lane)) scroll_to(place->row);
  const Event found = trace_->event(event);
  const bool in_sight = found.start < range_.end && std::max(found.end(), found.start + 1) > range_.begin;
  if (!in_sight) set_range(panned(range_, found.start + found.duration / 2 - (range_.begin + range_.length() / 2)));
}

void ViewState::select_range(std::optional<TimeRange> range) {
  if (range && range->empty()) range.reset();
  if (range == selected_range_) return;
  selected_range_ = range;
  emit selectedRangeChanged();
}

void ViewState::hover(EventRef event, std::optional<Nanoseconds> time) {
  const bool other_event = event != hovered_;
  const bool other_time = time != hovered_time_;
  hovered_ = event;
  hovered_time_ = time;
  if (other_event) emit hoverChanged();
  if (other_time) emit hoveredTimeChanged();
}

void ViewState::set_highlighted(std::string text) {
  if (text == matches_.text()) return;
  matches_ = EventMatches(trace_, std::move(text));
  emit highlightChanged();
}

void ViewState::set_markers(std::vector<TimelineView::Marker> markers) {
  if (markers.empty() && markers_.empty()) return;
  markers_ = std::move(markers);
  emit markersChanged();
}

}  // namespace lanescope::timeline

#include "parts/canvas.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "input/gestures.h"
#include "input/tool_tip.h"
#include "model/trace/segments/demanded_segments.h"
#include "parts/canvas_accessible.h"
#include "timeline/core/pixels/path_arrows.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::timeline {
namespace {

constexpr double kSnapDistance = 6;           // logical pixels
constexpr qsizetype kLongestArrowLabel = 40;  // characters of an event's name
constexpr std::size_t kMostArrowLabels = 3;   // more would cover each other
constexpr std::size_t kMostOutlines = 256;    // of events that the selected one launched
constexpr double kRoomAroundGap = 0.1;        // of its length, on each side
constexpr int kAimTolerance = 2;              // device pixels around the cursor in which a lone narrow event is still hit

// For a stack chart: the call with this first sample.
std::optional<Event> call_of(const LevelContent& content, EventRef first_sample) {
  for (const ContentLane& lane : content.lanes()) {
    if (lane.source != first_sample.lane || !lane.projected) continue;
    const auto found = std::lower_bound(lane.projected->begin(), lane.projected->end(), first_sample.index);
    if (found != lane.projected->end() && *found == first_sample.index) return lane.lane->event(static_cast<EventIndex>(found - lane.projected->begin()));
  }
  return std::nullopt;
}

}  // namespace

Canvas::Canvas(ViewState& state, QWidget* parent) : QWidget(parent), state_(state), painter_(font()) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMouseTracking(true);
  CanvasAccessible::install();  // before anything asks for the accessible interface of this widget
  setAccessibleName(tr("Timeline rows"));
  const auto rows_changed = [this] { repaintRows(); };
  const auto all_changed = [this] {
    painter_.forget();
    repaintRows();
  };
  connect(&state_, &ViewState::traceChanged, this, [this, all_changed](ViewState::Change change) {
    if (change == ViewState::Change::kAnother) return all_changed();
    repaintRows();  // names, and so their labels and colours, are unchanged
  });
  connect(&state_, &ViewState::themeChanged, this, all_changed);
  connect(&state_, &ViewState::layoutChanged, this, rows_changed);
  connect(&state_, &ViewState::rangeChanged, this, rows_changed);
  connect(&state_, &ViewState::scrollChanged, this, rows_changed);
  connect(&state_, &ViewState::highlightChanged, this, rows_changed);
  connect(&state_, &ViewState::openEventsChanged, this, rows_changed);
  connect(&state_, &ViewState::idleTimeChanged, this, rows_changed);
  connect(&state_, &ViewState::communicationTimeChanged, this, rows_changed);
  connect(&state_, &ViewState::pictureMade, this, rows_changed);
  const auto overlay_changed = [this] { update(); };
  connect(&state_, &ViewState::selectionChanged, this, overlay_changed);
  connect(&state_, &ViewState::selectedRangeChanged, this, overlay_changed);
  connect(&state_, &ViewState::selectedGapChanged, this, overlay_changed);
  connect(&state_, &ViewState::hoverChanged, this, &Canvas::followHover);
  connect(&state_, &ViewState::hoveredTimeChanged, this, &Canvas::followHover);
  connect(&state_, &ViewState::markersChanged, this, overlay_changed);
  connect(&state_, &ViewState::layoutChanged, this, [this] { announce(QAccessible::ObjectReorder); });
  connect(&state_, &ViewState::selectionChanged, this, [this] {
    announce(QAccessible::Selection);
    announceFocus();
  });
  connect(&state_, &ViewState::currentRowChanged, this, &Canvas::announceFocus);
}

void Canvas::announce(QAccessible::Event what) {
  if (!QAccessible::isActive()) return;
  QAccessibleEvent event(this, what);
  QAccessible::updateAccessibility(&event);
}

// Announces the event or row that a key chose to users who cannot see it.
void Canvas::announceFocus() {
  if (!QAccessible::isActive()) return;
  QAccessibleInterface* const own = QAccessible::queryAccessibleInterface(this);
  QAccessibleInterface* const part = own != nullptr ? own->focusChild() : nullptr;
  if (part == nullptr) return;
  QAccessibleEvent event(part, QAccessible::Focus);
  QAccessible::updateAccessibility(&event);
}

void Canvas::repaintRows() {
  rows_are_current_ = false;
  update();
}

// The cursor moves often, and the window may be large, so nothing else is copied to the screen.
void Canvas::followHover() { update(painted_hover_ | hoverRegion()); }

QRegion Canvas::hoverRegion() const {
  QRegion region;
  if (const auto time = state_.hoveredTime()) region += QRect(static_cast<int>(std::floor(viewport().x_at(*time))) - 1, 0, 3, height()) & rect();
  if (state_.hovered().valid())
    for (const QRectF& outline : outlinesOf(state_.hovered())) region += outline.toAlignedRect().adjusted(-1, -1, 1, 1) & rect();
  return region;
}

Viewport Canvas::viewport() const { return {state_.range(), std::max(1, width())}; }

Viewport Canvas::deviceViewport() const { return deviceViewport(devicePixelRatioF()); }

Viewport Canvas::deviceViewport(double ratio) const { return Viewport{state_.range(), std::max(1, static_cast<int>(std::lround(width() * ratio)))}.on_grid(); }

void Canvas::resizeEvent(QResizeEvent*) {
  state_.setCanvasSize(height(), deviceViewport().width);
  repaintRows();
}

void Canvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) painter_.setFont(font());
  QWidget::changeEvent(event);
}

// --- what is under the cursor

Canvas::Hit Canvas::hit(QPointF position) {
  Hit found;
  const int y = state_.layout().unscrolled(static_cast<int>(position.y()), state_.scroll());
  found.row = state_.layout().row_at(y);
  if (found.row == nullptr) return found;
  found.counter = state_.tree().row(found.row->row).counter;
  if (found.counter) {
    const auto pixel = static_cast<std::int64_t>(position.x() * devicePixelRatioF());
    found.time = {deviceViewport().time_at(pixel), deviceViewport().time_at(pixel + 1)};
    return found;
  }
  if (state_.tree().row(found.row->row).kind == RowKind::kAnswer) {
    const auto answered = static_cast<std::size_t>((y - found.row->top) / found.row->level_height);
    found.answer = state_.answer().get();
    if (answered < found.answer->levels().size())
      found.pixel = aimedAt(found.answer->levels()[answered], static_cast<std::int32_t>(position.x() * devicePixelRatioF()));
    return found;
  }
  const auto level = RowLayout::level_at(*found.row, y);
  if (!level) return found;
  found.level = &found.row->levels[*level];
  const LevelContent* const known = state_.content(*found.level);
  if (known == nullptr) return found;  // only its outline is shown so far
  const LevelContent& content = *known;
  const Viewport pixels = deviceViewport();
  const auto x = static_cast<std::int32_t>(position.x() * devicePixelRatioF());
  found.pixel = aimedAt(content, x);
  if (!found.level->empty() && found.level->front().call_depth && found.pixel.event.valid()) found.call = call_of(content, found.pixel.event);
  if (!found.pixel.column.longest.valid())
    for (const EventRef open : state_.openEventsOf(*found.level))
      if (const Nanoseconds time = pixels.time_at(x); time >= state_.trace().lane(open.lane).end(open.index) && time < *state_.clock())
        found.pixel.event = open;
  if (!found.pixel.column.longest.valid() && !found.pixel.event.valid())
    if (const auto state = quiet_state(state_.trace(), *found.level, pixels.time_at(x))) found.pixel.event = *state;
  if (const auto gpu = gpu_of(state_, *found.row); gpu && state_.idleTime() != nullptr && !found.pixel.column.longest.valid())
    found.gap = state_.idleTime()->at(*gpu, pixels.time_at(x));
  return found;
}

PixelHit Canvas::aimedAt(const LevelContent& content, std::int32_t x) const {
  const Viewport pixels = deviceViewport();
  PixelHit found = hit_test(content, pixels, x);
  for (int distance = 1; distance <= kAimTolerance && !found.column.longest.valid(); ++distance)
    for (const int aim : {x - distance, x + distance})
      if (const PixelHit near = hit_test(content, pixels, aim); near.column.longest.valid()) return near;
  return found;
}

std::optional<TimeRange> Canvas::rangeOf(const Hit& hit) {
  if (hit.gap) return hit.gap->range;
  if (hit.call) return TimeRange{hit.call->start, hit.call->end()};
  const EventRef answered = hit.answer == nullptr ? EventRef{} : hit.pixel.event.valid() ? hit.pixel.event : hit.pixel.column.longest;
  if (!answered.valid()) return std::nullopt;
  const Event range = hit.answer->ranges().event(answered);
  return TimeRange{range.start, range.end()};
}

std::optional<Nanoseconds> Canvas::edgeAtCursor() {
  if (!state_.hoveredTime()) return std::nullopt;
  return snappedTime(last_);
}

// The event of the trace that was hit.
EventRef Canvas::eventOf(const Hit& hit) {
  if (hit.answer != nullptr) return {};
  return hit.pixel.event.valid() ? hit.pixel.event : hit.pixel.column.longest;
}

Nanoseconds Canvas::snappedTime(QPointF position) {
  const auto time = viewport().time_at(static_cast<std::int64_t>(std::floor(position.x())));
  const Hit under = hit(position);
  if (under.level == nullptr) return time;
  const auto tolerance = static_cast<Nanoseconds>(kSnapDistance * viewport().step());
  const LevelContent* content = state_.content(*under.level);
  return content == nullptr ? time : nearest_edge(*content, time, tolerance).value_or(time);
}

QString Canvas::toolTipOf(const Hit& hit) {
  if (hit.counter) return counter_tool_tip(state_.trace(), *hit.counter, hit.time);
  if (hit.answer != nullptr) return answer_tool_tip(*hit.answer, hit.pixel, deviceViewport().step());
  if (hit.call) return call_tool_tip(state_.trace(), hit.pixel.event, *hit.call);
  if (state_.isOpen(hit.pixel.event)) return open_tool_tip(state_.trace(), hit.pixel.event, *state_.clock());
  if (hit.pixel.event.valid()) return event_tool_tip(state_.trace(), hit.pixel.event, state_.waitOf(hit.pixel.event));
  if (hit.pixel.column.longest.valid())
    return column_tool_tip(state_.trace(), hit.pixel.column, deviceViewport().step(), sharers_of(state_.tree().row(hit.row->row)));
  if (hit.gap) return gap_tool_tip(*state_.idleTime(), *hit.gap);
  return {};
}

bool Canvas::event(QEvent* event) {
  if (event->type() == QEvent::NativeGesture) return pinch(*static_cast<QNativeGestureEvent*>(event));
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString text = drag_ == Drag::kNone ? toolTipOf(hit(help->pos())) : QString();
  if (text.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), text, this);
  return true;
}

// --- gestures

bool Canvas::pinch(const QNativeGestureEvent& gesture) {
  if (gesture.gestureType() != Qt::ZoomNativeGesture) return false;
  const Nanoseconds fixed = viewport().time_at(static_cast<std::int64_t>(gesture.position().x()));
  state_.navigate(zoomed(state_.range(), std::max(0.1, 1 + gesture.value()), fixed));
  return true;
}

void Canvas::wheelEvent(QWheelEvent* event) {
  keep_menu_bar_closed(*event);
  const WheelStep step = wheel_step(*event, state_.wheelUse());
  event->accept();
  state_.setScroll(state_.scroll() - static_cast<int>(std::lround(step.scroll)));
  if (step.pan == 0 && step.zoom == 1) return;
  TimeRange range = state_.range();
  const Viewport view = viewport();
  if (step.zoom != 1) range = zoomed(range, step.zoom, view.time_at(static_cast<std::int64_t>(event->position().x())));
  if (step.pan != 0) range = panned(range, static_cast<Nanoseconds>(step.pan * view.step()));
  state_.navigate(range);
}

void Canvas::mousePressEvent(QMouseEvent* event) {
  QToolTip::hideText();
  press_ = last_ = event->position();
  const bool pans = event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && (event->modifiers() & Qt::ShiftModifier));
  if (pans) {
    drag_ = Drag::kPan;
    setCursor(Qt::ClosedHandCursor);
  } else if (event->button() == Qt::LeftButton) {
    drag_ = Drag::kPressed;
    range_anchor_ = snappedTime(press_);
  }
}

void Canvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF position = event->position();
  if (drag_ == Drag::kPressed && (position - press_).manhattanLength() >= QApplication::startDragDistance()) drag_ = Drag::kRange;
  if (drag_ == Drag::kRange) {
    const Nanoseconds time = snappedTime(position);
    state_.selectRange(TimeRange{std::min(range_anchor_, time), std::max(range_anchor_, time)});
  } else if (drag_ == Drag::kPan) {
    const double pixels = last_.x() - position.x();
    state_.navigate(panned(state_.range(), static_cast<Nanoseconds>(std::llround(pixels * viewport().step()))));
    state_.setScroll(state_.scroll() + static_cast<int>(last_.y() - position.y()));
  }
  last_ = position;
  const Hit under = hit(position);
  state_.hover(drag_ == Drag::kNone && under.answer == nullptr ? under.pixel.event : EventRef{}, viewport().time_at(static_cast<std::int64_t>(position.x())));
}

// A row that is cut at the bottom would be brought into sight: another one would then lie under the second press of a double click, or under a menu.
void Canvas::selectInPlace(EventRef event) {
  const int scroll = state_.scroll();
  state_.select(event);
  state_.setScroll(scroll);
}

void Canvas::mouseReleaseEvent(QMouseEvent* event) {
  const Drag ended = drag_;
  drag_ = Drag::kNone;
  unsetCursor();
  if (ended != Drag::kPressed || event->button() != Qt::LeftButton) return;
  const Hit under = hit(event->position());
  const EventRef chosen = eventOf(under);
  selectInPlace(chosen);
  if (chosen.valid()) return;
  if (under.gap)
    state_.selection().selectGap({under.gap->range, under.gap->gpu});
  else
    state_.selection().selectRange(rangeOf(under));
}

void Canvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const Hit under = hit(event->position());
  if (const auto range = rangeOf(under)) return state_.navigate(padded(*range, kRoomAroundGap));
  const EventRef chosen = eventOf(under);
  if (!chosen.valid()) return;
  state_.select(chosen);
  state_.navigate(range_around(state_.drawnEvent(chosen)));
  emit eventActivated(chosen);
}

void Canvas::leaveEvent(QEvent*) { state_.hover({}, std::nullopt); }

void Canvas::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() != QContextMenuEvent::Mouse) return event->ignore();
  const Hit under = hit(event->pos());
  if (under.row == nullptr) return;
  const EventRef event_hit = eventOf(under);
  if (event_hit.valid()) selectInPlace(event_hit);
  if (under.gap && !event_hit.valid()) {
    selectInPlace({});
    state_.selection().selectGap({under.gap->range, under.gap->gpu});
    return emit gapContextMenuRequested(*under.gap, under.row->row, event->globalPos());
  }
  emit contextMenuRequested(event_hit, under.row->row, event->globalPos());
}

// --- painting

void Canvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double ratio = painter.device()->devicePixelRatioF();  // of the screen, or of a picture
  const QSize wanted(deviceViewport(ratio).width, std::max(1, static_cast<int>(std::lround(height() * ratio))));
  if (rows_.size() != wanted || rows_.devicePixelRatio() != ratio) {
    rows_ = QImage(wanted, QImage::Format_RGB32);
    rows_.setDevicePixelRatio(ratio);
    rows_are_current_ = false;
  }
  if (rows_.isNull()) return SegmentCache::of_process().report_shortage();
  if (!rows_are_current_) painter_.paint(state_, rows_);
  rows_are_current_ = true;

  painter.drawImage(QPointF(0, 0), rows_);
  const std::vector<PlacedRow>& placed = state_.layout().rows();
  if (std::all_of(placed.begin(), placed.end(), [](const PlacedRow& row) { return row.is_pinned(); })) {
    painter.setPen(state_.theme().quiet_text);
    painter.drawText(rect().adjusted(8, 8 + state_.layout().pinned_height(), -8, -8), Qt::AlignCenter | Qt::TextWordWrap, whyNothing());
  }
  paintMarkers(painter);
  paintSelectedRange(painter);
  paintSelectedGap(painter);
  const Theme& theme = state_.theme();
  if (state_.hovered().valid() && state_.hovered() != state_.selected()) paintOutline(painter, state_.hovered(), theme.text, 1);
  for (const EventRef event : state_.correlatedInRange(kMostOutlines)) paintOutline(painter, event, theme.accent, 2);
  if (state_.selected().valid()) paintOutline(painter, state_.selected(), theme.accent, 2);
  if (state_.path().empty())
    paintArrows(painter);
  else
    paintPath(painter);
  if (const auto time = state_.hoveredTime()) {
    QColor line = theme.text;
    line.setAlpha(70);
    painter.fillRect(QRectF(std::floor(viewport().x_at(*time)), 0, 1, height()), line);
  }
  painted_hover_ = hoverRegion();
}

QString Canvas::whyNothing() const {
  if (const Trace& trace = state_.trace(); trace.provenance().part && trace.event_count() == 0) {
    const TimeRange part = trace.scope();
    return shown_text(Message("Nothing happened in this part of the recording, from {begin} to {end}.",
                              {{"begin", format_time(part.begin)}, {"end", format_time(part.end)}}));
  }
  if (state_.tree().rows().empty()) return tr("There are no events to show.");
  if (state_.filter().empty()) return tr("All rows are hidden. Rows > Show hidden rows brings them back.");
  return tr("No row has “%1” in its name.").arg(QString::fromStdString(state_.filter()));
}

void Canvas::paintMarkers(QPainter& painter) const {
  for (const TimelineView::Marker& marker : state_.markers()) {
    const double x = std::floor(viewport().x_at(marker.time));
    if (x >= 0 && x < width()) painter.fillRect(QRectF(x, 0, 1, height()), state_.theme().marker);
  }
}

void Canvas::paintSelectedRange(QPainter& painter) const {
  if (!state_.selectedRange()) return;
  const Viewport view = viewport();
  const double left = std::clamp<double>(view.x_at(state_.selectedRange()->begin), -2, width() + 2);
  const double right = std::clamp<double>(view.x_at(state_.selectedRange()->end), -2, width() + 2);
  const bool all_is_selected = left <= 0 && right >= width();  // the tint would tell nothing then, and only change the colours of events
  if (!all_is_selected) painter.fillRect(QRectF(left, 0, right - left, height()), state_.theme().range);
  painter.fillRect(QRectF(std::floor(left), 0, 1, height()), state_.theme().accent);
  painter.fillRect(QRectF(std::floor(right), 0, 1, height()), state_.theme().accent);
}

// A frame around the gap on the rows of its GPU, if it is not the selected range.
void Canvas::paintSelectedGap(QPainter& painter) const {
  const std::optional<Gap> gap = state_.selectedGap();
  if (!gap || state_.selectedRange() == gap->range || gap->range.intersected(state_.range()).empty()) return;
  painter.setPen(QPen(state_.theme().accent, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  painter.setBrush(Qt::NoBrush);
  const double left = std::clamp<double>(viewport().x_at(gap->range.begin), -10, width() + 10);
  const double right = std::clamp<double>(viewport().x_at(gap->range.end), -10, width() + 10);
  for (const PlacedRow* row : state_.layout().in_sight(state_.scroll(), height())) {
    if (gpu_of(state_, *row) != gap->gpu) continue;
    const int covered = row->is_pinned() ? 0 : state_.layout().pinned_height();
    painter.setClipRect(0, covered, width(), height() - covered);
    painter.drawRect(QRectF(left, state_.topOf(*row) + 1, std::max(2.0, right - left), row->height - 2).adjusted(1, 1, -1, -1));
  }
  painter.setClipping(false);
}

QRectF Canvas::eventRectangle(const PlacedRow& row, std::size_t level, EventRef event) const {
  const Viewport view = viewport();
  const Event shown = state_.drawnEvent(event);
  const double left = std::clamp<double>(view.x_at(shown.start), -10, width() + 10);
  const double right = std::clamp<double>(view.x_at(shown.end()), -10, width() + 10);
  const double top = state_.topOf(row) + static_cast<double>(level) * row.level_height + 1;
  return QRectF(left, top, std::max(2.0, right - left), row.level_height - 1);
}

QRect Canvas::rectangleOf(const std::string& row_key, RowPlace place, EventRef event) const {
  for (const PlacedRow* row : state_.layout().in_sight(state_.scroll(), height())) {
    if (row->place != place || state_.tree().row(row->row).key != row_key) continue;
    for (std::size_t level = 0; level < row->levels.size(); ++level)
      if (level_shows(state_.trace(), row->levels[level], event)) return eventRectangle(*row, level, event).toAlignedRect() & rect();
  }
  return {};
}

// The rectangles of the event on every row that shows it.
std::vector<QRectF> Canvas::outlinesOf(EventRef event) const {
  std::vector<QRectF> outlines;
  const Trace& trace = state_.trace();
  if (event.lane >= trace.lanes().size() || event.index >= trace.lane(event.lane).size()) return outlines;  // of a later state that will arrive shortly
  const Event shown = state_.drawnEvent(event);
  if (shown.end() < state_.range().begin || shown.start > state_.range().end) return outlines;
  for (const PlacedRow* row : state_.layout().in_sight(state_.scroll(), height()))
    for (std::size_t level = 0; level < row->levels.size(); ++level)
      if (level_shows(trace, row->levels[level], event)) outlines.push_back(eventRectangle(*row, level, event));
  return outlines;
}

// Draws an outline around the event on every row that shows it.
void Canvas::paintOutline(QPainter& painter, EventRef event, const QColor& color, double width_of_line) const {
  const Event shown = state_.drawnEvent(event);
  if (shown.end() < state_.range().begin || shown.start > state_.range().end) return;
  painter.setPen(QPen(color, width_of_line, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  painter.setBrush(Qt::NoBrush);
  const double inset = width_of_line / 2;
  for (const PlacedRow* row : state_.layout().in_sight(state_.scroll(), height())) {
    const int covered = row->is_pinned() ? 0 : state_.layout().pinned_height();
    painter.setClipRect(0, covered, width(), height() - covered);
    for (std::size_t level = 0; level < row->levels.size(); ++level)
      if (level_shows(state_.trace(), row->levels[level], event)) painter.drawRect(eventRectangle(*row, level, event).adjusted(inset, inset, -inset, -inset));
  }
  painter.setClipping(false);
}

// The point at which arrows meet an event at a time: on its own row, or on the nearest row that is shown.
std::optional<ArrowEnd> Canvas::anchor(EventRef event, Nanoseconds time, ArrowLabel label) const {
  const auto place = state_.tree().place_of(event.lane);
  if (!place) return std::nullopt;
  const PlacedRow* row = state_.layout().nearest_shown(place->row);
  if (row == nullptr) return std::nullopt;
  const bool own = row->row == place->row && place->level < row->levels.size();
  const double level = own ? place->level : 0;
  double y = state_.topOf(*row) + (level + 0.5) * row->level_height;
  if (!row->is_pinned() && y < state_.layout().pinned_height()) y = std::min(y, -1.0);  // covered, and so out of sight like a row that is scrolled away
  // For an event that started before the window, the visible part.
  const QPointF at(std::max(viewport().x_at(time), std::min(2.0, viewport().x_at(state_.trace().event(event).end()))), y);
  if (label == ArrowLabel::kNo) return ArrowEnd{at, {}};
  const QString title = QString::fromStdString(event_title(state_.trace(), event)).left(kLongestArrowLabel);
  return ArrowEnd{at, title + QStringLiteral(" · ") + shown_text(state_.tree().row(row->row).label)};
}

void Canvas::paintArrows(QPainter& painter) const {
  constexpr std::size_t kMost = 64;  // enough to show where the nodes of a large graph are
  const EventRef selected = state_.selected();
  if (!selected.valid() || state_.correlated().empty()) return;
  const bool selected_launches = state_.trace().track_of(selected.lane).key.kind == TrackKind::kCudaApi;
  const ArrowLabel label = state_.correlated().size() > kMostArrowLabels ? ArrowLabel::kNo : ArrowLabel::kYes;
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t index = 0; index < std::min(kMost, state_.correlated().size()); ++index) {
    const EventRef other = state_.correlated()[index];
    const EventRef launch = selected_launches ? selected : other, work = selected_launches ? other : selected;
    const auto from = anchor(launch, state_.trace().event(launch).start, label);
    const auto to = anchor(work, state_.trace().event(work).start, label);
    if (from && to) draw_arrow(painter, *from, *to, rect(), state_.theme());
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

// What waited, and what it waited for, back in time: arrows go in the other direction, from an end to a start.
void Canvas::paintPath(QPainter& painter) const {
  const auto row_of = [this](LaneId lane) -> std::optional<RowIndex> {
    const auto place = state_.tree().place_of(lane);
    const PlacedRow* row = place ? state_.layout().nearest_shown(place->row) : nullptr;
    return row == nullptr ? std::nullopt : std::optional(row->row);
  };
  painter.setRenderHint(QPainter::Antialiasing);
  for (const PathArrow& arrow : arrows_of_path(state_.path(), viewport(), row_of)) {
    const bool is_of_selected = arrow.cause == state_.selected() || arrow.effect == state_.selected();
    const ArrowLabel label = is_of_selected ? ArrowLabel::kYes : ArrowLabel::kNo;
    const auto from = anchor(arrow.cause, arrow.time.begin, label);
    const auto to = anchor(arrow.effect, arrow.time.end, label);
    if (from && to) draw_arrow(painter, *from, *to, rect(), state_.theme());
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace lanescope::timeline

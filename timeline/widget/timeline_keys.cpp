// The keyboard of the timeline: what each key does, once as code and once in words.
#include <QKeyEvent>

#include "timeline/core/describe.h"
#include "timeline/core/viewport.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::timeline {
namespace {

constexpr double kPanStep = 0.15;  // of the visible range
constexpr double kZoomStep = 1.5;

}  // namespace

// Keys with Shift, Ctrl or Alt.
bool TimelineView::pressWithModifier(int key, Qt::KeyboardModifiers modifiers) {
  if (modifiers == Qt::AltModifier && key == Qt::Key_Left) return goBack(), true;
  if (modifiers == Qt::AltModifier && key == Qt::Key_Right) return goForward(), true;
  if (modifiers == Qt::ShiftModifier && key == Qt::Key_Z) return zoomToSelection(), true;
  if (modifiers == Qt::ShiftModifier && key == Qt::Key_Left) return selectNeighbour(Neighbour::kPreviousOfSameName), true;
  if (modifiers == Qt::ShiftModifier && key == Qt::Key_Right) return selectNeighbour(Neighbour::kNextOfSameName), true;
  if (modifiers == Qt::ControlModifier && key == Qt::Key_M) return askForMarker(), true;
  if (modifiers == Qt::ControlModifier && key == Qt::Key_G) return askForTime(), true;
  if (modifiers == Qt::ShiftModifier && key == Qt::Key_N) return selectPreviousHighlighted(), true;
  return false;
}

bool TimelineView::pressPlain(int key) {
  switch (key) {
    case Qt::Key_W:
      return zoomBy(kZoomStep), true;
    case Qt::Key_S:
      return zoomBy(1 / kZoomStep), true;
    case Qt::Key_A:
      return panBy(-kPanStep), true;
    case Qt::Key_D:
      return panBy(kPanStep), true;
    case Qt::Key_Left:
      return selectedEvent().valid() ? selectNeighbour(Neighbour::kPrevious) : panBy(-kPanStep), true;
    case Qt::Key_Right:
      return selectedEvent().valid() ? selectNeighbour(Neighbour::kNext) : panBy(kPanStep), true;
    case Qt::Key_Up:
      return selectNeighbour(Neighbour::kOuter), true;
    case Qt::Key_Down:
      return selectNeighbour(Neighbour::kInner), true;
    case Qt::Key_F:
      return zoomToEvent(selectedEvent()), true;
    case Qt::Key_M:
      return markSelection(), true;
    case Qt::Key_PageUp:
      return scrollRows(-1), true;
    case Qt::Key_PageDown:
      return scrollRows(1), true;
    case Qt::Key_N:
      return selectNextHighlighted(), true;
    case Qt::Key_P:
      return pinRow(), true;
    case Qt::Key_BracketLeft:
      return measureFrom(RangeEnd::kBegin), true;
    case Qt::Key_BracketRight:
      return measureFrom(RangeEnd::kEnd), true;
    case Qt::Key_Home:
      return zoomToFit(), true;
    case Qt::Key_Backspace:
      return goBack(), true;
    case Qt::Key_Escape:
      selectEvent({});
      setSelectedRange(std::nullopt);
      return true;
    default:
      return false;
  }
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  const Qt::KeyboardModifiers modifiers = event->modifiers() & ~Qt::KeypadModifier;
  const bool taken = modifiers == Qt::NoModifier ? pressPlain(event->key()) : pressWithModifier(event->key(), modifiers);
  if (!taken) QWidget::keyPressEvent(event);
}

void TimelineView::panBy(double share) {
  const TimeRange range = visibleRange();
  setFollowLive(FollowLive::kNo);
  setVisibleRange(panned(range, static_cast<Nanoseconds>(share * static_cast<double>(range.length()))));
}

// Marks where the selected range begins and ends, else where the selected event begins.
void TimelineView::markSelection() {
  if (const auto range = selectedRange()) {
    addMarker(range->begin, {});
    addMarker(range->end, {});
  } else if (selectedEvent().valid()) {
    addMarker(trace()->event(selectedEvent()).start, QString::fromStdString(event_title(*trace(), selectedEvent())).left(24));
  }
}

std::vector<std::pair<QString, QString>> TimelineView::help_text() {
  return {
      {tr("Wheel, Ctrl+wheel"), tr("zoom at the cursor")},
      {tr("Shift+wheel, middle-drag, Shift+drag"), tr("pan")},
      {tr("Wheel over the row names"), tr("scroll the rows")},
      {tr("Drag"), tr("select a range; it snaps to the edges of events")},
      {tr("Shift+Z"), tr("zoom into the selected range")},
      {tr("Click"), tr("select an event, its launching call and its GPU work")},
      {tr("Double-click, F"), tr("zoom to the event")},
      {tr("W S A D"), tr("zoom in, zoom out, pan left, pan right")},
      {tr("Left, Right"), tr("previous, next event of the row")},
      {tr("Shift+Left, Shift+Right"), tr("previous, next event of the same name")},
      {tr("Up, Down"), tr("the enclosing, the first enclosed event")},
      {tr("Backspace, Alt+Left"), tr("back to the view before")},
      {tr("Alt+Right"), tr("forward again")},
      {tr("Home"), tr("show the whole trace")},
      {tr("Page Up, Page Down"), tr("scroll the rows")},
      {tr("M"), tr("mark the ends of the selected range, or the selected event")},
      {tr("Ctrl+M"), tr("mark with a name")},
      {tr("[ and ]"), tr("measure from, and to, the edge of an event at the cursor")},
      {tr("Ctrl+G"), tr("go to a time")},
      {tr("N, Shift+N"), tr("next, previous event that the search highlights")},
      {tr("P"), tr("pin the row to the top, or release it")},
      {tr("Drag a row's name"), tr("put the row elsewhere among its neighbours")},
      {tr("Esc"), tr("select nothing")},
  };
}

}  // namespace lanescope::timeline

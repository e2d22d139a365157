// The keyboard commands of the timeline: one list for the keys themselves, for menus and for the list of keys.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include <QKeyEvent>
#include <QKeySequence>
#include <QStringList>

#include "timeline/core/view/viewport.h"
#include "timeline/core/words/describe.h"
#include "timeline/widget/shown_text.h"
#include "timeline/widget/timeline_command.h"
#include "timeline/widget/timeline_view.h"
#include "view/timeline_parts.h"

namespace lanescope::timeline {
namespace {

constexpr double kPanStep = 0.15;  // of the visible range
constexpr double kZoomStep = 1.5;
constexpr double kRowStep = 1.25;

using Menu = TimelineCommand::Menu;
using Needs = TimelineCommand::Needs;

QString tr(const char* text) { return TimelineView::tr(text); }

TimelineCommand command(Menu menu, const char* text, std::vector<QKeyCombination> keys, std::function<void(TimelineView&)> act, Needs needs = Needs::kNothing) {
  return {menu, tr(text), std::move(keys), std::move(act), QString::fromLatin1(text).remove(u'&'), needs};
}

auto select(Neighbour which) {
  return [which](TimelineView& view) { view.selectNeighbour(which); };
}

// Along the row if an event is selected, else along time.
auto step(Neighbour which, double share) {
  return [which, share](TimelineView& view) { view.selectedEvent().valid() ? view.selectNeighbour(which) : view.panBy(share); };
}

std::vector<TimelineCommand> view_commands() {
  return {
      command(Menu::kView, "Zoom in", {Qt::Key_W}, [](TimelineView& view) { view.zoomBy(kZoomStep); }),
      command(Menu::kView, "Zoom out", {Qt::Key_S}, [](TimelineView& view) { view.zoomBy(1 / kZoomStep); }),
      command(Menu::kView, "Zoom to selection", {Qt::SHIFT | Qt::Key_Z}, &TimelineView::zoomToSelection),
      command(Menu::kView, "Fit everything", {Qt::Key_Home}, &TimelineView::zoomToFit),
      command(Menu::kView, "Show the loop", {Qt::SHIFT | Qt::Key_Home}, &TimelineView::showLoop),
      command(Menu::kView, "Back to the previous view", {Qt::Key_Backspace, Qt::Key_Z, Qt::ALT | Qt::Key_Left}, &TimelineView::goBack),
      command(Menu::kView, "Forward again", {Qt::ALT | Qt::Key_Right}, &TimelineView::goForward),
      command(Menu::kView, "Go to a time", {Qt::CTRL | Qt::Key_G}, &TimelineView::askForTime),
      command(Menu::kView, "Mark with a name", {Qt::CTRL | Qt::Key_M}, &TimelineView::askForMarker),
      command(Menu::kView, "Select nothing", {Qt::Key_Escape}, &TimelineView::clearSelection),
  };
}

std::vector<TimelineCommand> navigate_commands() {
  return {
      command(
          Menu::kNavigate, "Zoom to the e&vent", {Qt::Key_F},
          [](TimelineView& view) {
            view.openRowsTo(view.selectedEvent());
            view.zoomToEvent(view.selectedEvent());
          },
          Needs::kEvent),
      command(Menu::kNavigate, "Event in the &middle of the row", {Qt::Key_Return, Qt::Key_Enter}, &TimelineView::selectInRow),
      command(Menu::kNavigate, "&Previous event of the row", {Qt::Key_Left}, step(Neighbour::kPrevious, -kPanStep), Needs::kEvent),
      command(Menu::kNavigate, "&Next event of the row", {Qt::Key_Right}, step(Neighbour::kNext, kPanStep), Needs::kEvent),
      command(Menu::kNavigate, "Previous of the same name", {Qt::SHIFT | Qt::Key_Left}, select(Neighbour::kPreviousOfSameName), Needs::kEvent),
      command(Menu::kNavigate, "Next of the same name", {Qt::SHIFT | Qt::Key_Right}, select(Neighbour::kNextOfSameName), Needs::kEvent),
      command(Menu::kNavigate, "Previous of the same family (step 7, step 8)", {Qt::CTRL | Qt::SHIFT | Qt::Key_Left}, select(Neighbour::kPreviousOfFamily),
              Needs::kEvent),
      command(Menu::kNavigate, "Next of the same family", {Qt::CTRL | Qt::SHIFT | Qt::Key_Right}, select(Neighbour::kNextOfFamily), Needs::kEvent),
      command(Menu::kNavigate, "&Enclosing event", {Qt::Key_Up}, select(Neighbour::kOuter), Needs::kEvent),
      command(Menu::kNavigate, "&First enclosed event", {Qt::Key_Down}, select(Neighbour::kInner), Needs::kEvent),
      command(Menu::kNavigate, "Launching &call, or GPU work", {Qt::Key_L}, &TimelineView::selectCorrelated, Needs::kEvent),
      command(Menu::kNavigate, "&What it waited for, hop by hop", {Qt::Key_Y}, &TimelineView::askWhatItWaitedFor, Needs::kSelection),
      command(Menu::kNavigate, "Next &gap of a GPU", {Qt::Key_G}, [](TimelineView& view) { view.selectGap(IdleTime::Direction::kNext); }),
      command(Menu::kNavigate, "Previous gap of a GPU", {Qt::SHIFT | Qt::Key_G}, [](TimelineView& view) { view.selectGap(IdleTime::Direction::kPrevious); }),
      command(Menu::kNavigate, "Next &highlighted event", {Qt::Key_N}, &TimelineView::selectNextHighlighted, Needs::kHighlights),
      command(Menu::kNavigate, "Previous highlighted event", {Qt::SHIFT | Qt::Key_N}, &TimelineView::selectPreviousHighlighted, Needs::kHighlights),
      command(Menu::kNavigate, "Pan left", {Qt::Key_A}, [](TimelineView& view) { view.panBy(-kPanStep); }),
      command(Menu::kNavigate, "Pan right", {Qt::Key_D}, [](TimelineView& view) { view.panBy(kPanStep); }),
  };
}

std::vector<TimelineCommand> mark_commands() {
  using End = TimelineView::RangeEnd;
  return {
      command(Menu::kMark, "Measure from the edge at the cursor", {Qt::Key_BracketLeft}, [](TimelineView& v) { v.measureFrom(End::kBegin); }),
      command(Menu::kMark, "Measure &to the edge at the cursor", {Qt::Key_BracketRight}, [](TimelineView& v) { v.measureFrom(End::kEnd); }),
      command(Menu::kMark, "Se&lect the loop", {Qt::CTRL | Qt::SHIFT | Qt::Key_Home}, &TimelineView::selectLoop),
      command(Menu::kMark, "Mark the &selected range or event", {Qt::Key_M}, &TimelineView::markSelection, Needs::kSelection),
      command(
          Menu::kMark, "Next mar&ker", {Qt::Key_Period}, [](TimelineView& v) { v.goToMarker(TimelineView::MarkerDirection::kNext); }, Needs::kMarkers),
      command(
          Menu::kMark, "Previo&us marker", {Qt::Key_Comma}, [](TimelineView& v) { v.goToMarker(TimelineView::MarkerDirection::kPrevious); }, Needs::kMarkers),
      command(Menu::kMark, "&Remove all markers", {}, &TimelineView::clearMarkers, Needs::kMarkers),
  };
}

std::vector<TimelineCommand> row_commands() {
  using Direction = TimelineView::RowDirection;
  return {
      command(Menu::kRows, "Row &above", {Qt::CTRL | Qt::Key_Up}, [](TimelineView& view) { view.stepRow(Direction::kUp); }),
      command(Menu::kRows, "Row &below", {Qt::CTRL | Qt::Key_Down}, [](TimelineView& view) { view.stepRow(Direction::kDown); }),
      command(Menu::kRows, "&Open or close the row", {Qt::Key_Space}, &TimelineView::toggleRow),
      command(Menu::kRows, "&Pin the row, or release it", {Qt::Key_P, Qt::CTRL | Qt::Key_P}, &TimelineView::pinRow),
      command(Menu::kRows, "&Hide the row", {Qt::Key_H}, &TimelineView::hideCurrentRow),
      command(Menu::kRows, "Move the row &up", {Qt::ALT | Qt::Key_Up}, [](TimelineView& view) { view.shiftRow(Direction::kUp); }),
      command(Menu::kRows, "Move the row &down", {Qt::ALT | Qt::Key_Down}, [](TimelineView& view) { view.shiftRow(Direction::kDown); }),
      command(Menu::kRows, "Bus&iest rows first", {}, [](TimelineView& view) { view.orderRows(RowMeasure::kBusy); }),
      command(Menu::kRows, "Rows that &wait longest first", {}, [](TimelineView& view) { view.orderRows(RowMeasure::kWaiting); }),
      command(Menu::kRows, "Interlea&ve the rows of A and B, or set them apart", {Qt::Key_I},
              [](TimelineView& view) { view.setTraceSides(view.traceSides() == TraceSides::kApart ? TraceSides::kInterleaved : TraceSides::kApart); }),
      command(Menu::kRows, "&Menu of the row or event", {Qt::Key_Menu, Qt::SHIFT | Qt::Key_F10}, &TimelineView::askForMenu),
      command(Menu::kRows, "Scroll up", {Qt::Key_PageUp}, [](TimelineView& view) { view.scrollRows(-1); }),
      command(Menu::kRows, "Scroll down", {Qt::Key_PageDown}, [](TimelineView& view) { view.scrollRows(1); }),
      command(Menu::kRows, "Hi&gher rows", {Qt::SHIFT | Qt::Key_W}, [](TimelineView& view) { view.setRowScale(view.rowScale() * kRowStep); }),
      command(Menu::kRows, "&Lower rows", {Qt::SHIFT | Qt::Key_S}, [](TimelineView& view) { view.setRowScale(view.rowScale() / kRowStep); }),
      command(Menu::kRows, "De&fault row height", {}, [](TimelineView& view) { view.setRowScale(1); }),
      command(Menu::kRows, "&Show hidden rows", {}, &TimelineView::showHiddenRows),
      command(Menu::kRows, "E&xpand all rows", {}, &TimelineView::expandAll),
      command(Menu::kRows, "&Collapse all rows", {}, &TimelineView::collapseAll),
      command(Menu::kRows, "A&rrange all rows as at first", {}, &TimelineView::arrangeRowsAsAtFirst),
  };
}

// The pressed key; on a keyboard of another script, the key at the same place of a US keyboard.
Qt::Key latin_key(const QKeyEvent& event) {
  constexpr int kLastLatin = 0xff, kFirstSpecial = 0x01000000;
  struct Keys {
    std::uint32_t first;  // scan code of X11 and Wayland: the kernel's code + 8
    std::string_view keys;
  };
  constexpr Keys kRows[] = {{24, "QWERTYUIOP[]"}, {38, "ASDFGHJKL"}, {52, "ZXCVBNM,."}};
  const auto key = static_cast<Qt::Key>(event.key());
  if (key <= kLastLatin || key >= kFirstSpecial) return key;
  for (const Keys& row : kRows)
    if (const std::uint32_t place = event.nativeScanCode() - row.first; event.nativeScanCode() >= row.first && place < row.keys.size())
      return static_cast<Qt::Key>(row.keys[place]);
  return key;
}

}  // namespace

const std::vector<TimelineCommand>& timeline_commands() {
  static const std::vector<TimelineCommand> commands = [] {
    std::vector<TimelineCommand> all;
    for (const auto& some : {view_commands(), navigate_commands(), mark_commands(), row_commands()}) all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return commands;
}

bool can_act(const TimelineCommand& command, TimelineView& view) {
  if (view.trace() == nullptr) return false;
  switch (command.needs) {
    case Needs::kNothing:
      return true;
    case Needs::kEvent:
      return view.selectedEvent().valid();
    case Needs::kSelection:
      return view.selectedEvent().valid() || view.selection().latestTime().has_value();
    case Needs::kHighlights:
      return !view.highlightedText().isEmpty();
    case Needs::kMarkers:
      return !view.markers().empty();
  }
  return false;
}

QString keys_text(const std::vector<QKeyCombination>& keys) {
  QStringList texts;
  for (const QKeyCombination key : keys) texts += QKeySequence(key).toString(QKeySequence::NativeText);
  return texts.join(QStringLiteral(", "));
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (!actOn(*event)) QWidget::keyPressEvent(event);
}

bool TimelineView::actOn(const QKeyEvent& event) {
  const QKeyCombination pressed(event.modifiers() & ~(Qt::KeypadModifier | Qt::GroupSwitchModifier), latin_key(event));
  for (const TimelineCommand& command : timeline_commands())
    if (const auto& keys = keysOf(command); std::find(keys.begin(), keys.end(), pressed) != keys.end()) return command.act(*this), true;
  return false;
}

void TimelineView::setKeys(const QString& command, std::vector<QKeyCombination> keys) { parts_->keys[command] = std::move(keys); }

const std::vector<QKeyCombination>& TimelineView::keysOf(const TimelineCommand& command) const {
  const auto chosen = parts_->keys.find(command.id);
  return chosen == parts_->keys.end() ? command.keys : chosen->second;
}

void TimelineView::panBy(double share) {
  const TimeRange range = visibleRange();
  setVisibleRange(panned(range, static_cast<Nanoseconds>(share * static_cast<double>(range.length()))));
}

void TimelineView::clearSelection() {
  selectEvent({});
  setSelectedRange(std::nullopt);
  setCurrentRow({});
}

void TimelineView::markSelection() {
  if (const auto range = selection().latestTime()) {
    addMarkers({{range->begin, {}}, {range->end, {}}});
  } else if (selectedEvent().valid()) {
    const Event event = trace()->event(selectedEvent());
    const std::string_view label = event_label(*trace(), trace()->track_of(selectedEvent().lane).key.kind, event);
    addMarker(event.start, QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size())).left(24));
  }
}

std::vector<std::pair<QString, QString>> TimelineView::helpText() const {
  std::vector<std::pair<QString, QString>> lines = {
      {tr("Wheel, Ctrl+wheel"), tr("Zoom at the cursor; or scroll, as View > Mouse wheel says")},
      {tr("Shift+wheel, middle-drag, Shift+drag"), tr("Pan")},
      {tr("Two fingers on a trackpad"), tr("Pan and scroll the rows; with Ctrl, or by pinching, zoom")},
      {tr("Wheel over the row names, Alt+wheel"), tr("Scroll the rows")},
      {tr("Ctrl+wheel over the row names"), tr("Higher or lower rows")},
      {tr("Drag"), tr("Select a range; it snaps to the edges of events")},
      {tr("Click"), tr("Select an event, its launching call and its GPU work; or a gap of a GPU")},
      {tr("Double-click"), tr("Zoom to the event or gap")},
      {tr("Click on a row's name"), tr("Choose the row that keys act on")},
      {tr("Drag a row's name"), tr("Put the row elsewhere among its neighbours")},
      {tr("Right-click"), tr("What can be done with the event, gap, range, row or time")},
  };
  for (const TimelineCommand& command : timeline_commands())
    if (const auto& keys = keysOf(command); !keys.empty()) lines.emplace_back(keys_text(keys), without_mnemonic(command.text));
  return lines;
}

}  // namespace lanescope::timeline

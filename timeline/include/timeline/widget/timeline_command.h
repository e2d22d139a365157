// The keyboard commands of a timeline as a list: the timeline looks up pressed keys in it, and menus and lists of keys are made from it.
#pragma once

#include <functional>
#include <vector>

#include <QKeyCombination>
#include <QString>

namespace lanescope::timeline {

class TimelineView;

struct TimelineCommand {
  enum class Menu {
    kView,      // the visible part; windows have entries of their own for these
    kNavigate,  // movement from event to event, and along time
    kMark,      // markers and measuring
    kRows,      // visibility and places of rows
  };
  enum class Needs {  // what the command does nothing without
    kNothing,
    kEvent,       // a selected event
    kSelection,   // a selected event, range or gap
    kHighlights,  // a text whose events are highlighted
    kMarkers,
  };
  Menu menu = Menu::kView;
  QString text;                       // as in a menu: "Next event of the row"
  std::vector<QKeyCombination> keys;  // default keys, valid while the timeline has the focus; may be empty
  std::function<void(TimelineView&)> act;

  QString id;  // for settings: the English text without the mnemonic marker
  Needs needs = Needs::kNothing;
};

// True if there is what the command needs. O(1).
[[nodiscard]] bool can_act(const TimelineCommand& command, TimelineView& view);

// "Backspace, Alt+Left"
[[nodiscard]] QString keys_text(const std::vector<QKeyCombination>& keys);

// All commands in the order of the menus; created once.
[[nodiscard]] const std::vector<TimelineCommand>& timeline_commands();

}  // namespace lanescope::timeline

// What the keyboard does in a timeline, as a list: the timeline looks pressed keys up in it, menus and sheets of keys are made of it.
#pragma once

#include <functional>
#include <vector>

#include <QKeyCombination>
#include <QString>

namespace lanescope::timeline {

class TimelineView;

struct TimelineCommand {
  enum class Menu {
    kView,      // what is visible; windows have entries of their own for these
    kNavigate,  // from event to event, and along time
    kMark,      // markers and measuring
    kRows,      // which rows are shown, and where
  };
  Menu menu = Menu::kView;
  QString text;                       // as a menu says it: "Next event of the row"
  std::vector<QKeyCombination> keys;  // at first, while the timeline has the keyboard; may be empty
  std::function<void(TimelineView&)> act;

  QString id;  // for settings: the text in English, without what menus mark
};

// "Backspace, Alt+Left"
[[nodiscard]] QString keys_text(const std::vector<QKeyCombination>& keys);

// All of them, in the order in which menus show them; made once.
[[nodiscard]] const std::vector<TimelineCommand>& timeline_commands();

}  // namespace lanescope::timeline

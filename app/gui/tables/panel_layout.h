// The layout of panels below the timeline: a line of controls, and the content below it.
#pragma once

#include <span>
#include <utility>

#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

namespace lanescope::ui {

struct PanelLayout {
  QVBoxLayout* column;  // of the whole panel, from edge to edge
  QHBoxLayout* line;    // the first line, with margins around it
};
[[nodiscard]] PanelLayout lay_out(QWidget& panel);

// Places parts beside each other, with these initial widths in pixels. `name`: the key under which the widths that the user chose are stored. No part can be
// collapsed.
[[nodiscard]] QSplitter* beside_each_other(QWidget& panel, const QString& name, std::span<const std::pair<QWidget*, int>> parts);

// Prepares a label for the command that prints what a panel shows: the text can be copied, and a long text does not enlarge the panel.
void show_commands_in(QLabel& label);

}  // namespace lanescope::ui

// How panels below the timeline are laid out: a line of what is chosen, and below it what fills the rest.
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
  QHBoxLayout* line;    // its first line, with room around it
};
[[nodiscard]] PanelLayout lay_out(QWidget& panel);

// Parts beside each other, with their widths in pixels at first. `name`: by which the widths that a user chose are remembered. None can be dragged away.
[[nodiscard]] QSplitter* beside_each_other(QWidget& panel, const QString& name, std::span<const std::pair<QWidget*, int>> parts);

// Makes a label one that has the command that prints what a panel shows: it can be copied, and pushes nothing out of the panel.
void show_commands_in(QLabel& label);

}  // namespace lanescope::ui

#include "tables/panel_layout.h"

#include "base/text/texts.h"

namespace lanescope::ui {

PanelLayout lay_out(QWidget& panel) {
  const PanelLayout layout{new QVBoxLayout(&panel), new QHBoxLayout};
  layout.column->setContentsMargins(0, 0, 0, 0);
  layout.column->setSpacing(0);
  layout.line->setContentsMargins(4, 3, 8, 3);
  layout.line->setSpacing(6);
  layout.column->addLayout(layout.line);
  return layout;
}

QSplitter* beside_each_other(QWidget& panel, const QString& name, std::span<const std::pair<QWidget*, int>> parts) {
  auto* splitter = new QSplitter(&panel);
  splitter->setObjectName(name);
  QList<int> widths;
  for (const auto& [part, width] : parts) {
    splitter->addWidget(part);
    widths += width;
  }
  splitter->setChildrenCollapsible(false);
  splitter->setSizes(widths);
  return splitter;
}

void show_commands_in(QLabel& label) {
  label.setTextInteractionFlags(Qt::TextSelectableByMouse);
  label.setForegroundRole(QPalette::PlaceholderText);
  label.setToolTip(tr("The command that prints the same"));
}

}  // namespace lanescope::ui

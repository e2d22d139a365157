// Everything that is known of the selected event, as text that can be selected and copied, with links to what it launched and what launched
// it.
#pragma once

#include <QTextBrowser>
#include <QWidget>

#include "base/selection_state.h"

namespace lanescope::ui {

class DetailsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit DetailsPanel(SelectionState& state, QWidget* parent = nullptr);

  [[nodiscard]] QString text() const { return browser_->toPlainText(); }

 private:
  void show();
  [[nodiscard]] QString eventHtml(EventRef event) const;
  [[nodiscard]] QString rangeHtml(TimeRange range) const;
  void copyAll() const;

  SelectionState& state_;
  QTextBrowser* browser_;
};

}  // namespace lanescope::ui

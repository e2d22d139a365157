// The markers of the timeline as a list of notes: one that is chosen is shown, its text can be changed, and it can be removed. A text that
// somebody is typing stays, whatever else becomes of the list; it is kept when its field is left, and given up with Escape.
#pragma once

#include <optional>

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>

#include "tables/result_table.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

class NotesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit NotesPanel(timeline::TimelineView& view, QWidget* parent = nullptr);

  [[nodiscard]] ResultTable& table() { return *table_; }
  [[nodiscard]] QLineEdit& text() { return *text_; }  // of the chosen note
  void removeChosen();

 private:
  void list();
  [[nodiscard]] std::optional<timeline::TimelineView::Marker> chosen() const;
  void showText();
  void changeText();

  timeline::TimelineView& view_;
  ResultTable* table_;
  QLineEdit* text_;
  QPushButton* add_;
  QPushButton* remove_;
  QLabel* where_;
  std::optional<Nanoseconds> shown_;  // the note whose text the field has, by its time
};

}  // namespace lanescope::ui

// The markers of the timeline as a list of notes: one that is chosen is shown, its text can be changed, and it can be removed. A text that
// somebody is typing stays, whatever else becomes of the list; it is kept when its field is left, and given up with Escape.
#pragma once

#include <optional>
#include <vector>

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QMap>
#include <QPushButton>
#include <QWidget>

#include "tables/result_table.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

class NotesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit NotesPanel(timeline::TimelineView& view, QWidget* parent = nullptr);

  // What files that have notes of their own are called, by their paths; of several, the list says whose each note is.
  void setFiles(const QMap<QString, QString>& names);

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
  QMap<QString, QString> files_;
  std::vector<timeline::TimelineView::Marker> listed_;   // a line each
  std::optional<timeline::TimelineView::Marker> shown_;  // the note whose text the field has
};

}  // namespace lanescope::ui

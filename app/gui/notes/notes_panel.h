// The markers of the timeline as a list of notes: choosing one shows it; its text can be changed, and it can be removed. Text that the user is typing stays
// whatever happens to the list; it is stored when the field loses the focus, and discarded by Escape.
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

  // Names of the files that have notes of their own, by their paths; if there are several, the list shows the file of each note.
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
  std::vector<timeline::TimelineView::Marker> listed_;   // one for each line
  std::optional<timeline::TimelineView::Marker> shown_;  // the note whose text is in the field
};

}  // namespace lanescope::ui

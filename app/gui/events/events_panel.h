// The events view: the filter line, the table, and what can be done with rows.
#pragma once

#include <span>

#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QWidget>

#include "base/selection_state.h"
#include "events/event_filter_bar.h"
#include "events/event_table_model.h"
#include "events/shown_events.h"
#include "export/exports.h"

namespace lanescope::ui {

enum class ScrollTo { kNothing, kSelected };

class EventsPanel : public QWidget {
  Q_OBJECT

 public:
  EventsPanel(SelectionState& state, ShownEvents& shown, QWidget* parent = nullptr);

  void sortBy(EventColumn column, SortDirection direction);
  void focusFilter() { filter_->focusText(); }
  [[nodiscard]] bool isSorting() const { return model_->isSorting(); }

  // The order, widths and choice of columns, as QHeaderView stores them.
  [[nodiscard]] QByteArray headerState() const;
  void restoreHeaderState(const QByteArray& state);

  // The selected rows, with a line of headers, as text to paste into a spreadsheet. Copies nothing where none is selected.
  void copySelection() const;
  // What writes the events that are shown now, in their order and with their columns, as CSV. Requires: whyNoExport() is empty.
  [[nodiscard]] Exports::Write csvWriter() const;
  // Why that is not possible now, in one sentence; empty where it is.
  [[nodiscard]] QString whyNoExport() const;

 signals:
  void exportRequested();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void zoomTo(EventRef listed);
  [[nodiscard]] EventRef inTrace(EventRef listed) const;  // as it stands in the trace that is shown
  [[nodiscard]] EventRef inList(EventRef event) const;    // the other way
  void followSelection(ScrollTo scroll);
  void showCount();
  void showOrdering();
  void listAll();  // whatever hides events
  [[nodiscard]] QString whyNothing() const;
  void showHeaderMenu(const QPoint& position);
  void showRowMenu(const QPoint& position);
  [[nodiscard]] std::vector<EventColumn> shownColumns() const;
  [[nodiscard]] std::vector<EventRef> selectedEvents() const;

  SelectionState& state_;
  ShownEvents& shown_;
  EventTableModel* model_;
  EventFilterBar* filter_;
  QStackedWidget* pages_;
  QTableView* table_;
  QLabel* nothing_;  // why nothing is listed, in place of the table
  QLabel* count_;
  QLabel* ordering_;  // how far an order is that is written to a file, and why it is not whole
  double ordered_ = 0;  // share of it
  QString order_failure_;
  enum class BeginsAtTop { kNo, kYes };
  BeginsAtTop begins_at_top_ = BeginsAtTop::kYes;  // what is listed next
  bool is_choosing_ = false;                       // while the table tells others of its current line
};

}  // namespace lanescope::ui

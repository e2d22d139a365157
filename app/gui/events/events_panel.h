// The events view: the filter line, the table, and what can be done with rows.
#pragma once

#include <span>

#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/state/selection_state.h"
#include "events/event_filter_bar.h"
#include "events/event_table_model.h"
#include "events/shown_events.h"
#include "export/exports.h"
#include "tables/table_place.h"

namespace lanescope::ui {

enum class ScrollTo { kNothing, kSelected };

class EventsPanel : public QWidget {
  Q_OBJECT

 public:
  EventsPanel(SelectionState& state, ShownEvents& shown, QWidget* parent = nullptr);

  // Until its user chooses another order, or another trace is shown: then the order before is there again.
  void sortBy(EventColumn column, SortDirection direction);
  void setFolding(Folding folding);
  void focusFilter() { filter_->focusText(); }
  [[nodiscard]] bool isSorting() const { return model_->isSorting(); }

  // The order, widths and choice of columns, as QHeaderView stores them.
  [[nodiscard]] QByteArray headerState() const;
  [[nodiscard]] int columnCount() const;
  void restoreHeaderState(const QByteArray& state, int columns);  // that the list had when it was kept

  // The selected rows, with a line of headers, as text to paste into a spreadsheet; nothing where none is selected. The text is made on
  // another thread and then in the clipboard. Of more than kLargestCopy events, it has the first ones, and copied() says so.
  void copySelection();
  static constexpr std::size_t kLargestCopy = 1'000'000;  // what a clipboard takes without harm
  [[nodiscard]] bool isCopying() const { return copying_.isRunning(); }
  // What writes the events that are shown now, in their order and with their columns, as CSV. Requires: whyNoExport() is empty.
  [[nodiscard]] Exports::Write csvWriter() const;
  // Why that is not possible now, in one sentence; empty where it is.
  [[nodiscard]] QString whyNoExport() const;

 signals:
  void exportRequested();
  void copied(const QString& sentence);  // what is in the clipboard now, where that is not all that was selected

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void activate(const QModelIndex& index);  // zooms to an event; opens or closes a family, or lists it
  void setFoldState(int row, FoldState state);
  [[nodiscard]] bool foldByKey(int key);  // whether the key opened, closed or left a family
  void filterTo(EventKind kind, const std::string& family);
  void listFamily(EventKind kind, const std::string& family);  // its events alone
  void zoomTo(EventRef listed);
  [[nodiscard]] EventRef inTrace(EventRef listed) const;  // as it stands in the trace that is shown
  [[nodiscard]] EventRef inList(EventRef event) const;    // the other way
  void followSelection(ScrollTo scroll);
  [[nodiscard]] EventTableModel::Sought eventsOfPlace() const;
  void placeRunColumn();
  void showRunColumn();   // while runs are compared
  void leaveRunColumn();  // another order, once they are not
  void returnToOrder();
  void keepPlace();
  void returnToPlace();
  [[nodiscard]] bool keepsFamily();  // makes its line the current one again, in another list or order
  void showCount();
  void showOrdering();
  [[nodiscard]] QString whyNothing() const;
  void showHeaderMenu(const QPoint& position);
  void showRowMenu(const QPoint& position);
  void showFoldMenu(int row, const QPoint& position);
  [[nodiscard]] std::vector<EventColumn> shownColumns() const;
  struct Chosen {
    std::vector<EventRef> events;  // kLargestCopy at most
    std::size_t count = 0;         // of all that are selected
  };
  [[nodiscard]] Chosen selectedEvents() const;

  SelectionState& state_;
  ShownEvents& shown_;
  EventTableModel* model_;
  EventFilterBar* filter_;
  QStackedWidget* pages_;
  QTableView* table_;
  QLabel* nothing_;  // why nothing is listed, in place of the table
  QLabel* count_;
  QToolButton* fold_;
  QPoint pressed_at_;                                                // of the table's viewport
  std::optional<std::pair<EventKind, std::string>> current_family_;  // whose line is the current one
  QLabel* ordering_;    // of more events than are held: how far their order or families are, and what these can't do
  double ordered_ = 0;  // share of it
  QString order_failure_;
  enum class BeginsAtTop { kNo, kYes };
  BeginsAtTop begins_at_top_ = BeginsAtTop::kYes;  // what is listed next
  std::optional<TablePlace> left_;                 // where its user was in the list that is being replaced
  struct Order {
    int section = 0;
    Qt::SortOrder direction = Qt::AscendingOrder;
  };
  std::optional<Order> order_before_;  // sortBy()
  bool compares_runs_ = false;         // so that events say of which they are
  bool is_choosing_ = false;           // while the table tells others of its current line
  LatestJob copying_;
};

}  // namespace lanescope::ui

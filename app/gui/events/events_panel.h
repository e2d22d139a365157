// The events view: the filter line, the table, and the commands for rows.
#pragma once

#include <span>

#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
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

  // Until the user chooses another order or another trace is shown, which restores the previous order.
  void sortBy(EventColumn column, SortDirection direction);
  void setFolding(Folding folding);
  // Where the loop of the trace begins; nothing: it has none, or it is not known (yet). A list by start that nobody has looked through is scrolled there, and
  // a button leads there and to the first of all events.
  void setLoopBegin(std::optional<Nanoseconds> time);
  void focusFilter() { filter_->focusText(); }
  [[nodiscard]] bool isSorting() const { return model_->isSorting(); }

  // The order, widths and visibility of columns, as QHeaderView stores them.
  [[nodiscard]] QByteArray headerState() const;
  [[nodiscard]] int columnCount() const;
  void restoreHeaderState(const QByteArray& state, int columns);  // `columns`: their number when the state was stored

  // Copies the selected rows with a line of headers as text that a spreadsheet can paste; does nothing if no row is selected. The text is made on another
  // thread. If more than kLargestCopy events are selected, only the first ones are copied, and copied() says so.
  void copySelection();
  static constexpr std::size_t kLargestCopy = 1'000'000;  // the clipboard takes this size without problems
  [[nodiscard]] bool isCopying() const { return copying_.isRunning(); }
  // True if a line stands for a family.
  [[nodiscard]] bool showsFamilies() const;
  // Returns a function that writes as CSV what is shown now, in its order: the events with their columns, or the families with their sums. Requires:
  // whyNoExport() is empty.
  [[nodiscard]] Exports::Write csvWriter() const;
  // Why an export is not possible now, in one sentence; empty if it is possible.
  [[nodiscard]] QString whyNoExport() const;

 signals:
  void exportRequested();
  void waitsRequested();                 // what the selected event waited for
  void marksRequested();                 // of the selected event
  void copied(const QString& sentence);  // what is in the clipboard now, if that is not the whole selection

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void layOut();
  void arrangeHeader();
  void addActions();
  void connectList();
  void connectTable();
  [[nodiscard]] std::optional<int> rowOfLoop() const;
  void scrollToLoop();
  void leadToLoop();
  void showLoop();
  void activate(const QModelIndex& index);  // zooms to an event; opens or closes a family, or lists it
  void setFoldState(int row, FoldState state);
  [[nodiscard]] bool foldByKey(int key);  // true if the key opened, closed or left a family
  void filterTo(EventKind kind, const std::string& family);
  void listFamily(EventKind kind, const std::string& family);  // only its events
  void zoomTo(EventRef listed);
  [[nodiscard]] EventRef inTrace(EventRef listed) const;  // maps it to the trace that is shown
  [[nodiscard]] EventRef inList(EventRef event) const;    // the reverse
  void followSelection(ScrollTo scroll);
  [[nodiscard]] EventTableModel::Sought eventsOfPlace() const;
  void placeRunColumn();
  void showRunColumn();   // while runs are compared
  void leaveRunColumn();  // sorts by another column when runs are no longer compared
  void returnToOrder();
  void keepPlace();
  void returnToPlace();
  [[nodiscard]] bool keepsFamily();  // makes the row of current_family_ current again in another list or order
  void showCount();
  void followChoice();
  [[nodiscard]] bool isOfChoice() const;
  void showOrdering();
  [[nodiscard]] QString whyNothing() const;
  void showHeaderMenu(const QPoint& position);
  void showRowMenu(const QPoint& position);
  void showFoldMenu(int row, const QPoint& position);
  [[nodiscard]] std::vector<EventColumn> shownColumns() const;
  struct Chosen {
    std::vector<EventRef> events;  // at most kLargestCopy
    std::size_t count = 0;         // of all selected events
  };
  [[nodiscard]] Chosen selectedEvents() const;

  SelectionState& state_;
  ShownEvents& shown_;
  EventTableModel* model_;
  EventFilterBar* filter_;
  QStackedWidget* pages_;
  QTableView* table_;
  QLabel* nothing_;  // why nothing is listed, instead of the table
  QLabel* count_;
  QTimer patience_{this};  // how long the count of what was chosen before stays
  QToolButton* fold_;
  QPoint pressed_at_;                                                // in the viewport of the table
  std::optional<std::pair<EventKind, std::string>> current_family_;  // the family of the current row, if there is one
  QLabel* ordering_;    // if there are more events than are held in memory: the progress of ordering or folding, and what is not possible meanwhile
  double ordered_ = 0;  // finished share
  QToolButton* loop_;   // leads to the first event of the loop, and to the first of all
  std::optional<Nanoseconds> loop_begin_;
  enum class Look { kFirst, kFurther } look_ = Look::kFurther;  // kFirst: the user has done nothing with the list of this trace
  QString order_failure_;
  enum class BeginsAtTop { kNo, kYes };
  BeginsAtTop begins_at_top_ = BeginsAtTop::kYes;  // for the next list
  std::optional<TablePlace> left_;                 // the place of the user in the list that is being replaced
  struct Order {
    int section = 0;
    Qt::SortOrder direction = Qt::AscendingOrder;
  };
  std::optional<Order> order_before_;  // before sortBy()
  bool shows_runs_ = false;            // then a column shows the run of each event
  bool is_choosing_ = false;           // while the table reports its current row to others
  LatestJob copying_;
};

}  // namespace lanescope::ui

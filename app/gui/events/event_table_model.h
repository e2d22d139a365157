// The table of the events view: an order over a list of events. It stores nothing for an event but its place in the order.
//
// If folded, a row stands for all events of one kind and family of names (model/events/event_folds.h), with their sums, and opens into them; an event that is
// alone in its family has a row of its own. If the list is too long to be held in memory, families have only their sums.
//
// Sorting runs off the GUI thread. For a large list, the first page is shown at once; rows behind it are empty until the whole order is known. Until then, and
// while a list changes, the table shows its previous content. The order of a list that is too long to be held in memory is stored in a file: until it is
// complete, the table has only its first page.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <QAbstractTableModel>

#include "base/jobs/latest_job.h"
#include "events/shown_events.h"
#include "model/events/event_folds.h"
#include "model/events/event_query.h"
#include "model/events/stored_order.h"

namespace lanescope::ui {

enum class Folding { kNone, kFamilies };
enum class FoldState { kClosed, kOpen };

class EventTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr int kNumberColumn = 0;  // the number of the row; every EventColumn follows
  [[nodiscard]] static int columnOf(EventColumn column) { return static_cast<int>(column) + 1; }
  [[nodiscard]] static std::optional<EventColumn> eventColumn(int column);

  explicit EventTableModel(QObject* parent = nullptr);

  // Events whose rows must be known when another list replaces the shown one.
  struct Sought {
    std::shared_ptr<const EventList> list;  // the list that holds them, of an earlier state of the trace; null: none are sought
    std::vector<EventRef> events;
    bool operator==(const Sought&) const = default;
  };
  // `sought` is called on the GUI thread when the ordering of a list starts and again when it has finished, so that rows that the user chose meanwhile are
  // found, too. The rows are searched off the GUI thread, and while any are sought, the first page of a list is not shown before the rest.
  void setSought(std::function<Sought()> sought) { sought_ = std::move(sought); }
  void setEvents(std::shared_ptr<const EventList> list);  // null: none
  [[nodiscard]] const std::shared_ptr<const EventList>& events() const { return list_; }

  void setFolding(Folding folding);
  [[nodiscard]] Folding folding() const { return folding_; }
  // The family that a row stands for; null: the row stands for an event. O(log folds).
  [[nodiscard]] const EventFold* foldAt(int row) const;
  [[nodiscard]] static bool canOpen(const EventFold& fold) { return fold.events.size() == fold.count; }  // true if its events are held in memory
  [[nodiscard]] FoldState stateOf(const EventFold& fold) const;
  // Opened families stay open in other orders and lists. O(folds).
  void setState(int row, FoldState state);  // requires: foldAt(row), which canOpen()
  void setAllStates(FoldState state);
  // The row of a family; nothing if it is not listed or has only one event. O(folds).
  [[nodiscard]] std::optional<int> rowOf(const std::pair<EventKind, std::string>& family) const;
  // The row of the family that contains the event of a row; nothing if there is none.
  [[nodiscard]] std::optional<int> foldRowOf(int row) const;

  // The event of a row; not valid() if the order is not known yet or the row stands for a family. O(log folds).
  [[nodiscard]] EventRef event(int row) const;
  // For an event in a closed family, the row of the family. O(rows); for an order in a file, as StoredOrder::find().
  [[nodiscard]] std::optional<int> rowOf(EventRef event) const;
  // The rows of the events that were sought in the newest list; -1 for an event that it does not have, or if the rows are families or stored in a file.
  [[nodiscard]] const std::vector<int>& soughtRows() const { return sought_rows_; }
  // The part of the order that is in memory.
  [[nodiscard]] const std::vector<EventRef>& order() const { return *order_; }
  [[nodiscard]] std::shared_ptr<const std::vector<EventRef>> sharedOrder() const { return order_; }
  // True if all wanted events are there in the wanted order; until then, only the first page of them is.
  [[nodiscard]] bool isWhole() const;
  [[nodiscard]] bool isSorting() const { return job_.isRunning(); }
  [[nodiscard]] const LatestJob& sorting() const { return job_; }
  // True if there are more events than are held in memory: their order is or will be stored in a file, unless they are folded.
  [[nodiscard]] bool isStored() const { return wanted_ && wanted_->stream; }
  // The families, each event that is alone in its family as one; null: the rows are events.
  [[nodiscard]] const std::shared_ptr<const std::vector<EventFold>>& folds() const { return folds_; }
  // The number of events; an upper bound while their order is not whole.
  [[nodiscard]] std::uint64_t count() const { return !list_ ? 0 : stored_ ? stored_->size() : folds_ ? folded_ : list_->count(); }
  // Keeps what is shown, which is then not whole.
  void stopSorting();
  void sortAgain();
  // Says for an event of the list the present time if it is still open.
  void setOpenAt(std::function<std::optional<Nanoseconds>(EventRef)> open_at) { open_at_ = std::move(open_at); }
  // The event under the cursor, in any view: its row is tinted at the next painting.
  void setHovered(EventRef event) { hovered_ = event; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 signals:
  // The rows show another order or other events. Emitted after modelReset.
  void orderChanged();
  // While an order is written to a file, or events that are not held in memory are folded: the finished share, from 0 to 1.
  void progressed(double share);
  // An order cannot be stored in a file.
  void failed(const QString& sentence);

 private:
  void order(std::shared_ptr<const EventList> list);
  using Order = std::shared_ptr<const std::vector<EventRef>>;
  using Stored = std::shared_ptr<const StoredOrder>;
  using Folds = std::shared_ptr<const std::vector<EventFold>>;
  void show(std::shared_ptr<const EventList> list, Order order, Stored stored = nullptr, Folds folds = nullptr, std::vector<int> sought_rows = {});
  // A whole order, with the rows of the sought events.
  struct Arrival {
    std::shared_ptr<const EventList> list;
    Order order;
    Folds folds;
    Sought sought;
    std::vector<int> rows;
  };
  [[nodiscard]] Sought soughtIn(const EventList* list) const;
  void arrive(Arrival arrival);
  void orderInFile(const std::shared_ptr<const EventList>& list);
  void foldStream(const std::shared_ptr<const EventList>& list);
  // Reports the progress of a job whenever it changes visibly.
  [[nodiscard]] std::function<void(double)> progressOf(const LatestJob::Context& job);
  // The fold of a row, and the offset of the row from the first row of that fold.
  [[nodiscard]] std::pair<std::size_t, std::size_t> placeOf(int row) const;
  void countRows();  // of folds
  [[nodiscard]] QVariant foldData(const EventFold& fold, const QModelIndex& index, int role) const;
  [[nodiscard]] std::size_t knownRows() const;
  [[nodiscard]] EventRef storedEvent(std::uint64_t row) const;
  [[nodiscard]] QString text(EventRef event, EventColumn column) const;
  [[nodiscard]] QString shortName(EventRef event) const;
  [[nodiscard]] QVariant color(EventRef event) const;  // as drawn by the timeline

  std::function<Sought()> sought_ = [] { return Sought(); };
  std::function<std::optional<Nanoseconds>(EventRef)> open_at_;
  std::vector<int> sought_rows_;
  std::shared_ptr<const EventList> list_;
  std::shared_ptr<const EventList> wanted_;                        // the list that the job orders; equals list_ when it has finished
  Order order_ = std::make_shared<const std::vector<EventRef>>();  // shorter than the list while only the first page is known
  Stored stored_;                                                  // of a list that is too long for memory, once it is whole
  bool is_as_wanted_ = false;                                      // sorted by the wanted column, or folded
  mutable std::vector<EventRef> page_;                             // a part of stored_, starting at...
  mutable std::uint64_t page_begin_ = 0;
  EventColumn sort_column_ = EventColumn::kStart;
  SortDirection direction_ = SortDirection::kAscending;
  Folding folding_ = Folding::kNone;  // the wanted one
  Folds folds_;                       // null: the rows are events
  std::uint64_t folded_ = 0;          // number of events in folds_
  std::vector<int> first_rows_;       // of each fold, and one past the last
  std::set<std::pair<EventKind, std::string>> opened_;
  EventRef hovered_;
  LatestJob job_;
};

}  // namespace lanescope::ui

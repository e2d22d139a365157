// The events view's table: an order over a list of events, and nothing stored for each event but its place in the order.
//
// Folded, a row stands for all events of one kind and family of names (model/events/event_folds.h), with their sums, and opens into them; an
// event that has no likes stands for itself. Of a list that is too long to be held, families have their sums alone.
//
// Sorting runs off the GUI thread. Of a large list the first page comes at once; rows behind it are empty until the whole order is there.
// Until then, and while a list changes, the table shows what it showed before. The order of a list that is too long to be held is kept in a
// file: until it is there, the table has its first page alone.
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
  static constexpr int kNumberColumn = 0;  // the row's number; every EventColumn follows
  [[nodiscard]] static int columnOf(EventColumn column) { return static_cast<int>(column) + 1; }
  [[nodiscard]] static std::optional<EventColumn> eventColumn(int column);

  explicit EventTableModel(QObject* parent = nullptr);

  // Events whose rows are to be known when another list takes the place of the one that is shown.
  struct Sought {
    std::shared_ptr<const EventList> list;  // that they are in: of an earlier state of the trace; null: none are sought
    std::vector<EventRef> events;
    bool operator==(const Sought&) const = default;
  };
  // `sought` is asked on the GUI thread, when the order of a list begins and when it has come: who chose other lines meanwhile finds those. They
  // are found off the GUI thread, and while there are any, the first page of a list does not come before the rest.
  void setSought(std::function<Sought()> sought) { sought_ = std::move(sought); }
  void setEvents(std::shared_ptr<const EventList> list);  // null: none
  [[nodiscard]] const std::shared_ptr<const EventList>& events() const { return list_; }

  void setFolding(Folding folding);
  [[nodiscard]] Folding folding() const { return folding_; }
  // The family that a row stands for; null: it stands for an event. O(log folds).
  [[nodiscard]] const EventFold* foldAt(int row) const;
  [[nodiscard]] static bool canOpen(const EventFold& fold) { return fold.events.size() == fold.count; }  // whether its events are held
  [[nodiscard]] FoldState stateOf(const EventFold& fold) const;
  // What was opened stays so in other orders and lists. O(folds).
  void setState(int row, FoldState state);  // requires: foldAt(row), which canOpen()
  void setAllStates(FoldState state);
  // The row of a family; none where it is not listed, or has one event alone. O(folds).
  [[nodiscard]] std::optional<int> rowOf(const std::pair<EventKind, std::string>& family) const;
  // The row of the family that a row of an event is under; none where it is under none.
  [[nodiscard]] std::optional<int> foldRowOf(int row) const;

  // The event of a row; not valid() where the order is not known yet, and where it stands for a family. O(log folds).
  [[nodiscard]] EventRef event(int row) const;
  // Of an event in a closed family, the row of that. O(rows); of an order in a file, as StoredOrder::find().
  [[nodiscard]] std::optional<int> rowOf(EventRef event) const;
  // Of each event that was sought, in the list that came last; -1 for one that it does not have, or where the rows are families or kept in a file.
  [[nodiscard]] const std::vector<int>& soughtRows() const { return sought_rows_; }
  // As far as it is in memory.
  [[nodiscard]] const std::vector<EventRef>& order() const { return *order_; }
  [[nodiscard]] std::shared_ptr<const std::vector<EventRef>> sharedOrder() const { return order_; }
  // Whether the events that are wanted are all there, in the order that is wanted; till then, it is the first page of them.
  [[nodiscard]] bool isWhole() const;
  [[nodiscard]] bool isSorting() const { return job_.isRunning(); }
  [[nodiscard]] const LatestJob& sorting() const { return job_; }
  // Whether there are more events than are held: their order is kept in a file, or will be, unless they are folded.
  [[nodiscard]] bool isStored() const { return wanted_ && wanted_->stream; }
  // How many events there are; while their order is not whole, at most.
  [[nodiscard]] std::uint64_t count() const { return !list_ ? 0 : stored_ ? stored_->size() : folds_ ? folded_ : list_->count(); }
  // What is shown stays, and is not whole.
  void stopSorting();
  void sortAgain();
  // The event under the cursor, in this view or another: its row is tinted when it is next painted.
  void setHovered(EventRef event) { hovered_ = event; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 signals:
  // The rows show another order, or other events. Comes after modelReset.
  void orderChanged();
  // While an order is written to a file, or events that are not held are folded: what is done of it, from 0 to 1.
  void progressed(double share);
  // An order can't be kept in a file.
  void failed(const QString& sentence);

 private:
  void order(std::shared_ptr<const EventList> list);
  using Order = std::shared_ptr<const std::vector<EventRef>>;
  using Stored = std::shared_ptr<const StoredOrder>;
  using Folds = std::shared_ptr<const std::vector<EventFold>>;
  void show(std::shared_ptr<const EventList> list, Order order, Stored stored = nullptr, Folds folds = nullptr, std::vector<int> sought_rows = {});
  // A whole order, with the rows of what was sought when they were looked for.
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
  // Tells how far a job is, when that changes visibly.
  [[nodiscard]] std::function<void(double)> progressOf(const LatestJob::Context& job);
  // Where a row is among the folds: its fold, and how many rows behind the first of that.
  [[nodiscard]] std::pair<std::size_t, std::size_t> placeOf(int row) const;
  void countRows();  // of folds
  [[nodiscard]] QVariant foldData(const EventFold& fold, const QModelIndex& index, int role) const;
  [[nodiscard]] std::size_t knownRows() const;
  [[nodiscard]] EventRef storedEvent(std::uint64_t row) const;
  [[nodiscard]] QString text(EventRef event, EventColumn column) const;
  [[nodiscard]] QString shortName(EventRef event) const;
  [[nodiscard]] QVariant color(EventRef event) const;  // as the timeline draws it

  std::function<Sought()> sought_ = [] { return Sought(); };
  std::vector<int> sought_rows_;
  std::shared_ptr<const EventList> list_;
  std::shared_ptr<const EventList> wanted_;                        // what the job orders; list_ once it has come
  Order order_ = std::make_shared<const std::vector<EventRef>>();  // shorter than the list while only the first page is known
  Stored stored_;                                                  // of a list that is too long to be held, once it is whole
  bool is_as_wanted_ = false;                                      // by the column that is wanted, or in folds
  mutable std::vector<EventRef> page_;                             // of it, from...
  mutable std::uint64_t page_begin_ = 0;
  EventColumn sort_column_ = EventColumn::kStart;
  SortDirection direction_ = SortDirection::kAscending;
  Folding folding_ = Folding::kNone;  // that is wanted
  Folds folds_;                       // null: the rows are events
  std::uint64_t folded_ = 0;          // events in them
  std::vector<int> first_rows_;       // of each fold, and behind the last
  std::set<std::pair<EventKind, std::string>> opened_;
  EventRef hovered_;
  LatestJob job_;
};

}  // namespace lanescope::ui

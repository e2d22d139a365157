// The events view's table: an order over a list of events, and nothing stored for each event but its place in the order.
//
// Sorting runs off the GUI thread. Of a large list the first page comes at once; rows behind it are empty until the whole order is there.
// Until then, and while a list changes, the table shows what it showed before. The order of a list that is too long to be held is kept in a
// file: until it is there, the table has its first page alone.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QAbstractTableModel>

#include "base/latest_job.h"
#include "events/shown_events.h"
#include "model/events/event_query.h"
#include "model/events/stored_order.h"

namespace lanescope::ui {

class EventTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr int kNumberColumn = 0;  // the row's number; every EventColumn follows
  [[nodiscard]] static int columnOf(EventColumn column) { return static_cast<int>(column) + 1; }
  [[nodiscard]] static std::optional<EventColumn> eventColumn(int column);

  explicit EventTableModel(QObject* parent = nullptr);

  void setEvents(std::shared_ptr<const EventList> list);  // null: none
  [[nodiscard]] const std::shared_ptr<const EventList>& events() const { return list_; }

  // The event of a row; not valid() where the order is not known yet. O(1).
  [[nodiscard]] EventRef event(int row) const;
  // O(rows); of an order in a file, as StoredOrder::find().
  [[nodiscard]] std::optional<int> rowOf(EventRef event) const;
  // As far as it is in memory.
  [[nodiscard]] const std::vector<EventRef>& order() const { return *order_; }
  [[nodiscard]] std::shared_ptr<const std::vector<EventRef>> sharedOrder() const { return order_; }
  // Whether the events that are wanted are all there, in the order that is wanted; till then, it is the first page of them.
  [[nodiscard]] bool isWhole() const;
  [[nodiscard]] bool isSorting() const { return job_.isRunning(); }
  // Whether the order is kept in a file, or will be.
  [[nodiscard]] bool isStored() const { return wanted_ && wanted_->stream; }
  // How many events there are; while their order is not whole, at most.
  [[nodiscard]] std::uint64_t count() const { return !list_ ? 0 : stored_ ? stored_->size() : list_->count(); }
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
  // While an order is written to a file: what is done of it, from 0 to 1.
  void progressed(double share);
  // An order can't be kept in a file.
  void failed(const QString& sentence);

 private:
  void order(std::shared_ptr<const EventList> list);
  using Order = std::shared_ptr<const std::vector<EventRef>>;
  using Stored = std::shared_ptr<const StoredOrder>;
  void show(std::shared_ptr<const EventList> list, Order order, Stored stored = nullptr);
  void orderInFile(const std::shared_ptr<const EventList>& list);
  [[nodiscard]] std::size_t knownRows() const;
  [[nodiscard]] EventRef storedEvent(std::uint64_t row) const;
  [[nodiscard]] QString text(EventRef event, EventColumn column) const;
  [[nodiscard]] QString shortName(EventRef event) const;
  [[nodiscard]] QVariant color(EventRef event) const;  // as the timeline draws it

  std::shared_ptr<const EventList> list_;
  std::shared_ptr<const EventList> wanted_;  // what the job orders; list_ once it has come
  Order order_ = std::make_shared<const std::vector<EventRef>>();  // shorter than the list while only the first page is known
  Stored stored_;  // of a list that is too long to be held, once it is whole
  bool is_as_wanted_ = false;           // by the column that is wanted
  mutable std::vector<EventRef> page_;  // of it, from...
  mutable std::uint64_t page_begin_ = 0;
  EventColumn sort_column_ = EventColumn::kStart;
  SortDirection direction_ = SortDirection::kAscending;
  EventRef hovered_;
  LatestJob job_;
};

}  // namespace lanescope::ui

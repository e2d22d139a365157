// The events view's table: an order over a list of events, and nothing stored for each event but its place in the order.
//
// Sorting runs off the GUI thread. Of a large list the first page comes at once; rows behind it are empty until the whole order is there.
// Until then, and while a list changes, the table shows what it showed before.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QAbstractTableModel>

#include "base/latest_job.h"
#include "events/shown_events.h"
#include "model/events/event_query.h"

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
  // O(rows).
  [[nodiscard]] std::optional<int> rowOf(EventRef event) const;
  [[nodiscard]] const std::vector<EventRef>& order() const { return *order_; }
  // Whether the events that are wanted are all there, in the order that is wanted; till then, it is the first page of them.
  [[nodiscard]] bool isWhole() const;
  [[nodiscard]] bool isSorting() const { return job_.isRunning(); }
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

 private:
  void order(std::shared_ptr<const EventList> list);
  using Order = std::shared_ptr<const std::vector<EventRef>>;
  void show(std::shared_ptr<const EventList> list, Order order);
  [[nodiscard]] QString text(EventRef event, EventColumn column) const;
  [[nodiscard]] QString shortName(EventRef event) const;
  [[nodiscard]] QVariant color(EventRef event) const;  // as the timeline draws it

  std::shared_ptr<const EventList> list_;
  std::shared_ptr<const EventList> wanted_;  // what the job orders; list_ once it has come
  Order order_ = std::make_shared<const std::vector<EventRef>>();  // shorter than the list while only the first page is known
  EventColumn sort_column_ = EventColumn::kStart;
  SortDirection direction_ = SortDirection::kAscending;
  EventRef hovered_;
  LatestJob job_;
};

}  // namespace lanescope::ui

// Durations by name as a table: file if several are open as one, count, total, share of the kind's total, average, median, 95th percentile, minimum, maximum.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <QAbstractTableModel>
#include <QStringList>

#include "model/events/event_statistics.h"

namespace lanescope::ui {

class StatisticsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kName, kKind, kFile, kCount, kTotal, kShare, kAverage, kMedian, kPercentile95, kMinimum, kMaximum, kColumns };

  explicit StatisticsModel(QObject* parent = nullptr);

  // The files that the events of an entry come from, by its kind and name. Empty unless several files are open as one.
  using Files = std::map<std::pair<EventKind, NameId>, QStringList>;

  void setStatistics(std::shared_ptr<const Trace> trace, std::vector<NameStatistics> statistics, Grouping grouping = Grouping::kNames, Files files = {});
  [[nodiscard]] bool isOfFiles() const { return !files_.empty(); }
  // Marks the entry of this kind and name, which is under the cursor in some view; kNone: none.
  void setHovered(EventKind kind, NameId name);
  // The row of a kind and name, or of the family of the name; nothing if it is not listed.
  [[nodiscard]] std::optional<int> rowOf(EventKind kind, NameId name) const;
  // The same by the text of the name, which all states of a trace share; ids of names belong to one state.
  [[nodiscard]] std::optional<int> rowNamed(EventKind kind, std::string_view name) const;
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }  // the trace of the entries
  [[nodiscard]] const NameStatistics& entry(int row) const { return entries_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] QString nameOf(const NameStatistics& entry) const;
  [[nodiscard]] Grouping grouping() const { return grouping_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  // The name of the entry that contains this name; the name itself if the entries are not families.
  [[nodiscard]] NameId entryName(EventKind kind, NameId name) const;
  void sortEntries();
  void tellKernelsApart();
  [[nodiscard]] QString text(const NameStatistics& entry, int column) const;
  [[nodiscard]] QStringList filesOf(const NameStatistics& entry) const;

  std::shared_ptr<const Trace> trace_;
  std::vector<NameStatistics> entries_;
  Files files_;
  Grouping grouping_ = Grouping::kNames;
  std::map<std::pair<EventKind, std::string>, NameId> name_of_family_;  // of the entries, if they are families
  std::map<NameId, QString> kernel_names_;                              // of kernels whose short names are not unique
  EventKind hovered_kind_ = EventKind::kKernel;
  NameId hovered_name_ = kNone;
  int sort_column_ = kTotal;
  Qt::SortOrder sort_order_ = Qt::DescendingOrder;
};

}  // namespace lanescope::ui

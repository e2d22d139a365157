#include "panels/statistics_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/shown_name.h"
#include "base/text/texts.h"
#include "model/events/name_family.h"
#include "model/text/to_translate.h"
#include "tables/table_look.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

double number(const NameStatistics& entry, int column) {
  switch (column) {
    case StatisticsModel::kCount:
      return static_cast<double>(entry.count);
    case StatisticsModel::kTotal:
      return static_cast<double>(entry.total);
    case StatisticsModel::kShare:
      return entry.share;
    case StatisticsModel::kAverage:
      return entry.average;
    case StatisticsModel::kMedian:
      return entry.median;
    case StatisticsModel::kPercentile95:
      return entry.percentile_95;
    case StatisticsModel::kMinimum:
      return static_cast<double>(entry.minimum);
    case StatisticsModel::kMaximum:
      return static_cast<double>(entry.maximum);
    default:
      return 0;
  }
}

bool is_text(int column) { return column == StatisticsModel::kName || column == StatisticsModel::kKind || column == StatisticsModel::kFile; }

}  // namespace

StatisticsModel::StatisticsModel(QObject* parent) : QAbstractTableModel(parent) {}

void StatisticsModel::setStatistics(std::shared_ptr<const Trace> trace, std::vector<NameStatistics> statistics, Grouping grouping, Files files) {
  beginResetModel();
  grouping_ = grouping;
  trace_ = std::move(trace);
  entries_ = std::move(statistics);
  files_ = std::move(files);
  name_of_family_.clear();
  tellKernelsApart();
  if (grouping == Grouping::kFamilies)
    for (const NameStatistics& entry : entries_) name_of_family_.emplace(std::pair(entry.kind, name_family(trace_->name(entry.name))), entry.name);
  sortEntries();
  endResetModel();
}

void StatisticsModel::setHovered(EventKind kind, NameId name) {
  const auto repaint = [this] {
    if (const std::optional<int> row = rowOf(hovered_kind_, hovered_name_)) emit dataChanged(index(*row, 0), index(*row, kColumns - 1), {Qt::BackgroundRole});
  };
  repaint();
  hovered_kind_ = kind;
  hovered_name_ = entryName(kind, name);
  repaint();
}

NameId StatisticsModel::entryName(EventKind kind, NameId name) const {
  if (grouping_ == Grouping::kNames || name == kNone) return name;
  const auto found = name_of_family_.find({kind, name_family(trace_->name(name))});
  return found == name_of_family_.end() ? name : found->second;
}

std::optional<int> StatisticsModel::rowOf(EventKind kind, NameId name) const {
  const NameId wanted = entryName(kind, name);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const NameStatistics& entry) { return entry.kind == kind && entry.name == wanted; });
  return found == entries_.end() ? std::nullopt : std::optional(static_cast<int>(found - entries_.begin()));
}

std::optional<int> StatisticsModel::rowNamed(EventKind kind, std::string_view name) const {
  const auto of = [this](std::string_view each) { return grouping_ == Grouping::kFamilies ? name_family(each) : std::string(each); };
  const std::string wanted = of(name);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const NameStatistics& entry) { return entry.kind == kind && of(trace_->name(entry.name)) == wanted; });
  return found == entries_.end() ? std::nullopt : std::optional(static_cast<int>(found - entries_.begin()));
}

void StatisticsModel::tellKernelsApart() {
  kernel_names_.clear();
  std::vector<std::string_view> whole;
  std::vector<NameId> names;
  for (const NameStatistics& entry : entries_) {
    if (entry.kind != EventKind::kKernel || grouping_ != Grouping::kNames) continue;
    whole.push_back(trace_->name(entry.name));
    names.push_back(entry.name);
  }
  const std::vector<std::string> distinct = timeline::distinct_kernel_names(whole);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (distinct[i] != timeline::compact_kernel_name(whole[i])) kernel_names_.emplace(names[i], QString::fromStdString(distinct[i]));
}

QString StatisticsModel::nameOf(const NameStatistics& entry) const {
  if (entry.kind == EventKind::kKernel)
    if (const auto found = kernel_names_.find(entry.name); found != kernel_names_.end()) return found->second;
  const QString name = shown_name(*trace_, entry.kind, entry.name);
  return grouping_ == Grouping::kFamilies ? QString::fromStdString(name_family(name.toStdString())) : name;
}

int StatisticsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(entries_.size()); }
int StatisticsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QStringList StatisticsModel::filesOf(const NameStatistics& entry) const {
  const auto found = files_.find({entry.kind, entry.name});
  return found == files_.end() ? QStringList() : found->second;
}

QString StatisticsModel::text(const NameStatistics& entry, int column) const {
  switch (column) {
    case kName:
      return nameOf(entry);
    case kKind:
      return shown_text(event_kind_name(entry.kind));
    case kFile: {
      const QStringList files = filesOf(entry);
      return files.size() > 1 ? tr("%1 files").arg(files.size()) : files.value(0);
    }
    case kCount:
      return QString::fromStdString(timeline::format_count(entry.count));
    case kShare:
      return QString::fromStdString(timeline::format_share(entry.share));
    default:
      return duration_text(number(entry, column));
  }
}

QVariant StatisticsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole) return QVariant((is_text(index.column()) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == Qt::BackgroundRole && entry(index.row()).name == hovered_name_ && entry(index.row()).kind == hovered_kind_) return hover_color();
  if (role == Qt::DisplayRole) return text(entry(index.row()), index.column());
  if (role == Qt::ToolTipRole && index.column() == kName) {
    const std::string_view whole = trace_->name(entry(index.row()).name);
    return QString::fromUtf8(whole.data(), static_cast<qsizetype>(whole.size()));
  }
  if (role == Qt::ToolTipRole && index.column() == kFile) return filesOf(entry(index.row())).join(u'\n');
  return {};
}

QVariant StatisticsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant((is_text(section) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && section == kName) return tr("Click a name to select its longest event, double-click it to list all");
  if (role == Qt::ToolTipRole && section == kShare) return tr("Of the total of all listed events of the same kind: the shares of each kind add up to 100 %");
  if (role != Qt::DisplayRole) return {};
  // The words of reports and of sums by columns.
  static constexpr std::array<std::string_view, kColumns> kTitles = {
      to_translate("Name"), to_translate("Kind"), to_translate("File"), to_translate("Instances"), to_translate("Total Time"), to_translate("Share of Kind"),
      to_translate("Avg"),  to_translate("Med"),  to_translate("95 %"), to_translate("Min"),       to_translate("Max")};
  return section < kColumns ? shown_text(kTitles[static_cast<std::size_t>(section)]) : QVariant();
}

void StatisticsModel::sort(int column, Qt::SortOrder order) {
  sort_column_ = column;
  sort_order_ = order;
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::vector<std::pair<EventKind, NameId>> names;
  for (const QModelIndex& each : before) names.emplace_back(entry(each.row()).kind, entry(each.row()).name);
  sortEntries();
  QModelIndexList after;
  for (qsizetype i = 0; i < before.size(); ++i) {
    const auto& [kind, name] = names[static_cast<std::size_t>(i)];
    after += index(rowOf(kind, name).value_or(before[i].row()), before[i].column());
  }
  changePersistentIndexList(before, after);
  emit layoutChanged({}, VerticalSortHint);
}

void StatisticsModel::sortEntries() {
  const auto ascending = [this](const NameStatistics& a, const NameStatistics& b) {
    if (sort_column_ == kName) return nameOf(a).compare(nameOf(b), Qt::CaseInsensitive) < 0;
    if (sort_column_ == kKind) return a.kind < b.kind;
    if (sort_column_ == kFile) return text(a, kFile) < text(b, kFile);
    return number(a, sort_column_) < number(b, sort_column_);
  };
  std::stable_sort(entries_.begin(), entries_.end(),
                   [&](const NameStatistics& a, const NameStatistics& b) { return sort_order_ == Qt::AscendingOrder ? ascending(a, b) : ascending(b, a); });
}

}  // namespace lanescope::ui

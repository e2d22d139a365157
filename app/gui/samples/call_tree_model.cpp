#include "samples/call_tree_model.h"

#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

bool is_number(int column) { return column >= CallTreeModel::kTotalShare && column <= CallTreeModel::kSelf; }

}  // namespace

void CallTreeModel::setProfile(std::shared_ptr<const Trace> trace, std::shared_ptr<const SampleProfile> profile) {
  beginResetModel();
  trace_ = std::move(trace);
  profile_ = std::move(profile);
  endResetModel();
}

QString CallTreeModel::functionName(const QModelIndex& index) const {
  return profile_ && index.isValid() ? QString::fromStdString(tree().function_of(node(index)).name) : QString();
}

QModelIndex CallTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (row < 0 || row >= rowCount(parent) || column < 0 || column >= kColumns) return {};
  return createIndex(row, column, static_cast<quintptr>(tree().node(node(parent)).first_child + static_cast<std::uint32_t>(row)));
}

QModelIndex CallTreeModel::parent(const QModelIndex& index) const {
  if (!profile_ || !index.isValid()) return {};
  const std::uint32_t above = tree().node(node(index)).parent;
  if (above == 0) return {};
  return createIndex(static_cast<int>(above - tree().node(tree().node(above).parent).first_child), 0, static_cast<quintptr>(above));
}

int CallTreeModel::rowCount(const QModelIndex& parent) const {
  return profile_ && parent.column() <= 0 ? static_cast<int>(tree().node(node(parent)).child_count) : 0;
}

int CallTreeModel::columnCount(const QModelIndex&) const { return kColumns; }

std::string CallTreeModel::cell(std::uint32_t index, int column) const {
  const samples::CallTreeNode& call = tree().node(index);
  const samples::SampledFunction& function = tree().function_of(index);
  const auto share = [&](const samples::Weight& part) {
    const double all = samples::amount(tree().total(), profile_->by);
    return timeline::format_share(all > 0 ? samples::amount(part, profile_->by) / all : 0);
  };
  const auto value = [&](const samples::Weight& part) {
    return profile_->by == samples::WeightBy::kTime ? timeline::format_duration(part.time) : timeline::format_count(part.count);
  };
  switch (column) {
    case kFunction:
      return function.name;
    case kTotalShare:
      return share(call.total);
    case kSelfShare:
      return share(call.self);
    case kTotal:
      return value(call.total);
    case kSelf:
      return value(call.self);
    case kModule:
      return samples::module_text(*trace_, function);
    default:
      return source_text(*trace_, function);
  }
}

QVariant CallTreeModel::data(const QModelIndex& index, int role) const {
  if (!profile_ || !index.isValid()) return {};
  if (role == Qt::DisplayRole && index.column() == kFunction) {
    const auto& labels = order_ == samples::CallTreeOrder::kTopDown ? profile_->top_down_labels : profile_->bottom_up_labels;
    return QString::fromStdString(labels[tree().node(node(index)).function]);
  }
  if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return QString::fromStdString(cell(node(index), index.column()));
  if (role == Qt::TextAlignmentRole && is_number(index.column())) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  return {};
}

QVariant CallTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant((is_number(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  const bool timed = profile_ && profile_->by == samples::WeightBy::kTime;
  switch (section) {
    case kFunction:
      return tr("Function");
    case kTotalShare:
      return tr("Total");
    case kSelfShare:
      return tr("Self");
    case kTotal:
      return timed ? tr("Total time") : tr("Samples");
    case kSelf:
      return timed ? tr("Self time") : tr("Self samples");
    case kModule:
      return tr("Module");
    default:
      return tr("Source");
  }
}

}  // namespace lanescope::ui

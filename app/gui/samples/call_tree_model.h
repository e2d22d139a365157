// A call tree for a tree view: a row for each function, with its share, below its caller (or bottom-up, below its callee).
#pragma once

#include <memory>

#include <QAbstractItemModel>

#include "model/trace/trace.h"
#include "samples/sample_profile.h"

namespace lanescope::ui {

class CallTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kFunction, kTotalShare, kSelfShare, kTotal, kSelf, kModule, kSource, kColumns };

  CallTreeModel(samples::CallTreeOrder order, QObject* parent) : QAbstractItemModel(parent), order_(order) {}

  void setProfile(std::shared_ptr<const Trace> trace, std::shared_ptr<const SampleProfile> profile);  // null: none
  [[nodiscard]] std::uint32_t node(const QModelIndex& index) const { return index.isValid() ? static_cast<std::uint32_t>(index.internalId()) : 0; }
  [[nodiscard]] QString functionName(const QModelIndex& index) const;

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  [[nodiscard]] const samples::CallTree& tree() const { return order_ == samples::CallTreeOrder::kTopDown ? profile_->top_down : profile_->bottom_up; }
  [[nodiscard]] std::string cell(std::uint32_t node, int column) const;

  samples::CallTreeOrder order_;
  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const SampleProfile> profile_;
};

}  // namespace lanescope::ui

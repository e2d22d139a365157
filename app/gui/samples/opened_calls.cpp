#include "samples/opened_calls.h"

#include <QScrollBar>

namespace lanescope::ui {
namespace {

QString name_of_call(const QModelIndex& index) { return index.siblingAtColumn(0).data().toString(); }

QModelIndex child_named(const QAbstractItemModel& model, const QModelIndex& call, const QString& name) {
  for (int row = 0; row < model.rowCount(call); ++row)
    if (const QModelIndex child = model.index(row, 0, call); name_of_call(child) == name) return child;
  return {};
}

}  // namespace

OpenedCalls::OpenedCalls(const QTreeView& view) : open_(openBelow(view, {})), scrolled_(view.verticalScrollBar()->value()) {
  for (QModelIndex call = view.currentIndex(); call.isValid(); call = call.parent()) current_.prepend(name_of_call(call));
}

std::vector<OpenedCalls::Call> OpenedCalls::openBelow(const QTreeView& view, const QModelIndex& call) {
  std::vector<Call> open;
  const QAbstractItemModel& model = *view.model();
  for (int row = 0; row < model.rowCount(call); ++row)
    if (const QModelIndex child = model.index(row, 0, call); view.isExpanded(child)) open.push_back({name_of_call(child), openBelow(view, child)});
  return open;
}

void OpenedCalls::openBelow(QTreeView& view, const QModelIndex& call, const std::vector<Call>& open) {
  for (const Call& each : open) {
    const QModelIndex child = child_named(*view.model(), call, each.name);
    if (!child.isValid()) continue;
    view.expand(child);
    openBelow(view, child, each.open);
  }
}

bool OpenedCalls::restore(QTreeView& view) const {
  view.collapseAll();
  openBelow(view, {}, open_);
  QModelIndex current;
  for (const QString& name : current_) {
    current = child_named(*view.model(), current, name);
    if (!current.isValid()) break;
  }
  if (current.isValid()) view.setCurrentIndex(current);
  view.verticalScrollBar()->setValue(scrolled_);
  return open_.empty() || !openBelow(view, QModelIndex()).empty();
}

}  // namespace lanescope::ui

#include "base/state/remembered_rows.h"

#include <algorithm>

#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>

namespace lanescope::ui {
namespace {

using timeline::Row;
using timeline::RowArrangement;
using timeline::RowIndex;
using timeline::RowTree;

QString lasting_title(const Row& row) {
  if (row.kind == timeline::RowKind::kProcesses) return QStringLiteral("Processes");  // without their number
  static const QRegularExpression ids(QStringLiteral("\\s*\\[\\d+\\]\\s*"));
  return QString::fromStdString(row.label).remove(ids);
}

QString parent_path(const RowTree& tree, const std::vector<QString>& paths, RowIndex row) {
  return tree.row(row).parent ? paths[*tree.row(row).parent] : QString();
}

bool contains(const std::vector<std::string>& keys, const std::string& key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

// The entries of `before` that belong to none of these rows.
QStringList of_others(const QStringList& before, const QSet<QString>& here) {
  QStringList others;
  std::copy_if(before.begin(), before.end(), std::back_inserter(others), [&](const QString& path) { return !here.contains(path); });
  return others;
}

QString base_name(const std::string& path) { return QFileInfo(QString::fromStdString(path)).fileName(); }

}  // namespace

std::vector<QString> row_paths(const RowTree& tree) {
  std::vector<QString> paths;
  QMap<QString, int> seen;
  for (RowIndex index = 0; index < tree.rows().size(); ++index) {
    const QString above = parent_path(tree, paths, index);
    QString path = (above.isEmpty() ? QString() : above + u'/') + lasting_title(tree.row(index));
    if (const int place = ++seen[path]; place > 1) path += QStringLiteral("#%1").arg(place);
    paths.push_back(path);
  }
  return paths;
}

RememberedRows remember(const RowTree& tree, const RowArrangement& arrangement, RememberedRows before) {
  const std::vector<QString> paths = row_paths(tree);
  const QSet<QString> here(paths.begin(), paths.end());
  RememberedRows now{of_others(before.expanded, here), of_others(before.collapsed, here), {}, of_others(before.hidden, here), before.order};
  for (RowIndex index = 0; index < tree.rows().size(); ++index) {
    const Row& row = tree.row(index);
    const bool expanded = timeline::is_expanded(row, arrangement.expanded);
    if (row.expandable() && expanded != row.expanded_initially) (expanded ? now.expanded : now.collapsed) += paths[index];
    if (arrangement.hidden.contains(row.key)) now.hidden += paths[index];
    const auto order = arrangement.order.find(row.key);
    if (order == arrangement.order.end() && !row.children.empty()) now.order.remove(paths[index]);
  }
  if (!arrangement.order.contains(std::string())) now.order.remove(QString());
  for (const std::string& key : arrangement.pinned)
    if (const auto row = tree.find(key)) now.pinned += paths[*row];
  now.pinned += of_others(before.pinned, here);
  for (const auto& [parent, keys] : arrangement.order) {
    const auto above = tree.find(parent);
    if (!above && !parent.empty()) continue;
    const QString path = above ? paths[*above] : QString();
    QStringList children;
    for (const std::string& key : keys)
      if (const auto row = tree.find(key)) children += paths[*row];
    now.order[path] = children + of_others(before.order.value(path), here);
  }
  return now;
}

RowArrangement arrange(const RowTree& tree, const RememberedRows& remembered, RowArrangement arrangement, const std::unordered_set<std::string>& known) {
  const std::vector<QString> paths = row_paths(tree);
  QMap<QString, RowIndex> fresh;
  for (RowIndex index = 0; index < tree.rows().size(); ++index)
    if (!known.contains(tree.row(index).key)) fresh[paths[index]] = index;
  const auto key_of = [&](const QString& path) { return tree.row(fresh.value(path)).key; };
  for (const QString& path : remembered.expanded)
    if (fresh.contains(path)) arrangement.expanded[key_of(path)] = true;
  for (const QString& path : remembered.collapsed)
    if (fresh.contains(path)) arrangement.expanded[key_of(path)] = false;
  for (const QString& path : remembered.hidden)
    if (fresh.contains(path)) arrangement.hidden.insert(key_of(path));
  for (const QString& path : remembered.pinned)
    if (fresh.contains(path) && !contains(arrangement.pinned, key_of(path))) arrangement.pinned.push_back(key_of(path));
  for (auto order = remembered.order.begin(); order != remembered.order.end(); ++order) {
    if (std::none_of(order->begin(), order->end(), [&](const QString& path) { return fresh.contains(path); })) continue;
    std::vector<std::string> keys;
    std::string above;
    for (const QString& path : *order) {
      const auto found = std::find(paths.begin(), paths.end(), path);
      if (found == paths.end()) continue;
      const Row& row = tree.row(static_cast<RowIndex>(found - paths.begin()));
      keys.push_back(row.key);
      if (row.parent) above = tree.row(*row.parent).key;
    }
    arrangement.order[above] = std::move(keys);
  }
  return arrangement;
}

QString kind_of_trace(const Trace& trace) {
  std::vector<std::string> words = trace.provenance().command;
  if (words.empty() && !trace.processes().empty()) words = trace.processes().front().arguments;
  if (words.empty()) return trace.processes().empty() ? QString() : QString::fromStdString(trace.processes().front().name);
  QString kind = base_name(words.front());
  const auto script = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) { return !word.starts_with('-'); });
  if (script != words.end()) kind += u' ' + base_name(*script);
  return kind;
}

}  // namespace lanescope::ui

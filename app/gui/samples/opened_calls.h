// Which calls of a tree are open and which one is current, by the path of names that leads to them. When a profile replaces another, because the trace grew or
// another part of time was chosen, the tree is restored to how the user left it.
#pragma once

#include <vector>

#include <QString>
#include <QTreeView>

namespace lanescope::ui {

class OpenedCalls {
 public:
  // Reads what the view shows now. O(calls below open ones).
  explicit OpenedCalls(const QTreeView& view);
  // Opens those of the calls that exist, and closes all others. Returns true if any of them exists. O(calls below open ones, for each).
  bool restore(QTreeView& view) const;

 private:
  struct Call {
    QString name;
    std::vector<Call> open;  // open callees
  };
  static std::vector<Call> openBelow(const QTreeView& view, const QModelIndex& call);
  static void openBelow(QTreeView& view, const QModelIndex& call, const std::vector<Call>& open);

  std::vector<Call> open_;
  QStringList current_;  // path from the outermost call; empty: none
  int scrolled_ = 0;
};

}  // namespace lanescope::ui

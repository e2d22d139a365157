// Which calls of a tree are open and which is the current one, by the names that lead to them: so that a profile that takes the place of another, of
// a trace that grew or of another part of time, is shown as its user left the one before.
#pragma once

#include <vector>

#include <QString>
#include <QTreeView>

namespace lanescope::ui {

class OpenedCalls {
 public:
  // Of what the view shows now. O(calls below open ones).
  explicit OpenedCalls(const QTreeView& view);
  // Opens what is there of them, and closes all else. O(calls below open ones, for each).
  // Returns whether anything of it is there.
  bool restore(QTreeView& view) const;

 private:
  struct Call {
    QString name;
    std::vector<Call> open;  // of its callees
  };
  static std::vector<Call> openBelow(const QTreeView& view, const QModelIndex& call);
  static void openBelow(QTreeView& view, const QModelIndex& call, const std::vector<Call>& open);

  std::vector<Call> open_;
  QStringList current_;  // from the outermost on; empty: none
  int scrolled_ = 0;
};

}  // namespace lanescope::ui

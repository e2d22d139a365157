// The user's place in a table: the selected lines, the current one, and the scroll position. It is taken before the table is filled again and restored after
// that, so that a refresh moves nothing that the user looks at.
#pragma once

#include <span>
#include <vector>

#include <QTableView>

namespace lanescope::ui {

class TablePlace {
 public:
  explicit TablePlace(const QTableView& table);

  // Selected and current lines, ascending; if more than kMostLines are selected, only the current one.
  [[nodiscard]] const std::vector<int>& lines() const { return lines_; }
  static constexpr std::size_t kMostLines = 1'000;

  // `now`: the present line of each of lines(), or kGone. The current line stays at its position on the screen if it was in sight; otherwise the scroll
  // position is kept. O(lines).
  static constexpr int kGone = -1;
  void restore(QTableView& table, std::span<const int> now) const;

 private:
  std::vector<int> lines_;
  std::vector<bool> is_selected_;  // of each line
  int current_ = kGone;            // index into lines_
  int column_ = 0;                 // of the current line
  int scrolled_ = 0;               // lines above the first one in sight; pixels to the left
  int scrolled_right_ = 0;
  int above_current_ = kGone;  // lines in sight above the current one; kGone: it is not in sight
};

}  // namespace lanescope::ui

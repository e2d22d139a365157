// Where somebody is in a table: the selected lines, the current one, and what is in sight. It is taken before the table is filled anew and
// brought back behind that, so that a refresh moves nothing under the eyes of whoever reads.
#pragma once

#include <span>
#include <vector>

#include <QTableView>

namespace lanescope::ui {

class TablePlace {
 public:
  explicit TablePlace(const QTableView& table);

  // Lines that are selected or current, from the first to the last; of more than kMostLines that are selected, the current one alone.
  [[nodiscard]] const std::vector<int>& lines() const { return lines_; }
  static constexpr std::size_t kMostLines = 1'000;

  // `now`: where each of lines() is now; kGone where it is not there any more. The current line stays where it is on the screen if it was
  // in sight; else as much as before is scrolled past. O(lines).
  static constexpr int kGone = -1;
  void restore(QTableView& table, std::span<const int> now) const;

 private:
  std::vector<int> lines_;
  std::vector<bool> is_selected_;  // of each
  int current_ = kGone;            // among lines_
  int column_ = 0;                 // of the current one
  int scrolled_ = 0;               // lines above the first one in sight, and pixels to the left
  int scrolled_right_ = 0;
  int above_current_ = kGone;  // lines in sight above the current one; kGone: it is not in sight
};

}  // namespace lanescope::ui

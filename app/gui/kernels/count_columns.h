// Counts of instructions as columns of a code table.
#pragma once

#include <vector>

#include <QStringList>

#include "kernels/code_table.h"
#include "model/kernels/instructions/instruction_counts.h"

namespace lanescope::ui {

class CountColumns {
 public:
  // `all`: the total of all rows. Columns without any counts are left out.
  explicit CountColumns(const kernels::Counts& all);

  [[nodiscard]] QStringList titles() const;
  // One for each column; the warmer, the more a row could save, or the more often it ran.
  [[nodiscard]] std::vector<CodeNumber> numbers(const kernels::Counts& counts) const;

 private:
  enum class Column { kExecuted, kThreads, kGlobal, kShared, kLocal };
  std::vector<Column> columns_;
};

// "33.6 M".
[[nodiscard]] QString short_number(std::uint64_t number);

}  // namespace lanescope::ui

// Asks which part of a trace to save: the part of time and the rows; if two traces are compared, which one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <QComboBox>
#include <QDialog>
#include <QLabel>

#include "analysis/trace_pair.h"
#include "model/export/selection.h"

namespace lanescope::ui {

// The parts that can be chosen, in times of the trace.
struct SavableParts {
  std::optional<TimeRange> selected;
  TimeRange visible;
  SelectedRows shown_rows;  // rows that are neither hidden nor filtered out
};

struct SavableTrace {
  QString name;
  std::shared_ptr<const Trace> trace;
  SavableParts parts;
};

// The traces that can be saved: the shown one, or each of two compared traces by itself, because one file would make them one recording. `parts` refer to what
// is shown.
[[nodiscard]] std::vector<SavableTrace> savable_traces(const std::shared_ptr<const Trace>& shown, const TracePair& pair, const SavableParts& parts);

class SaveDialog : public QDialog {
  Q_OBJECT

 public:
  // Initially the selected range is chosen, or the whole time if there is none; and all rows. Requires: at least one trace.
  explicit SaveDialog(std::vector<SavableTrace> traces, QWidget* parent = nullptr);
  [[nodiscard]] std::size_t chosen() const;         // index of the trace
  [[nodiscard]] ExportSelection selection() const;  // of the chosen trace

 private:
  void showTimes();
  void showCount();

  std::vector<SavableTrace> traces_;
  QComboBox* trace_;
  QComboBox* time_;
  QComboBox* rows_;
  QLabel* count_;
};

}  // namespace lanescope::ui

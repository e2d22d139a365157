// What of a trace is to be saved: which part of time, and which rows; of two that are compared, which one.
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

// What there is to choose from; times of the trace.
struct SavableParts {
  std::optional<TimeRange> selected;
  TimeRange visible;
  SelectedRows shown_rows;  // that are neither hidden nor filtered out
};

struct SavableTrace {
  QString name;
  std::shared_ptr<const Trace> trace;
  SavableParts parts;
};

// What is shown; of two traces that are compared each by itself: in one file they would be one recording. `parts` are of what is shown.
[[nodiscard]] std::vector<SavableTrace> savable_traces(const std::shared_ptr<const Trace>& shown, const TracePair& pair, const SavableParts& parts);

class SaveDialog : public QDialog {
  Q_OBJECT

 public:
  // The selected range is chosen at first, where there is one, else all of the time; and all rows. Requires: at least one trace.
  explicit SaveDialog(std::vector<SavableTrace> traces, QWidget* parent = nullptr);
  [[nodiscard]] std::size_t chosen() const;         // of the traces
  [[nodiscard]] ExportSelection selection() const;  // of the chosen one

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

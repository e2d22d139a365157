// What of a trace is to be saved: which part of time, and which rows.
#pragma once

#include <optional>

#include <QComboBox>
#include <QDialog>
#include <QLabel>

#include "model/export/selection.h"

namespace lanescope::ui {

// What there is to choose from; times of the trace.
struct SavableParts {
  std::optional<TimeRange> selected;
  TimeRange visible;
  SelectedRows shown_rows;  // that are neither hidden nor filtered out
};

class SaveDialog : public QDialog {
  Q_OBJECT

 public:
  // The selected range is chosen at first, where there is one, else all of the time; and all rows.
  SaveDialog(std::shared_ptr<const Trace> trace, SavableParts parts, QWidget* parent = nullptr);
  [[nodiscard]] ExportSelection selection() const;

 private:
  void showCount();

  std::shared_ptr<const Trace> trace_;
  SavableParts parts_;
  QComboBox* time_;
  QComboBox* rows_;
  QLabel* count_;
};

}  // namespace lanescope::ui

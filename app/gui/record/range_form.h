// Which part of a run is recorded, and how much of it is kept.
#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>

#include "record/capture_choices.h"

namespace lanescope::ui {

// The fields, to be added to a form.
class RangeForm {
 public:
  RangeForm(QFormLayout& form, Target target);

  void set(const CaptureChoices& choices);
  void readInto(CaptureChoices& choices) const;
  [[nodiscard]] QWidget& range() const { return *range_; }  // the name of the range
  // Disables ranges if nothing enters the process, because only our agent in the process sees them.
  void setObservation(Observation observation) const;

 private:
  void showFitting() const;

  QComboBox* trigger_;
  QLineEdit* range_;
  QLineEdit* range_domain_;
  QComboBox* after_;
  QSpinBox* repeats_;
  QDoubleSpinBox* delay_;
  QDoubleSpinBox* duration_;
  QComboBox* program_at_end_;
  QComboBox* wait_for_children_;
  QDoubleSpinBox* keep_last_;
  QDoubleSpinBox* file_size_;
};

}  // namespace lanescope::ui

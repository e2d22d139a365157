// Which part of a run is recorded, and how much of it is kept: choices that few need, behind a button that unfolds them.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QToolButton>

#include "record/capture_choices.h"

namespace lanescope::ui {

// The fields, added to a form.
class RangeForm {
 public:
  RangeForm(QFormLayout& form, Target target);

  // Unfolds the fields where one of them differs from the default.
  void set(const CaptureChoices& choices);
  void read_into(CaptureChoices& choices) const;

 private:
  void show_fitting() const;

  QToolButton* more_;
  QWidget* fields_;
  QFormLayout* form_;
  QComboBox* trigger_;
  QLineEdit* range_;
  QLineEdit* range_domain_;
  QComboBox* after_;
  QSpinBox* repeats_;
  QComboBox* domain_rule_;
  QLineEdit* domains_;
  QCheckBox* all_calls_;
  QSpinBox* threshold_;
  QDoubleSpinBox* keep_last_;
  QDoubleSpinBox* file_size_;
};

}  // namespace lanescope::ui

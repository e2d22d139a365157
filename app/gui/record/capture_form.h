// What to record and when: the choices that launching and attaching share.
#pragma once

#include <optional>

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>

#include "record/capture_choices.h"
#include "record/range_form.h"
#include "record/sampling_form.h"

namespace lanescope::ui {

// The fields, added to a form.
class CaptureForm {
 public:
  CaptureForm(QFormLayout& form, Target target);

  void set(const CaptureChoices& choices);
  [[nodiscard]] CaptureChoices choices() const;

 private:
  QCheckBox* trace_cuda_;
  QCheckBox* trace_nvtx_;
  QCheckBox* trace_os_runtime_;
  QCheckBox* trace_mpi_;
  QComboBox* preset_;
  QComboBox* graph_level_;
  QDoubleSpinBox* delay_;
  QDoubleSpinBox* duration_;
  std::optional<SamplingForm> sampling_;
  std::optional<RangeForm> range_;
};

}  // namespace lanescope::ui

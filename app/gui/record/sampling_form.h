// What is seen of threads and of the GPU's hardware beside the program's own calls: when threads run, what code they run, GPU metrics.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QSpinBox>

#include "record/capture_choices.h"

namespace lanescope::ui {

// The fields, added to a form.
class SamplingForm {
 public:
  explicit SamplingForm(QFormLayout& form);

  void set(const CaptureChoices& choices);
  void read_into(CaptureChoices& choices) const;

 private:
  void show_fitting() const;

  QCheckBox* thread_states_;
  QCheckBox* samples_;
  QComboBox* call_chains_;
  QSpinBox* sampling_frequency_;
  QCheckBox* python_functions_;
  QCheckBox* python_lock_;
  QCheckBox* gpu_metrics_;
  QComboBox* gpu_metrics_set_;
  QSpinBox* gpu_metrics_frequency_;
};

}  // namespace lanescope::ui

// What is recorded of threads and GPU hardware besides the program's calls: when threads run, which code they run, GPU metrics.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>

#include "record/capture_choices.h"

namespace lanescope::ui {

// The fields, to be added to a form.
class SamplingForm {
 public:
  explicit SamplingForm(QFormLayout& form);

  void set(const CaptureChoices& choices);
  void readInto(CaptureChoices& choices) const;
  [[nodiscard]] QWidget& gpus() const { return *gpu_metrics_devices_; }
  // Disables what needs our agent in the process if nothing enters it.
  void setObservation(Observation observation) const { python_lock_->setEnabled(observation == Observation::kWithin); }

 private:
  void showFitting() const;

  QCheckBox* thread_states_;
  QCheckBox* samples_;
  QComboBox* call_chains_;
  QSpinBox* sampling_frequency_;
  QComboBox* scope_;
  QLineEdit* debug_folders_;
  QCheckBox* python_functions_;
  QCheckBox* python_lock_;
  QCheckBox* system_calls_;
  QLineEdit* kernel_events_;
  QLineEdit* counted_events_;
  QCheckBox* network_metrics_;
  QCheckBox* storage_metrics_;
  QCheckBox* gpu_metrics_;
  QComboBox* gpu_metrics_devices_;
  QComboBox* gpu_metrics_set_;
  QSpinBox* gpu_metrics_frequency_;
};

}  // namespace lanescope::ui

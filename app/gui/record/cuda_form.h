// What is recorded of CUDA and of NVIDIA's libraries that are built on it.
#pragma once

#include <vector>

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QSpinBox>

#include "record/capture_choices.h"

namespace lanescope::ui {

// The fields, to be added to a form.
class CudaForm {
 public:
  CudaForm(QFormLayout& form, Target target);

  void set(const CaptureChoices& choices);
  void readInto(CaptureChoices& choices) const;

 private:
  QCheckBox* trace_;
  QComboBox* preset_;
  QComboBox* graph_level_;
  QCheckBox* memory_usage_;
  QCheckBox* page_faults_;
  QCheckBox* events_;
  QCheckBox* all_calls_;
  QComboBox* call_chains_of_;
  QSpinBox* call_chains_from_;
  QSpinBox* flush_interval_;
  std::vector<QCheckBox*> libraries_;
};

}  // namespace lanescope::ui

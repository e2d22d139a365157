// Which ranges of the program and which calls of libraries besides CUDA are recorded: NVTX, PyTorch, the C library, MPI and others.
#pragma once

#include <vector>

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>

#include "record/capture_choices.h"

namespace lanescope::ui {

// The fields, to be added to a form.
class CallsForm {
 public:
  CallsForm(QFormLayout& form, Target target);

  void set(const CaptureChoices& choices);
  void readInto(CaptureChoices& choices) const;

 private:
  void showFitting() const;

  QCheckBox* nvtx_;
  QComboBox* domain_rule_;
  QLineEdit* domains_;
  QComboBox* pytorch_;
  QLineEdit* python_ranges_of_;
  QCheckBox* os_runtime_;
  QSpinBox* threshold_;
  QLabel* chains_;
  QSpinBox* chains_from_;
  QCheckBox* files_;
  QCheckBox* mpi_;
  std::vector<QCheckBox*> runtimes_;
};

}  // namespace lanescope::ui

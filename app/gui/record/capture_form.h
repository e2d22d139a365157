// What to record and when: the choices for launching and for attaching, on four pages.
#pragma once

#include <optional>

#include <QTabWidget>

#include "record/calls_form.h"
#include "record/capture_choices.h"
#include "record/cuda_form.h"
#include "record/range_form.h"
#include "record/sampling_form.h"

namespace lanescope::ui {

class CaptureForm : public QTabWidget {
 public:
  explicit CaptureForm(Target target);

  void set(const CaptureChoices& choices);
  [[nodiscard]] CaptureChoices choices() const;
  // These turn to the page of the field.
  [[nodiscard]] QWidget& shownRange();
  [[nodiscard]] QWidget& shownGpus();
  // Enables only what can be chosen if nothing may enter the process.
  void setObservation(Observation observation);

 private:
  std::optional<CudaForm> cuda_;
  std::optional<CallsForm> calls_;
  std::optional<SamplingForm> sampling_;
  std::optional<RangeForm> range_;
};

}  // namespace lanescope::ui

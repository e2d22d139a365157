// What to record and when: the choices that launching and attaching share.
#pragma once

#include <chrono>
#include <optional>

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>

#include "collector/session/recording.h"

namespace lanescope::ui {

struct CaptureChoices {
  bool trace_cuda = true;
  bool trace_nvtx = true;
  bool trace_os_runtime = false;
  session::Preset preset = session::Preset::kDefault;
  std::optional<session::GraphLevel> graph_level;  // none: what suits the preset
  double delay = 0;                                // s; what happens before is not recorded
  double duration = 0;                             // s; then the recording ends; 0: it goes on
  bool operator==(const CaptureChoices&) const = default;
};

[[nodiscard]] session::CaptureSettings capture_settings(const CaptureChoices& choices);
[[nodiscard]] std::chrono::nanoseconds seconds(double value);

enum class Target { kLaunched, kRunning };  // a running process can't have its calls of the C library recorded

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
  QComboBox* preset_;
  QComboBox* graph_level_;
  QDoubleSpinBox* delay_;
  QDoubleSpinBox* duration_;
};

}  // namespace lanescope::ui

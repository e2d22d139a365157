#include "record/capture_form.h"

#include <QHBoxLayout>
#include <QLabel>

namespace lanescope::ui {
namespace {

using session::GraphLevel;
using session::Preset;

constexpr double kLongestTime = 24 * 3600;  // s
constexpr int kPresetsGraphLevel = -1;

QString tr(const char* text) { return QObject::tr(text); }

QDoubleSpinBox* seconds_field(const QString& name, const QString& at_zero) {
  auto* field = new QDoubleSpinBox;
  field->setAccessibleName(name);
  field->setRange(0, kLongestTime);
  field->setDecimals(1);
  field->setSuffix(QStringLiteral(" s"));
  field->setSpecialValueText(at_zero);
  return field;
}

}  // namespace

CaptureForm::CaptureForm(QFormLayout& form, Target target)
    : trace_cuda_(new QCheckBox(tr("CUDA calls, kernels and copies"))),
      trace_nvtx_(new QCheckBox(tr("NVTX ranges and marks"))),
      trace_os_runtime_(new QCheckBox(tr("Calls of the C library that wait: I/O, locks, sleep"))),
      trace_mpi_(new QCheckBox(tr("Calls of MPI, with their peers and bytes"))),
      preset_(new QComboBox),
      graph_level_(new QComboBox),
      delay_(seconds_field(tr("Delay"), tr("at once"))),
      duration_(seconds_field(tr("Duration"), tr("until it ends"))) {
  preset_->addItem(tr("Default"), static_cast<int>(Preset::kDefault));
  preset_->addItem(tr("Light: the least overhead"), static_cast<int>(Preset::kLight));
  preset_->addItem(tr("Deep: everything there is"), static_cast<int>(Preset::kDeep));
  graph_level_->addItem(tr("As the preset has it"), kPresetsGraphLevel);
  graph_level_->addItem(tr("An event for each node"), static_cast<int>(GraphLevel::kNode));
  graph_level_->addItem(tr("An event for each launch of a graph"), static_cast<int>(GraphLevel::kGraph));
  form.addRow(tr("Trace"), trace_cuda_);
  form.addRow(QString(), trace_nvtx_);
  form.addRow(QString(), trace_os_runtime_);
  form.addRow(QString(), trace_mpi_);
  form.addRow(tr("P&reset"), preset_);
  form.addRow(tr("CUDA &graphs"), graph_level_);
  sampling_.emplace(form);
  auto* times = new QHBoxLayout;
  times->addWidget(delay_);
  auto* label = new QLabel(tr("&for"));
  label->setBuddy(duration_);
  times->addWidget(label);
  times->addWidget(duration_);
  times->addStretch(1);
  form.addRow(tr("&Start after"), times);
  if (auto* start = qobject_cast<QLabel*>(form.labelForField(times))) start->setBuddy(delay_);
  if (target == Target::kRunning) form.setRowVisible(trace_mpi_, false);
  range_.emplace(form, target);
}

void CaptureForm::set(const CaptureChoices& choices) {
  trace_cuda_->setChecked(choices.trace_cuda);
  trace_nvtx_->setChecked(choices.trace_nvtx);
  trace_os_runtime_->setChecked(choices.trace_os_runtime);
  trace_mpi_->setChecked(choices.trace_mpi);
  preset_->setCurrentIndex(preset_->findData(static_cast<int>(choices.preset)));
  graph_level_->setCurrentIndex(graph_level_->findData(choices.graph_level ? static_cast<int>(*choices.graph_level) : kPresetsGraphLevel));
  delay_->setValue(choices.delay);
  duration_->setValue(choices.duration);
  sampling_->set(choices);
  range_->set(choices);
}

CaptureChoices CaptureForm::choices() const {
  CaptureChoices choices;
  choices.trace_cuda = trace_cuda_->isChecked();
  choices.trace_nvtx = trace_nvtx_->isChecked();
  choices.trace_os_runtime = trace_os_runtime_->isChecked();
  choices.trace_mpi = trace_mpi_->isChecked();
  choices.preset = static_cast<Preset>(preset_->currentData().toInt());
  const int level = graph_level_->currentData().toInt();
  if (level != kPresetsGraphLevel) choices.graph_level = static_cast<GraphLevel>(level);
  choices.delay = delay_->value();
  choices.duration = duration_->value();
  sampling_->read_into(choices);
  range_->read_into(choices);
  return choices;
}

}  // namespace lanescope::ui

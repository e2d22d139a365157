#include "record/sampling_form.h"

#include <QHBoxLayout>
#include <QLabel>

namespace lanescope::ui {
namespace {

constexpr int kLowestGpuFrequency = 10;  // Hz
constexpr int kHighestGpuFrequency = 200'000;

QString tr(const char* text) { return QObject::tr(text); }

QSpinBox* hertz_field(const QString& name, int lowest, int highest, int step) {
  auto* field = new QSpinBox;
  field->setAccessibleName(name);
  field->setRange(lowest, highest);
  field->setSingleStep(step);
  field->setSuffix(QStringLiteral(" Hz"));
  field->setGroupSeparatorShown(true);
  return field;
}

QHBoxLayout* in_a_line(QWidget* first, QWidget* second, QWidget* third) {
  auto* line = new QHBoxLayout;
  line->addWidget(first);
  line->addWidget(second);
  line->addWidget(third);
  line->addStretch(1);
  return line;
}

}  // namespace

SamplingForm::SamplingForm(QFormLayout& form)
    : thread_states_(new QCheckBox(tr("When they run, and when they wait"))),
      samples_(new QCheckBox(tr("Samples of their code"))),
      call_chains_(new QComboBox),
      sampling_frequency_(hertz_field(tr("Samples a second of a thread"), 1, static_cast<int>(cpu::kMaximumFrequency), 100)),
      python_functions_(new QCheckBox(tr("Its functions in samples"))),
      python_lock_(new QCheckBox(tr("Who holds its lock (GIL), and who waits for it"))),
      gpu_metrics_(new QCheckBox(tr("Samples of"))),
      gpu_metrics_set_(new QComboBox),
      gpu_metrics_frequency_(hertz_field(tr("Samples a second of a GPU"), kLowestGpuFrequency, kHighestGpuFrequency, 1000)) {
  call_chains_->setAccessibleName(tr("How callers are found"));
  call_chains_->addItem(tr("callers by frame pointers"), static_cast<int>(cpu::CallChains::kFramePointers));
  call_chains_->addItem(tr("callers by unwind tables"), static_cast<int>(cpu::CallChains::kDwarf));
  call_chains_->addItem(tr("without callers"), static_cast<int>(cpu::CallChains::kNone));
  gpu_metrics_->setAccessibleName(tr("GPU metrics"));
  gpu_metrics_->setToolTip(tr("Counters of all GPUs' hardware. Their use may take rights: lanescope status says which."));
  gpu_metrics_set_->setAccessibleName(tr("Which GPU metrics"));
  gpu_metrics_set_->addItem(tr("all that fits: SMs, memory, PCIe, NVLink, clocks"), QStringLiteral("default"));
  gpu_metrics_set_->addItem(tr("SMs, tensor cores and memory alone"), QStringLiteral("light"));
  form.addRow(tr("&Threads"), thread_states_);
  form.addRow(QString(), in_a_line(samples_, sampling_frequency_, call_chains_));
  form.addRow(tr("P&ython"), python_functions_);
  form.addRow(QString(), python_lock_);
  QHBoxLayout* metrics = in_a_line(gpu_metrics_, gpu_metrics_set_, gpu_metrics_frequency_);
  form.addRow(tr("GPU &metrics"), metrics);
  if (auto* label = qobject_cast<QLabel*>(form.labelForField(metrics))) label->setBuddy(gpu_metrics_);
  for (const QCheckBox* box : {samples_, gpu_metrics_}) QObject::connect(box, &QCheckBox::toggled, samples_, [this] { show_fitting(); });
  show_fitting();
}

void SamplingForm::show_fitting() const {
  for (QWidget* field :
       {static_cast<QWidget*>(call_chains_), static_cast<QWidget*>(sampling_frequency_), static_cast<QWidget*>(python_functions_)})
    field->setEnabled(samples_->isChecked());
  for (QWidget* field : {static_cast<QWidget*>(gpu_metrics_set_), static_cast<QWidget*>(gpu_metrics_frequency_)})
    field->setEnabled(gpu_metrics_->isChecked());
}

void SamplingForm::set(const CaptureChoices& choices) {
  thread_states_->setChecked(choices.thread_states);
  samples_->setChecked(choices.samples);
  call_chains_->setCurrentIndex(std::max(0, call_chains_->findData(static_cast<int>(choices.call_chains))));
  sampling_frequency_->setValue(choices.sampling_frequency);
  python_functions_->setChecked(choices.python_functions);
  python_lock_->setChecked(choices.python_lock);
  gpu_metrics_->setChecked(choices.gpu_metrics);
  gpu_metrics_set_->setCurrentIndex(std::max(0, gpu_metrics_set_->findData(choices.gpu_metrics_set)));
  gpu_metrics_frequency_->setValue(choices.gpu_metrics_frequency);
}

void SamplingForm::read_into(CaptureChoices& choices) const {
  choices.thread_states = thread_states_->isChecked();
  choices.samples = samples_->isChecked();
  choices.call_chains = static_cast<cpu::CallChains>(call_chains_->currentData().toInt());
  choices.sampling_frequency = sampling_frequency_->value();
  choices.python_functions = python_functions_->isChecked();
  choices.python_lock = python_lock_->isChecked();
  choices.gpu_metrics = gpu_metrics_->isChecked();
  choices.gpu_metrics_set = gpu_metrics_set_->currentData().toString();
  choices.gpu_metrics_frequency = gpu_metrics_frequency_->value();
}

}  // namespace lanescope::ui

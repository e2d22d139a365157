#include "record/sampling_form.h"
#include "base/text/texts.h"

#include <QHBoxLayout>
#include <QLabel>

namespace lanescope::ui {
namespace {

constexpr int kLowestGpuFrequency = 10;  // Hz
constexpr int kHighestGpuFrequency = 200'000;

QSpinBox* hertz_field(const QString& name, int lowest, int highest, int step) {
  auto* field = new QSpinBox;
  field->setAccessibleName(name);
  field->setRange(lowest, highest);
  field->setSingleStep(step);
  field->setSuffix(QStringLiteral(" Hz"));
  return field;
}

QHBoxLayout* in_a_line(std::initializer_list<QWidget*> widgets) {
  auto* line = new QHBoxLayout;
  for (QWidget* widget : widgets) line->addWidget(widget);
  line->addStretch(1);
  return line;
}

// Chooses the entry for a text, or shows the text itself if the box is editable.
void choose_text(QComboBox* box, const QString& value) {
  const int index = box->findData(value);
  if (index < 0 && box->isEditable()) return box->setEditText(value);
  box->setCurrentIndex(std::max(0, index));
}

// Words separated by commas.
QStringList listed(const QLineEdit& field) {
  QStringList words;
  for (const QString& word : field.text().split(u',', Qt::SkipEmptyParts))
    if (!word.trimmed().isEmpty()) words.push_back(word.trimmed());
  return words;
}

QString chosen_text(const QComboBox* box) {
  const int index = box->findText(box->currentText());
  return index < 0 ? box->currentText().remove(u' ') : box->itemData(index).toString();
}

}  // namespace

SamplingForm::SamplingForm(QFormLayout& form)
    : thread_states_(new QCheckBox(tr("When they run, and when they wait"))),
      samples_(new QCheckBox(tr("Samples of their code"))),
      call_chains_(new QComboBox),
      sampling_frequency_(hertz_field(tr("Samples a second of a thread"), 1, static_cast<int>(cpu::kMaximumFrequency), 100)),
      scope_(new QComboBox),
      debug_folders_(new QLineEdit),
      python_functions_(new QCheckBox(tr("Its functions in samples"))),
      python_lock_(new QCheckBox(tr("Which thread holds its lock (GIL), and which threads wait for it"))),
      system_calls_(new QCheckBox(tr("System calls"))),
      kernel_events_(new QLineEdit),
      counted_events_(new QLineEdit),
      network_metrics_(new QCheckBox(tr("Networks"))),
      storage_metrics_(new QCheckBox(tr("Disks"))),
      gpu_metrics_(new QCheckBox(tr("Samples of"))),
      gpu_metrics_devices_(new QComboBox),
      gpu_metrics_set_(new QComboBox),
      gpu_metrics_frequency_(hertz_field(tr("Samples a second of a GPU"), kLowestGpuFrequency, kHighestGpuFrequency, 1000)) {
  call_chains_->setAccessibleName(tr("How callers are found"));
  call_chains_->addItem(tr("callers by frame pointers"), static_cast<int>(cpu::CallChains::kFramePointers));
  call_chains_->addItem(tr("callers by unwind tables"), static_cast<int>(cpu::CallChains::kDwarf));
  call_chains_->addItem(tr("callers by the processor's record"), static_cast<int>(cpu::CallChains::kBranchRecords));
  call_chains_->addItem(tr("without callers"), static_cast<int>(cpu::CallChains::kNone));
  scope_->setAccessibleName(tr("Whose threads"));
  scope_->addItem(tr("of the program and what it starts"));
  scope_->addItem(tr("of every process of this machine"));
  scope_->setToolTip(tr("Other users' processes need rights: lanescope status says which."));
  debug_folders_->setAccessibleName(tr("Folders with debug files"));
  debug_folders_->setPlaceholderText(tr("Folders besides /usr/lib/debug, separated by colons"));
  gpu_metrics_->setAccessibleName(tr("GPU metrics"));
  gpu_metrics_->setToolTip(tr("Counters of the GPUs' hardware. Recording them may need rights: lanescope status says which."));
  gpu_metrics_devices_->setAccessibleName(tr("Which GPUs"));
  gpu_metrics_devices_->addItem(tr("all GPUs"), QStringLiteral("all"));
  gpu_metrics_devices_->addItem(tr("GPUs in CUDA_VISIBLE_DEVICES"), QStringLiteral("cuda-visible"));
  gpu_metrics_devices_->setEditable(true);
  gpu_metrics_devices_->setInsertPolicy(QComboBox::NoInsert);
  gpu_metrics_devices_->setToolTip(tr("Or their numbers, as nvidia-smi has them: 0,1"));
  gpu_metrics_set_->setAccessibleName(tr("Which GPU metrics"));
  gpu_metrics_set_->addItem(tr("as many as fit: SMs, memory, PCIe, NVLink, clocks"), QStringLiteral("default"));
  gpu_metrics_set_->addItem(tr("SMs, tensor cores and memory alone"), QStringLiteral("light"));
  gpu_metrics_set_->addItem(tr("power, temperature and clocks alone"), QStringLiteral("nvml"));
  QHBoxLayout* threads = in_a_line({thread_states_, scope_});
  form.addRow(tr("&Threads"), threads);
  if (auto* label = qobject_cast<QLabel*>(form.labelForField(threads))) label->setBuddy(thread_states_);
  form.addRow(QString(), in_a_line({samples_, sampling_frequency_, call_chains_}));
  form.addRow(tr("&Debug files"), debug_folders_);
  form.addRow(tr("P&ython"), python_functions_);
  form.addRow(QString(), python_lock_);
  system_calls_->setToolTip(tr("System calls of the threads, and what they return"));
  kernel_events_->setAccessibleName(tr("Events of the kernel"));
  kernel_events_->setPlaceholderText(tr("and events of it: sched/sched_switch, block/block_rq_issue"));
  kernel_events_->setToolTip(tr("Names of folders in /sys/kernel/tracing/events. Recording them may need rights: lanescope status says which."));
  counted_events_->setAccessibleName(tr("Events that are counted"));
  counted_events_->setPlaceholderText(tr("Such as instructions, cycles, cache-misses, page-faults"));
  counted_events_->setToolTip(
      tr("How often they happen to the threads, ten times a second. lanescope profile --cpu-core-events=help says which can be counted."));
  auto* kernel = new QHBoxLayout;
  kernel->addWidget(system_calls_);
  kernel->addWidget(kernel_events_, 1);
  form.addRow(tr("System kernel"), kernel);
  form.addRow(tr("Processors count"), counted_events_);
  network_metrics_->setToolTip(tr("What network devices and InfiniBand ports of the machine send and receive, ten times a second"));
  storage_metrics_->setToolTip(tr("What disks of the machine read and write, ten times a second"));
  form.addRow(tr("Machine"), in_a_line({network_metrics_, storage_metrics_}));
  QHBoxLayout* metrics = in_a_line({gpu_metrics_, gpu_metrics_devices_, gpu_metrics_frequency_});
  form.addRow(tr("GPU &metrics"), metrics);
  form.addRow(QString(), in_a_line({gpu_metrics_set_}));
  if (auto* label = qobject_cast<QLabel*>(form.labelForField(metrics))) label->setBuddy(gpu_metrics_);
  for (const QCheckBox* box : {thread_states_, samples_, gpu_metrics_}) QObject::connect(box, &QCheckBox::toggled, samples_, [this] { showFitting(); });
  showFitting();
}

void SamplingForm::showFitting() const {
  for (QWidget* field : {static_cast<QWidget*>(call_chains_), static_cast<QWidget*>(sampling_frequency_), static_cast<QWidget*>(python_functions_)})
    field->setEnabled(samples_->isChecked());
  debug_folders_->setEnabled(samples_->isChecked());
  scope_->setEnabled(thread_states_->isChecked() || samples_->isChecked());
  for (QWidget* field : {static_cast<QWidget*>(gpu_metrics_devices_), static_cast<QWidget*>(gpu_metrics_set_), static_cast<QWidget*>(gpu_metrics_frequency_)})
    field->setEnabled(gpu_metrics_->isChecked());
}

void SamplingForm::set(const CaptureChoices& choices) {
  thread_states_->setChecked(choices.thread_states);
  samples_->setChecked(choices.samples);
  call_chains_->setCurrentIndex(std::max(0, call_chains_->findData(static_cast<int>(choices.call_chains))));
  sampling_frequency_->setValue(choices.sampling_frequency);
  scope_->setCurrentIndex(choices.whole_machine ? 1 : 0);
  debug_folders_->setText(choices.debug_folders);
  choose_text(gpu_metrics_devices_, choices.gpu_metrics_devices);
  python_functions_->setChecked(choices.python_functions);
  python_lock_->setChecked(choices.python_lock);
  system_calls_->setChecked(choices.system_calls);
  kernel_events_->setText(choices.kernel_events.join(QStringLiteral(", ")));
  counted_events_->setText(choices.counted_events.join(QStringLiteral(", ")));
  network_metrics_->setChecked(choices.network_metrics);
  storage_metrics_->setChecked(choices.storage_metrics);
  gpu_metrics_->setChecked(choices.gpu_metrics);
  gpu_metrics_set_->setCurrentIndex(std::max(0, gpu_metrics_set_->findData(choices.gpu_metrics_set)));
  gpu_metrics_frequency_->setValue(choices.gpu_metrics_frequency);
}

void SamplingForm::readInto(CaptureChoices& choices) const {
  choices.thread_states = thread_states_->isChecked();
  choices.samples = samples_->isChecked();
  choices.call_chains = static_cast<cpu::CallChains>(call_chains_->currentData().toInt());
  choices.sampling_frequency = sampling_frequency_->value();
  choices.whole_machine = scope_->currentIndex() == 1;
  choices.debug_folders = debug_folders_->text().trimmed();
  choices.gpu_metrics_devices = chosen_text(gpu_metrics_devices_);
  choices.python_functions = python_functions_->isChecked();
  choices.python_lock = python_lock_->isChecked();
  choices.system_calls = system_calls_->isChecked();
  choices.kernel_events = listed(*kernel_events_);
  choices.counted_events = listed(*counted_events_);
  choices.network_metrics = network_metrics_->isChecked();
  choices.storage_metrics = storage_metrics_->isChecked();
  choices.gpu_metrics = gpu_metrics_->isChecked();
  choices.gpu_metrics_set = gpu_metrics_set_->currentData().toString();
  choices.gpu_metrics_frequency = gpu_metrics_frequency_->value();
}

}  // namespace lanescope::ui

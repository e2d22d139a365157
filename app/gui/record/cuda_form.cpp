#include "record/cuda_form.h"
#include "base/text/texts.h"

#include <QHBoxLayout>
#include <QLabel>

namespace lanescope::ui {
namespace {

using session::GraphLevel;
using session::Preset;

constexpr int kPresetsGraphLevel = -1;
constexpr int kLongestChainless = 1'000'000'000;  // ns
constexpr int kLongestInterval = 86'400'000;      // ms

struct Library {
  const char* trace;  // as in session::library_traces()
  const char* name;
};
constexpr Library kLibraries[] = {{"cublas", "cuBLAS"}, {"cudnn", "cuDNN"}, {"cusolver", "cuSOLVER"}, {"cusparse", "cuSPARSE"}};

}  // namespace

CudaForm::CudaForm(QFormLayout& form, Target target)
    : trace_(new QCheckBox(tr("CUDA calls, kernels and copies"))),
      preset_(new QComboBox),
      graph_level_(new QComboBox),
      memory_usage_(new QCheckBox(tr("Allocations and memory pools"))),
      page_faults_(new QCheckBox(tr("Page faults and moves of unified memory"))),
      events_(new QCheckBox(tr("CUDA events, and which streams wait for them"))),
      all_calls_(new QCheckBox(tr("CUDA calls that say nothing about time, such as cudaGetDevice"))),
      call_chains_of_(new QComboBox),
      call_chains_from_(new QSpinBox),
      flush_interval_(new QSpinBox) {
  preset_->addItem(tr("Default"), static_cast<int>(Preset::kDefault));
  preset_->addItem(tr("Light: the least overhead"), static_cast<int>(Preset::kLight));
  preset_->addItem(tr("Deep: everything there is"), static_cast<int>(Preset::kDeep));
  graph_level_->addItem(tr("As the preset has it"), kPresetsGraphLevel);
  graph_level_->addItem(tr("An event for each node"), static_cast<int>(GraphLevel::kNode));
  graph_level_->addItem(tr("An event for each launch of a graph"), static_cast<int>(GraphLevel::kGraph));
  call_chains_of_->addItem(tr("Of no calls"), static_cast<int>(ChainsOf::kNone));
  call_chains_of_->addItem(tr("Of calls that wait"), static_cast<int>(ChainsOf::kWaits));
  call_chains_of_->addItem(tr("Of launches and calls about memory"), static_cast<int>(ChainsOf::kWork));
  call_chains_of_->addItem(tr("Of all calls"), static_cast<int>(ChainsOf::kAll));
  call_chains_of_->setToolTip(tr("Which code makes CUDA calls that take so long"));
  call_chains_from_->setRange(0, kLongestChainless);
  call_chains_from_->setSingleStep(1000);
  call_chains_from_->setPrefix(tr("from "));
  call_chains_from_->setSuffix(tr(" ns"));
  call_chains_from_->setAccessibleName(tr("Shortest CUDA call whose call chain is taken"));
  flush_interval_->setRange(0, kLongestInterval);
  flush_interval_->setSingleStep(100);
  flush_interval_->setPrefix(tr("finished GPU work every "));
  flush_interval_->setSuffix(tr(" ms"));
  flush_interval_->setSpecialValueText(tr("finished GPU work when a buffer is full"));
  flush_interval_->setAccessibleName(tr("Collect finished GPU work"));
  flush_interval_->setToolTip(tr("Events are in the file after at most this time, also when the program is killed"));
  events_->setToolTip(tr("Takes GPU time each time that an event is recorded"));
  form.addRow(tr("Trace"), trace_);
  form.addRow(tr("P&reset"), preset_);
  form.addRow(tr("CUDA &graphs"), graph_level_);
  form.addRow(tr("Also"), memory_usage_);
  for (QCheckBox* box : {page_faults_, events_, all_calls_}) form.addRow(QString(), box);
  auto* chains = new QHBoxLayout;
  chains->addWidget(call_chains_of_, 1);
  chains->addWidget(call_chains_from_);
  form.addRow(tr("Call chai&ns"), chains);
  if (auto* label = qobject_cast<QLabel*>(form.labelForField(chains))) label->setBuddy(call_chains_of_);
  const auto showFitting = [this] { call_chains_from_->setEnabled(call_chains_of_->currentData().toInt() != static_cast<int>(ChainsOf::kNone)); };
  QObject::connect(call_chains_of_, &QComboBox::currentIndexChanged, trace_, showFitting);
  showFitting();
  auto* line = new QWidget;
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  for (const Library& library : kLibraries) {
    libraries_.push_back(new QCheckBox(QString::fromLatin1(library.name)));
    libraries_.back()->setToolTip(tr("Shows the calls of this library as ranges of an NVTX domain of their own"));
    layout->addWidget(libraries_.back());
  }
  layout->addStretch(1);
  form.addRow(tr("Libraries"), line);
  auto* collect = new QHBoxLayout;
  collect->addWidget(flush_interval_);
  collect->addStretch(1);
  form.addRow(tr("Co&llect"), collect);
  if (auto* label = qobject_cast<QLabel*>(form.labelForField(collect))) label->setBuddy(flush_interval_);
  if (target == Target::kRunning) form.setRowVisible(line, false);  // these libraries read their environment only once
}

void CudaForm::set(const CaptureChoices& choices) {
  const auto choose = [](QComboBox* box, int value) { box->setCurrentIndex(std::max(0, box->findData(value))); };
  trace_->setChecked(choices.trace_cuda);
  choose(preset_, static_cast<int>(choices.preset));
  choose(graph_level_, choices.graph_level ? static_cast<int>(*choices.graph_level) : kPresetsGraphLevel);
  memory_usage_->setChecked(choices.memory_usage);
  page_faults_->setChecked(choices.page_faults);
  events_->setChecked(choices.cuda_events);
  all_calls_->setChecked(choices.all_calls);
  choose(call_chains_of_, static_cast<int>(choices.call_chains_of));
  call_chains_from_->setValue(choices.call_chains_from);
  flush_interval_->setValue(choices.flush_interval);
  for (std::size_t i = 0; i < libraries_.size(); ++i) libraries_[i]->setChecked(choices.libraries.contains(QLatin1String(kLibraries[i].trace)));
}

void CudaForm::readInto(CaptureChoices& choices) const {
  choices.trace_cuda = trace_->isChecked();
  choices.preset = static_cast<Preset>(preset_->currentData().toInt());
  const int level = graph_level_->currentData().toInt();
  choices.graph_level = level == kPresetsGraphLevel ? std::nullopt : std::optional(static_cast<GraphLevel>(level));
  choices.memory_usage = memory_usage_->isChecked();
  choices.page_faults = page_faults_->isChecked();
  choices.cuda_events = events_->isChecked();
  choices.all_calls = all_calls_->isChecked();
  choices.call_chains_of = static_cast<ChainsOf>(call_chains_of_->currentData().toInt());
  choices.call_chains_from = call_chains_from_->value();
  choices.flush_interval = flush_interval_->value();
  for (std::size_t i = 0; i < libraries_.size(); ++i)
    choose_library(choices, QString::fromLatin1(kLibraries[i].trace), libraries_[i]->isChecked() ? LibraryCalls::kRecorded : LibraryCalls::kLeftOut);
}

}  // namespace lanescope::ui

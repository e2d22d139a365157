#include "record/cuda_form.h"

#include <QHBoxLayout>

namespace lanescope::ui {
namespace {

using session::GraphLevel;
using session::Preset;

constexpr int kPresetsGraphLevel = -1;

QString tr(const char* text) { return QObject::tr(text); }

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
      call_chains_of_(new QComboBox) {
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
  call_chains_of_->setToolTip(tr("Which code makes CUDA calls that take a microsecond or longer"));
  events_->setToolTip(tr("Costs GPU time for each recording of an event"));
  form.addRow(tr("Trace"), trace_);
  form.addRow(tr("P&reset"), preset_);
  form.addRow(tr("CUDA &graphs"), graph_level_);
  form.addRow(tr("Also"), memory_usage_);
  for (QCheckBox* box : {page_faults_, events_, all_calls_}) form.addRow(QString(), box);
  form.addRow(tr("Call chai&ns"), call_chains_of_);
  auto* line = new QWidget;
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  for (const Library& library : kLibraries) {
    libraries_.push_back(new QCheckBox(QString::fromLatin1(library.name)));
    libraries_.back()->setToolTip(tr("Its calls, as ranges of a domain of its own"));
    layout->addWidget(libraries_.back());
  }
  layout->addStretch(1);
  form.addRow(tr("Libraries"), line);
  if (target == Target::kRunning) form.setRowVisible(line, false);  // they look at their environment once
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
  for (std::size_t i = 0; i < libraries_.size(); ++i)
    libraries_[i]->setChecked(choices.libraries.contains(QLatin1String(kLibraries[i].trace)));
}

void CudaForm::read_into(CaptureChoices& choices) const {
  choices.trace_cuda = trace_->isChecked();
  choices.preset = static_cast<Preset>(preset_->currentData().toInt());
  const int level = graph_level_->currentData().toInt();
  choices.graph_level = level == kPresetsGraphLevel ? std::nullopt : std::optional(static_cast<GraphLevel>(level));
  choices.memory_usage = memory_usage_->isChecked();
  choices.page_faults = page_faults_->isChecked();
  choices.cuda_events = events_->isChecked();
  choices.all_calls = all_calls_->isChecked();
  choices.call_chains_of = static_cast<ChainsOf>(call_chains_of_->currentData().toInt());
  choices.libraries.clear();
  for (std::size_t i = 0; i < libraries_.size(); ++i)
    if (libraries_[i]->isChecked()) choices.libraries.push_back(QString::fromLatin1(kLibraries[i].trace));
}

}  // namespace lanescope::ui

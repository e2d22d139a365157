#include "record/calls_form.h"
#include "base/text/texts.h"

#include <QHBoxLayout>
#include <QLabel>

namespace lanescope::ui {
namespace {

using session::DomainRule;
using session::PytorchRanges;

constexpr int kLongestCall = 1'000'000'000;  // ns

struct Runtime {
  const char* trace;
  const char* name;
};
constexpr Runtime kRuntimes[] = {{"openmp", "OpenMP"}, {"openacc", "OpenACC"}, {"opengl", "OpenGL"}, {"ucx", "UCX"}};

QHBoxLayout* in_a_line(QWidget* first, QWidget* second) {
  auto* line = new QHBoxLayout;
  line->addWidget(first);
  line->addWidget(second, 1);
  return line;
}

}  // namespace

CallsForm::CallsForm(QFormLayout& form, Target target)
    : nvtx_(new QCheckBox(tr("NVTX ranges and marks"))),
      domain_rule_(new QComboBox),
      domains_(new QLineEdit),
      pytorch_(new QComboBox),
      python_ranges_of_(new QLineEdit),
      os_runtime_(new QCheckBox(tr("Calls that wait (I/O, locks, sleep), from"))),
      threshold_(new QSpinBox),
      chains_(new QLabel(tr("and the code that makes them, from"))),
      chains_from_(new QSpinBox),
      files_(new QCheckBox(tr("and which files they open, read, write, map and sync"))),
      mpi_(new QCheckBox(tr("Calls, with their peers and bytes"))) {
  domain_rule_->addItem(tr("All"), static_cast<int>(DomainRule::kAll));
  domain_rule_->addItem(tr("Only these"), static_cast<int>(DomainRule::kOnlyListed));
  domain_rule_->addItem(tr("All but these"), static_cast<int>(DomainRule::kAllButListed));
  domain_rule_->setAccessibleName(tr("Which NVTX domains"));
  domains_->setPlaceholderText(tr("NCCL, default (the one without a name)"));
  domains_->setAccessibleName(tr("NVTX domains"));
  pytorch_->addItem(tr("As the program marks them itself"), static_cast<int>(PytorchRanges::kNone));
  pytorch_->addItem(tr("An NVTX range for each"), static_cast<int>(PytorchRanges::kOperations));
  pytorch_->addItem(tr("An NVTX range for each, with shapes"), static_cast<int>(PytorchRanges::kOperationsAndShapes));
  for (QSpinBox* box : {threshold_, chains_from_}) {
    box->setRange(0, kLongestCall);
    box->setSingleStep(1000);
    box->setSuffix(QStringLiteral(" ns"));
  }
  chains_from_->setSpecialValueText(tr("none"));
  chains_from_->setAccessibleName(tr("Shortest call of the C library whose call chain is taken"));
  threshold_->setAccessibleName(tr("Shortest call of the C library"));
  os_runtime_->setAccessibleName(tr("Calls of the C library that wait"));
  files_->setAccessibleName(tr("Files that calls of the C library use"));
  files_->setToolTip(tr("The paths of these files stand in the recording"));
  mpi_->setAccessibleName(tr("Calls of MPI"));
  form.addRow(tr("Trace"), nvtx_);
  QHBoxLayout* domains = in_a_line(domain_rule_, domains_);
  form.addRow(tr("NVTX do&mains"), domains);
  if (auto* label = qobject_cast<QLabel*>(form.labelForField(domains))) label->setBuddy(domain_rule_);
  form.addRow(tr("P&yTorch's operations"), pytorch_);
  python_ranges_of_->setPlaceholderText(tr("A JSON file that names those to mark: [{\"module\": \"numpy\", \"functions\": [\"dot\"]}]"));
  form.addRow(tr("Functions of Python"), python_ranges_of_);
  auto* calls = new QHBoxLayout;
  calls->addWidget(os_runtime_);
  calls->addWidget(threshold_);
  calls->addStretch(1);
  form.addRow(tr("&C library"), calls);
  if (auto* label = qobject_cast<QLabel*>(form.labelForField(calls))) label->setBuddy(os_runtime_);
  auto* chains = new QHBoxLayout;
  chains->addWidget(chains_);
  chains->addWidget(chains_from_);
  chains->addStretch(1);
  form.addRow(QString(), chains);
  form.addRow(QString(), files_);
  form.addRow(tr("MP&I"), mpi_);
  auto* runtimes = new QHBoxLayout;
  for (const Runtime& runtime : kRuntimes) {
    runtimes_.push_back(new QCheckBox(QString::fromLatin1(runtime.name)));
    runtimes_.back()->setToolTip(tr("Shows the calls of this library as ranges of an NVTX domain of their own"));
    runtimes->addWidget(runtimes_.back());
  }
  runtimes->addStretch(1);
  form.addRow(tr("Runtimes"), runtimes);
  // These must be injected into the program before it starts.
  if (target == Target::kRunning) {
    for (QWidget* field : {static_cast<QWidget*>(pytorch_), static_cast<QWidget*>(python_ranges_of_), static_cast<QWidget*>(mpi_)})
      form.setRowVisible(field, false);
    form.setRowVisible(runtimes, false);
  }
  for (const QCheckBox* box : {nvtx_, os_runtime_}) QObject::connect(box, &QCheckBox::toggled, nvtx_, [this] { showFitting(); });
  QObject::connect(domain_rule_, &QComboBox::currentIndexChanged, nvtx_, [this] { showFitting(); });
  showFitting();
}

void CallsForm::showFitting() const {
  const bool lists = static_cast<DomainRule>(domain_rule_->currentData().toInt()) != DomainRule::kAll;
  domain_rule_->setEnabled(nvtx_->isChecked());
  domains_->setEnabled(nvtx_->isChecked() && lists);
  pytorch_->setEnabled(nvtx_->isChecked());
  python_ranges_of_->setEnabled(nvtx_->isChecked());
  for (QWidget* field : {static_cast<QWidget*>(threshold_), static_cast<QWidget*>(chains_), static_cast<QWidget*>(chains_from_), static_cast<QWidget*>(files_)})
    field->setEnabled(os_runtime_->isChecked());
}

void CallsForm::set(const CaptureChoices& choices) {
  const auto choose = [](QComboBox* box, int value) { box->setCurrentIndex(std::max(0, box->findData(value))); };
  nvtx_->setChecked(choices.trace_nvtx);
  choose(domain_rule_, static_cast<int>(choices.domain_rule));
  domains_->setText(choices.domains.join(QStringLiteral(", ")));
  choose(pytorch_, static_cast<int>(choices.pytorch));
  python_ranges_of_->setText(choices.python_ranges_of);
  os_runtime_->setChecked(choices.trace_os_runtime);
  threshold_->setValue(choices.os_runtime_threshold);
  chains_from_->setValue(choices.os_runtime_chains_from);
  files_->setChecked(choices.file_access);
  mpi_->setChecked(choices.trace_mpi);
  for (std::size_t i = 0; i < runtimes_.size(); ++i) runtimes_[i]->setChecked(choices.libraries.contains(QLatin1String(kRuntimes[i].trace)));
}

void CallsForm::readInto(CaptureChoices& choices) const {
  choices.trace_nvtx = nvtx_->isChecked();
  choices.domain_rule = static_cast<DomainRule>(domain_rule_->currentData().toInt());
  choices.domains.clear();
  for (const QString& domain : domains_->text().split(u',', Qt::SkipEmptyParts))
    if (!domain.trimmed().isEmpty()) choices.domains.push_back(domain.trimmed());
  choices.pytorch = static_cast<PytorchRanges>(pytorch_->currentData().toInt());
  choices.python_ranges_of = python_ranges_of_->text().trimmed();
  choices.trace_os_runtime = os_runtime_->isChecked();
  choices.os_runtime_threshold = threshold_->value();
  choices.os_runtime_chains_from = chains_from_->value();
  choices.file_access = files_->isChecked();
  choices.trace_mpi = mpi_->isChecked();
  for (std::size_t i = 0; i < runtimes_.size(); ++i)
    choose_library(choices, QString::fromLatin1(kRuntimes[i].trace), runtimes_[i]->isChecked() ? LibraryCalls::kRecorded : LibraryCalls::kLeftOut);
}

}  // namespace lanescope::ui

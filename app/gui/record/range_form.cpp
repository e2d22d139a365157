#include "record/range_form.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace lanescope::ui {
namespace {

using session::AfterCapture;
using session::CaptureTrigger;
using session::DomainRule;

constexpr double kLongestTime = 24 * 3600;   // s
constexpr double kLargestFile = 1e6;         // MB
constexpr int kLongestCall = 1'000'000'000;  // ns

QString tr(const char* text) { return QObject::tr(text); }

template <typename Value>
void choose(QComboBox* box, Value value) {
  box->setCurrentIndex(std::max(0, box->findData(static_cast<int>(value))));
}
template <typename Value>
Value chosen(const QComboBox* box) {
  return static_cast<Value>(box->currentData().toInt());
}

QWidget* in_a_line(std::initializer_list<QWidget*> widgets) {
  auto* line = new QWidget;
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  bool fills = false;
  for (QWidget* widget : widgets) {
    const bool is_text = qobject_cast<QLineEdit*>(widget) != nullptr;
    layout->addWidget(widget, is_text ? 1 : 0);
    fills = fills || is_text;
  }
  if (!fills) layout->addStretch(1);
  return line;
}

}  // namespace

RangeForm::RangeForm(QFormLayout& form, Target target)
    : more_(new QToolButton),
      fields_(new QWidget),
      form_(new QFormLayout(fields_)),
      trigger_(new QComboBox),
      range_(new QLineEdit),
      range_domain_(new QLineEdit),
      after_(new QComboBox),
      repeats_(new QSpinBox),
      domain_rule_(new QComboBox),
      domains_(new QLineEdit),
      all_calls_(new QCheckBox(tr("Also CUDA calls that say nothing about time, such as cudaGetDevice"))),
      threshold_(new QSpinBox),
      keep_last_(new QDoubleSpinBox),
      file_size_(new QDoubleSpinBox) {
  trigger_->addItem(tr("Everything"), static_cast<int>(CaptureTrigger::kNone));
  trigger_->addItem(tr("From cudaProfilerStart to cudaProfilerStop"), static_cast<int>(CaptureTrigger::kProfilerApi));
  trigger_->addItem(tr("An NVTX range"), static_cast<int>(CaptureTrigger::kNvtxRange));
  range_->setPlaceholderText(tr("Text of the range"));
  range_->setAccessibleName(tr("Text of the range"));
  range_domain_->setPlaceholderText(tr("Domain; * is every one"));
  range_domain_->setAccessibleName(tr("Domain of the range"));
  after_->addItem(tr("End the program"), static_cast<int>(AfterCapture::kShutdown));
  after_->addItem(tr("Record nothing more"), static_cast<int>(AfterCapture::kStop));
  after_->addItem(tr("Make a file for each range"), static_cast<int>(AfterCapture::kRepeat));
  after_->addItem(tr("Record on"), static_cast<int>(AfterCapture::kGoOn));
  repeats_->setRange(0, 1'000'000);
  repeats_->setSpecialValueText(tr("all"));
  repeats_->setSuffix(tr(" files"));
  repeats_->setAccessibleName(tr("Number of files"));
  domain_rule_->addItem(tr("All"), static_cast<int>(DomainRule::kAll));
  domain_rule_->addItem(tr("Only these"), static_cast<int>(DomainRule::kOnlyListed));
  domain_rule_->addItem(tr("All but these"), static_cast<int>(DomainRule::kAllButListed));
  domains_->setPlaceholderText(tr("NCCL, default (the one without a name)"));
  domains_->setAccessibleName(tr("NVTX domains"));
  threshold_->setRange(0, kLongestCall);
  threshold_->setSingleStep(1000);
  threshold_->setSuffix(QStringLiteral(" ns"));
  threshold_->setAccessibleName(tr("Shortest call of the C library"));
  keep_last_->setRange(0, kLongestTime);
  keep_last_->setDecimals(1);
  keep_last_->setSuffix(QStringLiteral(" s"));
  keep_last_->setSpecialValueText(tr("all"));
  file_size_->setRange(0, kLargestFile);
  file_size_->setDecimals(0);
  file_size_->setSuffix(QStringLiteral(" MB"));
  file_size_->setSpecialValueText(tr("no limit"));

  more_->setText(tr("More"));
  more_->setCheckable(true);
  more_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  more_->setAutoRaise(true);
  form_->setContentsMargins(0, 0, 0, 0);
  form_->addRow(tr("Re&cord"), trigger_);
  form_->addRow(tr("Range"), in_a_line({range_, range_domain_}));
  form_->addRow(tr("At &its end"), in_a_line({after_, repeats_}));
  form_->addRow(tr("NVTX do&mains"), in_a_line({domain_rule_, domains_}));
  form_->addRow(tr("CUDA"), all_calls_);
  form_->addRow(tr("C library from"), in_a_line({threshold_}));
  form_->addRow(tr("&Keep the last"), in_a_line({keep_last_}));
  form_->addRow(tr("&Largest file"), in_a_line({file_size_}));
  form.addRow(more_);
  form.addRow(fields_);
  // A process that runs already is recorded from the attach on.
  for (QWidget* field : {static_cast<QWidget*>(trigger_), range_->parentWidget(), after_->parentWidget()})
    if (target == Target::kRunning) form_->setRowVisible(field, false);
  const auto fold = [this] {
    more_->setArrowType(more_->isChecked() ? Qt::DownArrow : Qt::RightArrow);
    fields_->setVisible(more_->isChecked());
  };
  QObject::connect(more_, &QToolButton::toggled, fields_, fold);
  QObject::connect(trigger_, &QComboBox::currentIndexChanged, fields_, [this] { show_fitting(); });
  QObject::connect(after_, &QComboBox::currentIndexChanged, fields_, [this] { show_fitting(); });
  QObject::connect(domain_rule_, &QComboBox::currentIndexChanged, fields_, [this] { show_fitting(); });
  fold();
  show_fitting();
}

void RangeForm::show_fitting() const {
  const auto trigger = chosen<CaptureTrigger>(trigger_);
  range_->setEnabled(trigger == CaptureTrigger::kNvtxRange);
  range_domain_->setEnabled(trigger == CaptureTrigger::kNvtxRange);
  after_->setEnabled(trigger != CaptureTrigger::kNone);
  repeats_->setEnabled(trigger != CaptureTrigger::kNone && chosen<AfterCapture>(after_) == AfterCapture::kRepeat);
  domains_->setEnabled(chosen<DomainRule>(domain_rule_) != DomainRule::kAll);
}

void RangeForm::set(const CaptureChoices& choices) {
  choose(trigger_, choices.trigger);
  range_->setText(choices.range);
  range_domain_->setText(choices.range_domain);
  choose(after_, choices.after_range);
  repeats_->setValue(choices.repeats);
  choose(domain_rule_, choices.domain_rule);
  domains_->setText(choices.domains.join(QStringLiteral(", ")));
  all_calls_->setChecked(choices.all_calls);
  threshold_->setValue(choices.os_runtime_threshold);
  keep_last_->setValue(choices.keep_last);
  file_size_->setValue(choices.file_size);
  CaptureChoices usual;
  CaptureChoices these;
  read_into(these);
  more_->setChecked(these != usual);
}

void RangeForm::read_into(CaptureChoices& choices) const {
  choices.trigger = chosen<CaptureTrigger>(trigger_);
  choices.range = range_->text();
  choices.range_domain = range_domain_->text();
  choices.after_range = chosen<AfterCapture>(after_);
  choices.repeats = repeats_->value();
  choices.domain_rule = chosen<DomainRule>(domain_rule_);
  choices.domains.clear();
  for (const QString& domain : domains_->text().split(u',', Qt::SkipEmptyParts))
    if (!domain.trimmed().isEmpty()) choices.domains.push_back(domain.trimmed());
  choices.all_calls = all_calls_->isChecked();
  choices.os_runtime_threshold = threshold_->value();
  choices.keep_last = keep_last_->value();
  choices.file_size = file_size_->value();
}

}  // namespace lanescope::ui

#include "record/range_form.h"
#include "base/text/texts.h"

#include <QHBoxLayout>
#include <QLabel>

namespace lanescope::ui {
namespace {

using session::AfterCapture;
using session::CaptureTrigger;

constexpr double kLongestTime = 24 * 3600;  // s
constexpr double kLargestFile = 1e6;        // MB

template <typename Value>
void choose(QComboBox* box, Value value) {
  box->setCurrentIndex(std::max(0, box->findData(static_cast<int>(value))));
}
template <typename Value>
Value chosen(const QComboBox* box) {
  return static_cast<Value>(box->currentData().toInt());
}

// If 0 has a special meaning, the field shows it in words.
QDoubleSpinBox* number_field(const QString& name, const QString& unit, const QString& at_zero, double largest, int decimals) {
  auto* field = new QDoubleSpinBox;
  field->setAccessibleName(name);
  field->setRange(0, largest);
  field->setDecimals(decimals);
  field->setSuffix(unit);
  field->setSpecialValueText(at_zero);
  return field;
}

void add_line(QFormLayout& form, const QString& label, std::initializer_list<QWidget*> widgets) {
  auto* line = new QHBoxLayout;
  bool fills = false;
  for (QWidget* widget : widgets) {
    const bool is_text = qobject_cast<QLineEdit*>(widget) != nullptr;
    line->addWidget(widget, is_text ? 1 : 0);
    fills = fills || is_text;
  }
  if (!fills) line->addStretch(1);
  form.addRow(label, line);
  if (auto* named = qobject_cast<QLabel*>(form.labelForField(line))) named->setBuddy(*widgets.begin());
}

}  // namespace

RangeForm::RangeForm(QFormLayout& form, Target target)
    : trigger_(new QComboBox),
      range_(new QLineEdit),
      range_domain_(new QLineEdit),
      after_(new QComboBox),
      repeats_(new QSpinBox),
      delay_(number_field(tr("Delay"), tr(" s"), tr("at once"), kLongestTime, 1)),
      duration_(number_field(tr("Duration"), tr(" s"), tr("until it ends"), kLongestTime, 1)),
      program_at_end_(new QComboBox),
      wait_for_children_(new QComboBox),
      keep_last_(number_field(tr("Keep the last"), tr(" s"), tr("all"), kLongestTime, 1)),
      file_size_(number_field(tr("Largest file"), tr(" MB"), tr("no limit"), kLargestFile, 0)) {
  trigger_->addItem(tr("Everything"), static_cast<int>(CaptureTrigger::kNone));
  trigger_->addItem(tr("From cudaProfilerStart to cudaProfilerStop"), static_cast<int>(CaptureTrigger::kProfilerApi));
  trigger_->addItem(tr("An NVTX range"), static_cast<int>(CaptureTrigger::kNvtxRange));
  trigger_->setAccessibleName(tr("Which part"));
  range_->setPlaceholderText(tr("Text of the range"));
  range_->setAccessibleName(tr("Text of the range"));
  range_domain_->setPlaceholderText(tr("Domain; * is every one"));
  range_domain_->setAccessibleName(tr("Domain of the range"));
  const bool is_running = target == Target::kRunning;
  after_->addItem(is_running ? tr("End the recording; the program runs on") : tr("End the program"), static_cast<int>(AfterCapture::kShutdown));
  if (!is_running) after_->addItem(tr("Record nothing more"), static_cast<int>(AfterCapture::kStop));
  after_->addItem(tr("Make a file for each range"), static_cast<int>(AfterCapture::kRepeat));
  after_->addItem(tr("Continue to record"), static_cast<int>(AfterCapture::kGoOn));
  after_->setAccessibleName(tr("At its end"));
  repeats_->setRange(0, 1'000'000);
  repeats_->setSpecialValueText(tr("all"));
  repeats_->setSuffix(tr(" files"));
  repeats_->setAccessibleName(tr("Number of files"));

  form.addRow(tr("Re&cord"), trigger_);
  add_line(form, tr("Range"), {range_, range_domain_});
  add_line(form, tr("At &its end"), {after_, repeats_});
  auto* label = new QLabel(tr("&for"));
  label->setBuddy(duration_);
  program_at_end_->addItem(tr("end the program"), static_cast<int>(ProgramAtEnd::kEnds));
  program_at_end_->addItem(tr("let the program run on"), static_cast<int>(ProgramAtEnd::kRunsOn));
  program_at_end_->setToolTip(tr("Applies when the recording ends before the program: when you stop it, or when its duration is over"));
  program_at_end_->setAccessibleName(tr("When the recording ends first"));
  for (const QString& what : {tr("the program alone"), tr("the program and its recorded children")}) wait_for_children_->addItem(what);
  wait_for_children_->setAccessibleName(tr("Whose end is waited for"));
  add_line(form, tr("&Start after"), {delay_, label, duration_});
  add_line(form, tr("Wai&t for"), {wait_for_children_});
  if (is_running) form.setRowVisible(form.rowCount() - 1, false);
  add_line(form, tr("When st&opped"), {program_at_end_});
  if (is_running) form.setRowVisible(form.rowCount() - 1, false);
  add_line(form, tr("&Keep the last"), {keep_last_});
  add_line(form, tr("&Largest file"), {file_size_});
  QObject::connect(trigger_, &QComboBox::currentIndexChanged, trigger_, [this] { showFitting(); });
  QObject::connect(after_, &QComboBox::currentIndexChanged, trigger_, [this] { showFitting(); });
  showFitting();
}

void RangeForm::showFitting() const {
  const auto trigger = chosen<CaptureTrigger>(trigger_);
  range_->setEnabled(trigger == CaptureTrigger::kNvtxRange);
  range_domain_->setEnabled(trigger == CaptureTrigger::kNvtxRange);
  after_->setEnabled(trigger != CaptureTrigger::kNone);
  repeats_->setEnabled(trigger != CaptureTrigger::kNone && chosen<AfterCapture>(after_) == AfterCapture::kRepeat);
}

void RangeForm::setObservation(Observation observation) const {
  trigger_->setEnabled(observation == Observation::kWithin);
  if (observation == Observation::kFromOutside) trigger_->setCurrentIndex(0);
}

void RangeForm::set(const CaptureChoices& choices) {
  choose(trigger_, choices.trigger);
  range_->setText(choices.range);
  range_domain_->setText(choices.range_domain);
  choose(after_, choices.after_range);
  repeats_->setValue(choices.repeats);
  delay_->setValue(choices.delay);
  duration_->setValue(choices.duration);
  choose(program_at_end_, choices.program_at_end);
  wait_for_children_->setCurrentIndex(choices.wait_for_children ? 1 : 0);
  keep_last_->setValue(choices.keep_last);
  file_size_->setValue(choices.file_size);
}

void RangeForm::readInto(CaptureChoices& choices) const {
  choices.trigger = chosen<CaptureTrigger>(trigger_);
  choices.range = range_->text();
  choices.range_domain = range_domain_->text();
  choices.after_range = chosen<AfterCapture>(after_);
  choices.repeats = repeats_->value();
  choices.delay = delay_->value();
  choices.duration = duration_->value();
  choices.program_at_end = chosen<ProgramAtEnd>(program_at_end_);
  choices.wait_for_children = wait_for_children_->currentIndex() == 1;
  choices.keep_last = keep_last_->value();
  choices.file_size = file_size_->value();
}

}  // namespace lanescope::ui

#include "record/capture_form.h"

#include <QFormLayout>

namespace lanescope::ui {

CaptureForm::CaptureForm(Target target) {
  const auto add_page = [this](const QString& title) -> QFormLayout& {
    auto* page = new QWidget;
    auto* form = new QFormLayout(page);
    addTab(page, title);
    return *form;
  };
  cuda_.emplace(add_page(QObject::tr("CUDA")), target);
  calls_.emplace(add_page(QObject::tr("Ranges and calls")), target);
  sampling_.emplace(add_page(QObject::tr("Threads and metrics")));
  range_.emplace(add_page(QObject::tr("Which part")), target);
}

void CaptureForm::set(const CaptureChoices& choices) {
  cuda_->set(choices);
  calls_->set(choices);
  sampling_->set(choices);
  range_->set(choices);
}

void CaptureForm::setObservation(Observation observation) {
  const bool outside = observation == Observation::kFromOutside;
  constexpr int kTracingPages = 2;
  for (int page = 0; page < kTracingPages; ++page) setTabEnabled(page, !outside);
  if (outside && currentIndex() < kTracingPages) setCurrentIndex(kTracingPages);
  sampling_->setObservation(observation);
  range_->setObservation(observation);
}

QWidget& CaptureForm::shownRange() {
  setCurrentWidget(range_->range().parentWidget());
  return range_->range();
}

QWidget& CaptureForm::shownGpus() {
  setCurrentWidget(sampling_->gpus().parentWidget());
  return sampling_->gpus();
}

CaptureChoices CaptureForm::choices() const {
  CaptureChoices choices;
  cuda_->readInto(choices);
  calls_->readInto(choices);
  sampling_->readInto(choices);
  range_->readInto(choices);
  return choices;
}

}  // namespace lanescope::ui

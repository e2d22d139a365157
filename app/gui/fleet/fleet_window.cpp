#include "fleet/fleet_window.h"

#include <algorithm>
#include <cmath>

#include <QDialogButtonBox>
#include <QDir>
#include <QFileInfo>
#include <QFormLayout>
#include <QVBoxLayout>

#include "base/room/screen_room.h"

namespace lanescope::ui {
namespace {

constexpr QSize kFleetSize{900, 520};
constexpr qsizetype kLongestSentence = 1000;  // characters
constexpr qsizetype kMostSentences = 6;
constexpr qsizetype kMostRanksNamed = 4;  // of the chosen ranks

}  // namespace

FleetWindow::FleetWindow(FleetFile fleet, const QString& path, QWidget* parent)
    : QDialog(parent),
      fleet_(std::move(fleet)),
      measure_(new QComboBox),
      view_(new HeatMapView),
      legend_(new QLabel),
      chosen_(new QLabel),
      open_(new QPushButton(tr("&Open"))) {
  setWindowTitle(tr("Fleet — %1").arg(QFileInfo(path).absoluteDir().dirName()));
  setAttribute(Qt::WA_DeleteOnClose);
  layOut();
  connect(measure_, &QComboBox::currentIndexChanged, this, &FleetWindow::showMap);
  connect(view_, &HeatMapView::chosen, this, &FleetWindow::showChosen);
  connect(view_, &HeatMapView::activated, this, &FleetWindow::open);
  connect(open_, &QPushButton::clicked, this, &FleetWindow::open);
  showMap(0);
  resize(kFleetSize.boundedTo(room_on_screen(*this)));
  view_->setFocus();
}

void FleetWindow::layOut() {
  auto* layout = new QVBoxLayout(this);
  for (const QString& sentence : fleet_.sentences.first(std::min(fleet_.sentences.size(), kMostSentences))) {
    auto* label = new QLabel(sentence.left(kLongestSentence));
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(label);
  }
  for (const FleetMap& map : fleet_.maps) measure_->addItem(map.title.left(kLongestSentence));
  measure_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  auto* form = new QFormLayout;
  form->addRow(tr("&Measure:"), measure_);
  layout->addLayout(form);
  layout->addWidget(view_, 1);
  for (QLabel* label : {legend_, chosen_}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    layout->addWidget(label);
  }
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  buttons->addButton(open_, QDialogButtonBox::ActionRole);
  open_->setAutoDefault(false);
  buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  layout->addWidget(buttons);
}

void FleetWindow::showMap(int number) {
  const FleetMap& map = fleet_.maps[static_cast<std::size_t>(number)];
  double low = 0, high = 0;
  for (const FleetRow& row : map.rows)
    for (const double value : row.values)
      if (std::isfinite(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
  legend_->setText(tr("From %1 to %2 %3. Click a cell to choose a rank at a step; Ctrl+click adds a rank, Shift+click all ranks up to there.")
                       .arg(low, 0, 'g', 4)
                       .arg(high, 0, 'g', 4)
                       .arg(map.unit));
  view_->setMap(&map);
}

std::vector<FleetPlace> FleetWindow::chosen() const {
  std::vector<FleetPlace> places;
  const FleetMap& map = fleet_.maps[static_cast<std::size_t>(measure_->currentIndex())];
  for (const int number : view_->rows()) {
    const auto& source = map.rows[static_cast<std::size_t>(number)].source;
    const auto column = static_cast<std::size_t>(view_->column());
    if (!source || column >= source->cells.size() || source->cells[column].time.empty()) return {};
    places.push_back({source->file, source->cells[column]});
  }
  return places;
}

void FleetWindow::showChosen() {
  const std::vector<FleetPlace> places = chosen();
  open_->setEnabled(!places.empty());
  if (view_->rows().empty()) return chosen_->setText(tr("Nothing is chosen."));
  QStringList ranks;
  for (const int row : view_->rows()) {
    if (ranks.size() == kMostRanksNamed) {
      ranks += tr("and %n more", nullptr, static_cast<int>(view_->rows().size() - kMostRanksNamed));
      break;
    }
    ranks += view_->toolTipOf(row, view_->column());
  }
  chosen_->setText(ranks.join(QStringLiteral("; ")) + (places.empty() ? tr(". The answer does not say in which recording this was, or when.") : QString()));
}

void FleetWindow::open() {
  if (const std::vector<FleetPlace> places = chosen(); !places.empty()) emit openRequested(places);
}

}  // namespace lanescope::ui

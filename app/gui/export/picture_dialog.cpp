#include "export/picture_dialog.h"

#include <algorithm>
#include <cmath>

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QPushButton>

#include "base/room/screen_room.h"

namespace lanescope::ui {
namespace {

constexpr double kLeastScale = 0.5;
constexpr double kMostPixels = 64e6;  // 256 MB while it is drawn

const QList<Exports::Kind>& all_kinds() {
  static const QList<Exports::Kind> kinds = {{PictureDialog::tr("PNG, as it is seen"), QStringLiteral(".png")},
                                             {PictureDialog::tr("SVG, sharp at any size"), QStringLiteral(".svg")}};
  return kinds;
}

}  // namespace

PictureDialog::PictureDialog(QSize seen, double scale, QWidget* parent)
    : QDialog(parent), seen_(seen), kind_(new QComboBox(this)), scale_(new QDoubleSpinBox(this)), size_(new QLabel(this)) {
  setWindowTitle(tr("Save the picture of the timeline"));
  auto* form = new QFormLayout(this);
  form->addRow(tr("&Format:"), kind_);
  form->addRow(tr("&Scale:"), scale_);
  form->addRow(QString(), size_);
  for (const Exports::Kind& kind : all_kinds()) kind_->addItem(kind.name);
  const double pixels = static_cast<double>(std::max(1, seen.width())) * std::max(1, seen.height());
  scale_->setRange(kLeastScale, std::max(scale, std::floor(2 * std::sqrt(kMostPixels / pixels)) / 2));
  scale_->setSingleStep(0.5);
  scale_->setSuffix(QStringLiteral(" ×"));
  scale_->setValue(scale);
  scale_->setToolTip(tr("2 × has twice as many pixels in each direction: more of the events, and sharp texts in print"));
  connect(kind_, &QComboBox::currentIndexChanged, this, &PictureDialog::showSize);
  connect(scale_, &QDoubleSpinBox::valueChanged, this, &PictureDialog::showSize);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  QPushButton* save = buttons->addButton(tr("&Choose the file…"), QDialogButtonBox::AcceptRole);
  save->setDefault(true);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  form->addRow(buttons);
  setMinimumWidth(title_width(*this));
  showSize();
}

QList<Exports::Kind> PictureDialog::kinds() const {
  QList<Exports::Kind> kinds = all_kinds();
  kinds.move(kind_->currentIndex(), 0);
  return kinds;
}

void PictureDialog::showSize() {
  const bool has_pixels = kind_->currentIndex() == 0;
  const QSize size = (QSizeF(seen_) * scale()).toSize();
  scale_->setEnabled(has_pixels);
  size_->setText(has_pixels ? tr("%1 × %2 pixels").arg(size.width()).arg(size.height()) : tr("The rows that are in sight"));
}

}  // namespace lanescope::ui

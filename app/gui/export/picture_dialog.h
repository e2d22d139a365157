// Asks for the format of a picture of the timeline: pixels, with a scale, or vector graphics.
#pragma once

#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>

#include "export/exports.h"

namespace lanescope::ui {

class PictureDialog : public QDialog {
  Q_OBJECT

 public:
  // `seen`: the size of the timeline in logical pixels; `scale`: device pixels per logical pixel of its screen, the default choice.
  PictureDialog(QSize seen, double scale, QWidget* parent = nullptr);
  // The chosen kind first; another may still be chosen by the ending of the file.
  [[nodiscard]] QList<Exports::Kind> kinds() const;
  [[nodiscard]] double scale() const { return scale_->value(); }

 private:
  void showSize();

  QSize seen_;
  QComboBox* kind_;
  QDoubleSpinBox* scale_;
  QLabel* size_;
};

}  // namespace lanescope::ui

// Where a recording goes: a name with patterns, and what becomes of a file that has it already.
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>

#include "model/file/new_file.h"

namespace lanescope::ui {

class OutputField : public QWidget {
  Q_OBJECT

 public:
  explicit OutputField(QWidget* parent = nullptr);

  void set(const QString& pattern, Overwrite overwrite);
  [[nodiscard]] QString pattern() const { return pattern_->text().trimmed(); }
  [[nodiscard]] bool overwrite() const { return overwrite_->isChecked(); }
  [[nodiscard]] QLineEdit* edit() { return pattern_; }

  // Whether a file can be made there; where not, says why below the name, and offers what can be done about it. Relative names are of
  // this folder (empty: the viewer's).
  [[nodiscard]] bool check(const QString& folder);

 private:
  void clearProblem();
  void showProblem(const QString& sentence);
  void countUp();

  QLineEdit* pattern_;
  QCheckBox* overwrite_;
  QWidget* problem_;
  QLabel* sentence_;
  QPushButton* replace_;
  QPushButton* count_up_;
};

}  // namespace lanescope::ui

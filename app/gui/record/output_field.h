// The output file of a recording: a name with patterns, and whether an existing file is replaced.
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>

#include "model/file/new_file.h"
#include "record/start_dialog.h"

namespace lanescope::ui {

class OutputField : public QWidget {
  Q_OBJECT

 public:
  explicit OutputField(QWidget* parent = nullptr);

  void set(const QString& pattern, Overwrite overwrite);
  [[nodiscard]] QString pattern() const { return pattern_->text().trimmed(); }
  [[nodiscard]] bool overwrite() const { return overwrite_->isChecked(); }
  [[nodiscard]] QLineEdit* edit() { return pattern_; }

  // True if a file can be created there; if not, shows the reason below the name and offers a remedy. Relative names start at `folder` (empty: the viewer's
  // working directory).
  [[nodiscard]] bool check(const QString& folder);

 private:
  void clearProblem();
  void showProblem(const QString& sentence);
  void countUp();

  QLineEdit* pattern_;
  QCheckBox* overwrite_;
  QWidget* problem_;
  QLabel* sentence_;
  WrongField* wrong_;
  QPushButton* replace_;
  QPushButton* count_up_;
};

}  // namespace lanescope::ui

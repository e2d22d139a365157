// A list of all keys and gestures, shown by `?`.
#pragma once

#include <utility>
#include <vector>

#include <QDialog>

namespace lanescope::ui {

class KeysDialog : public QDialog {
  Q_OBJECT

 public:
  // A gesture and its effect.
  using Entries = std::vector<std::pair<QString, QString>>;
  KeysDialog(const Entries& timeline, const Entries& window, QWidget* parent = nullptr);
};

}  // namespace lanescope::ui

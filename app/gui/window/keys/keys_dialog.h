// Every key and gesture, as a sheet: what `?` shows.
#pragma once

#include <utility>
#include <vector>

#include <QDialog>

namespace lanescope::ui {

class KeysDialog : public QDialog {
  Q_OBJECT

 public:
  // Gesture and what it does.
  using Entries = std::vector<std::pair<QString, QString>>;
  KeysDialog(const Entries& timeline, const Entries& window, QWidget* parent = nullptr);
};

}  // namespace lanescope::ui

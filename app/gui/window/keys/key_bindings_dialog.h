// Lets the user change the keys of all commands: choose a command, then press a key for it.
#pragma once

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>

#include "base/input/key_bindings.h"

namespace lanescope::ui {

// Takes a key with its modifiers instead of text.
class KeyField : public QLineEdit {
  Q_OBJECT

 public:
  explicit KeyField(QWidget* parent = nullptr) : QLineEdit(parent) { setReadOnly(true); }

 signals:
  void pressed(const QKeySequence& key);

 protected:
  bool event(QEvent* event) override;
};

class KeyBindingsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit KeyBindingsDialog(KeyBindings& bindings, QWidget* parent = nullptr);

  [[nodiscard]] QString message() const { return message_->text(); }

 private:
  void layOut();
  void list();
  void filter(const QString& text);
  void enable();                         // the controls for the chosen command
  [[nodiscard]] QString chosen() const;  // the id of a command; empty: none
  void say(const QString& problem);

  KeyBindings& bindings_;
  QLineEdit* filter_;
  QTableWidget* table_;
  KeyField* key_;
  QPushButton* none_;
  QPushButton* reset_;
  QPushButton* reset_all_;
  QLabel* message_;
};

}  // namespace lanescope::ui

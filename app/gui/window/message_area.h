// A line above the timeline for what went wrong, in one sentence. It stays until it is closed or something else begins.
#pragma once

#include <QFrame>
#include <QLabel>

namespace lanescope::ui {

enum class MessageWeight { kNote, kError };

class MessageArea : public QFrame {
  Q_OBJECT

 public:
  explicit MessageArea(QWidget* parent = nullptr);

  void show(const QString& sentence, MessageWeight weight);
  void clear();
  [[nodiscard]] QString text() const { return isHidden() ? QString() : text_->text(); }

 private:
  QLabel* text_;
};

}  // namespace lanescope::ui

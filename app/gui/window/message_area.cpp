#include "window/message_area.h"

#include <QHBoxLayout>
#include <QToolButton>

namespace lanescope::ui {

MessageArea::MessageArea(QWidget* parent) : QFrame(parent), text_(new QLabel(this)) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(8, 3, 4, 3);
  auto* close = new QToolButton(this);
  close->setText(QStringLiteral("✕"));
  close->setAutoRaise(true);
  close->setAccessibleName(tr("Close the message"));
  line->addWidget(text_, 1);
  line->addWidget(close);
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  setAutoFillBackground(true);
  setAccessibleName(tr("Message"));
  connect(close, &QToolButton::clicked, this, &MessageArea::clear);
  hide();
}

void MessageArea::show(const QString& sentence, MessageWeight weight) {
  // Black on pale red or pale amber reads well in light and in dark surroundings.
  QPalette colors = palette();
  colors.setColor(QPalette::Window, weight == MessageWeight::kError ? QColor(0xf6, 0xc9, 0xc4) : QColor(0xf7, 0xe3, 0xb0));
  colors.setColor(QPalette::WindowText, Qt::black);
  colors.setColor(QPalette::ButtonText, Qt::black);
  setPalette(colors);
  text_->setText(sentence);
  QFrame::show();
}

void MessageArea::clear() { hide(); }

}  // namespace lanescope::ui

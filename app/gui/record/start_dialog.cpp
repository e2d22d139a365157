#include "record/start_dialog.h"

#include <QDialogButtonBox>
#include <QPushButton>
#include <QVBoxLayout>

namespace lanescope::ui {

void fill_start_dialog(QDialog& dialog, QFormLayout* fields, CaptureForm* capture, QLabel* problem, const QString& start) {
  problem->setWordWrap(true);
  problem->setTextFormat(Qt::PlainText);  // it may name what a person typed
  problem->setVisible(false);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  QPushButton* accepts = buttons->addButton(start, QDialogButtonBox::AcceptRole);
  auto* column = new QVBoxLayout(&dialog);
  column->addLayout(fields);
  column->addWidget(capture);
  column->addStretch(1);
  column->addWidget(problem);
  column->addWidget(buttons);
  for (QPushButton* button : dialog.findChildren<QPushButton*>()) button->setAutoDefault(button == accepts);
  accepts->setDefault(true);
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
}

void prepare_environment(QPlainTextEdit& field) {
  constexpr int kLines = 3;
  field.setPlaceholderText(QObject::tr("NAME=VALUE, one a line"));
  field.setTabChangesFocus(true);
  field.setFixedHeight(field.fontMetrics().height() * kLines);
}

}  // namespace lanescope::ui

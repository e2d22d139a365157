#include "record/output_field.h"

#include <algorithm>

#include <QFileInfo>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QVBoxLayout>

#include "collector/session/planned_file.h"
#include "record/launch_settings.h"

namespace lanescope::ui {

OutputField::OutputField(QWidget* parent)
    : QWidget(parent),
      pattern_(new QLineEdit(this)),
      overwrite_(new QCheckBox(tr("replace it where it exists"), this)),
      problem_(new QWidget(this)),
      sentence_(new QLabel(problem_)),
      wrong_(new WrongField(problem_)),
      replace_(new QPushButton(tr("Replace it"), problem_)),
      count_up_(new QPushButton(tr("Count up"), problem_)) {
  pattern_->setPlaceholderText(QStringLiteral("report%n.trace"));
  pattern_->setToolTip(tr("%n becomes the next free number, %p the process id, %h the host's name, %q{NAME} a variable of the environment"));
  pattern_->setAccessibleName(tr("Output file"));
  count_up_->setToolTip(tr("Gives the file the next free number"));
  for (QPushButton* button : {replace_, count_up_}) button->setAutoDefault(false);
  auto* name = new QHBoxLayout;
  name->setContentsMargins(0, 0, 0, 0);
  name->addWidget(pattern_, 1);
  name->addWidget(overwrite_);
  auto* below = new QHBoxLayout(problem_);
  below->setContentsMargins(0, 0, 0, 0);
  below->addWidget(room_for_problem(sentence_), 1);
  below->addWidget(replace_);
  below->addWidget(count_up_);
  QSizePolicy keeps_its_place = problem_->sizePolicy();  // so that the fields below do not move
  keeps_its_place.setRetainSizeWhenHidden(true);
  problem_->setSizePolicy(keeps_its_place);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(name);
  column->addWidget(problem_);
  connect(pattern_, &QLineEdit::textChanged, this, &OutputField::clearProblem);
  connect(overwrite_, &QCheckBox::toggled, this, &OutputField::clearProblem);
  connect(replace_, &QPushButton::clicked, overwrite_, [this] { overwrite_->setChecked(true); });
  connect(count_up_, &QPushButton::clicked, this, &OutputField::countUp);
  problem_->setFixedHeight(std::max(problem_->sizeHint().height(), replace_->sizeHint().height()));
  clearProblem();
}

void OutputField::set(const QString& pattern, Overwrite overwrite) {
  pattern_->setText(pattern);
  overwrite_->setChecked(overwrite == Overwrite::kAllow);
}

void OutputField::clearProblem() {
  problem_->hide();
  replace_->hide();
  count_up_->hide();
}

void OutputField::showProblem(const QString& sentence) {
  clearProblem();
  sentence_->setText(sentence);
  problem_->show();
  wrong_->mark(*pattern_, sentence);
  for (QWidget* around = parentWidget(); around != nullptr; around = around->parentWidget()) {
    auto* scrolled = qobject_cast<QScrollArea*>(around);
    if (scrolled == nullptr) continue;
    scrolled->ensureWidgetVisible(problem_);
    break;
  }
}

// "run.trace" becomes "run.%n.trace".
void OutputField::countUp() {
  const QString name = pattern();
  const qsizetype dot = name.lastIndexOf(u'.');
  const qsizetype end = dot > name.lastIndexOf(u'/') ? dot : name.size();
  pattern_->setText(name.left(end) + QStringLiteral(".%n") + name.mid(end));
}

bool OutputField::check(const QString& folder) {
  const auto planned = session::planned_file(output_pattern(pattern(), folder));
  if (!planned) return showProblem(QString::fromStdString(planned.error().text)), false;
  if (!*planned) return true;  // the name contains the process id, so the file does not exist yet
  const QFileInfo file(QString::fromStdString((*planned)->string()));
  const QFileInfo parent(file.absolutePath());
  if (!parent.isDir()) return showProblem(tr("There is no folder %1.").arg(parent.filePath())), false;
  if (!parent.isWritable()) return showProblem(tr("You may not write to the folder %1.").arg(parent.filePath())), false;
  if (!file.exists() && !file.isSymLink()) return true;
  if (file.isDir()) return showProblem(tr("%1 is a folder.").arg(file.filePath())), false;
  if (overwrite()) return true;
  showProblem(tr("A file named %1 exists: replace it, or count up?").arg(file.fileName()));
  replace_->show();
  count_up_->show();
  return false;
}

}  // namespace lanescope::ui

#include "record/launch_dialog.h"

#include <algorithm>
#include <optional>

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QStandardPaths>
#include <QToolButton>

#include "record/start_dialog.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kLaunchWidthInCharacters = 72;

QWidget* with_button(QWidget* field, const QString& name, auto clicked) {
  auto* line = new QWidget;
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* button = new QToolButton;
  button->setText(QStringLiteral("…"));
  button->setAccessibleName(name);
  button->setToolTip(name);
  layout->addWidget(field, 1);
  layout->addWidget(button);
  QObject::connect(button, &QToolButton::clicked, field, clicked);
  return line;
}

QFileInfo folder_of(const LaunchSettings& launch) { return QFileInfo(launch.working_directory.isEmpty() ? QDir::currentPath() : launch.working_directory); }

// Why the program cannot be started in its folder; empty if no problem is known.
QString program_problem(const LaunchSettings& launch) {
  const QFileInfo folder = folder_of(launch);
  const bool is_path = launch.program.contains(u'/');
  if (!is_path) {
    const bool has_own_path = !launch.inherit_environment ||
                              std::any_of(launch.environment.begin(), launch.environment.end(), [](const QString& line) { return line.startsWith(u"PATH="); });
    return has_own_path || !QStandardPaths::findExecutable(launch.program).isEmpty()
               ? QString()
               : QObject::tr("There is no program named %1. Give its path, or a name that is found in PATH.").arg(launch.program);
  }
  const QFileInfo program(QDir(folder.filePath()), launch.program);
  if (!program.exists()) return QObject::tr("There is no program %1.").arg(program.filePath());
  if (program.isDir()) return QObject::tr("%1 is a folder, not a program.").arg(program.filePath());
  return program.isExecutable() ? QString() : QObject::tr("%1 may not be run: it is not executable.").arg(program.filePath());
}

// What was typed when a dialog was left without starting anything: the next one begins with it, as long as the viewer runs.
std::optional<LaunchSettings>& left_unstarted() {
  static std::optional<LaunchSettings> settings;
  return settings;
}

}  // namespace

LaunchDialog::LaunchDialog(Settings& settings, QWidget* parent)
    : QDialog(parent),
      settings_(settings),
      program_(new QComboBox),
      arguments_(new QLineEdit),
      working_directory_(new QLineEdit),
      environment_(new QPlainTextEdit),
      inherit_environment_(new QCheckBox(tr("and the viewer's own"))),
      output_(new OutputField),
      problem_(new QLabel),
      wrong_(new WrongField(problem_)),
      capture_(new CaptureForm(Target::kLaunched)) {
  setWindowTitle(tr("Launch and record"));
  program_->setEditable(true);
  program_->setInsertPolicy(QComboBox::NoInsert);
  program_->addItems(settings.launchedPrograms());
  program_->lineEdit()->setPlaceholderText(tr("A path, or a name that is looked up in PATH"));
  arguments_->setPlaceholderText(tr("As in a shell: train.py --epochs 3 \"a word with spaces\""));
  working_directory_->setPlaceholderText(QDir::currentPath());
  prepare_environment(*environment_);

  auto* form = new QFormLayout;
  const auto add = [form](const QString& label, QWidget* line, QWidget* field) {
    form->addRow(label, line);
    if (auto* named = qobject_cast<QLabel*>(form->labelForField(line))) named->setBuddy(field);
  };
  add(tr("&Program"), with_button(program_, tr("Browse for the program"), [this] { browseProgram(); }), program_);
  form->addRow(tr("&Arguments"), arguments_);
  add(tr("&Working directory"), with_button(working_directory_, tr("Browse for the directory"), [this] { browseFolder(); }), working_directory_);
  form->addRow(tr("&Environment"), environment_);
  form->addRow(QString(), inherit_environment_);
  add(tr("&Output file"), output_, output_->edit());
  fill_start_dialog(*this, form, {capture_}, problem_, tr("Launch"));
  connect(program_, &QComboBox::activated, this, [this](int index) { setLaunch(settings_.launchSettings(program_->itemText(index))); });
  fit_start_dialog(*this, kLaunchWidthInCharacters);
  setLaunch(program_->count() > 0 ? settings.launchSettings(program_->itemText(0)) : LaunchSettings{});
  if (left_unstarted()) setLaunch(*left_unstarted());
  connect(this, &QDialog::rejected, this, [this] { left_unstarted() = launch(); });
}

void LaunchDialog::setLaunch(const LaunchSettings& launch) {
  program_->setEditText(launch.program);
  program_->lineEdit()->selectAll();  // so that typing replaces it
  arguments_->setText(launch.arguments);
  working_directory_->setText(launch.working_directory);
  environment_->setPlainText(launch.environment.join(u'\n'));
  inherit_environment_->setChecked(launch.inherit_environment);
  capture_->set(launch.capture);
  output_->set(launch.output, launch.overwrite ? Overwrite::kAllow : Overwrite::kRefuse);
}

LaunchSettings LaunchDialog::launch() const {
  LaunchSettings launch;
  launch.program = program_->currentText().trimmed();
  launch.arguments = arguments_->text();
  launch.working_directory = working_directory_->text().trimmed();
  launch.environment = environment_->toPlainText().split(u'\n', Qt::SkipEmptyParts);
  launch.inherit_environment = inherit_environment_->isChecked();
  launch.overwrite = output_->overwrite();
  launch.capture = capture_->choices();
  launch.output = output_->pattern();
  return launch;
}

// A whole command, as it is typed in a shell, becomes the program and its arguments.
void LaunchDialog::takeCommand() {
  LaunchSettings typed = launch();
  const qsizetype end = typed.program.indexOf(u' ');
  if (end < 0 || program_problem(typed).isEmpty()) return;
  const QString further = typed.program.mid(end + 1).trimmed();
  typed.program.truncate(end);
  if (!program_problem(typed).isEmpty()) return;
  program_->setEditText(typed.program);
  arguments_->setText(QStringList({further, typed.arguments}).join(u' ').trimmed());
}

void LaunchDialog::accept() {
  takeCommand();
  const LaunchSettings asked = launch();
  if (const auto wrong = wrong_answer(asked)) return showProblem(shown_text(wrong->sentence), fieldOf(wrong->field));
  if (const auto request = launch_request(asked); !request) return showProblem(shown_text(request.error().text));
  if (const QFileInfo folder = folder_of(asked); !folder.isDir())
    return showProblem(tr("There is no folder %1 to start the program in.").arg(folder.filePath()), *working_directory_);
  if (const QString problem = program_problem(asked); !problem.isEmpty()) return showProblem(problem, *program_);
  problem_->setVisible(false);
  if (!output_->check(asked.working_directory)) return;
  settings_.rememberLaunch(asked);
  left_unstarted().reset();
  if (const QString problem = start_ ? start_(asked) : QString(); !problem.isEmpty()) return showProblem(problem);
  QDialog::accept();
}

void LaunchDialog::showProblem(const QString& sentence) {
  problem_->setVisible(false);  // another field may be marked
  problem_->setText(sentence);
  problem_->setVisible(true);
}

void LaunchDialog::showProblem(const QString& sentence, QWidget& field) {
  showProblem(sentence);
  wrong_->mark(field, sentence);
}

QWidget& LaunchDialog::fieldOf(LaunchField field) {
  switch (field) {
    case LaunchField::kProgram:
      break;
    case LaunchField::kArguments:
      return *arguments_;
    case LaunchField::kEnvironment:
      return *environment_;
    case LaunchField::kRange:
      return capture_->shownRange();
    case LaunchField::kGpus:
      return capture_->shownGpus();
  }
  return *program_;
}

void LaunchDialog::browseProgram() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Program to record"));
  if (!path.isEmpty()) program_->setEditText(path);  // the other fields stay
}

void LaunchDialog::browseFolder() {
  const QString path = QFileDialog::getExistingDirectory(this, tr("Working directory"), working_directory_->text());
  if (!path.isEmpty()) working_directory_->setText(path);
}

}  // namespace lanescope::ui

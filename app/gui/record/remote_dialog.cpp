#include "record/remote_dialog.h"

#include <optional>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QVBoxLayout>

#include "base/text/diagnostic_text.h"
#include "base/text/problem_text.h"
#include "model/text/message.h"
#include "model/trace/text/utf8.h"
#include "record/start_dialog.h"
#include "record/wrong_answer.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kRemoteWidthInCharacters = 84;
constexpr int kAnswerLines = 7;

QString shown(const std::string& text) { return QString::fromStdString(printable(text, LineBreaks::kKept)); }

QString name_of_copying() { return QObject::tr("Cop&y it there"); }

remote::Wish wish_of(const LatestJob::Context& job) { return job.stop().stop_requested() ? remote::Wish::kLeave : remote::Wish::kGoOn; }

struct Answer {
  Result<std::string> text;  // the output, or why there is none
  QString lanescope;         // the program that gave it
};

// Runs a question on the remote machine, on the thread of the job.
Answer answer_to(RemoteWork question, const LatestJob::Context& job) {
  constexpr std::size_t kMost = 1u << 20;
  std::string printed;
  std::string said;
  question.work.print = [&printed](remote::TextStream stream, std::string_view bytes) {
    if (stream == remote::TextStream::kOutput && printed.size() < kMost) printed.append(bytes);
  };
  question.work.tell = [&said](const std::string& sentence) {
    if (said.size() < kMost) said += sentence + '\n';
  };
  question.work.wish = [&job] { return wish_of(job); };
  const remote::WorkOutcome outcome = remote::work_by(question.there, recorder_here(), question.work, remote::Preferred::kProgramThere, [] { return false; });
  Answer answer{std::move(printed), QString::fromStdString(question.there.program)};
  if (outcome.failure) answer.text = Error{said + outcome.failure->text};
  if (outcome.missing != remote::Missing::kNothing)
    answer.text = Error{answer.text.error().text + '\n' +
                        QObject::tr("\"%1\", below, puts lanescope %2 there, which is here, into ~/.cache/lanescope/recorders.")
                            .arg(without_mnemonic(name_of_copying()), QStringLiteral(LANESCOPE_VERSION))
                            .toStdString()};
  return answer;
}

// A text that recorders and samplers write in English, recognised by its words.
Message recognised(const std::string& text) {
  Message problem = problem_message(text);
  return problem.pattern().empty() ? diagnostic_message(text) : problem;
}

// A text that lanescope there has said, to be shown in our language: it gives its templates and values apart from the English text. Nothing if it is none of
// ours. A value stands in its template once, so that no text grows beyond the sum of what came.
std::optional<Message> message_said(const QJsonValue& said, int depth = 0) {
  constexpr int kDeepest = 8;
  if (said.isString()) return recognised(said.toString().toStdString());
  const QString pattern = said["text"].toString();
  if (pattern.isEmpty() || depth == kDeepest) return std::nullopt;
  const QJsonObject values = said["values"].toObject();
  std::vector<Message::Value> read;
  for (auto value = values.begin(); value != values.end(); ++value) {
    std::optional<Message> message = message_said(*value, depth + 1);
    if (!message || pattern.count(u'{' + value.key() + u'}') > 1) return std::nullopt;
    read.emplace_back(value.key().toStdString(), std::move(*message));
  }
  return Message(pattern.toStdString(), std::move(read));
}

// The English text, unless there is a message.
QString text_said(const QJsonValue& said, const QJsonValue& english) {
  const std::optional<Message> message = message_said(said);
  if (!message) return english.toString();
  return shown_text(*message);
}

}  // namespace

QString examination_text(const QByteArray& json) {
  const QJsonObject answer = QJsonDocument::fromJson(json).object();
  const QJsonArray parts = answer.value("parts").toArray();
  if (parts.isEmpty()) return QObject::tr("The answer can't be understood: lanescope there is of another version.");
  const QString version = answer.value("lanescope").toString();
  QStringList lines{QObject::tr("lanescope %1 on %2").arg(version, answer.value("system").toString())};
  if (version != QStringLiteral(LANESCOPE_VERSION))
    lines << QObject::tr("Here is lanescope %1. \"%2\", below, puts it there, beside the other one.")
                 .arg(QStringLiteral(LANESCOPE_VERSION), without_mnemonic(name_of_copying()));
  QStringList limits;
  for (const QJsonValue& value : parts) {
    const QJsonObject part = value.toObject();
    if (part.isEmpty()) continue;
    const QJsonValue said = part.value("said");
    const QString text =
        QStringLiteral("%1: %2").arg(text_said(said["subject"], part.value("subject")), text_said(said["text"], part.value("text")).simplified());
    const QString name = part.value("part").toString();
    if (name == u"gpus" || (name == u"driver" && part.value("verdict").toString() != u"ok"))
      lines << text;
    else if (part.value("verdict").toString() != u"ok")
      limits << text;
    else
      continue;
    const QJsonArray remedies = part.value("remedies").toArray();
    for (qsizetype i = 0; i < remedies.size(); ++i)
      (name == u"gpus" || name == u"driver" ? lines : limits) << QStringLiteral("    ") + text_said(said["remedies"][i], remedies[i]);
  }
  return shown((lines + limits).join(u'\n').toStdString());
}

RemoteDialog::RemoteDialog(Settings& settings, QWidget* parent)
    : QDialog(parent),
      settings_(settings),
      target_(new QComboBox),
      examine_(new QPushButton(tr("&Examine it"))),
      answer_(new QLabel),
      lanescope_(new QLineEdit),
      copy_(new QPushButton(name_of_copying())),
      what_(new QComboBox),
      process_(new QComboBox),
      list_(new QPushButton(tr("L&ist them"))),
      process_line_(new QWidget),
      further_(new QLineEdit),
      program_(new QLineEdit),
      arguments_(new QLineEdit),
      folder_(new QLineEdit),
      environment_(new QPlainTextEdit),
      inherit_environment_(new QCheckBox(tr("and that of commands there"))),
      output_(new OutputField),
      problem_(new QLabel),
      wrong_(new WrongField(problem_)),
      form_(new QFormLayout),
      capture_(new CaptureForm(Target::kLaunched)),
      attach_capture_(new CaptureForm(Target::kRunning)) {
  setWindowTitle(tr("Record on another machine"));
  layOut();
  connect(examine_, &QPushButton::clicked, this, &RemoteDialog::examine);
  connect(target_, &QComboBox::activated, this, [this](int index) { set(settings_.remoteSettings(target_->itemText(index))); });
  connect(target_, &QComboBox::editTextChanged, this, &RemoteDialog::forgetAnswer);
  connect(lanescope_, &QLineEdit::textChanged, this, &RemoteDialog::forgetAnswer);
  connect(copy_, &QPushButton::clicked, this, &RemoteDialog::copyRecorder);
  connect(list_, &QPushButton::clicked, this, &RemoteDialog::listProcesses);
  connect(what_, &QComboBox::currentIndexChanged, this, &RemoteDialog::showFitting);
  connect(&list_job_, &LatestJob::runningChanged, list_, [this](bool running) { list_->setEnabled(!running); });
  connect(&job_, &LatestJob::runningChanged, examine_, [this](bool running) {
    examine_->setEnabled(!running);
    copy_->setEnabled(!running);
  });
  fit_start_dialog(*this, kRemoteWidthInCharacters);
  set(target_->count() > 0 ? settings.remoteSettings(target_->itemText(0)) : RemoteSettings{});
}

void RemoteDialog::layOut() {
  target_->setEditable(true);
  target_->setInsertPolicy(QComboBox::NoInsert);
  target_->addItems(settings_.remoteTargets());
  target_->lineEdit()->setPlaceholderText(QStringLiteral("ssh:HOST, docker:CONTAINER, k8s:NAMESPACE/POD/CONTAINER, slurm:JOB/NODE, command:PREFIX"));
  target_->setAccessibleName(tr("Machine"));
  answer_->setTextFormat(Qt::PlainText);
  answer_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  answer_->setAccessibleName(tr("What can be recorded there"));
  lanescope_->setPlaceholderText(tr("The lanescope command of that machine, or its path there"));
  copy_->setToolTip(tr("Puts lanescope %1, which is here, into ~/.cache/lanescope/recorders there, and uses it. Nothing is sent if it is there already.")
                        .arg(QStringLiteral(LANESCOPE_VERSION)));
  program_->setPlaceholderText(tr("A path on that machine, or a name that is looked up in its PATH"));
  arguments_->setPlaceholderText(tr("As in a shell: train.py --epochs 3 \"a word with spaces\""));
  folder_->setPlaceholderText(tr("Where commands begin there"));
  prepare_environment(*environment_);

  auto* machine = new QWidget;
  auto* line = new QHBoxLayout(machine);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(target_, 1);
  line->addWidget(examine_);
  what_->addItem(tr("start a program"));
  what_->addItem(tr("attach to a process that runs"));
  process_->setEditable(true);
  process_->setInsertPolicy(QComboBox::NoInsert);
  process_->setAccessibleName(tr("Process there"));
  process_->lineEdit()->setPlaceholderText(tr("Process id on that machine"));
  further_->setPlaceholderText(tr("More machines, at the same time: ssh:gpu8 ssh:gpu9. What they do becomes one trace."));
  auto* processes = new QHBoxLayout(process_line_);
  processes->setContentsMargins(0, 0, 0, 0);
  processes->addWidget(process_, 1);
  processes->addWidget(list_);
  QFormLayout* const form = form_;
  form->addRow(tr("&Machine"), machine);
  if (auto* label = qobject_cast<QLabel*>(form->labelForField(machine))) label->setBuddy(target_);
  form->addRow(QString(), room_for_lines(answer_, kAnswerLines));
  auto* recorder = new QWidget;
  auto* recorder_line = new QHBoxLayout(recorder);
  recorder_line->setContentsMargins(0, 0, 0, 0);
  recorder_line->addWidget(lanescope_, 1);
  recorder_line->addWidget(copy_);
  form->addRow(tr("&lanescope there"), recorder);
  if (auto* label = qobject_cast<QLabel*>(form->labelForField(recorder))) label->setBuddy(lanescope_);
  form->addRow(tr("&To record, there"), what_);
  form->addRow(tr("Pro&cess"), process_line_);
  if (auto* label = qobject_cast<QLabel*>(form->labelForField(process_line_))) label->setBuddy(process_);
  form->addRow(tr("Also on"), further_);
  form->addRow(tr("&Program"), program_);
  form->addRow(tr("&Arguments"), arguments_);
  form->addRow(tr("&Folder there"), folder_);
  form->addRow(tr("En&vironment"), environment_);
  form->addRow(QString(), inherit_environment_);
  form->addRow(tr("&Output file here"), output_);
  if (auto* label = qobject_cast<QLabel*>(form->labelForField(output_))) label->setBuddy(output_->edit());
  fill_start_dialog(*this, form, {capture_, attach_capture_}, problem_, tr("Record"));
  showFitting();
  forgetAnswer();
}

bool RemoteDialog::attaches() const { return what_->currentIndex() == 1; }

void RemoteDialog::showFitting() {
  const bool attach = attaches();
  for (QWidget* field : {static_cast<QWidget*>(further_), static_cast<QWidget*>(program_), static_cast<QWidget*>(arguments_), static_cast<QWidget*>(folder_),
                         static_cast<QWidget*>(environment_), static_cast<QWidget*>(inherit_environment_)})
    form_->setRowVisible(field, !attach);
  form_->setRowVisible(process_line_, attach);
  capture_->setVisible(!attach);
  attach_capture_->setVisible(attach);
}

void RemoteDialog::set(const RemoteSettings& settings) {
  target_->setEditText(settings.target);
  lanescope_->setText(settings.lanescope);
  program_->setText(settings.launch.program);
  arguments_->setText(settings.launch.arguments);
  folder_->setText(settings.launch.working_directory);
  environment_->setPlainText(settings.launch.environment.join(u'\n'));
  inherit_environment_->setChecked(settings.launch.inherit_environment);
  what_->setCurrentIndex(settings.what == Target::kRunning ? 1 : 0);
  process_->setEditText(settings.process);
  further_->setText(settings.further);
  for (CaptureForm* capture : {capture_, attach_capture_}) capture->set(settings.launch.capture);
  output_->set(settings.launch.output, settings.launch.overwrite ? Overwrite::kAllow : Overwrite::kRefuse);
}

RemoteSettings RemoteDialog::settings() const {
  RemoteSettings settings;
  settings.target = target_->currentText().trimmed();
  settings.lanescope = lanescope_->text().trimmed();
  settings.launch.program = program_->text().trimmed();
  settings.launch.arguments = arguments_->text();
  settings.launch.working_directory = folder_->text().trimmed();
  settings.launch.environment = environment_->toPlainText().split(u'\n', Qt::SkipEmptyParts);
  settings.launch.inherit_environment = inherit_environment_->isChecked();
  settings.launch.overwrite = output_->overwrite();
  settings.what = attaches() ? Target::kRunning : Target::kLaunched;
  settings.process = process_->currentText().trimmed();
  settings.further = further_->text().trimmed();
  settings.launch.capture = (attaches() ? attach_capture_ : capture_)->choices();
  settings.launch.output = output_->pattern();
  return settings;
}

void RemoteDialog::examine() {
  Result<RemoteWork> question = remote_question(settings(), {"doctor", "--json=true"});
  if (!question) return showProblem(QString::fromStdString(question.error().text), *target_);
  problem_->setVisible(false);
  answer_->setText(tr("Asking %1 …").arg(QString::fromStdString(question->work.target)));
  job_.start([this, question = std::move(*question)](const LatestJob::Context& job) {
    const Answer answer = answer_to(question, job);
    const QString text = answer.text ? examination_text(QByteArray::fromStdString(*answer.text)) : shown(answer.text.error().text);
    const bool is_other = answer.lanescope != QString::fromStdString(question.there.program);  // a copy from before
    job.deliver([this, text, path = is_other ? answer.lanescope : QString()] {
      if (!path.isEmpty()) usePath(path);
      answer_->setText(text);
    });
  });
}

void RemoteDialog::copyRecorder() {
  Result<RemoteWork> machine = remote_question(settings(), {});
  if (!machine) return showProblem(QString::fromStdString(machine.error().text), *target_);
  problem_->setVisible(false);
  answer_->setText(tr("Copying lanescope %1 to %2 …").arg(QStringLiteral(LANESCOPE_VERSION), QString::fromStdString(machine->work.target)));
  job_.start([this, machine = std::move(*machine)](const LatestJob::Context& job) {
    const Result<std::string> program = remote::recorder_copied_to(
        machine.there.target, machine.work.terminal, recorder_here(), [](const std::string&) {}, [&job] { return wish_of(job); });
    if (!program) return job.deliver([this, text = shown(program.error().text)] { answer_->setText(text); });
    job.deliver([this, path = QString::fromStdString(*program)] {
      usePath(path);
      examine();
    });
  });
}

void RemoteDialog::usePath(const QString& lanescope) {
  const QSignalBlocker keeps_answer(lanescope_);
  lanescope_->setText(lanescope);
}

void RemoteDialog::listProcesses() {
  Result<RemoteWork> question = remote_question(settings(), {"attach", "--list=true"});
  if (!question) return showProblem(QString::fromStdString(question.error().text), *target_);
  problem_->setVisible(false);
  list_job_.start([this, question = std::move(*question)](const LatestJob::Context& job) {
    const Result<std::string> list = answer_to(question, job).text;
    QStringList processes;  // a line for each: number, user, whether it can be attached to, command
    if (list)
      for (const QString& line : shown(*list).split(u'\n', Qt::SkipEmptyParts))
        if (line.front() >= u'1' && line.front() <= u'9') processes << line.simplified();
    job.deliver([this, processes, problem = list ? QString() : shown(list.error().text)] {
      const QString typed = process_->currentText();
      process_->clear();
      process_->addItems(processes);
      process_->setEditText(typed);
      if (!problem.isEmpty()) return showProblem(problem);
      if (isVisible()) process_->showPopup();
    });
  });
}

void RemoteDialog::forgetAnswer() {
  job_.cancel();
  answer_->setText(tr("\"%1\" says which GPUs are there, what can be recorded, and what is missing.").arg(without_mnemonic(examine_->text())));
}

void RemoteDialog::accept() {
  const RemoteSettings asked = settings();
  if (const auto work = remote_work(asked); !work) return showProblem(QString::fromStdString(work.error().text), wrongField(asked));
  problem_->setVisible(false);
  if ((asked.what == Target::kRunning || asked.further.isEmpty()) && !output_->check({})) return;
  job_.cancel();
  list_job_.cancel();
  settings_.rememberRemote(asked);
  if (const QString problem = start_ ? start_(asked) : QString(); !problem.isEmpty()) return showProblem(problem);
  QDialog::accept();
}

// In the order in which remote_work() looks at them.
QWidget& RemoteDialog::wrongField(const RemoteSettings& asked) {
  if (asked.what == Target::kRunning) return process_of(asked) <= 0 ? *process_ : *target_;
  if (const auto wrong = wrong_answer(asked.launch)) switch (wrong->field) {
      case LaunchField::kProgram:
        return *program_;
      case LaunchField::kArguments:
        return *arguments_;
      case LaunchField::kEnvironment:
        return *environment_;
      case LaunchField::kRange:
        return capture_->shownRange();
      case LaunchField::kGpus:
        return capture_->shownGpus();
    }
  return remote::split_words(asked.further.toStdString()) && !remote::parse_target(asked.target.toStdString()) ? static_cast<QWidget&>(*target_)
                                                                                                               : static_cast<QWidget&>(*further_);
}

void RemoteDialog::showProblem(const QString& sentence, QWidget& field) {
  showProblem(sentence);
  wrong_->mark(field, sentence);
}

void RemoteDialog::showProblem(const QString& sentence) {
  problem_->setVisible(false);  // another field may be marked
  problem_->setText(sentence);
  problem_->setVisible(true);
}

}  // namespace lanescope::ui

#include "window/recording_question.h"
#include "base/text/texts.h"

#include <QCheckBox>
#include <QFileInfo>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>

namespace lanescope::ui {
namespace {

struct Words {
  QString question;
  QString elsewhere;  // empty: not offered
  QString here;
};

// The name of what is to be opened.
QString name_of(const Wish& wish) {
  const QString name = QFileInfo(wish.path).fileName();
  return wish.beside.isEmpty() ? name : tr("%1 and %2").arg(name, QFileInfo(wish.beside).fileName());
}

Words words_of(const Wish& wish) {
  const QString name = name_of(wish);
  switch (wish.kind) {
    case WishKind::kOpen:
    case WishKind::kOpenBeside:
      return {tr("A recording is running in this window. Where should %1 open?").arg(name), tr("In a new window"), tr("Stop the recording and open")};
    case WishKind::kLaunch:
    case WishKind::kAttach:
    case WishKind::kRecordElsewhere:
      return {tr("A recording is running in this window. Where should the next one run?"), tr("In a new window"), tr("Stop this one when the next has begun")};
    case WishKind::kClose:
      return {tr("A recording is running in this window. Stop it and close the window?"), {}, tr("Stop and close")};
  }
  return {};
}

// For a recording that is stopping already, so that nobody has to wait here.
Words words_while_stopping(const Wish& wish) {
  Words words = words_of(wish);
  switch (wish.kind) {
    case WishKind::kOpen:
    case WishKind::kOpenBeside:
      words.here = tr("Open once the recording has stopped");
      break;
    case WishKind::kClose:
      words.question = tr("The recording in this window is being stopped. Close the window once it is complete?");
      words.here = tr("Close then");
      break;
    case WishKind::kLaunch:
    case WishKind::kAttach:
    case WishKind::kRecordElsewhere:
      words.here = tr("Here, while this one is being completed");
      break;
  }
  return words;
}

// For a recording that has ended while the question was open: it need not be stopped any more, but the user still chooses where the next thing is shown.
void ask_about_ended(QMessageBox& box, QAbstractButton& here, const Wish& wish) {
  switch (wish.kind) {
    case WishKind::kOpen:
    case WishKind::kOpenBeside:
      box.setText(tr("The recording in this window has ended. Where should %1 open?").arg(name_of(wish)));
      break;
    case WishKind::kLaunch:
    case WishKind::kAttach:
    case WishKind::kRecordElsewhere:
      box.setText(tr("The recording in this window has ended. Where should the next one run?"));
      break;
    case WishKind::kClose:
      return here.click();
  }
  box.setInformativeText({});  // about how it is stopped
  here.setText(tr("In this window"));
  if (box.checkBox() != nullptr) box.checkBox()->hide();
}

}  // namespace

session_event::Answer ask_about_recording(QWidget& window, const Wish& wish, LiveRecording& recording) {
  const Words words = recording.isStopping() ? words_while_stopping(wish) : words_of(wish);
  const QPointer<LiveRecording> running(&recording);
  QMessageBox box(QMessageBox::Question, tr("A recording is running"), words.question, QMessageBox::Cancel, &window);
  const QString path = recording.path();
  QString kept = path.isEmpty() ? QString() : tr("What was recorded is kept in %1.").arg(path);
  if (recording.wasAttachedTo()) kept += (kept.isEmpty() ? QString() : QStringLiteral(" ")) + tr("The program runs on.");
  box.setInformativeText(kept);
  auto* elsewhere = words.elsewhere.isEmpty() ? nullptr : box.addButton(words.elsewhere, QMessageBox::AcceptRole);
  auto* here = box.addButton(words.here, elsewhere ? QMessageBox::DestructiveRole : QMessageBox::AcceptRole);
  box.setDefaultButton(elsewhere ? elsewhere : here);
  auto* ends =
      recording.wasAttachedTo() || recording.elsewhere() || recording.isStopping() ? nullptr : new QCheckBox(tr("When stopped, end the program, too"), &box);
  if (ends) ends->setChecked(recording.programAtEnd() == ProgramAtEnd::kEnds);
  box.setCheckBox(ends);
  QObject::connect(&recording, &LiveRecording::ended, &box, [&] { ask_about_ended(box, *here, wish); });
  box.exec();
  if (box.clickedButton() == here) {
    if (ends && running) running->setProgramAtEnd(ends->isChecked() ? ProgramAtEnd::kEnds : ProgramAtEnd::kRunsOn);
    return session_event::Answer::kHere;
  }
  return elsewhere && box.clickedButton() == elsewhere ? session_event::Answer::kElsewhere : session_event::Answer::kNot;
}

}  // namespace lanescope::ui

#include "export/exports.h"

#include <algorithm>
#include <chrono>

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMessageBox>

#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

constexpr int kBarCharacters = 16;
constexpr int kWhole = 100;  // %
constexpr std::chrono::milliseconds kBetweenLooks{100};

// Problems that writers would report in the words of the command line.
QString why_not_there(const QString& path) {
  const QFileInfo place(path), folder(place.absolutePath());
  if (place.exists() && !place.isFile()) return Exports::tr("%1 can't be written: it is not a file. Choose another name.").arg(path);
  if (!folder.isDir()) return Exports::tr("%1 can't be written: there is no such folder. Choose another one.").arg(path);
  if (!folder.isWritable()) return Exports::tr("%1 can't be written: its folder is read-only for you. Choose another one.").arg(path);
  return {};
}

}  // namespace

Exports::Exports(Settings& settings, QWidget* parent)
    : QWidget(parent), settings_(settings), text_(new QLabel(this)), bar_(new QProgressBar(this)), cancel_(new QPushButton(tr("Cancel"), this)) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(text_);
  line->addWidget(bar_);
  line->addWidget(cancel_);
  bar_->setAccessibleName(tr("Progress of the export"));
  bar_->setFixedWidth(bar_->fontMetrics().averageCharWidth() * kBarCharacters);
  looking_.setInterval(kBetweenLooks);
  connect(&looking_, &QTimer::timeout, this, &Exports::showProgress);
  cancel_->setAccessibleName(tr("Cancel the export"));
  connect(cancel_, &QPushButton::clicked, this, &Exports::stop);
  connect(&job_, &LatestJob::runningChanged, this, [this](bool running) {
    setVisible(running);
    running ? looking_.start() : looking_.stop();
  });
  hide();
}

Exports::~Exports() { stop_.request_stop(); }

QString Exports::chooseFile(const QString& title, const QString& source, const QString& name, const QList<Kind>& kinds) {
  QStringList filters;
  for (const Kind& kind : kinds) filters += QStringLiteral("%1 (*%2)").arg(kind.name, kind.suffix);
  QString folder = settings_.exportFolder();
  if (folder.isEmpty() || !QFileInfo(folder).isDir()) folder = source.isEmpty() ? QString() : QFileInfo(source).absolutePath();
  QFileDialog dialog(window(), title, folder);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setNameFilters(filters);
  dialog.setDefaultSuffix(kinds.first().suffix.mid(1));
  connect(&dialog, &QFileDialog::filterSelected, &dialog,
          [&](const QString& filter) { dialog.setDefaultSuffix(kinds[filters.indexOf(filter)].suffix.mid(1)); });
  dialog.selectFile(name + kinds.first().suffix);
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
  const QString chosen = dialog.selectedFiles().first();
  const Kind& kind = kinds[std::max<qsizetype>(0, filters.indexOf(dialog.selectedNameFilter()))];
  const bool has_suffix = std::any_of(kinds.begin(), kinds.end(), [&](const Kind& each) { return chosen.endsWith(each.suffix, Qt::CaseInsensitive); });
  const QString path = has_suffix ? chosen : chosen + kind.suffix;  // the part after a dot in "llama-3.1" is not a suffix
  if (path != chosen && QFileInfo::exists(path) && !replaces(path)) return {};
  settings_.setExportFolder(QFileInfo(path).absolutePath());
  return path;
}

// Asks again, because the file dialog asked about another name.
bool Exports::replaces(const QString& path) {
  QMessageBox box(QMessageBox::Warning, tr("The file exists"), tr("%1 exists already. Replace it?").arg(QFileInfo(path).fileName()), QMessageBox::Cancel,
                  window());
  const QPushButton* replace = box.addButton(tr("Replace"), QMessageBox::AcceptRole);
  box.exec();
  return box.clickedButton() == replace;
}

void Exports::write(const Destination& to, Write write, Lack lacks) {
  const QString path = QString::fromStdString(to.path);
  if (isWriting()) {
    const QString other = QFileInfo(path_).fileName();
    return emit ended(tr("%1 is still being written. Export %2 when it is finished.").arg(other, QFileInfo(path).fileName()), MessageWeight::kError);
  }
  if (const QString problem = why_not_there(path); !problem.isEmpty()) return emit ended(problem, MessageWeight::kError);
  path_ = path;
  progress_ = to.progress;
  showProgress();
  emit begun();
  text_->setText(tr("Writing %1…").arg(text_->fontMetrics().elidedText(QFileInfo(path).fileName(), Qt::ElideMiddle, 240)));
  cancel_->setEnabled(true);
  stop_ = std::stop_source();
  job_.start([this, to, path, stop = stop_.get_token(), write = std::move(write), lacks = std::move(lacks)](const LatestJob::Context& job) {
    const Result<void> written = write(to, stop);
    job.deliver([this, path, stop, written, lacks] {
      if (!written && stop.stop_requested())
        return emit ended(tr("%1 was not written: the export was cancelled.").arg(QFileInfo(path).fileName()), MessageWeight::kNote);
      if (!written) return emit ended(QString::fromStdString(written.error().text), MessageWeight::kError);
      emit wrote(path);
      const std::string size = timeline::format_bytes(static_cast<std::uint64_t>(QFileInfo(path).size()));
      const QString wrote = tr("Wrote %1: %2.").arg(path, QString::fromStdString(size)), lack = lacks ? lacks() : QString();
      emit ended(lack.isEmpty() ? wrote : wrote + u' ' + lack, lack.isEmpty() ? MessageWeight::kNote : MessageWeight::kError);
    });
  });
}

// A bar that moves without an end, as long as nobody knows how much there is to write.
void Exports::showProgress() {
  const std::optional<double> share = progress_.share();
  bar_->setRange(0, share ? kWhole : 0);
  bar_->setValue(static_cast<int>(share.value_or(0) * kWhole));
}

void Exports::stop() {
  stop_.request_stop();
  cancel_->setEnabled(false);
}

}  // namespace lanescope::ui

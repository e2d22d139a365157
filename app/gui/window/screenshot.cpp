#include "window/screenshot.h"

#include <vector>

#include <QBuffer>
#include <QFile>
#include <QPixmap>

#include "base/files/file_path.h"
#include "fleet/fleet_file.h"
#include "model/file/privacy.h"
#include "model/import/open_trace.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::ui {
namespace {

constexpr int kLookIntervalMs = 20;
constexpr int kQuietLooks = 10;

Result<NewFile> file_of(const ScreenshotRequest& request) {
  std::vector<std::filesystem::path> named;
  for (const QString& file : request.files) named.push_back(file_path(file));
  const Result<std::vector<std::filesystem::path>> files = trace_files(named);  // for folders, the files in them
  return NewFile::create(file_path(request.picture), request.overwrite, readers_of(files ? *files : named));
}

}  // namespace

Screenshot::Screenshot(MainWindow& window, ScreenshotRequest request, QObject* parent) : QObject(parent), window_(window), request_(std::move(request)) {
  timer_.setInterval(kLookIntervalMs);
  connect(&timer_, &QTimer::timeout, this, &Screenshot::look);
  connect(&window_, &MainWindow::failed, this, [this](const QString& sentence) { end(sentence); });
  connect(&window_, &MainWindow::opened, this, [this] {
    loaded_ = true;
    show_view(window_, request_.view);
  });
}

void Screenshot::start() {
  if (request_.files.size() == 1 && is_fleet_file(request_.files.first()))
    return emit finished(tr("%1 is the answer about a fleet, and --screenshot draws traces. Open it without --screenshot.").arg(request_.files.first()));
  Result<NewFile> file = file_of(request_);
  if (!file) return emit finished(QString::fromStdString(file.error().text));
  file_ = std::move(*file);
  window_.resize(request_.size);
  window_.show();
  window_.openAll(request_.files, request_.several);
  timer_.start();
}

// The window counts as settled if several consecutive looks find nothing in progress, because the result of one job may start another one, and panels adjust
// their sizes to each other step by step.
void Screenshot::look() {
  if (!window_.isSettled()) {
    quiet_looks_ = 0;
    return;
  }
  if (!loaded_) return lookForProblem();
  if (++quiet_looks_ < kQuietLooks) return;
  const Result<void> taken = take();
  end(taken ? QString() : QString::fromStdString(taken.error().text));
}

// If opening ran out of memory, no signal follows.
void Screenshot::lookForProblem() {
  const std::vector<std::string> problems = SegmentCache::of_process().problems();
  if (!problems.empty()) end(QString::fromStdString(problems.front()));
}

void Screenshot::end(const QString& sentence) {
  timer_.stop();
  emit finished(sentence);
}

Result<void> Screenshot::take() {
  if (Result<void> known = check_view(window_, request_.view); !known) return known;
  QBuffer picture;
  QFile file;
  const bool written = window_.grab().save(&picture, "PNG") && file.open(file_->descriptor(), QIODevice::WriteOnly) &&
                       file.write(picture.data()) == picture.size() && file.flush();
  if (!written) return Error{request_.picture.toStdString() + " can't be written: " + file.errorString().toStdString() + "."};
  return file_->take_place();
}

}  // namespace lanescope::ui

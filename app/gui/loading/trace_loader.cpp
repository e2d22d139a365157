#include "loading/trace_loader.h"

#include <filesystem>
#include <vector>

#include "base/files/file_path.h"
#include "model/import/open_trace.h"

namespace lanescope::ui {

TraceLoader::TraceLoader(QObject* parent) : QObject(parent) {}

namespace {

Result<std::shared_ptr<const Trace>> read(const QStringList& paths, EventPlace place, const LoadProgress& progress) {
  std::vector<std::filesystem::path> named;
  for (const QString& path : paths) named.push_back(file_path(path));
  const auto files = trace_files(named);
  if (!files) return files.error();
  return open_traces(*files, place, progress, unreadable_of(named));
}

}  // namespace

void TraceLoader::load(const QStringList& paths, Ticket ticket) {
  is_cancelled_ = std::make_shared<std::atomic<bool>>(false);
  job_.start([this, paths, ticket, is_cancelled = is_cancelled_](const LatestJob::Context& job) {
    const LoadProgress progress = [&](double fraction, std::shared_ptr<const Trace> partial) {
      job.deliver([this, ticket, fraction, partial = std::move(partial)] {
        emit progressed(fraction);
        if (partial) emit partlyLoaded(ticket, partial);
      });
      return job.stop().stop_requested() || *is_cancelled ? LoadStep::kCancel : LoadStep::kContinue;
    };
    // The second trace is copied into a combined trace, so its events must be in memory.
    const EventPlace place = ticket.source == Source::kSecondFile ? EventPlace::kInMemory : EventPlace::kInMemoryWhereTheyFit;
    Result<std::shared_ptr<const Trace>> result = read(paths, place, progress);
    if (job.stop().stop_requested()) return;
    if (*is_cancelled)
      job.deliver([this, ticket, trace = result && (*result)->event_count() > 0 ? *result : nullptr] {
        if (trace) emit partlyLoaded(ticket, trace);
        emit cancelled(ticket);
      });
    else if (result)
      job.deliver([this, ticket, trace = *result] { emit loaded(ticket, trace); });
    else
      job.deliver([this, ticket, sentence = QString::fromStdString(result.error().text)] { emit failed(ticket, sentence); });
  });
}

void TraceLoader::cancel() {
  if (job_.isRunning()) *is_cancelled_ = true;
}

void TraceLoader::abandon() { job_.cancel(); }

}  // namespace lanescope::ui

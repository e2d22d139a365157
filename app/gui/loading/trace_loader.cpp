#include "loading/trace_loader.h"

#include "model/import/open_trace.h"

namespace lanescope::ui {

TraceLoader::TraceLoader(QObject* parent) : QObject(parent) {}

void TraceLoader::load(const QString& path) {
  path_ = path;
  is_cancelled_ = std::make_shared<std::atomic<bool>>(false);
  emit started(path);
  job_.start([this, path, is_cancelled = is_cancelled_](const LatestJob::Context& job) {
    const LoadProgress progress = [&](double fraction, std::shared_ptr<const Trace> partial) {
      job.deliver([this, fraction, partial = std::move(partial)] {
        emit progressed(fraction);
        if (partial) emit partlyLoaded(partial);
      });
      return job.stop().stop_requested() || *is_cancelled ? LoadStep::kCancel : LoadStep::kContinue;
    };
    Result<std::shared_ptr<const Trace>> result = open_trace(path.toStdString(), progress);
    if (job.stop().stop_requested()) return;
    if (*is_cancelled)
      job.deliver([this, trace = result && (*result)->event_count() > 0 ? *result : nullptr] {
        if (trace) emit partlyLoaded(trace);
        emit cancelled();
      });
    else if (result)
      job.deliver([this, trace = *result] { emit loaded(trace); });
    else
      job.deliver([this, sentence = QString::fromStdString(result.error().text)] { emit failed(sentence); });
  });
}

void TraceLoader::cancel() {
  if (job_.isRunning()) *is_cancelled_ = true;
}

void TraceLoader::abandon() {
  if (!job_.isRunning()) return;
  job_.cancel();
  emit cancelled();
}

}  // namespace lanescope::ui

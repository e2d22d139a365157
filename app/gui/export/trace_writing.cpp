#include "export/trace_writing.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/text/texts.h"
#include "model/export/export_limits.h"
#include "model/export/nsys_sqlite_export.h"
#include "model/export/trace_file_export.h"
#include "model/stats/format.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::ui {
std::uint64_t count_unreadable(const Trace& trace, const ExportSelection& selection) {
  std::uint64_t count = 0;
  for (LaneId lane = 0; lane < trace.lanes().size(); ++lane) {
    const DemandedSegments* const demanded = demanded_segments(trace.lane(lane));
    if (demanded == nullptr || !demanded->has_unreadable() || !selection.takes(lane)) continue;
    const auto [first, end] = selection.events(trace, lane);
    for (std::size_t s = 0; s < demanded->bounds().size(); ++s) {
      const auto begin = static_cast<EventIndex>(s * LaneSegment::kCapacity);
      const EventIndex behind = begin + demanded->bounds()[s].count;
      if (demanded->is_unreadable(s)) count += std::max(std::min(behind, end), std::max(begin, first)) - std::max(begin, first);
    }
  }
  return count;
}

std::string_view suffix_of(TraceFormat format) noexcept {
  switch (format) {
    case TraceFormat::kTrace:
      return ".trace";
    case TraceFormat::kSqlite:
      return ".sqlite";
    case TraceFormat::kChromeJson:
      return ".json";
    case TraceFormat::kCsv:
      return ".csv";
  }
  return {};
}

TraceFormat format_of(std::string_view path) noexcept {
  const QString name = QString::fromUtf8(path.data(), static_cast<qsizetype>(path.size()));
  const auto* const found = std::find_if(kTraceFormats.begin(), kTraceFormats.end(),
                                         [&](TraceFormat format) { return name.endsWith(QLatin1String(suffix_of(format).data()), Qt::CaseInsensitive); });
  return found == kTraceFormats.end() ? TraceFormat::kTrace : *found;
}

namespace {

ExportSelection bounded(ExportSelection selection, const Exports::Destination& to) {
  selection.source_bytes = to.source_bytes;
  return selection;
}

}  // namespace

Result<void> write_text(const Exports::Destination& to, const std::stop_token& stop, const std::function<bool(const TextConsumer&)>& write) {
  auto place = NewFile::create(to.path, Overwrite::kAllow, to.readers);
  if (!place) return place.error();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fdopen(fcntl(place->descriptor(), F_DUPFD_CLOEXEC, 0), "wb"), std::fclose);
  std::optional<TextLimit> limit;
  if (to.source) limit.emplace(*to.source, bounded({}, to));
  const bool written = file != nullptr && write([&](std::string_view text) {
                         const bool is_wanted = !stop.stop_requested() && (!limit || limit->take(text.size()));
                         return is_wanted && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
                       });
  if (stop.stop_requested()) return stopped_export();
  if (limit && !limit->check())
    return Error{tr("%1 was not written: long names are repeated so often that it would become many times as large as the recording. Save a part of it, or all "
                    "of it as a Lanescope trace, which holds each name once.")
                     .arg(QString::fromStdString(to.path))
                     .toStdString()};
  if (!written || std::fflush(file.get()) != 0) return Error{to.path + " can't be written: " + std::strerror(errno) + "."};
  if (to.source)
    if (Result<void> read = check_all_was_read(*to.source); !read) return read;
  return place->take_place();
}

Exports::Write csv_writer(std::shared_ptr<const stats::Table> table) {
  return [table = std::move(table)](const Exports::Destination& to, const std::stop_token& stop) {
    return write_text(to, stop,
                      [&](const TextConsumer& consumer) { return consumer(stats::format_table(*table, stats::Format::kCsv, stats::TimeUnit::kNanoseconds)); });
  };
}

Result<void> write_trace(const std::shared_ptr<const Trace>& trace, const Exports::Destination& to, const ExportSelection& selection) {
  switch (format_of(to.path)) {
    case TraceFormat::kTrace:
      return export_trace_file(*trace, to.path, Overwrite::kAllow, selection, FileForm::kCompacted, to.readers);
    case TraceFormat::kSqlite: {
      NsysSqliteOptions options;
      options.selection = bounded(selection, to);
      options.readers = to.readers;
      return export_nsys_sqlite(*trace, to.path, Overwrite::kAllow, options);
    }
    case TraceFormat::kChromeJson:
      return write_text(to, selection.stop, [&](const TextConsumer& consumer) { return export_chrome_json(*trace, consumer, selection); });
    case TraceFormat::kCsv:
      return write_text(to, selection.stop, [&](const TextConsumer& consumer) { return export_csv(trace, consumer, selection); });
  }
  return {};
}

}  // namespace lanescope::ui

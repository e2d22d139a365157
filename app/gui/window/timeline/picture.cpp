#include "window/timeline/picture.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>

#include "export/trace_writing.h"
#include "timeline/core/pixels/svg_picture.h"

namespace lanescope::ui {
namespace {

// The picture is drawn on the thread that writes it, because reading all events of the rows may take a while.
Exports::Write svg_writer(const timeline::TimelineView& view, const std::shared_ptr<const timeline::IdleTime>& idle,
                          const std::shared_ptr<const timeline::CommunicationTime>& communication) {
  timeline::SvgPicture picture{view.visibleRange(), view.rowsInSight(), std::max(300, view.width()), view.selectedRange()};
  for (const timeline::TimelineView::Marker& marker : view.markers()) picture.notes.push_back({marker.time, marker.text.toStdString()});
  return [=, trace = view.trace(), tree = view.rows()](const Exports::Destination& to, const std::stop_token& stop) {
    timeline::ContentCache contents(trace);
    const std::string svg = timeline::svg_text(*trace, tree, picture, contents, idle.get(), communication.get());
    return write_text(to, stop, [&](const TextConsumer& consumer) { return consumer(svg); });
  };
}

}  // namespace

Exports::Write picture_writer(timeline::TimelineView& view, const std::shared_ptr<const timeline::IdleTime>& idle,
                              const std::shared_ptr<const timeline::CommunicationTime>& communication, const QString& path, double scale) {
  if (QFileInfo(path).suffix().toLower() == u"svg") return svg_writer(view, idle, communication);
  const QImage picture = view.picture(scale);
  if (picture.isNull()) return {};
  return [picture](const Exports::Destination& to, const std::stop_token& stop) {
    return write_text(to, stop, [&](const TextConsumer& consumer) {
      QBuffer buffer;
      return picture.save(&buffer, "PNG") && consumer({buffer.data().constData(), static_cast<std::size_t>(buffer.data().size())});
    });
  };
}

}  // namespace lanescope::ui

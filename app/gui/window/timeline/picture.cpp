#include "window/timeline/picture.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>

#include "export/trace_writing.h"
#include "timeline/core/svg_picture.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kMostRows = 24;

std::string svg_of(const timeline::TimelineView& view, const timeline::IdleTime* idle, const timeline::CommunicationTime* communication) {
  timeline::SvgPicture picture{view.visibleRange(), {}, std::max(300, view.width()), view.selectedRange()};
  timeline::ContentCache contents(view.trace());
  picture.rows = timeline::telling_rows(view.rows(), contents, picture.range, kMostRows);
  return timeline::svg_text(*view.trace(), view.rows(), picture, contents, idle, communication);
}

}  // namespace

Exports::Write picture_writer(timeline::TimelineView& view, const std::shared_ptr<const timeline::IdleTime>& idle,
                              const std::shared_ptr<const timeline::CommunicationTime>& communication, const QString& path, double scale) {
  if (QFileInfo(path).suffix().toLower() == u"svg")
    return [svg = svg_of(view, idle.get(), communication.get())](const Exports::Destination& to, const std::stop_token& stop) {
      return write_text(to, stop, [&](const TextConsumer& consumer) { return consumer(svg); });
    };
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

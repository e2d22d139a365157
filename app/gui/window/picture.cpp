#include "window/picture.h"

#include <QFileInfo>
#include <QImage>
#include <QPixmap>
#include <QSaveFile>

#include "timeline/core/svg_picture.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kMostRows = 24;

QByteArray svg_of(timeline::TimelineView& view, const std::shared_ptr<const Trace>& trace, const timeline::IdleTime* idle,
                  const timeline::CommunicationTime* communication) {
  timeline::SvgPicture picture{view.visibleRange(), {}, std::max(300, view.width()), view.selectedRange()};
  picture.rows = timeline::telling_rows(trace, view.rows(), picture.range, kMostRows);
  return QByteArray::fromStdString(timeline::svg_text(trace, view.rows(), picture, idle, communication));
}

}  // namespace

QString save_picture(timeline::TimelineView& view, const std::shared_ptr<const Trace>& trace, const std::shared_ptr<const timeline::IdleTime>& idle,
                     const std::shared_ptr<const timeline::CommunicationTime>& communication, const QString& path) {
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return QObject::tr("%1 can't be written: %2.").arg(path, file.errorString());
  const bool written = QFileInfo(path).suffix().toLower() == u"svg" ? file.write(svg_of(view, trace, idle.get(), communication.get())) >= 0 : view.grab().toImage().save(&file, "PNG");
  if (written && file.commit()) return {};
  return QObject::tr("%1 can't be written: %2.").arg(path, file.errorString());
}

}  // namespace lanescope::ui

#include "window/opening_view.h"

#include <algorithm>

#include "kernels/kernel_facts.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {

void show_view(MainWindow& window, const OpeningView& view) {
  if (!view.panel.isEmpty()) window.showPanel(view.panel);
  if (view.range) window.timelineView().setVisibleRange(*view.range);
  if (view.panel == QLatin1String("kernel") || view.panel == QLatin1String("source"))  // these panels show the selected kernel
    window.timelineView().selectEvent(telling_kernel(*window.state().trace(), view.range));
}

// A trace without events has nothing to show anyway.
Result<void> check_view(MainWindow& window, const OpeningView& view) {
  const TimeRange extent = window.state().trace() ? window.state().trace()->scope() : TimeRange{};
  if (!view.range || extent.empty() || !view.range->intersected(extent).empty()) return {};
  const Nanoseconds resolution = std::max<Nanoseconds>(1, extent.length() / 1'000);
  const auto text = [resolution](Nanoseconds time) { return QString::fromStdString(timeline::format_time(time, resolution)); };
  return Error{QObject::tr("There is nothing from %1 to %2: the trace begins at %3 and ends at %4. Give another --range.")
                   .arg(text(view.range->begin), text(view.range->end), text(extent.begin), text(extent.end))
                   .toStdString()};
}

void show_view_once_open(MainWindow& window, const OpeningView& view, Opening opening) {
  auto* const awaited = new QObject(&window);  // exists until the trace has arrived or failed
  const auto show = [&window, view, opening, awaited] {
    show_view(window, view);
    if (const Result<void> known = check_view(window, view); !known) window.showFailure(QString::fromStdString(known.error().text));
    if (opening == Opening::kOneTrace) awaited->deleteLater();
  };
  QObject::connect(&window, &MainWindow::opened, awaited, show, Qt::SingleShotConnection);
  QObject::connect(&window.session(), &SessionController::failed, awaited, &QObject::deleteLater);
  const auto expect_one_more = [&window, awaited] {  // later openings are the user's, who may have cancelled this one
    QObject::connect(&window.session(), &SessionController::somethingBegan, awaited, &QObject::deleteLater);
  };
  if (opening == Opening::kOneTrace) {
    QObject::connect(&window.session(), &SessionController::somethingBegan, awaited, expect_one_more, Qt::SingleShotConnection);
    return;
  }
  // The second trace may have what the first does not have.
  QObject::connect(&window.session(), &SessionController::openedBeside, awaited, [&window, view, awaited] {
    show_view(window, view);
    awaited->deleteLater();
  });
}

}  // namespace lanescope::ui

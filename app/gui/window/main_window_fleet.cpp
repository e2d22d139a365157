// How the main window handles results about many recordings.
#include <QFileInfo>

#include "fleet/fleet_file.h"
#include "fleet/fleet_window.h"
#include "loading/choose_files.h"
#include "window/main_window.h"

namespace lanescope::ui {

void MainWindow::begin(const Wish& wish) {
  if (wish.kind == WishKind::kOpen && wish.further.isEmpty() && is_fleet_file(wish.path))
    openFleet(wish.path);
  else if (isRecording() || wish.kind == WishKind::kOpenBeside || letsGo())  // the session asks about a recording first
    session_.wish(wish);
}

void MainWindow::chooseFleet() {
  const QString folder = session_.file().isEmpty() ? QString() : QFileInfo(session_.file()).absolutePath();
  const QString path =
      choose_files(this, tr("Open an answer of lanescope fleet"), folder, tr("Fleets (fleet.json *.json);;All files (*)"), QFileDialog::ExistingFile).value(0);
  if (!path.isEmpty()) openFleet(path);
}

FleetWindow* MainWindow::openFleet(const QString& path) {
  Result<FleetFile> fleet = read_fleet_file(path);
  if (!fleet) {
    showFailure(QString::fromStdString(fleet.error().text), MessageSubject::kFleet);
    return nullptr;
  }
  messages_->settle(MessageSubject::kFleet);
  auto* shown = new FleetWindow(std::move(*fleet), path, this);
  connect(shown, &FleetWindow::openRequested, &fleet_opening_, &FleetOpening::open);
  shown->show();
  return shown;
}

}  // namespace lanescope::ui

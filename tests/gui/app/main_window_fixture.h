// A main window with settings of its own, and what tests do with it over and over.
#pragma once

#include <filesystem>
#include <memory>

#include <QHeaderView>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "known_trace.h"
#include "support/paths.h"
#include "window/main_window.h"

namespace lanescope::test {

// Settings go to a place of this process alone, empty at first: tests run at the same time. Call it once, before the first window.
inline void use_empty_settings() {
  static const TemporaryFolder folder;  // until the process ends
  qputenv("XDG_CONFIG_HOME", QByteArray::fromStdString(folder.path().string()));
}

inline constexpr int kPatienceMs = 60'000;  // for what takes a second on a machine that does nothing else

template <typename Condition>
bool wait_for(Condition condition, int milliseconds = kPatienceMs) {
  return QTest::qWaitFor(condition, milliseconds);
}

inline bool settle(ui::MainWindow& window) {
  return wait_for([&] { return window.isSettled(); });
}

// Opens a file and waits until everything that follows from it is shown.
inline bool open_and_settle(ui::MainWindow& window, const QString& path) {
  QSignalSpy opened(&window, &ui::MainWindow::opened);
  window.openFile(path);
  return opened.wait(kPatienceMs) && settle(window);
}

// A new window in front of all others that shows the file; null when it could not be had.
inline std::unique_ptr<ui::MainWindow> window_of(const QString& path) {
  auto window = std::make_unique<ui::MainWindow>(ui::Layout::kInitial);
  window->show();
  window->activateWindow();
  return QTest::qWaitForWindowActive(window.get(), kPatienceMs) && open_and_settle(*window, path) ? std::move(window) : nullptr;
}

// Where the known trace now is.
inline QString known_trace_in(const TemporaryFolder& folder) {
  const std::filesystem::path path = folder.path() / "known.trace";
  write_known_trace(path);
  return QString::fromStdString(path.string());
}

inline QTableView* events_table(ui::MainWindow& window) { return window.events().findChild<QTableView*>(); }

inline QString cell(const QTableView& table, int row, EventColumn column) {
  return table.model()->index(row, ui::EventTableModel::columnOf(column)).data().toString();
}

inline void click_header(QTableView& table, EventColumn column) {
  QHeaderView* header = table.horizontalHeader();
  const int section = ui::EventTableModel::columnOf(column);
  QTest::mouseClick(header->viewport(), Qt::LeftButton, Qt::NoModifier, {header->sectionViewportPosition(section) + 8, header->height() / 2});
}

inline QPoint row_position(const QTableView& table, int row) { return table.visualRect(table.model()->index(row, 1)).center(); }

}  // namespace lanescope::test

// What a person does with the keyboard alone or with the mouse alone, counted: a key with its modifiers, a line that is typed, a click.
#pragma once

#include <QApplication>
#include <QDragEnterEvent>
#include <QMimeData>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>

#include "main_window_fixture.h"

namespace lanescope::test {

class Gestures {
 public:
  explicit Gestures(ui::MainWindow& window) : window_(window) {}
  [[nodiscard]] int count() const { return count_; }

  // Goes to where the keyboard is.
  bool press(const QKeySequence& keys) {
    ++count_;
    QWidget* focus = QApplication::focusWidget();
    QTest::keySequence(focus != nullptr ? focus : &window_, keys);
    return settle(window_);
  }
  bool type(const QString& line) {
    ++count_;
    QTest::keyClicks(QApplication::focusWidget(), line);
    return settle(window_);
  }

  bool click(QWidget& widget, QPoint at) {
    ++count_;
    QTest::mouseClick(&widget, Qt::LeftButton, Qt::NoModifier, at);
    return settle(window_);
  }
  // The tab of a panel.
  bool click_panel(const QString& title) {
    for (QTabBar* bar : window_.findChildren<QTabBar*>())
      for (int i = 0; i < bar->count(); ++i)
        if (bar->tabText(i).remove(u'&') == title && bar->isVisible()) return click(*bar, bar->tabRect(i).center());
    return false;
  }
  bool click_row(QTableView& table, int row, int column = 1) {
    const QModelIndex cell = table.model()->index(row, column);
    return cell.isValid() && click(*table.viewport(), table.visualRect(cell).center());
  }
  // A link of a page, by its text.
  bool click_link(QTextBrowser& page, const QString& text) {
    const QRect all = page.viewport()->rect();
    for (int y = 2; y < all.height(); y += 4)
      for (int x = 2; x < all.width(); x += 6) {
        if (page.anchorAt({x, y}).isEmpty()) continue;
        QTextCursor word = page.cursorForPosition({x, y});
        word.select(QTextCursor::WordUnderCursor);
        if (word.selectedText().contains(text)) return click(*page.viewport(), {x, y});
      }
    return false;
  }
  // Files that are dragged onto the window together.
  bool drop(const QStringList& paths) {
    ++count_;
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths) urls += QUrl::fromLocalFile(path);
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window_, &enter);
    QDropEvent dropped(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window_, &dropped);
    return wait_for([this] { return window_.pair().isOpen() && window_.isSettled(); });
  }

  // In the dialog that `open` brings up: a path is typed, and Enter pressed.
  bool choose_file(const QKeySequence& open, const QString& path) {
    count_ += 2;  // what is typed, and Enter
    bool has_chosen = false;
    QTimer look;
    look.setInterval(5);
    QObject::connect(&look, &QTimer::timeout, [&] {
      QWidget* dialog = QApplication::activeModalWidget();
      QWidget* focus = dialog != nullptr ? QApplication::focusWidget() : nullptr;
      if (focus == nullptr || !dialog->isAncestorOf(focus)) return;
      look.stop();
      has_chosen = true;
      QTest::keyClicks(focus, path);
      QTest::keyClick(focus, Qt::Key_Return);
    });
    look.start();
    return press(open) && has_chosen;
  }

 private:
  ui::MainWindow& window_;
  int count_ = 0;
};

}  // namespace lanescope::test

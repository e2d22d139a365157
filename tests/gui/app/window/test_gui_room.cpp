// Panels are readable with little room: in a window of 1024 x 640 pixels, and if the values of a chart are close together.
#include <cmath>
#include <map>
#include <set>

#include <QCategoryAxis>
#include <QComboBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QScopeGuard>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QStatusBar>
#include <QTabBar>
#include <QToolButton>
#include <QTreeView>
#include <QTreeWidget>

#include "analysis/alignment_bar.h"
#include "base/room/elided_label.h"
#include "base/text/catalogue_translator.h"
#include "fixture/dialogs.h"
#include "fixture/main_window_fixture.h"
#include "fixture/panel_tables.h"
#include "kernels/code_table.h"
#include "model/text/language.h"
#include "panels/duration_chart.h"
#include "panels/utilisation_chart.h"
#include "tables/result_table.h"
#include "timeline/core/pixels/colors.h"
#include "timeline/widget/shown_text.h"
#include "window/look/theme.h"
#include "window/trace_status.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

constexpr int kLeastField = 12;  // minimum number of characters that an input field shows

QCategoryAxis* duration_marks(const ui::DurationChart& chart) {
  const QList<QAbstractAxis*> axes = chart.chart()->axes(Qt::Horizontal);
  return axes.isEmpty() ? nullptr : qobject_cast<QCategoryAxis*>(axes.front());
}

QString english_title(const QTableView& table, int column) {
  const auto* results = qobject_cast<const ui::ResultTable*>(&table);
  if (results != nullptr) return QString::fromStdString(results->results().table()->columns()[static_cast<std::size_t>(column)].title);
  const QString shown = table.model()->headerData(column, Qt::Horizontal).toString();
  for (const char* title : {"Name", "Code"})
    if (shown == shown_text(title)) return QString(title);
  return shown;
}

// Visible columns that say what their lines are about, if less is visible of them than kLegible characters and than their content.
QStringList unreadable_names(const QWidget& window) {
  constexpr int kLegible = 24;
  QStringList found;
  const std::set<QString> names = {"Name", "Kernel", "Metric", "Finding", "Cause", "Code", "Note"};
  for (const QTableView* table : window.findChildren<QTableView*>()) {
    if (!table->isVisible() || table->model() == nullptr) continue;
    for (int column = 0; column < table->model()->columnCount(); ++column) {
      const QString title = english_title(*table, column);
      if (table->isColumnHidden(column) || !names.contains(title)) continue;
      const int begin = table->columnViewportPosition(column), end = std::min(begin + table->columnWidth(column), table->viewport()->width());
      int needed = 0;
      for (int row = 0; row < std::min(100, table->model()->rowCount()); ++row) {
        const QModelIndex cell = table->model()->index(row, column);
        const QVariant font = cell.data(Qt::FontRole);
        const QFontMetrics letters = font.isValid() ? QFontMetrics(font.value<QFont>()) : table->fontMetrics();
        needed = std::max(needed, std::min(letters.horizontalAdvance(cell.data().toString()), kLegible * letters.averageCharWidth()));
      }
      if (end - begin < needed) found += QString("%1, %2: %3 of %4 px").arg(table->accessibleName(), title).arg(end - begin).arg(needed);
    }
  }
  return found;
}

// Entries of a menu and its submenus whose mnemonic another entry beside them has, too.
QStringList shared_mnemonics(const QMenu& menu) {
  QStringList shared;
  QMap<QString, QString> taken;
  for (const QAction* action : menu.actions()) {
    const QString key = QKeySequence::mnemonic(action->text()).toString();
    if (!key.isEmpty() && taken.contains(key)) shared += taken[key] + " and " + action->text();
    taken[key] = action->text();
    if (action->menu() != nullptr) shared += shared_mnemonics(*action->menu());
  }
  return shared;
}

}  // namespace

class RoomTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->resize(1'024, 640);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get(), kPatienceMs));
    QVERIFY(open_and_settle(*window_, recorded("torch_loader_samples.trace")));
    QCOMPARE(window_->size(), QSize(1'024, 640));
  }
  void cleanupTestCase() { window_.reset(); }

  // As the panel opens initially in a window of the usual size, and in a lower one.
  void marksOfChartsBesideTheStatisticsCanBeRead() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'600, 1'000);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_training_workers0.trace")));
    window.showPanel("statistics");
    QVERIFY(settle(window));
    const auto* durations = window.statistics().findChild<ui::DurationChart*>();
    const auto* utilisation = window.statistics().findChild<ui::UtilisationChart*>();
    constexpr int kLegible = 110;  // px
    QVERIFY(wait_for([&] { return durations->height() >= kLegible; }));
    QVERIFY2(!utilisation->isVisible() || utilisation->height() >= kLegible, qPrintable(QString::number(utilisation->height())));
    for (const QChartView* view : std::initializer_list<const QChartView*>{durations, utilisation})
      for (const QAbstractAxis* axis : view->chart()->axes()) QVERIFY2(!axis->labelsTruncated(), qPrintable(view->chart()->title()));
    window.resize(1'600, 640);
    QVERIFY(settle(window));
    QVERIFY(wait_for([&] { return durations->height() >= kLegible; }));
  }

  // The code that the threads ran matters most: "SlowDatase…ng.py:30 (94 %)".
  void sampledCodeOfBubblesCanBeRead() {
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    for (const ui::ResultTable* table : {&window_->bubbles().groups(), &window_->bubbles().gaps()}) {
      const int section = column_of(*table, "Sampled Code");
      QVERIFY(section >= 0 && !table->isColumnHidden(section));
      const QAbstractItemView* const list = table;  // its sizeHintForColumn() is public
      const int wanted = std::min(list->sizeHintForColumn(section), table->fontMetrics().averageCharWidth() * 26);
      QVERIFY2(table->columnWidth(section) >= wanted, qPrintable(QString("%1 of %2").arg(table->columnWidth(section)).arg(wanted)));
    }
  }

  // Beside Details, on screens of 1366 x 768 and 1600 x 1000; one recording has samples, which make further columns.
  void tablesOfBubblesHaveAllColumnsInSight() {
    for (const QSize size : {QSize(1'350, 720), QSize(1'584, 950)}) {
      for (const char* const name : {"torch_training_workers0.trace", "torch_loader_samples.trace"}) {
        MainWindow window(ui::Layout::kInitial);
        window.resize(size);
        window.show();
        QVERIFY(open_and_settle(window, recorded(name)));
        window.showPanel("bubbles");
        QVERIFY(settle(window));
        window.bubbles().groups().selectRow(0);  // lines of one group have fewer columns
        QVERIFY(settle(window));
        for (const ui::ResultTable* table : {&window.bubbles().groups(), &window.bubbles().gaps()}) {
          const bool has_samples = name == std::string_view("torch_loader_samples.trace");
          if (has_samples && table == &window.bubbles().gaps()) continue;  // it has more columns than the room, and is scrolled
          const QHeaderView& header = *table->horizontalHeader();
          QVERIFY2(wait_for([&] { return header.length() <= table->viewport()->width(); }, 5'000),
                   qPrintable(QString("%1, %2: %3 of %4 px").arg(name, table->objectName()).arg(header.length()).arg(table->viewport()->width())));
          const QAbstractItemView* const list = table;  // its sizeHintForColumn() is public
          for (int column = 0; column < header.count(); ++column) {
            if (header.isSectionHidden(column)) continue;
            const QString title = table->model()->headerData(column, Qt::Horizontal).toString();
            const QModelIndex first = table->model()->index(0, column);
            const bool is_number = (table->model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignRight) != 0;
            if (!is_number) {
              QCOMPARE(first.data(Qt::ToolTipRole), first.data());  // what is elided
              continue;
            }
            QVERIFY2(header.sectionSize(column) >= list->sizeHintForColumn(column), qPrintable(title));
            QVERIFY2(header.sectionSize(column) > header.fontMetrics().horizontalAdvance(title), qPrintable(title));
          }
        }
      }
    }
  }

  // The start of a gap is where a click leads; where the room is narrow, it goes before the table is scrolled.
  void gapsOfBubblesAreNotScrolledSideways() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'350, 720);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_training_workers0.trace")));
    window.showPanel("bubbles");
    QVERIFY(settle(window));
    ui::ResultTable& gaps = window.bubbles().gaps();
    const auto is_hidden = [&](const QString& title) { return gaps.isColumnHidden(column_of(gaps, title)); };
    for (const int width : {1'350, 1'280, 1'200}) {
      window.resize(width, 720);
      QVERIFY2(wait_for([&] { return window.width() == width && gaps.horizontalHeader()->length() <= gaps.viewport()->width(); }, 5'000),
               qPrintable(QString("%1: %2 of %3").arg(width).arg(gaps.horizontalHeader()->length()).arg(gaps.viewport()->width())));
      for (const char* title : {"Idle", "When", "Cause", "NVTX Range", "Call"}) QVERIFY2(!is_hidden(title), title);
    }
    QVERIFY(is_hidden("Start"));
    window.resize(2'400, 950);
    QVERIFY(wait_for([&] { return !is_hidden("Start") && !is_hidden("Before"); }, 5'000));
    gaps.sortByColumn(column_of(gaps, "Start"), Qt::AscendingOrder);
    window.resize(1'200, 720);
    QVERIFY(wait_for([&] { return window.width() == 1'200 && is_hidden("Before"); }, 5'000));
    QVERIFY(!is_hidden("Start"));
  }

  // Whatever a panel says below its table, on a line that may wrap.
  void aPanelIsNotScrolledWhereItHasRoom() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'350, 720);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_training_workers0.trace")));
    window.showPanel("bubbles");
    QVERIFY(settle(window));
    window.bubbles().groups().selectRow(0);
    QVERIFY(settle(window));
    for (const QString& name : MainWindow::panelNames()) {
      window.showPanel(name);
      QVERIFY(settle(window));
      const auto* room = qobject_cast<QScrollArea*>(window.findChild<QDockWidget*>(name)->widget());
      QVERIFY(room != nullptr);
      const auto is_scrolled = [&] { return room->verticalScrollBar()->isVisible() || room->horizontalScrollBar()->isVisible(); };
      QVERIFY2(wait_for([&] { return room->widget()->size() == room->size() && !is_scrolled(); }, 5'000), qPrintable(name));
    }
  }

  // Names have the room that size, kind and date leave.
  void columnsOfTheDialogOfFilesAreWhole() {
    QStringList cut;
    int seen = 0;
    const DialogAnswers answers([&](QDialog& dialog) {
      auto* files = qobject_cast<QFileDialog*>(&dialog);
      auto* list = files == nullptr ? nullptr : files->findChild<QTreeView*>("treeView");
      if (list == nullptr) return dialog.reject();
      files->setDirectory(QString::fromStdString(data_file("README.md").parent_path().string()));
      wait_for([&] { return list->model()->rowCount(list->rootIndex()) > 10; }, 10'000);
      const QAbstractItemView* const view = list;
      for (int column = 0; column < list->header()->count(); ++column) {
        ++seen;
        if (!wait_for([&] { return list->columnWidth(column) >= view->sizeHintForColumn(column); }, 1'000))
          cut += QString("%1: %2 of %3").arg(column).arg(list->columnWidth(column)).arg(view->sizeHintForColumn(column));
      }
      dialog.reject();
    });
    window_->actions().open->trigger();
    QVERIFY(seen >= 4);
    QVERIFY2(cut.isEmpty(), qPrintable(cut.join(u'|')));
  }

  // What was dropped that is no record is said beside the records of processes.
  void diagnosticsSayAllThatWasDropped() {
    window_->showPanel("diagnostics");
    QVERIFY(settle(*window_));
    const auto* missing = window_->findChild<ui::DiagnosticsPanel*>()->findChild<QLabel*>("missing");
    QVERIFY(missing != nullptr && missing->isVisible());
    QVERIFY2(missing->text().contains("536 Python stacks dropped"), qPrintable(missing->text()));
    const MainWindow* whole = window_.get();
    QVERIFY2(whole->findChild<ui::PartsLabel*>()->text().contains(missing->text()), qPrintable(missing->text()));  // the same words as in the status bar
  }

  // As on a screen of 1366 x 768 pixels at scale 2.
  void theWindowFitsASmallScreenAtScaleTwo() {
    for (const Language* language : {&english(), &chinese()}) {
      const ui::CatalogueTranslator translator;
      show_in(*language);
      QCoreApplication::installTranslator(const_cast<ui::CatalogueTranslator*>(&translator));
      const auto back = qScopeGuard([&] {
        QCoreApplication::removeTranslator(const_cast<ui::CatalogueTranslator*>(&translator));
        show_in(english());
      });
      MainWindow window(ui::Layout::kInitial);
      window.resize(667, 336);
      window.show();
      const auto every_panel_fits = [&] {
        for (const QString& name : MainWindow::panelNames()) {
          window.showPanel(name);
          if (!settle(window)) return false;
          QStringList least;
          for (const QDockWidget* dock : window.findChildren<QDockWidget*>())
            least += QString("%1 %2x%3").arg(dock->objectName()).arg(dock->minimumSizeHint().width()).arg(dock->minimumSizeHint().height());
          if (wait_for([&] { return window.width() <= 667 && window.height() <= 336; }, 2'000)) continue;
          qWarning("%s", qPrintable(QString("%1: %2x%3; %4").arg(name).arg(window.width()).arg(window.height()).arg(least.join(u','))));
          return false;
        }
        return true;
      };
      QVERIFY(open_and_settle(window, recorded("torch_training_workers0.trace")));
      QVERIFY(every_panel_fits());
      QVERIFY(open_beside_and_settle(window, recorded("torch_training_workers4.trace")));
      QVERIFY(every_panel_fits());
      const auto* bar = window.findChild<ui::AlignmentBar*>();
      QVERIFY(bar != nullptr && bar->isVisible());
      for (const QWidget* control : bar->findChildren<QWidget*>()) {
        const auto* field = qobject_cast<const QLineEdit*>(control);
        const auto* button = qobject_cast<const QPushButton*>(control);
        if (field == nullptr && button == nullptr) continue;
        QVERIFY2(bar->rect().contains(QRect(control->mapTo(bar, QPoint()), control->size())), qPrintable(field != nullptr ? field->text() : button->text()));
        if (field != nullptr) QVERIFY2(field->fontMetrics().horizontalAdvance(field->text()) + 8 <= field->width(), qPrintable(field->text()));
        if (button != nullptr) QVERIFY2(button->sizeHint().width() <= button->width(), qPrintable(button->text()));
      }
    }
  }

  // As on a screen of 1920 x 1080 pixels at scale 2.
  void panelsKeepTheirHeightWhereTwoTracesAreCompared() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(944, 492);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_training_workers0.trace")));
    window.showPanel("diff");
    QVERIFY(settle(window));
    const int height = window.findChild<QDockWidget*>("diff")->height();
    QVERIFY2(height > 100, qPrintable(QString::number(height)));
    QVERIFY(open_beside_and_settle(window, recorded("torch_training_workers4.trace")));
    QVERIFY2(wait_for([&] { return window.findChild<QDockWidget*>("diff")->height() >= height; }, 2'000),
             qPrintable(QString("%1 of %2").arg(window.findChild<QDockWidget*>("diff")->height()).arg(height)));
    QCOMPARE(window.size(), QSize(944, 492));
    // Some rows are in sight below the sentences about the comparison, which are scrolled.
    const ui::ResultTable& changes = window.diff().table();
    QVERIFY2(wait_for([&] { return changes.viewport()->height() >= 3 * changes.rowHeight(0); }), qPrintable(QString::number(changes.viewport()->height())));
  }

  void whatIsSearchedInTheFlameGraphCanBeRead() {
    window_->showPanel("samples");
    QVERIFY(settle(*window_));
    auto* field = window_->samples().findChild<QLineEdit*>();
    QVERIFY(field != nullptr && field->isVisible());
    QVERIFY2(wait_for([&] { return field->width() >= field->fontMetrics().averageCharWidth() * kLeastField; }), qPrintable(QString::number(field->width())));
    for (const QComboBox* choice : window_->samples().findChildren<QComboBox*>())
      QVERIFY2(!choice->isVisible() || choice->width() >= choice->fontMetrics().horizontalAdvance(choice->currentText()) + 24,
               qPrintable(choice->currentText() + ": " + QString::number(choice->width())));
    QCOMPARE(window_->size(), QSize(1'024, 640));
  }

  // As on a screen of 1600 pixels at scale 2.
  void namesOfPanelsAreWhole() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(800, 500);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
    const auto cut = [&] {
      QStringList names;
      for (const QTabBar* bar : window.findChildren<QTabBar*>(Qt::FindDirectChildrenOnly))
        for (int i = 0; i < bar->count(); ++i)
          if (bar->isVisible() && bar->tabRect(i).width() < bar->fontMetrics().horizontalAdvance(bar->tabText(i)) + 8) names += bar->tabText(i);
      return names;
    };
    QVERIFY2(wait_for([&] { return cut().isEmpty(); }), qPrintable(cut().join(u' ')));
    QVERIFY2(window.width() <= 800, qPrintable(QString::number(window.width())));
  }

  // In a narrow window, no text is cut within a letter.
  void linesOfPanelsAreWholeOrEndWithAnEllipsis() {
    QStringList cut;
    for (const QString& name : MainWindow::panelNames()) {
      window_->showPanel(name);
      QVERIFY(settle(*window_));
      for (const QLabel* label : window_->findChild<QDockWidget*>(name)->findChildren<QLabel*>()) {
        const bool may_be_cut = label->wordWrap() || dynamic_cast<const ui::ElidedLabel*>(label) != nullptr || Qt::mightBeRichText(label->text());
        if (!label->isVisible() || may_be_cut) continue;
        if (label->fontMetrics().horizontalAdvance(label->text()) > label->contentsRect().width()) cut += name + ": " + label->text();
      }
    }
    QVERIFY2(cut.isEmpty(), qPrintable(cut.join(u'\n')));
  }

  // In a window that is 1280 pixels wide, as many screens are, or have room for at scale 2.
  void namesInTablesOfPanelsCanBeRead() {
    const ui::CatalogueTranslator translator;
    for (const Language* language : {&english(), &chinese()}) {
      show_in(*language);
      QCoreApplication::installTranslator(const_cast<ui::CatalogueTranslator*>(&translator));
      const auto back = qScopeGuard([&] {
        QCoreApplication::removeTranslator(const_cast<ui::CatalogueTranslator*>(&translator));
        show_in(english());
      });
      const auto opened = [](const char* file) {
        auto window = std::make_unique<MainWindow>(ui::Layout::kInitial);
        window->resize(1'280, 800);
        window->show();
        return open_and_settle(*window, QString::fromStdString(data_file(file).string())) ? std::move(window) : nullptr;
      };
      const auto panels_are_legible = [&](MainWindow& window, const QStringList& panels) {
        for (const QString& panel : panels) {
          window.showPanel(panel);
          if (!settle(window) || window.width() != 1'280) return qWarning("%s", qPrintable(panel)), false;
          if (!wait_for([&] { return unreadable_names(window).isEmpty(); }, 2'000))
            return qWarning("%s: %s", qPrintable(panel), qPrintable(unreadable_names(window).join(u'\n'))), false;
        }
        return true;
      };
      const auto compared = opened("torch_training_workers0.trace");
      QVERIFY(compared);
      QVERIFY(panels_are_legible(*compared, {"events", "statistics", "bubbles", "findings", "notes"}));
      QVERIFY(open_beside_and_settle(*compared, recorded("torch_training_workers4.trace")));
      QVERIFY(panels_are_legible(*compared, {"diff", "statistics", "bubbles", "events"}));
      compared->showPanel("diff");
      QVERIFY(settle(*compared));
      const ui::ResultTable& changes = compared->diff().table();
      for (int column = 0; column < changes.model()->columnCount(); ++column)  // half of a number would be another number
        for (int row = 0; english_title(changes, column) == "Between" && row < changes.model()->rowCount(); ++row) {
          const QString shown = changes.model()->index(row, column).data().toString();
          QVERIFY2(changes.columnWidth(column) > changes.fontMetrics().horizontalAdvance(shown), qPrintable(shown));
        }
      const auto kernels = opened("transpositions_counts.trace");
      QVERIFY(kernels);
      kernels->showPanel("source");
      const Trace& trace = *kernels->state().trace();
      const std::vector<EventRef> launches =
          gather_events(trace, EventScope::whole_trace(trace).lanes(), {.text = "transpose_by_columns", .kind = EventKind::kKernel});
      QVERIFY(!launches.empty());
      kernels->state().setSelectedEvent(launches.front());
      const QList<ui::CodeTable*> tables = kernels->findChildren<ui::CodeTable*>();
      const auto shows_code = [](const ui::CodeTable* table) { return table->isVisible() && table->model()->rowCount() > 0; };
      QVERIFY(wait_for([&] { return std::any_of(tables.begin(), tables.end(), shows_code); }, 5'000));
      QVERIFY(panels_are_legible(*kernels, {"source"}));
    }
  }

  // Including the frame, and so the close button.
  void dialogsFitTheScreen() {
    int shown = 0;
    for (QAction* opens : {window_->actions().keys, window_->actions().change_keys}) {
      const DialogAnswers answers([&](QDialog& dialog) {
        const QSize room = dialog.screen()->availableSize() - QSize(16, 48);
        shown += dialog.width() <= room.width() && dialog.height() <= room.height() ? 1 : 0;
        dialog.reject();
      });
      opens->trigger();
    }
    QCOMPARE(shown, 2);
  }

  void thePlaceOfNotesIsSaidWhole() {
    window_->showPanel("notes");
    QVERIFY(settle(*window_));
    const QLabel* place = nullptr;
    for (const QLabel* label : window_->notes().findChildren<QLabel*>())
      if (label->text().contains(".notes")) place = label;
    QVERIFY(place != nullptr);
    const auto fits = [&] {
      const QRect needed = place->fontMetrics().boundingRect(QRect(0, 0, place->width(), 1'000), place->wordWrap() ? Qt::TextWordWrap : 0, place->text());
      return needed.width() <= place->width() && needed.height() <= place->height();
    };
    QVERIFY2(wait_for(fits, 5'000), qPrintable(QString("%1 x %2").arg(place->width()).arg(place->height())));
  }

  // Of two charts one below the other in a low panel, neither would be readable.
  void chartsOfStatisticsAreHighEnoughOrNotThere() {
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    auto* durations = window_->statistics().findChild<ui::DurationChart*>();
    auto* busy = window_->statistics().findChild<ui::UtilisationChart*>();
    const auto marked = [&] {
      const QRectF plot = durations->chart()->plotArea();
      return durations->isVisible() && plot.height() >= 2.0 * durations->fontMetrics().height();
    };
    QVERIFY2(wait_for(marked, 5'000), qPrintable(QString::number(durations->chart()->plotArea().height())));
    QVERIFY(!busy->isVisible());
    window_->resize(1'400, 1'000);
    window_->resizeDocks({window_->findChild<QDockWidget*>("statistics")}, {320}, Qt::Vertical);
    QVERIFY(wait_for([&] { return busy->isVisible() && busy->chart()->plotArea().height() >= 2.0 * busy->fontMetrics().height(); }));
    window_->resizeDocks({window_->findChild<QDockWidget*>("statistics")}, {190}, Qt::Vertical);
    window_->resize(1'024, 640);
    QVERIFY(wait_for([&] { return !busy->isVisible() && marked(); }));
  }

  // A kernel with steady durations: all within 1.3 %.
  void durationsThatHardlyDifferFillTheirChartAndHaveMarks() {
    std::vector<Nanoseconds> durations;
    for (int i = 0; i < 100; ++i) durations.push_back(240'100 + 30 * i);
    ui::DurationChart chart;
    chart.resize(270, 150);
    chart.show();
    chart.setHistogram("steady", duration_histogram(durations, 60));
    QCategoryAxis* marks = duration_marks(chart);
    QVERIFY(marks != nullptr);
    const double spread = std::log10(243'070.0 / 240'100.0);
    QVERIFY2(marks->max() - marks->min() <= 1.5 * spread, qPrintable(QString("%1 of %2").arg(spread).arg(marks->max() - marks->min())));
    QVERIFY2(marks->categoriesLabels().size() >= 2, qPrintable(marks->categoriesLabels().join(u' ')));
    // Each mark is at the position of its label.
    for (const QString& label : marks->categoriesLabels()) {
      const double at = std::pow(10.0, marks->endValue(label));
      QVERIFY2(label.endsWith(QString::fromUtf8(" µs")) && std::abs(label.chopped(3).toDouble() * 1'000 - at) < 1,
               qPrintable(label + " at " + QString::number(at)));
      QVERIFY(at >= 240'100 * 0.99 && at <= 243'070 * 1.01);
    }
  }

  // All are equal: one bar, and its duration.
  void aSingleDurationIsNamed() {
    const std::vector<Nanoseconds> durations(20, 768);
    ui::DurationChart chart;
    chart.resize(270, 150);
    chart.show();
    chart.setHistogram("one", duration_histogram(durations, 60));
    QCategoryAxis* marks = duration_marks(chart);
    QVERIFY(marks != nullptr);
    QVERIFY2(marks->categoriesLabels().contains("768 ns"), qPrintable(marks->categoriesLabels().join(u' ')));
    QVERIFY(marks->min() < std::log10(768.0) && marks->max() > std::log10(768.0));  // a label at an end of the axis would not be drawn
  }

  void diagnosticsSayWhatTheRecordingWasMadeOn() {
    const TemporaryFolder folder;
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, known_trace_in(folder)));
    window.showPanel("diagnostics");
    QVERIFY(settle(window));
    const QString said = window.findChild<ui::DiagnosticsPanel*>()->recording();
    for (const char* fact : {"96, AMD EPYC 9454 48-Core Processor", "580.65.06", "--cpuctxsw=none --sample=none"})
      QVERIFY2(said.contains(fact), qPrintable(said));
  }

  void linesOfDiagnosticsAreAsHighAsThoseOfOtherLists() {
    window_->showPanel("diagnostics");
    QVERIFY(settle(*window_));
    for (const QTreeWidget* list : window_->findChild<QDockWidget*>("diagnostics")->findChildren<QTreeWidget*>())
      if (list->topLevelItemCount() > 0)
        QCOMPARE(list->visualItemRect(list->topLevelItem(0)).height(), events_table(*window_)->verticalHeader()->defaultSectionSize());
  }

  void namesOfProcessesAndCountsOfMillionsAreWhole() {
    window_->showPanel("diagnostics");
    QVERIFY(settle(*window_));
    const QTreeWidget& processes = window_->findChild<ui::DiagnosticsPanel*>()->processes();
    QVERIFY(processes.topLevelItemCount() > 0);
    const QString name = processes.topLevelItem(0)->text(0);
    QVERIFY2(processes.columnWidth(0) > processes.fontMetrics().horizontalAdvance(name), qPrintable(name + ": " + QString::number(processes.columnWidth(0))));
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    const auto* names = window_->statistics().findChild<QTableView*>();
    const int count = names->columnWidth(ui::StatisticsModel::kCount);
    QVERIFY2(count > names->fontMetrics().horizontalAdvance("100,000,000"), qPrintable(QString::number(count)));
  }

  // If no GPU was recorded, its chart is hidden, and the other one gets its room.
  void aChartThatHasNothingToShowIsNotThere() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'400, 1'000);
    window.show();
    QVERIFY(open_and_settle(window, recorded("cpu_loader.trace")));
    window.resizeDocks({window.findChild<QDockWidget*>("statistics")}, {320}, Qt::Vertical);
    window.showPanel("statistics");
    QVERIFY(settle(window));
    auto* durations = window.statistics().findChild<ui::DurationChart*>();
    const auto* busy = window.statistics().findChild<ui::UtilisationChart*>();
    QVERIFY(wait_for([&] { return durations->isVisible() && durations->height() > 200; }));
    QVERIFY(!busy->isVisible());
    QVERIFY(open_and_settle(window, recorded("cuda_streams.trace")));
    QVERIFY(wait_for([&] { return busy->isVisible(); }));
  }

  void aFieldOfSeveralLinesIsSeenInBothThemes() {
    for (const ui::Theme theme : {ui::Theme::kLight, ui::Theme::kDark}) {
      ui::apply_theme(theme);
      QWidget window;
      QPlainTextEdit field(&window);
      field.setGeometry(20, 20, 100, 60);
      window.resize(140, 100);
      const QImage picture = window.grab().toImage().convertToFormat(QImage::Format_RGB32);
      const QRgb behind = QApplication::palette().color(QPalette::Window).rgb();
      double most = 1;
      for (int x = 10; x < 30; ++x) most = std::max(most, timeline::contrast(picture.pixel(x, 50), behind));
      QVERIFY2(most >= 1.5, qPrintable(QString::number(most)));
    }
    ui::apply_theme(ui::Theme::kLight);
  }

  void eachEntryOfAMenuHasItsOwnKey() {
    QStringList shared;
    for (const QAction* action : window_->menuBar()->actions())
      if (action->menu() != nullptr) shared += shared_mnemonics(*action->menu());
    QVERIFY2(shared.isEmpty(), qPrintable(shared.join(u'\n')));
  }

  // The font of the desktop is made larger while the window is open, and smaller again.
  void aWindowThatIsOpenFollowsTheFont() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'600, 1'000);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_loader_samples.trace")));
    window.showPanel("bubbles");
    QVERIFY(settle(window));
    const QFont usual = QApplication::font();
    const auto restore = qScopeGuard([&] { QApplication::setFont(usual); });
    QFont large = usual;
    large.setPointSizeF(usual.pointSizeF() * 1.7);
    const ui::ResultTable* const tables[] = {&window.bubbles().groups(), &window.bubbles().gaps()};
    const auto have = [&](const QFont& font) {
      return std::all_of(std::begin(tables), std::end(tables), [&](const QTableView* table) {
        const int height = QFontMetrics(font).height();
        return table->fontMetrics().height() == height && table->rowHeight(0) >= height && table->rowHeight(0) < height * 2;
      });
    };
    const std::size_t rows = window.timelineView().rowsInSight().size();
    QVERIFY(have(usual));
    QApplication::setFont(large);
    QVERIFY(wait_for([&] { return have(large); }, 5'000));
    QVERIFY(wait_for([&] { return window.timelineView().rowsInSight().size() < rows; }, 5'000));  // rows are higher
    QApplication::setFont(usual);
    QVERIFY(wait_for([&] { return have(usual); }, 5'000));
    QVERIFY(wait_for([&] { return window.timelineView().rowsInSight().size() == rows; }, 5'000));
  }

  // As on a screen that is lower than the previous one, or has twice the scale.
  // Beside Details there is room for one line of them in wider windows, and for two in narrower ones; nothing stands between two lines.
  void controlsAboveTheEventsStandOnLines() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_training_workers0.trace")));
    for (const int width : {1'280, 1'366, 1'390, 1'600}) {
      window.resize(width, 800);
      QVERIFY(wait_for([&] { return window.width() == width; }));
      QTest::qWait(0);
      const QWidget& panel = window.events();
      const int bottom = events_table(window)->mapTo(&panel, QPoint(0, 0)).y();
      std::map<int, QStringList> lines;  // by the middle of their controls
      const auto add = [&](const QWidget& control, const QString& name) {
        const QPoint middle = control.mapTo(&panel, control.rect().center());
        if (!control.isVisible() || middle.y() > bottom) return;
        lines[(middle.y() + 2) / 5] += name;
        QVERIFY2(control.mapTo(&panel, control.rect().bottomRight()).x() <= panel.width(), qPrintable(name));
      };
      for (const QComboBox* choice : panel.findChildren<QComboBox*>()) add(*choice, choice->accessibleName());
      for (const QToolButton* button : panel.findChildren<QToolButton*>())
        if (!button->text().isEmpty()) add(*button, button->text());
      for (const QLabel* label : panel.findChildren<QLabel*>())
        if (label->text().endsWith(" events")) add(*label, label->text());
      QStringList shown;
      for (const auto& [middle, names] : lines) shown += QStringLiteral("%1: %2").arg(middle).arg(names.join(QStringLiteral(", ")));
      QVERIFY2(lines.size() <= (width < 1'600 ? 2U : 1U), qPrintable(QString::number(width) + u'\n' + shown.join(u'\n')));
      QVERIFY2(lines.rbegin()->second.contains("Families") && lines.rbegin()->second.contains("Kind of event"), qPrintable(shown.join(u'\n')));
    }
  }

  void panelsThatWereHigherDoNotMakeALowWindowGrow() {
    {
      MainWindow window;
      window.resize(1'600, 1'000);
      window.show();
      QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
      window.actions().reset_layout->trigger();
      auto* events = window.findChild<QDockWidget*>("events");
      window.resizeDocks({events}, {600}, Qt::Vertical);
      QVERIFY(wait_for([&] { return events->height() > 550; }));
      window.close();
    }
    MainWindow window;
    window.resize(1'200, 560);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
    QVERIFY(settle(window));
    QTest::qWait(50);
    QCOMPARE(window.size(), QSize(1'200, 560));
    QVERIFY(window.statusBar()->geometry().bottom() < 560);
    window.resize(1'600, 1'000);  // there is room again
    QVERIFY(wait_for([&] { return window.findChild<QDockWidget*>("events")->height() > 550; }));
  }

 private:
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(RoomTest)
#include "test_gui_room.moc"

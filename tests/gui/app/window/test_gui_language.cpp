// The window in another language: every text in it is translated, and long texts do not push other content out of sight.
#include <unistd.h>

#include <filesystem>
#include <set>

#include <QAbstractButton>
#include <QComboBox>
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QSet>
#include <QTabBar>
#include <QTextBrowser>
#include <QTreeView>

#include "base/text/catalogue_translator.h"
#include "base/text/condition_text.h"
#include "base/text/diagnostic_text.h"
#include "export/picture_dialog.h"
#include "export/save_dialog.h"
#include "fixture/main_window_fixture.h"
#include "model/file/trace_file.h"
#include "model/text/language.h"
#include "model/trace/ingest/frame_ingest.h"
#include "model/trace/load.h"
#include "record/attach_dialog.h"
#include "record/launch_dialog.h"
#include "record/remote_dialog.h"
#include "timeline/widget/shown_text.h"
#include "window/keys/key_bindings_dialog.h"
#include "window/keys/keys_dialog.h"
#include "window/window_actions.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace lanescope::ui;

namespace {

// Marks what it translates, and lengthens it as much as other languages do. Placeholders, tags and mnemonics stay.
std::string marked(std::string_view english) {
  const QString text = QString::fromUtf8(english.data(), static_cast<qsizetype>(english.size()));
  static const QRegularExpression word(QStringLiteral("[A-Za-z]{3,}"));
  if (!QString(text).remove(u'&').contains(word)) return std::string(english);
  const QString longer = QString((text.size() * 2) / 5, u'~');
  return (u'\u27e6' + text + longer + u'\u27e7').toStdString();
}
constexpr Language kMarked{"qps", "Marked", marked};

// Three times as long, as the longest words of some languages are.
std::string long_winded(std::string_view english) {
  const std::string text = marked(english);
  return text.size() == english.size() ? text : text + ' ' + text + ' ' + text;
}
constexpr Language kLongWinded{"qpl", "Long-winded", long_winded};

struct Shown {
  QString where;
  QString text;
};

QString plain(QString text) {
  static const QRegularExpression tags(QStringLiteral("<style>.*?</style>|<[^>]*>|&[a-z]+;"), QRegularExpression::DotMatchesEverythingOption);
  return text.replace(tags, QStringLiteral(" ")).remove(u'&').trimmed();
}

void add(std::vector<Shown>& shown, const QWidget& of, const char* what, const QString& text) {
  if (!plain(text).isEmpty())
    shown.push_back({QStringLiteral("%1 %2 %3").arg(QLatin1String(of.metaObject()->className()), of.objectName(), QLatin1String(what)), plain(text)});
}

void add_menu(std::vector<Shown>& shown, const QMenu& menu) {
  for (const QAction* action : menu.actions()) {
    if (action->isSeparator()) continue;
    add(shown, menu, "entry", action->text().section(u'\t', 0, 0));
    if (action->menu() && action->menu()->title() != menu.title()) add_menu(shown, *action->menu());
  }
}

void add_header(std::vector<Shown>& shown, const QAbstractItemView& view) {
  if (view.model() == nullptr || qobject_cast<const QHeaderView*>(&view)) return;
  for (int column = 0; column < view.model()->columnCount(); ++column) add(shown, view, "header", view.model()->headerData(column, Qt::Horizontal).toString());
}

// The texts of a widget and all its parts: the visible ones, tool tips, and accessible names.
std::vector<Shown> texts_of(QWidget& root) {
  std::vector<Shown> shown;
  QList<QWidget*> all = root.findChildren<QWidget*>();
  all.prepend(&root);
  for (const QWidget* widget : std::as_const(all)) {
    add(shown, *widget, "tool tip", widget->toolTip());
    add(shown, *widget, "accessible name", widget->accessibleName());
    if (auto* label = qobject_cast<const QLabel*>(widget)) add(shown, *widget, "text", label->text());
    if (auto* button = qobject_cast<const QAbstractButton*>(widget)) add(shown, *widget, "text", button->text());
    if (auto* field = qobject_cast<const QLineEdit*>(widget)) add(shown, *widget, "placeholder", field->placeholderText());
    if (auto* box = qobject_cast<const QGroupBox*>(widget)) add(shown, *widget, "title", box->title());
    if (auto* dock = qobject_cast<const QDockWidget*>(widget)) add(shown, *widget, "title", dock->windowTitle());
    if (auto* browser = qobject_cast<const QTextBrowser*>(widget)) add(shown, *widget, "page", browser->toPlainText());
    if (auto* choice = qobject_cast<const QComboBox*>(widget))
      for (int i = 0; i < choice->count(); ++i) add(shown, *widget, "choice", choice->itemText(i));
    if (auto* tabs = qobject_cast<const QTabBar*>(widget))
      for (int i = 0; i < tabs->count(); ++i) add(shown, *widget, "tab", tabs->tabText(i));
    if (auto* view = qobject_cast<const QAbstractItemView*>(widget)) add_header(shown, *view);
    if (auto* bar = qobject_cast<const QMenuBar*>(widget))
      for (const QAction* action : bar->actions()) {
        add(shown, *bar, "menu", action->text());
        if (action->menu()) add_menu(shown, *action->menu());
      }
  }
  return shown;
}

// True for texts without our words: names of the trace and of files, commands, keys, units; languages under their own names.
bool needs_no_translation(const QString& text) {
  static const QRegularExpression words(QStringLiteral("[A-Za-z]*[a-z][A-Za-z]{2,}|[A-Za-z]{2,}[a-z]"));  // "GPU", "CUDA" and "NVTX" are none
  static const QRegularExpression keys(
      QStringLiteral("\\b(?:Ctrl|Shift|Alt|Meta|Esc|Home|End|Space|Return|Enter|Tab|Del|Ins|PgUp|PgDown|Backspace|Left|Right|Up|Down)\\b"));
  static const QRegularExpression names(
      QStringLiteral("^(?:lanescope( |$).*|ssh:HOST, .*|Open(?:MP|ACC|GL)|.*known\\.trace.*|.*report%n\\.trace.*|cu(BLAS|DNN|SOLVER|SPARSE)|English|step "
                     "\\*|QAbstractItemView.*|"
                     ".*\\.(?:trace|png)|Qt.*|[a-z]+=.*|/.*)$"));
  return !QString(text).remove(keys).contains(words) || names.match(text).hasMatch();
}

QStringList without_marks(QWidget& root) {
  QStringList found;
  for (const Shown& each : texts_of(root))
    if (!each.text.contains(u'\u27e6') && !needs_no_translation(each.text)) found += each.where + QStringLiteral(": ") + each.text;
  found.removeDuplicates();
  return found;
}

// Panels change over time: missing translations are printed, and are failures only in complete checks (packaging/nightly.sh).
bool passes(const QStringList& found) {
  for (const QString& each : found) qWarning().noquote() << each;
  return found.isEmpty() || !qEnvironmentVariableIsSet("LANESCOPE_ALL_TEXTS");
}

}  // namespace

class LanguageTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    show_in(kMarked);
    QCoreApplication::installTranslator(&translator_);
    known_ = known_trace_in(folder_);
  }
  void cleanupTestCase() {
    QCoreApplication::removeTranslator(&translator_);
    show_in(english());
  }

  void marksWhatTheEmptyWindowSays() {
    MainWindow window(Layout::kInitial);
    window.show();
    QVERIFY(passes(without_marks(window)));
    const QStringList found = without_marks(*window.menuBar());
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
  }

  void marksWhatTheWindowSaysOfATrace() {
    const auto window = window_of(known_);
    QVERIFY(window);
    for (const QString& panel : MainWindow::panelNames()) {
      window->showPanel(panel);
      QVERIFY(settle(*window));
    }
    QStringList found;
    for (const QString& text : without_marks(*window))
      if (!isOfTheTrace(text)) found += text;
    QVERIFY(passes(found));
    QVERIFY2(window->events().findChild<QTableView*>()->model()->headerData(1, Qt::Horizontal).toString().contains(u'\u27e6'), "the table of events");
  }

  // Missing parts of a file are reported above the timeline, below it, and in Diagnostics.
  void marksWhatIsMissingInTheFile() {
    const QString cut = QString::fromStdString((folder_.path() / "cut.trace").string());
    QVERIFY(QFile::copy(known_, cut) && QFile::resize(cut, QFileInfo(cut).size() - 40));
    const auto window = window_of(cut);
    QVERIFY(window);
    window->showPanel("diagnostics");
    QVERIFY(settle(*window));
    const QString sentence =
        QString::fromStdString(marked("The recording was cut off or is still being written: everything up to its last whole frame is here."));
    QVERIFY2(window->messages().text().contains(sentence), qPrintable(window->messages().text()));
    QStringList texts;
    for (const Shown& each : texts_of(*window)) texts += each.text;
    QVERIFY(!texts.filter(QString::fromStdString(marked("the recording was cut off"))).isEmpty());
    QVERIFY2(!texts.filter(sentence).isEmpty(), "Diagnostics");
  }

  // As readers write them, one after another; names and texts of others are not translated.
  void marksEachSentenceOfATracesCondition() {
    const auto said = [](const std::string& english) {
      const Message message = condition_message(english);
      return message.english() == english ? message.in(chinese()) : "another text: " + message.english();
    };
    FileCondition condition;
    condition.damaged_frames = 2;
    condition.first_damage = 118;
    condition.search_ended = 4'096;
    const std::string damaged = condition.sentence();
    QCOMPARE(QString::fromStdString(said(damaged)).count(QRegularExpression("[A-Za-z]{3,}")), 0);
    QVERIFY(said(damaged).find("118") != std::string::npos && said(damaged).find("4096") != std::string::npos);
    QCOMPARE(
        QString::fromStdString(said("rank1.trace: " + damaged + " " + malformed_frames(3))).remove("rank1.trace").count(QRegularExpression("[A-Za-z]{3,}")), 0);
    QCOMPARE(QString::fromStdString(said("The disk was replaced. 7 events had no room in the file."))
                 .remove("The disk was replaced.")
                 .count(QRegularExpression("[A-Za-z]{3,}")),
             0);
    QCOMPARE(said("whatever others wrote, 5 of it"), std::string("whatever others wrote, 5 of it"));
    std::string many;
    while (many.size() < 1'000'000) many += "Can't read 1 incomplete: ";
    QCOMPARE(said(many), many);
    const std::string lost = completeness_message("incomplete: 1,204 records dropped, 1 CUPTI buffer lost, processes could not be followed").in(chinese());
    QCOMPARE(QString::fromStdString(lost).remove("CUPTI").count(QRegularExpression("[A-Za-z]{3,}")), 0);
    QVERIFY(lost.find("1,204") != std::string::npos);
  }

  // Sentences of real recordings, whose files have them in English.
  void saysInChineseWhatRecordersAndAgentsSaid() {
    const auto in_chinese = [](const std::string& english) {
      const Message message = diagnostic_message(english);
      return message.english() == english ? QString::fromStdString(message.in(chinese()))
                                          : QStringLiteral("another text: ") + QString::fromStdString(message.english());
    };
    QSet<QString> unknown;
    std::size_t known = 0;
    for (const auto& entry : std::filesystem::directory_iterator(data_file("README.md").parent_path())) {
      if (entry.path().extension() != ".trace") continue;
      const auto trace = load_trace(entry.path());
      QVERIFY2(trace, entry.path().c_str());
      for (const DiagnosticMessage& message : (*trace)->diagnostics()) {
        static const QRegularExpression words(QStringLiteral("[a-z]{2,} [a-z]{2,} [a-z]{2,}"));  // a sentence
        const bool is_known = !words.match(in_chinese(message.text)).hasMatch();
        is_known ? void(++known) : void(unknown.insert(QString::fromStdString(message.text)));
      }
    }
    QVERIFY(known > 0);
    QVERIFY2(unknown.isEmpty(), qPrintable(unknown.values().join(u'\n')));
    QCOMPARE(in_chinese("GPU activity is not recorded: cuInit answered 100 (CUDA_ERROR_NO_DEVICE)."),
             QString("未录制 GPU 活动：cuInit 返回 100（CUDA_ERROR_NO_DEVICE）。"));
    QCOMPARE(in_chinese("GPU activity is recorded with libcupti.so.13 (API version 28)."), QString("使用 libcupti.so.13 (API version 28) 录制 GPU 活动。"));
    QVERIFY(
        in_chinese("[4711] train: this process could not be followed, so nothing is recorded of what it did: it was too quick").startsWith("[4711] train:"));
    QCOMPARE(in_chinese("What others wrote."), QString("What others wrote."));
    // Messages of the recorder of threads that no recorded trace of the tests has.
    for (const char* said :
         {"78 of 331 Python stacks were read while their threads had no processor, since none was free for reading in time: innermost functions that call the "
          "system come out too large.",
          "No Python functions are named: no interpreter was found in the recorded processes. CPython 3.9 to 3.15 can be read.",
          "12 records of threads were lost: they came faster than they could be read. Sample less often (--sampling-frequency), or leave switches out "
          "(--cpuctxsw=none).",
          "The kernel held samples back 3 times, since they took too much time. Sample less often (--sampling-frequency), or change it: sudo sysctl "
          "kernel.perf_cpu_time_max_percent=50",
          "The code of 4 processes has no names: they ended faster than it could be looked up.",
          "Process 4711 names more code that it makes at run time (/tmp/perf-PID.map) than is taken in: some of it has no name.",
          "Code has no names: /usr/bin/lanescope-code-names can't be started. Install Lanescope whole, or set LANESCOPE_CODE_NAMES to it.",
          "Some code of /usr/lib/libtorch.so has no names: to find them out took too much time or memory.",
          "Threads are not observed: the kernel refuses performance events (Invalid argument)."}) {
      static const QRegularExpression words(QStringLiteral("[a-z]{2,} [a-z]{2,} [a-z]{2,}"));
      static const QRegularExpression command(QStringLiteral("sudo sysctl .*"));
      QVERIFY2(!words.match(in_chinese(said).remove(command)).hasMatch(), said);
    }
  }

  // Present messages of recorders about programs that cannot be recorded.
  void saysInChineseWhyNothingIsRecorded() {
    const TemporaryFolder folder;
    const auto path_of = [&](const char* name) { return QString::fromStdString((folder.path() / name).string()); };
    QFile text(path_of("plain.txt"));
    QVERIFY(text.open(QIODevice::WriteOnly) && text.write("words\n") > 0);
    text.close();
    QFile script(path_of("script"));
    QVERIFY(script.open(QIODevice::WriteOnly) && script.write("#!/no/such/interpreter\n") > 0 && script.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
    script.close();
    MainWindow window(Layout::kInitial);
    const QByteArray agent = qgetenv("LANESCOPE_AGENT");
    show_in(chinese());
    QStringList said;
    const auto launch = [&](const QString& program, const QString& directory = {}) {
      LaunchSettings settings;
      settings.program = program;
      settings.working_directory = directory;
      settings.output = path_of("%n.trace");
      said += window.session().launch(settings);
    };
    launch("no-such-program-anywhere");
    launch("/bin/true", path_of("nowhere"));
    launch(QString::fromStdString(folder.path().string()));
    launch(path_of("plain.txt"));
    launch(path_of("script"));
    qputenv("LANESCOPE_AGENT", "/nowhere/liblanescope-agent.so");
    launch("/bin/true");
    std::optional<QString> attached;
    window.session().attach({.pid = getpid(), .program = {}, .capture = {}, .overwrite = false, .output = path_of("%n.trace")},
                            [&](const QString& problem) { attached = problem; });
    const bool has_ended = wait_for([&] { return attached.has_value(); });
    show_in(kMarked);
    agent.isNull() ? qunsetenv("LANESCOPE_AGENT") : qputenv("LANESCOPE_AGENT", agent);
    QVERIFY(has_ended);
    said += *attached;
    static const QRegularExpression words(QStringLiteral("[a-z]{2,} [a-z]{2,} [a-z]{2,}"));  // a sentence
    for (const QString& sentence : said) {
      QVERIFY(!sentence.isEmpty());
      QVERIFY2(!words.match(sentence).hasMatch(), qPrintable(sentence));
    }
    QVERIFY2(said[5].contains("/nowhere/liblanescope-agent.so"), qPrintable(said[5]));
  }

  // A kernel that waited for its call, which waited for its thread.
  void marksWhatAnOperationWaitedFor() {
    const auto window = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window);
    const Trace& trace = *window->state().trace();
    EventRef copy;
    for (const Track& track : trace.tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; track.key.kind == TrackKind::kMemory && i < trace.lane(lane).size(); ++i)
          if (trace.lane(lane).start(i) == 9'520'194'900) copy = {lane, i};
    QVERIFY(copy.valid());
    window->timelineView().selectEvent(copy);
    QVERIFY(settle(*window));
    const QString text = window->details().text();
    for (const char* const words : {"the call that enqueued it", "its thread, which ran code in this range"})
      QVERIFY2(text.contains(QString::fromStdString(marked(words))), qPrintable(text));
    for (const char* const words : {"the call that enqueued it", "its thread, which ran code in this range"}) QVERIFY(chinese().translate(words) != words);
  }

  void marksWhatDialogsSay() {
    const auto window = window_of(known_);
    QVERIFY(window);
    Settings settings;
    QStringList found;
    for (const auto& dialog : dialogs(settings, *window)) found += without_marks(*dialog);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
  }

  void findsControlsThatLackRoom() {
    QDialog dialog;
    dialog.resize(300, 100);
    const auto add = [&dialog](const char* text, QPoint place) {
      auto* button = new QPushButton(QString::fromLatin1(text), &dialog);
      button->move(place);
      button->resize(button->sizeHint());
      return button;
    };
    QPushButton* narrow = add("many words in a button", {0, 0});
    add("beside it", {narrow->width() / 2, 0});
    add("at the edge", {280, 60});
    narrow->resize(narrow->width() / 2 + 5, narrow->height());
    dialog.show();
    QCOMPARE(squeezed(dialog).size(), 2);    // too narrow for its words, and below another one
    QCOMPARE(outOfSight(dialog).size(), 1);  // the one at the edge
  }

  // Whatever the language and its direction, dialogs show their controls whole, and side by side.
  void dialogsHaveRoomForLongTexts() {
    show_in(kLongWinded);
    const auto back = qScopeGuard([] {
      show_in(kMarked);
      QGuiApplication::setLayoutDirection(Qt::LeftToRight);
    });
    for (const Qt::LayoutDirection direction : {Qt::LeftToRight, Qt::RightToLeft}) {
      QGuiApplication::setLayoutDirection(direction);
      const auto window = window_of(known_);
      QVERIFY(window);
      Settings settings;
      QStringList found;
      for (const auto& dialog : dialogs(settings, *window)) {
        dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(dialog.get()));
        for (const QString& each : outOfSight(*dialog) + squeezed(*dialog))
          found += QLatin1String(dialog->metaObject()->className()) + QStringLiteral(": ") + each;
      }
      QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
    }
  }

  // If a language adds a mnemonic behind a text, as Chinese does, it is only used in menus.
  void namesCommandsWithoutMnemonics() {
    QCOMPARE(without_mnemonic(QStringLiteral("Zoom &in")), QStringLiteral("Zoom in"));
    QCOMPARE(without_mnemonic(QStringLiteral("缩放(&Z)…")), QStringLiteral("缩放…"));
    show_in(chinese());
    MainWindow window(Layout::kInitial);
    const auto commands = shortcuts(window);
    show_in(kMarked);
    QVERIFY(commands.size() > 20);
    static const QRegularExpression mnemonic(QStringLiteral("&|\\([A-Z]\\)"));
    for (const auto& [key, text] : commands) QVERIFY2(!text.contains(mnemonic), qPrintable(text));
  }

  // Buttons of Qt use our translations if Qt's are not installed: texts of ours with the same words must have the same meaning.
  void givesWordsOfQtTheirMeaning() {
    const std::pair<const char*, const char*> words[] = {{"Open", "打开"}, {"Close", "关闭"}, {"Cancel", "取消"},
                                                         {"Save", "保存"}, {"OK", "确定"},    {"Apply", "应用"}};
    for (const auto& [word, meaning] : words) {
      const std::string translated = chinese().translate(word);
      QVERIFY2(translated == meaning, translated.c_str());
    }
  }

  // Their titles are in data: a title without an entry in the catalogue would be shown in English.
  void titlesOfTheTablesOfBubblesAreInTheCatalogue() {
    const lanescope::Language* const chinese = lanescope::find_language("zh_CN");
    QVERIFY(chinese != nullptr);
    MainWindow window(Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_loader_samples.trace")));
    window.showPanel("bubbles");
    QVERIFY(settle(window));
    for (const ResultTable* table : {&window.bubbles().groups(), &window.bubbles().gaps()}) {
      QVERIFY(!table->results().table()->columns().empty());
      for (const auto& column : table->results().table()->columns())
        QVERIFY2(column.title == "GPU" || chinese->translate(column.title) != column.title, column.title.c_str());
    }
  }

  void offersEachLanguageUnderItsOwnName() {
    MainWindow window(Layout::kInitial);
    QStringList names;
    for (const QAction* action : window.actions().language->actions()) names += action->text();
    QCOMPARE(names.size(), 3);
    QVERIFY(names[0].contains(u'\u27e6'));
    QCOMPARE(names[1], QStringLiteral("English"));
    QCOMPARE(names[2], QStringLiteral("简体中文"));
    window.actions().language->actions()[2]->trigger();
    QCOMPARE(Settings().language(), QStringLiteral("zh_CN"));
    window.actions().language->actions()[0]->trigger();
    QCOMPARE(Settings().language(), QString());
  }

  // Thread states are translated everywhere; names of the program are not.
  void showsStatesOfThreadsInChinese() {
    show_in(chinese());
    const auto back = qScopeGuard([] { show_in(kMarked); });
    const auto window = window_of(recorded("cpu_loader.trace"));
    QVERIFY(window);
    window->state().setFilter({.kind = EventKind::kThreadState});
    window->showPanel("statistics");
    QVERIFY(settle(*window));
    const QSet<QString> states{QStringLiteral("运行"), QStringLiteral("就绪"), QStringLiteral("阻塞"), QStringLiteral("未知")};
    const StatisticsModel& statistics = window->statistics().model();
    int found = 0;
    for (int row = 0; row < statistics.rowCount(); ++row) {
      const QString name = statistics.index(row, StatisticsModel::kName).data().toString();
      QVERIFY2(name != QStringLiteral("Running") && name != QStringLiteral("Runnable") && name != QStringLiteral("Blocked"), qPrintable(name));
      found += states.contains(name) ? 1 : 0;
    }
    QVERIFY(found >= 2);
    window->showPanel("events");
    QVERIFY(settle(*window));
    const QTableView& events = *events_table(*window);
    QCOMPARE(lanescope::test::cell(events, 0, EventColumn::kKind), QStringLiteral("线程状态"));
    const Trace& trace = *window->state().trace();
    EventRef state;
    for (const Track& track : trace.tracks())
      if (track.key.kind == TrackKind::kThreadStates) state = {track.lanes.front(), 0};
    QVERIFY(state.valid());
    window->timelineView().selectEvent(state);
    QVERIFY(settle(*window));
    const QString title = window->details().text().section(u'\n', 0, 0);
    QVERIFY2(states.contains(title), qPrintable(title));
  }

  // Names that we give are translated where they are shown: on the timeline, in Details, in the list of events and in Statistics.
  void showsNamesThatWeGiveInChinese() {
    show_in(chinese());
    const auto back = qScopeGuard([] { show_in(kMarked); });
    const auto window = window_of(recorded("torch_graph.trace"));
    QVERIFY(window);
    for (const EventKind kind : {EventKind::kSynchronization, EventKind::kOverhead}) {
      window->state().setFilter({.kind = kind});
      window->showPanel("statistics");
      QVERIFY(settle(*window));
      const StatisticsModel& statistics = window->statistics().model();
      QVERIFY(statistics.rowCount() > 0);
      const auto is_chinese = [](const QString& text) { return std::any_of(text.begin(), text.end(), [](QChar each) { return each.unicode() > 0x2e80; }); };
      for (int row = 0; row < statistics.rowCount(); ++row) {
        const QString name = statistics.index(row, StatisticsModel::kName).data().toString();
        QVERIFY2(is_chinese(name), qPrintable(name));
      }
      window->showPanel("events");
      QVERIFY(settle(*window));
      const QString name = lanescope::test::cell(*events_table(*window), 0, EventColumn::kName);
      QVERIFY2(is_chinese(name), qPrintable(name));
      const EventRef event = statistics.entry(0).longest;
      window->timelineView().selectEvent(event);
      QVERIFY(settle(*window));
      const QString title = window->details().text().section(u'\n', 0, 0);
      QVERIFY2(is_chinese(title), qPrintable(title));
    }
  }

  // In their rows, in the list of events, and among what it can be limited to.
  void namesStreamsInChinese() {
    show_in(chinese());
    const auto back = qScopeGuard([] { show_in(kMarked); });
    const auto window = window_of(recorded("numba_streams.trace"));  // streams 7 and 13 to 16
    QVERIFY(window);
    QStringList titles;
    for (const timeline::Row& row : window->timelineView().rows().rows())
      if (row.kind == timeline::RowKind::kStream) titles += window->timelineView().rowTitle(QString::fromStdString(row.key)).section("% ", -1);
    titles.sort();
    QCOMPARE(titles, QStringList({"流 13", "流 14", "流 15", "流 16", "流 7"}));
    QStringList choices;
    for (const QComboBox* choice : window->events().findChildren<QComboBox*>())
      for (int i = 0; i < choice->count(); ++i) choices += choice->itemText(i);
    QVERIFY2(choices.filter(QStringLiteral("流 13")).size() == 1, qPrintable(choices.join(u'\n')));
    QVERIFY2(choices.filter(QStringLiteral("Stream")).isEmpty(), qPrintable(choices.join(u'\n')));
  }

  // In a window on a small screen, the controls above the events are readable, and so are the names of both compared traces.
  void controlsOfANarrowWindowAreWhole() {
    show_in(chinese());
    const auto back = qScopeGuard([] { show_in(kMarked); });
    const auto window = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window);
    window->resize(1024, 700);
    QVERIFY(open_beside_and_settle(*window, recorded("torch_training_workers4.trace")));
    QVERIFY(wait_for([&] { return window->width() == 1024; }));
    for (const QComboBox* choice : window->events().findChildren<QComboBox*>())
      QVERIFY2(choice->width() >= choice->fontMetrics().horizontalAdvance(choice->currentText()) + 16, qPrintable(choice->currentText()));
    const auto* names = window->findChild<QLabel*>("names_of_traces");
    QVERIFY(names != nullptr);
    for (const char* name : {"torch_training_workers0", "torch_training_workers4"}) QVERIFY2(names->text().contains(name), qPrintable(names->text()));
  }

  // Longer texts may move things, but push nothing out of the window.
  void longTextsLeaveTheWindowItsSize() {
    const auto window = window_of(known_);
    QVERIFY(window);
    window->resize(1280, 800);
    QVERIFY(wait_for([&] { return window->size() == QSize(1280, 800); }));
    for (const QString& panel : MainWindow::panelNames()) {
      window->showPanel(panel);
      QVERIFY(settle(*window));
      QVERIFY2(window->width() == 1280 && window->height() == 800, qPrintable(panel));
      const QStringList found = outOfSight(*window);
      QVERIFY2(found.isEmpty(), qPrintable(panel + u'\n' + found.join(u'\n')));
    }
  }

  // For a right-to-left language, the window is mirrored, and nothing is pushed out, either.
  void runsFromTheRight() {
    QGuiApplication::setLayoutDirection(Qt::RightToLeft);
    const auto window = window_of(known_);
    QStringList found{QStringLiteral("no window")};
    if (window) {
      wait_for([&] { return (found = outOfSight(*window)).isEmpty(); });  // controls move to a second line once their panel has its width
    }
    QGuiApplication::setLayoutDirection(Qt::LeftToRight);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
  }

 private:
  // Names of the known trace's rows, threads, kernels and ranges, and values that are computed from them.
  static bool isOfTheTrace(const QString& text) {
    static const QRegularExpression names(
        QStringLiteral(": (?:\\[\\d+\\].*|GPU \\d.*|NVIDIA.*|Lanescope.*|.*(?:known|thread|kernel_|step|iteration|cuda[A-Z]).*)$"));
    return names.match(text).hasMatch();
  }
  // Buttons, combo boxes and fields that extend beyond their parents.
  static QStringList outOfSight(QWidget& window) {
    QStringList found;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
      const bool is_control = qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget) || qobject_cast<const QLineEdit*>(widget);
      const QWidget* holder = widget->parentWidget();
      if (!is_control || !widget->isVisible() || qobject_cast<const QTabBar*>(holder) || holder->rect().contains(widget->geometry())) continue;
      found += QStringLiteral("%1 %2 in %3")
                   .arg(QLatin1String(widget->metaObject()->className()), widget->accessibleName(), QLatin1String(holder->metaObject()->className()));
    }
    return found;
  }
  // Controls that are narrower than their texts, or that lie over each other.
  static QStringList squeezed(QWidget& window) {
    QStringList found;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
      const bool is_control = qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget) || qobject_cast<const QLineEdit*>(widget);
      if (!is_control || !widget->isVisible() || widget->parentWidget() == nullptr || qobject_cast<const QComboBox*>(widget->parentWidget())) continue;
      if (auto* button = qobject_cast<const QAbstractButton*>(widget); button && !button->text().isEmpty() && button->width() < button->sizeHint().width())
        found += QStringLiteral("%1 is %2 of %3 wide").arg(button->text()).arg(button->width()).arg(button->sizeHint().width());
      for (const QWidget* other : widget->parentWidget()->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
        if (other > widget && other->isVisible() && !other->isWindow() && other->geometry().intersects(widget->geometry()))
          found += QStringLiteral("%1 lies over %2").arg(QLatin1String(other->metaObject()->className()), QLatin1String(widget->metaObject()->className()));
    }
    return found;
  }
  // Those that need no recording.
  static std::vector<std::unique_ptr<QDialog>> dialogs(Settings& settings, MainWindow& window) {
    std::vector<std::unique_ptr<QDialog>> all;
    all.push_back(std::make_unique<LaunchDialog>(settings, &window));
    all.push_back(std::make_unique<AttachDialog>(settings, &window));
    all.push_back(std::make_unique<RemoteDialog>(settings, &window));
    all.push_back(std::make_unique<KeysDialog>(window.timelineView().helpText(), shortcuts(window), &window));
    all.push_back(std::make_unique<KeyBindingsDialog>(KeyBindings::ofProcess(), &window));
    all.push_back(std::make_unique<PictureDialog>(QSize(800, 600), 1.0, &window));
    const std::shared_ptr<const Trace> trace = window.state().trace();
    all.push_back(std::make_unique<SaveDialog>(std::vector<SavableTrace>{{QStringLiteral("known.trace"), trace, {{}, trace->extent(), {}}}}, &window));
    return all;
  }
  TemporaryFolder folder_;
  QString known_;
  CatalogueTranslator translator_;
};

QTEST_MAIN(LanguageTest)
#include "test_gui_language.moc"

#include "application.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <QApplication>
#include <QLibraryInfo>

#include "base/text/catalogue_translator.h"
#include "collector/session/inheritance.h"
#include "ending.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "options.h"
#include "timeline/widget/surely.h"
#include "window/look/theme.h"
#include "window/main_window.h"
#include "window/opening_view.h"
#include "window/screenshot.h"
#include "window/windows.h"

namespace lanescope::ui {
namespace {

QStringList arguments_of(int count, char** values) {
  QStringList arguments;
  for (int i = 1; i < count; ++i) arguments += QString::fromLocal8Bit(values[i]);
  return arguments;
}

int say(const QString& text, int exit_code) {
  std::fputs(text.toLocal8Bit().constData(), exit_code == 0 ? stdout : stderr);
  return exit_code;
}

// Qt's platform plugin without a display reports for each window that it cannot pass on size hints; that message is dropped.
void say_message(QtMsgType, const QMessageLogContext&, const QString& text) {
  if (!text.contains(u"propagateSizeHints")) say(text + u'\n', 1);
}

// Memory that panels free after parallel computations must be reusable by other threads: by default each thread would keep its own.
void share_freed_memory() {
#ifdef __GLIBC__
  constexpr int kArenas = 2;
  mallopt(M_ARENA_MAX, kArenas);
#endif
}

// The language of the command line, else the one chosen in the window, else that of the desktop.
const lanescope::Language& wished_language(const Options& options, const QString& chosen) {
  if (options.language) return *options.language;
  const lanescope::Language* const language = chosen.isEmpty() ? nullptr : lanescope::find_language(chosen.toStdString());
  return language ? *language : lanescope::language_of_environment();
}

// Handles messages while Qt looks for a display. Without a display Qt would abort the program: this prints an explanation with Qt's earlier messages and exits
// instead.
class DisplayExpected {
 public:
  explicit DisplayExpected(const QStringList& files) {
    const QString file = files.isEmpty() ? QStringLiteral("FILE") : files.front();
    instead = QStringLiteral(
                  "Without one: lanescope report %1 makes a page for a browser, lanescope stats %1 and lanescope analyze %1 print, and lanescope-ui %1 "
                  "--screenshot OUT.png draws.\n")
                  .arg(file);
    earlier_ = qInstallMessageHandler(take);
  }
  ~DisplayExpected() {
    qInstallMessageHandler(earlier_);
    for (const QString& sentence : std::as_const(said)) say(sentence + u'\n', 1);
    said.clear();
  }
  DisplayExpected(const DisplayExpected&) = delete;
  DisplayExpected& operator=(const DisplayExpected&) = delete;

 private:
  static void take(QtMsgType type, const QMessageLogContext&, const QString& text) {
    if (type != QtFatalMsg) {
      said.append(text);
      return;
    }
    const bool is_named = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
    say(is_named ? QStringLiteral("The viewer needs a display, and the one that is named can't be used (Qt says: %1). ").arg(said.join(u' ').simplified())
                 : QStringLiteral("The viewer needs a display, and there is none here: neither DISPLAY nor WAYLAND_DISPLAY is set. "),
        1);
    say(instead, 1);
    std::_Exit(1);  // Qt would abort after this
  }

  static inline QStringList said;
  static inline QString instead;
  QtMessageHandler earlier_;
};

int take_screenshot(const ScreenshotRequest& request) {
  MainWindow window(Layout::kPicture);
  Screenshot screenshot(window, request);
  QString problem;
  QObject::connect(
      &screenshot, &Screenshot::finished, &screenshot,
      [&](const QString& sentence) {
        problem = sentence;
        QCoreApplication::quit();
      },
      Qt::QueuedConnection);
  screenshot.start();
  QApplication::exec();
  return problem.isEmpty() ? 0 : say(problem + u'\n', 1);
}

// Continues if handling an event ran out of memory: the window reports that, and lacks what was to be shown.
class Application : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override {
    bool handled = false;
    lanescope::timeline::within_memory([&] { handled = QApplication::notify(receiver, event); });
    return handled;
  }
};

}  // namespace

int run_viewer(int argc, char** argv) {
  session::keep_inheritance();  // so that many files can be open at once
  const auto parsed = parse_options(arguments_of(argc, argv));
  if (const Answer* answer = std::get_if<Answer>(&parsed)) return say(answer->text, answer->exit_code);
  const Options& options = std::get<Options>(parsed);

  const bool has_display = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
  if (options.screenshot && !has_display && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  if (options.screenshot) qInstallMessageHandler(say_message);

  lanescope::keep_memory_for_decoding();
  share_freed_memory();
  int qt_argc = 1;  // Qt does not get the options
  std::optional<DisplayExpected> expected;
  if (!options.screenshot) expected.emplace(options.files);
  Application application(qt_argc, argv);
  expected.reset();
  QApplication::setApplicationName(QStringLiteral("lanescope-ui"));
  QApplication::setApplicationDisplayName(QStringLiteral("Lanescope"));
  QApplication::setApplicationVersion(QStringLiteral(LANESCOPE_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("io.github.lanescope.Lanescope"));
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/lanescope/lanescope.svg")));
  const Settings settings;
  lanescope::show_in(wished_language(options, settings.language()));
  CatalogueTranslator translator;
  QTranslator of_qt;  // Qt's own texts
  const std::string_view code = lanescope::shown_language().code;
  const QLocale locale(QString::fromUtf8(code.data(), static_cast<qsizetype>(code.size())));
  QCoreApplication::installTranslator(&translator);
  // The last one is asked first: texts of Qt may also be ours, with another meaning.
  if (of_qt.load(locale, QStringLiteral("qtbase"), QStringLiteral("_"), QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
    QCoreApplication::installTranslator(&of_qt);
  apply_theme(settings.theme());
  if (const auto bytes = settings.memoryForEvents()) lanescope::SegmentCache::of_process().set_budget(*bytes);

  if (options.screenshot) return take_screenshot(*options.screenshot);
  return show_windows(Layout::kRemembered, [&options](Windows& windows) {
    MainWindow& window = windows.add();
    const bool are_compared = options.files.size() == 2 && options.several == Several::kBeside;
    if (!options.files.isEmpty()) show_view_once_open(window, options.view, are_compared ? Opening::kTwoTraces : Opening::kOneTrace);
    window.openAll(options.files, options.several);
  });
}

}  // namespace lanescope::ui

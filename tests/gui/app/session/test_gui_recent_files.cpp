// Recent files, one of which is on a network that does not answer: looking it up does not return.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <semaphore>
#include <vector>

#include <QLabel>

#include "base/files/file_facts.h"
#include "fixture/main_window_fixture.h"
#include "timeline/core/words/format.h"
#include "window/start/recent_entry.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

constexpr const char* kDead = "/dead/mount/run.trace";
std::atomic<pid_t> gui_thread = 0;
std::atomic<int> asked_on_gui_thread = 0, asked_elsewhere = 0;
std::counting_semaphore<> answers{0};

// Threads that look up the dead file wait; the GUI thread, which must not look it up, does not, so that the test ends.
void wait_if_dead(const char* path) {
  if (path == nullptr || std::strncmp(path, "/dead/mount", 11) != 0) return;
  if (gettid() == gui_thread) {
    ++asked_on_gui_thread;
    return;
  }
  ++asked_elsewhere;
  answers.acquire();
}

}  // namespace

// Replace those of the C library for this program and the libraries that it is linked with.
extern "C" {
int stat(const char* path, struct stat* status) noexcept {
  wait_if_dead(path);
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, status, 0));
}
int lstat(const char* path, struct stat* status) noexcept {
  wait_if_dead(path);
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
}
int statx(int folder, const char* path, int flags, unsigned mask, struct statx* status) noexcept {
  wait_if_dead(path);
  return static_cast<int>(syscall(SYS_statx, folder, path, flags, mask, status));
}
int access(const char* path, int kind) noexcept {
  wait_if_dead(path);
  return static_cast<int>(syscall(SYS_faccessat, AT_FDCWD, path, kind));
}
}

class RecentFilesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    gui_thread = gettid();
    known_ = known_trace_in(folder_);
    ui::Settings settings;
    settings.addRecentFile(known_);
    settings.addRecentFile(kDead);
  }

  // Not the size of the folder's own entry, 4 KiB.
  void aFolderIsAsLargeAsTheTracesInIt() {
    const std::filesystem::path ranks = folder_.path() / "ranks";
    std::filesystem::create_directory(ranks);
    std::filesystem::copy_file(data_file("torch_loader_samples.trace"), ranks / "0.trace");
    std::filesystem::copy_file(data_file("ranks_late1.trace"), ranks / "1.trace");
    std::ofstream(ranks / "0.log") << std::string(100'000, 'x');
    const std::uint64_t bytes = std::filesystem::file_size(ranks / "0.trace") + std::filesystem::file_size(ranks / "1.trace");
    const QString path = QString::fromStdString(ranks.string());
    ui::FileLookup lookup;
    lookup.look(path);
    QVERIFY(wait_for([&] { return lookup.of(path).has_value(); }));
    QVERIFY(lookup.of(path)->state == ui::FileFacts::State::kThere);
    QCOMPARE(lookup.of(path)->bytes, static_cast<qint64>(bytes));
    QVERIFY(lookup.of(path)->changed > 0);
  }

  // The window is there at once; the other file has its size, and the dead one only its name.
  void aFileOnADeadMountHoldsNothingUp() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    const auto entry = [&](int place) { return window.actions().open_recent->actions().at(place)->text(); };
    const QString size = QString::fromStdString(timeline::format_bytes(std::filesystem::file_size(known_.toStdString())));
    QVERIFY(wait_for([&] { return entry(1).contains(size); }));
    QVERIFY2(entry(0).contains("run.trace") && entry(0).contains("/dead/mount"), qPrintable(entry(0)));
    QVERIFY(wait_for([] { return asked_elsewhere > 0; }));
    QCOMPARE(asked_on_gui_thread.load(), 0);
    QString page;
    for (const QLabel* label : window.findChildren<QLabel*>())
      if (label->text().contains("Recent files")) page = label->text();
    QVERIFY2(page.contains("run.trace") && page.contains(size), qPrintable(page));
    // Opening the menu looks it up again, one lookup at a time.
    emit window.actions().open_recent->aboutToShow();
    QVERIFY(open_and_settle(window, known_));
    QCOMPARE(asked_on_gui_thread.load(), 0);
    QCOMPARE(asked_elsewhere.load(), 1);
    // When it answers at last, the result is shown.
    answers.release();
    QVERIFY(wait_for([&] { return entry(1).contains("the file is gone"); }));
  }

  // Each has read the list before, and adds the files that it opens.
  void programsThatOpenFilesAtOnceLoseNone() {
    ui::Settings().clearRecentFiles();
    constexpr int kPrograms = 5, kEach = 2;  // together as many as are kept
    int begin[2];
    QCOMPARE(pipe(begin), 0);
    std::vector<pid_t> programs;
    for (int program = 0; program < kPrograms; ++program) {
      programs.push_back(fork());
      if (programs.back() != 0) continue;
      ::close(begin[1]);
      ui::Settings settings;
      char none = 0;
      const bool knew_none = settings.recentFiles().isEmpty() && read(begin[0], &none, 1) == 0;  // waits until all are ready
      for (int i = 0; i < kEach; ++i) settings.addRecentFile(QStringLiteral("/opened/%1-%2.trace").arg(program).arg(i));
      _exit(knew_none ? 0 : 1);
    }
    ::close(begin[0]);
    ::close(begin[1]);
    for (const pid_t program : programs) {
      int status = 0;
      QCOMPARE(waitpid(program, &status, 0), program);
      QCOMPARE(status, 0);
    }
    ui::Settings settings;
    settings.readAgain();
    QCOMPARE(settings.recentFiles().size(), kPrograms * kEach);
    settings.clearRecentFiles();
    settings.addRecentFile(known_);
    settings.addRecentFile(kDead);
  }

  // Also if this window knew of none: its menu was disabled then.
  void whatAnotherWindowOpenedIsInTheMenuAndOnThePage() {
    ui::Settings().clearRecentFiles();
    MainWindow window(ui::Layout::kInitial), other(ui::Layout::kInitial);
    other.show();
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window, kPatienceMs));
    QVERIFY(!window.actions().open_recent->isEnabled());
    other.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&other, kPatienceMs));
    QVERIFY(open_and_settle(other, known_));
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window, kPatienceMs));
    QVERIFY(window.actions().open_recent->isEnabled());
    QVERIFY2(window.actions().open_recent->actions().first()->text().contains("known.trace"),
             qPrintable(window.actions().open_recent->actions().first()->text()));
    const QList<QLabel*> labels = window.findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().contains("known.trace"); }));
    // Also while a window stays in front: another program may have opened a file.
    ui::Settings().addRecentFile("/elsewhere/later.trace");
    emit window.actions().open_recent->aboutToShow();
    QVERIFY(window.actions().open_recent->actions().first()->text().contains("later.trace"));
    ui::Settings().removeRecentFile("/elsewhere/later.trace");
    ui::Settings().addRecentFile(kDead);  // as before
  }

  // The files of a job, and two runs that are compared: each is opened again as it was.
  void whatWasOpenedTogetherIsOneEntry() {
    ui::Settings().clearRecentFiles();
    const QString first = recorded("ranks_late0.trace"), second = recorded("ranks_late1.trace");
    {
      MainWindow window;
      window.show();
      QSignalSpy opened(&window, &MainWindow::opened);
      window.openTogether({first, second});
      QVERIFY(opened.wait(kPatienceMs) && settle(window));
      window.openAll({recorded("torch_training_workers0.trace"), recorded("torch_training_workers4.trace")}, ui::Several::kBeside);
      QVERIFY(wait_for([&] { return window.pair().isOpen() && window.isSettled(); }));
    }
    MainWindow window;
    window.show();
    QStringList texts;
    for (const QAction* entry : window.actions().open_recent->actions()) texts += entry->text();
    const auto entry = [&](const QString& begin) {
      for (QAction* each : window.actions().open_recent->actions())
        if (each->text().startsWith(begin)) return each;
      return static_cast<QAction*>(nullptr);
    };
    QAction* together = entry("ranks_late0.trace and ranks_late1.trace, as one trace");
    QVERIFY2(together != nullptr, qPrintable(texts.join(u'|')));
    QSignalSpy opened(&window, &MainWindow::opened);
    together->trigger();
    QVERIFY(opened.wait(kPatienceMs) && settle(window));
    QCOMPARE(window.state().trace()->parts().size(), std::size_t{2});
    QVERIFY(!window.pair().isOpen());
    QCOMPARE(window.session().paths(), (QStringList{first, second}));
    QAction* compared = entry("torch_training_workers0.trace and torch_training_workers4.trace, compared");
    QVERIFY2(compared != nullptr, qPrintable(texts.join(u'|')));
    compared->trigger();
    QVERIFY(wait_for([&] { return window.pair().isOpen() && window.isSettled(); }));
    QCOMPARE(window.pair().second().path, recorded("torch_training_workers4.trace"));
    ui::Settings().clearRecentFiles();
    ui::Settings().addRecentFile(kDead);  // as before
  }

  // Paths may have line breaks.
  void entriesKeepPathsOfAnyName() {
    const QStringList odd = {"/a\nb/100%.trace", QString::fromUtf8("/日本/ä.trace"), "/beside:/c.trace"};
    const ui::Wish together{ui::WishKind::kOpen, odd[0], odd.mid(1)}, beside{ui::WishKind::kOpen, odd[0], {}, odd[1]}, one{ui::WishKind::kOpen, odd[2]};
    for (const ui::Wish& wish : {together, beside, one}) QVERIFY(ui::wish_of(ui::entry_of(wish)) == wish);
    QCOMPARE(ui::paths_of(ui::entry_of(together)), odd);
  }

  // A window that is closed meanwhile is destroyed; later answers have no effect.
  void aWindowThatIsClosedMeanwhileIsGone() {
    const int before = asked_elsewhere;
    {
      MainWindow window(ui::Layout::kInitial);
      window.show();
      QVERIFY(wait_for([&] { return asked_elsewhere > before; }));
    }
    answers.release();
    QTest::qWait(50);
    QCOMPARE(asked_on_gui_thread.load(), 0);
  }

 private:
  TemporaryFolder folder_;
  QString known_;
};

QTEST_MAIN(RecentFilesTest)
#include "test_gui_recent_files.moc"

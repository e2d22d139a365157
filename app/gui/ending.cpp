#include "ending.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <QApplication>
#include <QSocketNotifier>
#include <QThread>

#include "base/state/settings.h"
#include "base/text/texts.h"
#include "loading/live_recording.h"
#include "model/file/new_file.h"

namespace lanescope::ui {
namespace {

constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Passes the numbers of signals from their handler to the GUI thread. It is never closed, because a handler may be using it.
std::atomic<int> signal_input{-1};

void note_signal(int signal) {
  const int before = errno;
  const auto number = static_cast<unsigned char>(signal);
  static_cast<void>(write(signal_input.load(), &number, 1));  // if the pipe is full, it has enough signals
  errno = before;
}

class Ending {
 public:
  Ending() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;  // out of descriptors: signals end the process as usual
    signal_output_ = ends[0];
    signal_input.store(ends[1]);
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
      sigaction(kEndingSignals[i], nullptr, &former_[i]);
      if (former_[i].sa_handler != SIG_IGN) sigaction(kEndingSignals[i], &action, nullptr);
    }
    notifier_ = std::make_unique<QSocketNotifier>(signal_output_, QSocketNotifier::Read);
    QObject::connect(notifier_.get(), &QSocketNotifier::activated, qApp, [this] {
      if (const int signal = takeSignal(); signal != 0 && signal_ == 0) end(signal);
    });
    the_one_ = this;
    hear_before_ = qInstallMessageHandler(hear);
  }
  ~Ending() {
    if (the_one_ == nullptr) return;
    qInstallMessageHandler(hear_before_);
    the_one_ = nullptr;
    for (std::size_t i = 0; i < kEndingSignals.size(); ++i) sigaction(kEndingSignals[i], &former_[i], nullptr);
    if (signal_ == 0) return;
    remove_new_files();
    std::fflush(nullptr);
    std::signal(signal_, SIG_DFL);
    raise(signal_);
  }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  // 0: no signal has arrived.
  [[nodiscard]] int takeSignal() const {
    unsigned char number = 0;
    return read(signal_output_, &number, 1) == 1 ? number : 0;
  }

  void end(int signal) {
    signal_ = signal;
    finish();
    QCoreApplication::exit();  // also ends the loops of dialogs
  }

  void finish() const {
    LiveRecording::finishAll([this] { return takeSignal() != 0; });
    for (const QString& file : LiveRecording::filesOfAll()) {
      Settings().addRecentFile(file);  // so that the user finds it there at the next start
      const QString sentence = tr("The recording is complete: %1").arg(file) + u'\n';
      std::fputs(sentence.toLocal8Bit().constData(), stderr);
    }
  }

  // If an X server or a Wayland compositor closes its connection, Qt reports that and ends the process immediately: neither windows nor the threads that work
  // for them can be destroyed then. The functions that exit() calls first would destroy what recordings need.
  static void hear(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (the_one_ == nullptr) return;
    the_one_->hear_before_(type, context, text);
    const bool is_gone = text.startsWith(QStringLiteral("The X11 connection ")) || text.startsWith(QStringLiteral("The Wayland connection "));
    if (!is_gone || QThread::currentThread() != qApp->thread()) return;
    std::exchange(the_one_, nullptr)->finish();
    remove_new_files();
    std::fflush(nullptr);
    std::_Exit(1);
  }

  static inline Ending* the_one_ = nullptr;  // null: there is none, or the display is gone
  std::array<struct sigaction, kEndingSignals.size()> former_{};
  int signal_output_ = -1;
  int signal_ = 0;  // the signal that ends it
  std::unique_ptr<QSocketNotifier> notifier_;
  QtMessageHandler hear_before_ = nullptr;
};

}  // namespace

int show_windows(Layout layout, const std::function<void(Windows& windows)>& begin) {
  const Ending ending;
  Windows windows(layout);
  begin(windows);
  return QApplication::exec();
}

}  // namespace lanescope::ui

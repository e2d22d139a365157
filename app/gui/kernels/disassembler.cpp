#include "kernels/disassembler.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryFile>

#include "collector/session/inheritance.h"

namespace lanescope::ui {
namespace {

constexpr qint64 kLongestDisassemblyMs = 20'000;
constexpr qsizetype kMostPrinted = 256 << 20;  // bytes
constexpr int kStepMs = 100;

}  // namespace

QString find_disassembler() {
  const QString name = QStringLiteral("nvdisasm");
  if (QString found = QStandardPaths::findExecutable(name); !found.isEmpty()) return found;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const QString home = qEnvironmentVariable(variable); !home.isEmpty())
      if (QString found = QStandardPaths::findExecutable(name, {home + QStringLiteral("/bin")}); !found.isEmpty()) return found;
  return QStandardPaths::findExecutable(name, {QStringLiteral("/usr/local/cuda/bin")});
}

std::optional<kernels::Disassembly> disassemble(const QString& disassembler, const std::string& image, const kernels::KernelCode& function,
                                                const std::stop_token& stop) {
  QTemporaryFile cubin;
  if (!cubin.open() || cubin.write(image.data(), static_cast<qint64>(image.size())) != static_cast<qint64>(image.size()) || !cubin.flush()) return std::nullopt;
  QProcess process;
  process.setStandardInputFile(QProcess::nullDevice());
  process.setStandardErrorFile(QProcess::nullDevice());
  process.setChildProcessModifier(session::give_back_inheritance);
  // Only for this function: others may consist of zeros, which the disassembler rejects, and there may be very many.
  process.start(disassembler, {QStringLiteral("-c"), QStringLiteral("-fun"), QString::number(function.symbol), cubin.fileName()});
  QByteArray printed;
  QElapsedTimer clock;
  clock.start();
  bool ended = !process.waitForStarted();
  while (!ended && !stop.stop_requested() && clock.elapsed() < kLongestDisassemblyMs && printed.size() < kMostPrinted) {
    ended = process.waitForFinished(kStepMs) || process.state() == QProcess::NotRunning;
    printed += process.readAllStandardOutput();
  }
  if (process.state() != QProcess::NotRunning) {
    process.kill();
    process.waitForFinished();
    return std::nullopt;
  }
  if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) return std::nullopt;
  kernels::Disassembly texts = kernels::parse_disassembly({printed.constData(), static_cast<std::size_t>(printed.size())}, function.function);
  if (texts.empty()) return std::nullopt;
  return texts;
}

}  // namespace lanescope::ui

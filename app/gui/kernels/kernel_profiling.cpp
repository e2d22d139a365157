#include "kernels/kernel_profiling.h"

#include <chrono>

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>

#include "collector/session/inheritance.h"
#include "kernels/kernel_html.h"
#include "model/import/open_trace.h"
#include "model/trace/combining/parts.h"

namespace lanescope::ui {
namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 1s;
constexpr int kPatienceMs = 3'000;          // for a program to end by itself
constexpr qsizetype kMostErrors = 8 << 10;  // bytes that are kept

QString find_recorder() {
  const QString name = QStringLiteral("lanescope");
  const QString beside = QStandardPaths::findExecutable(name, {QCoreApplication::applicationDirPath()});
  return beside.isEmpty() ? QStandardPaths::findExecutable(name) : beside;
}

// "run.saxpy.trace", "run.saxpy.2.trace": a name that no file has.
QString free_file(const QString& folder, const QString& base) {
  QString file = folder + u'/' + base + QStringLiteral(".trace");
  for (int number = 2; QFileInfo::exists(file); ++number) file = QStringLiteral("%1/%2.%3.trace").arg(folder, base).arg(number);
  return file;
}

// Returns null if the file cannot be read, with the reason in `problem`, or if it lacks the kernel.
std::shared_ptr<const Trace> read(const QString& file, const KernelFacts& facts, QString& problem) {
  const auto trace = open_trace(file.toStdString());
  if (!trace) {
    problem = QString::fromStdString(trace.error().text);
    return nullptr;
  }
  const kernels::RecordedMetrics recorded = kernels::recorded_metrics(**trace);
  if (recorded.of_kind(facts.name, facts.detail, {})) return *trace;
  problem = QObject::tr("Kernel %1 was not measured: this time the program did not launch it with this shape where it was expected.")
                .arg(QString::fromStdString(facts.brief_name));
  if (!recorded.left_out.empty())
    problem =
        QObject::tr("Kernel %1 was not measured. %2").arg(QString::fromStdString(facts.brief_name), QString::fromStdString(recorded.left_out.front().reason));
  return nullptr;
}

}  // namespace

KernelProfiling::KernelProfiling(QObject* parent) : QObject(parent) {
  tick_.setInterval(kTick);
  connect(&tick_, &QTimer::timeout, this, [this] {
    emit progressed(tr("Reading the counters of %1 while the program runs: %2 s").arg(QString::fromStdString(facts_->brief_name)).arg(clock_.elapsed() / 1000));
  });
  patience_.setSingleShot(true);
  patience_.setInterval(kPatienceMs);
  connect(&patience_, &QTimer::timeout, &process_, &QProcess::kill);
  connect(&process_, &QProcess::readyReadStandardError, this, [this] { errors_ = (errors_ + process_.readAllStandardError()).right(kMostErrors); });
  connect(&process_, &QProcess::finished, this, &KernelProfiling::ended);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) end(tr("%1 could not be started: %2.").arg(run_.command.front(), process_.errorString()));
  });
}

KernelProfiling::~KernelProfiling() {
  process_.disconnect(this);
  if (process_.state() == QProcess::NotRunning) return;
  process_.terminate();
  if (process_.waitForFinished(kPatienceMs)) return;
  process_.kill();
  process_.waitForFinished();
}

KernelProfiling::Run KernelProfiling::plan(const KernelFacts& facts, const QString& trace_file) {
  Run run;
  const QFileInfo trace(trace_file);
  const QString folder = !trace_file.isEmpty() && QFileInfo(trace.absolutePath()).isWritable() ? trace.absolutePath() : QDir::tempPath();
  QString kernel = QString::fromStdString(facts.brief_name.substr(0, 40));
  static const QRegularExpression unfit(QStringLiteral("[^A-Za-z0-9_]+"));
  kernel.replace(unfit, QStringLiteral("_"));
  run.file = free_file(folder, (trace_file.isEmpty() ? QStringLiteral("kernel") : trace.completeBaseName()) + u'.' + kernel);
  const QString recorder = find_recorder();
  run.command = QStringList{recorder.isEmpty() ? QStringLiteral("lanescope") : recorder} + counters_command(facts, run.file);
  const TracePart* const part = part_of(*facts.trace, facts.trace->track_of(facts.event.lane));
  const Provenance& from = part == nullptr ? facts.trace->provenance() : part->provenance;
  if (from.part || from.attached_pid != 0)
    run.caution = tr("The recording begins later than the program, in which launches are counted: another launch of the kernel may be measured.");
  run.folder = facts.program && !facts.program->folder.empty() ? QString::fromStdString(facts.program->folder.string()) : QDir::currentPath();
  return run;
}

void KernelProfiling::start(std::shared_ptr<const KernelFacts> facts, const Run& run) {
  facts_ = std::move(facts);
  run_ = run;
  state_ = State::kRunning;
  errors_.clear();
  clock_.start();
  tick_.start();
  emit progressed(tr("Starting the program…"));
  process_.setWorkingDirectory(run.folder);
  process_.setStandardInputFile(QProcess::nullDevice());
  process_.setStandardOutputFile(QProcess::nullDevice());
  process_.setChildProcessModifier(session::give_back_inheritance);
  process_.start(run.command.front(), run.command.mid(1));
}

void KernelProfiling::cancel() {
  if (state_ == State::kReading) {
    reading_.cancel();
    return end(tr("The counters were not read. They are in %1.").arg(run_.file));
  }
  if (state_ != State::kRunning) return;
  state_ = State::kEnding;
  process_.terminate();
  patience_.start();
}

// Its last message about itself.
QString KernelProfiling::lastWords() const {
  const QStringList lines = QString::fromUtf8(errors_).split(u'\n', Qt::SkipEmptyParts);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (line->startsWith(u"lanescope: ")) return line->mid(11);
  return lines.isEmpty() ? QString() : lines.last();
}

void KernelProfiling::ended() {
  tick_.stop();
  patience_.stop();
  if (state_ == State::kEnding) return end(tr("The program was ended: no counters were read."));
  if (!QFileInfo(run_.file).isFile()) {
    const QString words = lastWords();
    return end(words.isEmpty() ? tr("The counters could not be read: the program ended with %1.").arg(process_.exitCode()) : words);
  }
  state_ = State::kReading;
  emit progressed(tr("Reading what was recorded…"));
  reading_.start([this, file = run_.file, facts = facts_, words = lastWords()](const LatestJob::Context& job) {
    QString problem;
    auto trace = read(file, *facts, problem);
    job.deliver([this, trace, problem, words, file, of = facts->trace] {
      if (trace) emit measured(trace, file, of);
      end(trace ? QString() : words.startsWith(u"Counters") ? words : problem);
    });
  });
}

void KernelProfiling::end(const QString& sentence) {
  tick_.stop();
  state_ = State::kIdle;
  facts_.reset();
  emit progressed({});
  if (!sentence.isEmpty()) emit failed(sentence);
}

}  // namespace lanescope::ui

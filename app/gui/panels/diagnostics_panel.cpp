#include "panels/diagnostics_panel.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include <QDateTime>
#include <QFontDatabase>
#include <QHeaderView>
#include <QLocale>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTextCharFormat>
#include <QVBoxLayout>

#include "base/text/condition_text.h"
#include "base/text/diagnostic_text.h"
#include "model/events/event_values.h"
#include "model/trace/compact/segment_check.h"
#include "model/trace/completeness.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/segments/scratch_memory.h"
#include "tables/quiet_focus.h"
#include "tables/table_look.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kExecutable = 6;                 // column in the list of processes
constexpr std::size_t kMostOutput = 4u << 20;  // bytes that are shown, because the layout of a text takes many times its size

// Qt's layout takes time quadratic in the length of a paragraph.
std::string with_short_lines(std::string_view text) {
  constexpr std::size_t kMostBytesOfLine = 2'000;  // bytes
  std::string lines;
  std::size_t length = 0;
  for (const char c : text) {
    const bool within_letter = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (length >= kMostBytesOfLine && c != '\n' && !within_letter) {
      lines += '\n';
      length = 0;
    }
    lines += c;
    length = c == '\n' ? 0 : length + 1;
  }
  return lines;
}

// Lines have the same height as those of tables.
class LineHeight : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return {QStyledItemDelegate::sizeHint(option, index).width(), line_height(*static_cast<const QAbstractItemView*>(parent()))};
  }
};

QTreeWidget* list_with(const QStringList& titles, const QString& name, QWidget* parent) {
  auto* list = new QuietFocus<QTreeWidget>(parent);
  list->setAccessibleName(name);
  list->setHeaderLabels(titles);
  list->setRootIsDecorated(false);
  list->setUniformRowHeights(true);
  list->setAlternatingRowColors(true);
  list->setSelectionMode(QAbstractItemView::ExtendedSelection);
  list->setFrameShape(QFrame::NoFrame);
  list->setItemDelegate(new LineHeight(list));
  return list;
}

// Returns the line of a list, which is added if it does not exist. These lists of a trace only grow.
QTreeWidgetItem* line_of(QTreeWidget& list, int line) {
  if (line < list.topLevelItemCount()) return list.topLevelItem(line);
  return new QTreeWidgetItem(&list);
}

void set_texts(QTreeWidgetItem& item, const QStringList& texts) {
  for (int column = 0; column < texts.size(); ++column) item.setText(column, texts[column]);
}

// Makes the first columns as wide as their content, with some room.
void fit_columns(QTreeWidget& list, int columns) {
  const int room = list.fontMetrics().averageCharWidth() * 2;
  for (int column = 0; column < columns; ++column) {
    list.resizeColumnToContents(column);
    list.setColumnWidth(column, list.columnWidth(column) + room);
  }
}

QString count_text(std::uint64_t count) { return QString::fromStdString(timeline::format_count(count)); }

QString severity_text(int severity) { return severity >= 2 ? QObject::tr("Error") : severity == 1 ? QObject::tr("Warning") : QObject::tr("Information"); }

QString escaped_row(const QString& label, const QString& value) {
  if (value.isEmpty()) return {};
  return QStringLiteral("<tr><td style='padding-right:12px'>%1</td><td>%2</td></tr>").arg(label.toHtmlEscaped(), value.toHtmlEscaped());
}

QString command_text(const std::vector<std::string>& command) {
  QStringList words;
  for (const std::string& word : command) {
    const QString text = QString::fromStdString(word);
    words += text.contains(u' ') ? u'"' + text + u'"' : text;
  }
  return words.join(u' ');
}

}  // namespace

QString event_place_text(const Trace& trace) {
  const QString count = count_text(trace.event_count());
  const auto bytes = [](std::uint64_t size) { return QString::fromStdString(timeline::format_bytes(size)); };
  if (has_memory_for_events(trace)) return QObject::tr("%1, in %2 of memory").arg(count, bytes(trace.memory_bytes()));
  if (holds_events(trace))
    return QObject::tr("%1, in %2 of memory, and %3 in a temporary file, as at most %4 of memory are for events (View > Memory for events)")
        .arg(count, bytes(trace.memory_bytes()), bytes(ScratchMemory::of_process().use().in_file), bytes(SegmentCache::of_process().budget()));
  const SegmentCache::Use use = SegmentCache::of_process().use();
  return QObject::tr("%1, read from the file when they are needed, into at most %2 of memory (View > Memory for events); %3 are used")
      .arg(count, bytes(use.budget), bytes(use.used));
}

QString process_end_text(const Process& process) {
  switch (process.end_kind) {
    case ProcessEndKind::kExited:
      return QObject::tr("exited with %1").arg(process.exit_code);
    case ProcessEndKind::kSignaled:
      return QObject::tr("ended by signal %1 (%2)").arg(process.signal).arg(QString::fromLocal8Bit(strsignal(process.signal)));
    case ProcessEndKind::kDetached:
      return QObject::tr("still running when the recording stopped");
    case ProcessEndKind::kLost:
      return QObject::tr("disappeared; how it ended is not known");
    case ProcessEndKind::kReplaced:
      return QObject::tr("became another program (exec)");
    case ProcessEndKind::kUnknown:
      return QObject::tr("not known");
  }
  return {};
}

DiagnosticsPanel::DiagnosticsPanel(SelectionState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      tabs_(new QTabWidget(this)),
      recording_(new QTextBrowser(this)),
      processes_(list_with({tr("Process"), tr("How It Ended"), tr("Records"), tr("Dropped Records"), tr("Late"), tr("Invalid"), tr("Executable")},
                           tr("Processes"), this)),
      missing_(new QLabel(this)),
      messages_(list_with({tr("Time"), tr("Severity"), tr("Process"), tr("Message")}, tr("Messages"), this)),
      output_(new QPlainTextEdit(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(tabs_);
  tabs_->setDocumentMode(true);
  auto* page = new QWidget(this);
  auto* lines = new QVBoxLayout(page);
  lines->setContentsMargins(0, 0, 0, 0);
  lines->setSpacing(0);
  lines->addWidget(missing_);
  lines->addWidget(processes_, 1);
  missing_->setObjectName(QStringLiteral("missing"));
  missing_->setContentsMargins(8, 3, 8, 3);
  missing_->setWordWrap(true);
  missing_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  missing_->hide();
  tabs_->addTab(page, tr("Processes"));
  tabs_->addTab(messages_, tr("Messages"));
  tabs_->addTab(output_, tr("Output"));
  tabs_->addTab(recording_, tr("Recording"));
  recording_->setFrameShape(QFrame::NoFrame);
  connect(tabs_, &QTabWidget::currentChanged, this, [this] {  // the present resource use is shown
    if (state_.trace() && tabs_->currentWidget() == recording_) showRecording(*state_.trace());
  });
  output_->setReadOnly(true);
  output_->setFrameShape(QFrame::NoFrame);
  output_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  output_->setAccessibleName(tr("Output of the target"));
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return while_shown_.soon();
    processes_->clear();
    missing_->hide();
    messages_->clear();
    recording_->clear();
    output_->clear();
    shown_output_ = 0;
    shown_bytes_ = 0;
    job_.cancel();
    has_looked_ = false;
    damage_.clear();
    while_shown_.atOnce();
  });
}

void DiagnosticsPanel::setRecording(Recording recording) {
  if (std::exchange(now_, recording) != recording) while_shown_.atOnce();
}

void DiagnosticsPanel::setFiles(std::vector<std::filesystem::path> files) {
  if (files == files_) return;
  job_.cancel();
  files_ = std::move(files);
  has_looked_ = false;
  damage_.clear();
  while_shown_.atOnce();
}

void DiagnosticsPanel::look(const Trace& trace) {
  if (now_ == Recording::kGoesOn || holds_events(trace) || files_.empty() || std::exchange(has_looked_, true)) return;
  job_.start([this, files = files_, known = trace.provenance().condition](const LatestJob::Context& job) {
    std::vector<std::string> found;
    for (const std::filesystem::path& file : files) {
      if (job.stop().stop_requested()) return;
      const std::string damage = damaged_segments(file);
      if (damage.empty() || known.find(damage) != std::string::npos) continue;
      found.push_back(files.size() > 1 ? file.filename().string() + ": " + damage : damage);
    }
    job.deliver([this, found = std::move(found)] {
      damage_ = found;
      while_shown_.atOnce();
      if (!damage_.empty()) emit damageFound();
    });
  });
}

void DiagnosticsPanel::show() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace) return;
  look(*trace);
  showRecording(*trace);
  showProcesses(*trace);
  showMessages(*trace);
  showOutput(*trace);
  tabs_->setTabText(1, messages_->topLevelItemCount() == 0 ? tr("Messages") : tr("Messages (%1)").arg(messages_->topLevelItemCount()));
}

void DiagnosticsPanel::showRecording(const Trace& trace) {
  const Provenance& from = trace.provenance();
  QString rows =
      escaped_row(tr("Format"), QString::fromStdString(from.format)) + escaped_row(tr("Recorded by"), QString::fromStdString(from.producer)) +
      escaped_row(tr("Host"), QString::fromStdString(from.host_name)) + escaped_row(tr("Operating system"), QString::fromStdString(from.operating_system)) +
      escaped_row(tr("Processors"), QString::fromStdString(processors_text(from))) +
      escaped_row(tr("NVIDIA driver"), QString::fromStdString(from.driver_version)) + escaped_row(tr("Options"), QString::fromStdString(from.options)) +
      escaped_row(tr("Command"), command_text(from.command)) + escaped_row(tr("Working directory"), QString::fromStdString(from.working_directory));
  if (from.utc_epoch != 0)
    rows += escaped_row(tr("Began"), QLocale().toString(QDateTime::fromMSecsSinceEpoch(from.utc_epoch / 1'000'000), QLocale::LongFormat));
  rows += escaped_row(tr("Spans"), QString::fromStdString(timeline::format_duration(trace.extent().length())));
  rows += escaped_row(tr("Events"), event_place_text(trace));
  Message condition = condition_message(from.condition);
  for (const std::string& damage : damage_) condition = followed_by(std::move(condition), condition_message(damage));
  rows += escaped_row(tr("Condition"), shown_text(condition));
  const timeline::GpuNames names(trace);
  for (GpuId id = 0; id < trace.gpus().size(); ++id) {
    const Gpu& gpu = trace.gpus()[id];
    QString text = QString::fromStdString(gpu.name);
    if (gpu.compute_major > 0) text += tr(", compute capability %1.%2").arg(gpu.compute_major).arg(gpu.compute_minor);
    if (gpu.multiprocessor_count > 0) text += tr(", %1 multiprocessors").arg(gpu.multiprocessor_count);
    if (gpu.memory_bytes > 0) text += QStringLiteral(", ") + QString::fromStdString(timeline::format_bytes(gpu.memory_bytes));
    rows += escaped_row(QString::fromStdString(names.of(id)), text);
  }
  const int place = recording_->verticalScrollBar()->value();
  recording_->setHtml(QStringLiteral("<table cellspacing='0' cellpadding='2'>%1</table>").arg(rows));
  recording_->verticalScrollBar()->setValue(place);
}

void DiagnosticsPanel::showProcesses(const Trace& trace) {
  // Of all processes, also what is not counted for each: records are what processes wrote, stacks and samples were read from outside.
  const bool is_missing = now_ == Recording::kIsOver && !missing_text(trace).empty();
  missing_->setText(is_missing ? shown_text(completeness_message(completeness_text(trace))) : QString());
  missing_->setVisible(is_missing);
  const int known = processes_->topLevelItemCount();
  for (ProcessId id = 0; id < trace.processes().size(); ++id) {
    const Process& process = trace.processes()[id];
    const Completeness& counts = process.completeness;
    QTreeWidgetItem* item = line_of(*processes_, static_cast<int>(id));
    const bool runs = now_ == Recording::kGoesOn && process.end_kind == ProcessEndKind::kUnknown;
    set_texts(*item,
              {isolated(QString::fromStdString(process_label(trace, id))), runs ? tr("still running") : process_end_text(process), count_text(counts.produced),
               count_text(counts.dropped), count_text(counts.late), count_text(counts.invalid), QString::fromStdString(process.executable)});
    item->setToolTip(kExecutable, QString::fromStdString(process.executable));
    for (int column = 2; column < kExecutable; ++column) item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
  }
  if (processes_->topLevelItemCount() != known) fit_columns(*processes_, processes_->columnCount() - 1);
}

void DiagnosticsPanel::showMessages(const Trace& trace) {
  const int known = messages_->topLevelItemCount();
  const bool is_translated = &shown_language() != &english();
  int line = 0;
  for (const DiagnosticMessage& message : trace.diagnostics()) {
    const QString process = message.process == kNone ? QString() : isolated(QString::fromStdString(process_label(trace, message.process)));
    QTreeWidgetItem* item = line_of(*messages_, line++);
    const QString text = is_translated ? shown_text(diagnostic_message(message.text)) : QString::fromStdString(message.text);
    set_texts(*item, {QString::fromStdString(timeline::format_time(message.time, 1'000'000)), severity_text(message.severity), process, text});
    item->setToolTip(3, text);
  }
  if (messages_->topLevelItemCount() != known) fit_columns(*messages_, messages_->columnCount() - 1);
}

void DiagnosticsPanel::showOutput(const Trace& trace) {
  QTextCursor cursor(output_->document());
  cursor.movePosition(QTextCursor::End);
  const bool at_end = output_->verticalScrollBar()->value() == output_->verticalScrollBar()->maximum();
  const auto& output = trace.output();
  std::size_t fresh = 0;
  for (std::size_t i = shown_output_; i < output.size(); ++i) fresh += output[i].bytes.size();
  if (shown_bytes_ + fresh > kMostOutput) {  // only its end is shown
    cursor.select(QTextCursor::Document);
    cursor.insertText(tr("(What was printed before this is left out here.)\n"), QTextCharFormat());
    shown_bytes_ = 0;
    std::size_t kept = 0;
    for (shown_output_ = output.size(); shown_output_ > 0 && kept < kMostOutput / 2;) kept += output[--shown_output_].bytes.size();
  }
  for (; shown_output_ < output.size(); ++shown_output_) {
    const OutputText& piece = output[shown_output_];
    QTextCharFormat format;
    if (piece.standard_error) format.setForeground(palette().brush(QPalette::Link));
    const std::string_view all = piece.bytes;
    const std::string_view text = all.substr(all.size() - std::min(all.size(), kMostOutput / 2));
    cursor.insertText(QString::fromStdString(with_short_lines(text)), format);
    shown_bytes_ += text.size();
  }
  if (at_end) output_->verticalScrollBar()->setValue(output_->verticalScrollBar()->maximum());
}

}  // namespace lanescope::ui

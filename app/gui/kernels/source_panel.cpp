#include "kernels/source_panel.h"

#include <algorithm>
#include <map>
#include <utility>

#include <QFileDialog>
#include <QHBoxLayout>
#include <QScopedValueRollback>
#include <QShortcut>
#include <QSplitter>
#include <QVBoxLayout>

#include "base/input/leave_field.h"
#include "base/text/texts.h"
#include "kernels/count_columns.h"
#include "kernels/disassembler.h"
#include "kernels/kernel_facts.h"
#include "model/file/last_path_part.h"
#include "tables/table_place.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kSearchWidth = 220;                // maximum, px
constexpr qsizetype kMostCharacters = 32 << 20;  // of all sources of a kernel; further files count as not found
constexpr qsizetype kLongestLine = 1000;         // characters that are shown, because painting time grows with the length of a line
constexpr std::uint32_t kAround = 12;            // lines of a file that are shown around lines with instructions

// The reason of most samples, among those that can be remedied.
QString reason_of(const std::vector<kernels::StallCount>& stalls) {
  for (const kernels::StallCount& stall : stalls)
    if (stall.reason != "selected" && stall.reason != "not_selected") return text_of(stall.reason);
  return {};
}

QString tip_of(const std::vector<kernels::StallCount>& stalls, std::uint64_t samples) {
  QStringList rows;
  for (const kernels::StallCount& stall : stalls) {
    const kernels::StallMeaning meaning = kernels::stall_meaning(stall.reason);
    rows += QStringLiteral("%1 %  %2%3")
                .arg(100.0 * static_cast<double>(stall.samples) / static_cast<double>(std::max<std::uint64_t>(1, samples)), 0, 'f', 0)
                .arg(text_of(stall.reason), meaning.waits_for.empty() ? QString() : QStringLiteral(": ") + shown_text(meaning.waits_for));
  }
  return rows.join(u'\n');
}

QString file_name(const std::string& path) { return text_of(last_path_part(path)); }

}  // namespace

SourcePanel::SourcePanel(SelectionState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      search_(new QLineEdit(this)),
      next_(new QToolButton(this)),
      folder_(new QToolButton(this)),
      note_(new QLabel(this)),
      lines_(new CodeTable(tr("Source lines"), this)),
      instructions_(new CodeTable(tr("Instructions"), this)) {
  layOut();
  connect(&state, &SelectionState::selectedEventChanged, this, &SourcePanel::followSelection);
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) {
      job_.cancel();
      asked_ = {};
      present(nullptr, {});
    }
    while_shown_.soon();
  });
  while_shown_.after(job_);
  connect(next_, &QToolButton::clicked, this, &SourcePanel::showNextHotSpot);
  connect(folder_, &QToolButton::clicked, this, &SourcePanel::chooseFolder);
  connect(search_, &QLineEdit::returnPressed, this, &SourcePanel::search);
  leave_with_escape(*search_, [this] { lines_->setFocus(Qt::ShortcutFocusReason); });
  connect(lines_, &CodeTable::rowChosen, this, &SourcePanel::markInstructions);
  connect(instructions_, &CodeTable::rowChosen, this, &SourcePanel::markLine);
  connect(lines_, &QAbstractItemView::activated, this, [this](const QModelIndex& index) {
    const auto [file, line] = places_[static_cast<std::size_t>(index.row())];
    if (code_ && file != kernels::kNoFile) emit sourceRequested(QString::fromStdString(code_->code.files[file]), line);
  });
  auto* key = new QShortcut(QKeySequence(Qt::Key_N), this);
  key->setContext(Qt::WidgetWithChildrenShortcut);
  connect(key, &QShortcut::activated, this, &SourcePanel::showNextHotSpot);
  present(nullptr, {});
}

void SourcePanel::layOut() {
  search_->setPlaceholderText(tr("Search code"));
  search_->setAccessibleName(tr("Search code"));
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(kSearchWidth);
  next_->setText(tr("Next hot spot"));
  next_->setToolTip(tr("The line with the next most samples, or instructions executed (N)"));
  next_->setAutoRaise(true);
  folder_->setText(tr("Source folder…"));
  folder_->setToolTip(tr("The folder that has the sources, where they are no longer in the one in which the program was built"));
  folder_->setAutoRaise(true);
  note_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  note_->setWordWrap(true);
  note_->setMinimumWidth(0);
  note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(4, 2, 4, 2);
  for (QWidget* part : std::initializer_list<QWidget*>{search_, next_, folder_}) row->addWidget(part);
  row->addWidget(note_, 1);
  column->addLayout(row);
  auto* parts = new QSplitter(Qt::Horizontal, this);
  parts->setObjectName(QStringLiteral("sourceParts"));
  parts->addWidget(lines_);
  parts->addWidget(instructions_);
  parts->setChildrenCollapsible(false);
  parts->setStretchFactor(0, 3);
  parts->setStretchFactor(1, 2);
  column->addWidget(parts, 1);
}

void SourcePanel::setSourceFolders(const QStringList& folders) {
  if (folders == folders_) return;
  folders_ = folders;
  while_shown_.soon();
}

// If the code of another kernel is being read, it is not waited for.
void SourcePanel::followSelection() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  const EventRef kernel = trace ? kernel_of(*trace, state_.selectedEvent()) : EventRef();
  if (kernel.valid() && job_.isRunning() && asked_.kernel != trace->name(trace->event(kernel).name)) {
    job_.cancel();
    asked_ = {};
    if (code_) asked_ = {code_->trace, code_->kernel, folders_};
  }
  while_shown_.soon();
}

// If the selection has no kernel, the last kernel stays visible.
void SourcePanel::compute() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace || trace->provenance().outline_only) return;
  const EventRef kernel = kernel_of(*trace, state_.selectedEvent());
  if (!kernel.valid()) return;
  const NameId name = trace->event(kernel).name;
  const ProcessId process = kernels::process_with_code(*trace, trace->track_of(kernel.lane).key.process, name);
  Wanted wanted{trace, std::string(trace->name(name)), folders_};
  if (wanted == asked_) return;  // it is shown, is being read, or cannot be read
  asked_ = std::move(wanted);
  job_.start([this, trace, process, name, folders = folders_](const LatestJob::Context& job) {
    Result<kernels::KernelCode> read = kernels::kernel_code(*trace, process, name);
    if (!read) {
      const QString failure = shown_text(read.error().text);
      return job.deliver([this, failure] { present(nullptr, failure); });
    }
    auto code = std::make_shared<Code>(Code{trace, std::string(trace->name(name)), std::move(*read), {}, false, false});
    qsizetype characters = 0;
    for (const std::string& file : code->code.files) {
      std::optional<SourceText> source = characters < kMostCharacters ? read_source(*trace, file, folders) : std::nullopt;
      if (source)
        for (const QString& line : source->lines) characters += line.size() + 1;
      code->sources.push_back(std::move(source));
    }
    const QString disassembler = find_disassembler();
    code->has_disassembler = !disassembler.isEmpty();
    const std::string* const image = kernels::code_image(*trace, process, code->code.crc);
    if (!disassembler.isEmpty() && image != nullptr)
      if (const auto texts = disassemble(disassembler, *image, code->code, job.stop())) {
        kernels::apply_disassembly(*texts, code->code);
        code->has_operands = true;
      }
    job.deliver([this, code] { present(code, {}); });
  });
}

void SourcePanel::present(std::shared_ptr<const Code> code, const QString& failure) {
  const bool is_read_on = code && code_ && code_->kernel == code->kernel && lines_->chosenRow() >= 0;
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> places_before = places_;
  const int instructions_before = instructions_->code().rowCount();
  const TablePlace in_lines(*lines_), in_instructions(*instructions_);
  code_ = std::move(code);
  showNote(failure);
  showLines();
  showInstructions();
  for (QWidget* part : std::initializer_list<QWidget*>{search_, next_}) part->setEnabled(code_ != nullptr);
  if (!code_ || chooseWanted()) return;
  if (!is_read_on) return showNextHotSpot();
  // The same kernel in a later state of the trace: the user's place in the code is kept.
  const QScopedValueRollback follows(follows_, true);
  std::vector<int> now;
  for (const int line : in_lines.lines()) {
    const auto same = std::find(places_.begin(), places_.end(), places_before[static_cast<std::size_t>(line)]);
    now.push_back(same == places_.end() ? TablePlace::kGone : static_cast<int>(same - places_.begin()));
  }
  in_lines.restore(*lines_, now);
  if (instructions_->code().rowCount() == instructions_before) in_instructions.restore(*instructions_, in_instructions.lines());
}

void SourcePanel::showLine(const QString& place) {
  wanted_ = place;
  const std::shared_ptr<const Trace>& trace = state_.trace();
  const EventRef kernel = trace ? kernel_of(*trace, state_.selectedEvent()) : EventRef();
  const bool is_shown = code_ && kernel.valid() && code_->trace == trace && code_->kernel == trace->name(trace->event(kernel).name);
  if (is_shown) static_cast<void>(chooseWanted());
}

bool SourcePanel::chooseWanted() {
  const QString wanted = std::exchange(wanted_, {}).section(QStringLiteral(" < "), 0, 0);
  if (wanted.isEmpty()) return false;
  for (std::size_t row = 0; row < places_.size(); ++row) {
    const auto [file, line] = places_[row];
    if (file == kernels::kNoFile || QStringLiteral("%1:%2").arg(text_of(code_->code.file_names[file])).arg(line) != wanted) continue;
    lines_->chooseRow(static_cast<int>(row));
    return true;
  }
  return false;
}

void SourcePanel::showNote(const QString& failure) {
  QString text = failure;
  if (!code_ && failure.isEmpty()) text = tr("Select a kernel, or a call that launches one.");
  if (code_) {
    const QString kernel = QString::fromStdString(code_->kernel.substr(0, code_->kernel.find('(')));
    const std::uint64_t executed = code_->code.counts.of(kernels::Count::kExecuted);
    const QString samples = QString::fromStdString(timeline::format_count(code_->code.samples));
    text = executed == 0              ? tr("%1: %2 samples").arg(kernel, samples)
           : code_->code.samples == 0 ? tr("%1: %2 instructions executed").arg(kernel, short_number(executed))
                                      : tr("%1: %2 samples, %3 instructions executed").arg(kernel, samples, short_number(executed));
    const bool has_lines = !code_->code.files.empty();
    QStringList missing, changed;
    for (std::size_t i = 0; i < code_->sources.size(); ++i) {
      const auto compiled = static_cast<qint64>(code_->code.file_bytes[i]);
      if (!code_->sources[i])
        missing += file_name(code_->code.files[i]);
      else if (compiled != 0 && compiled != code_->sources[i]->bytes)
        changed += file_name(code_->code.files[i]);
    }
    if (!has_lines) text += tr(" · without lines: compile with -lineinfo");
    if (!changed.isEmpty()) text += tr(" · changed since it was compiled, so lines may be others: %1").arg(changed.join(QStringLiteral(", ")));
    if (!missing.isEmpty()) text += tr(" · not found: %1; choose its folder").arg(missing.join(QStringLiteral(", ")));
    if (!code_->has_operands)
      text += code_->has_disassembler ? tr(" · opcodes only: nvdisasm could not read this code") : tr(" · opcodes only: nvdisasm was not found");
  }
  note_->setText(text);
  note_->setToolTip(text);
}

// For each file the lines around those with instructions; only the latter if its text is missing.
void SourcePanel::showLines() {
  std::vector<CodeRow> rows;
  const CountColumns counts(code_ ? code_->code.counts : kernels::Counts());
  places_.clear();
  const auto heading = [&](const QString& text) {
    rows.push_back({{}, text, 0, {}, {}, false});
    places_.emplace_back(kernels::kNoFile, 0);
  };
  if (code_) {
    const kernels::KernelCode& code = code_->code;
    std::map<std::uint32_t, std::map<std::uint32_t, const kernels::CodeLine*>> files;
    for (const kernels::CodeLine& line : code.lines) files[line.file][line.line] = &line;
    for (const auto& [file, lines] : files) {
      const std::optional<SourceText>& source = code_->sources[file];
      heading(source ? source->path : QString::fromStdString(code.files[file]));
      const auto add = [&](std::uint32_t number, const kernels::CodeLine* line) {
        CodeRow row;
        row.place = QString::number(number);
        if (source && number >= 1 && number <= source->lines.size())
          row.text = source->lines[number - 1].left(kLongestLine).replace(u'\t', QStringLiteral("    "));
        if (line != nullptr) {
          row.share = static_cast<double>(line->samples) / static_cast<double>(std::max<std::uint64_t>(1, code.samples));
          row.reason = reason_of(line->stalls);
          row.tip = tip_of(line->stalls, line->samples);
          row.numbers = counts.numbers(line->counts);
        }
        rows.push_back(std::move(row));
        places_.emplace_back(file, number);
      };
      std::uint32_t next = 1;  // the next line to show
      for (const auto& [number, line] : lines) {
        if (source) {
          const std::uint32_t from = std::max(next, number > kAround ? number - kAround : 1);
          if (from > next && next > 1) heading(QStringLiteral("⋯"));
          for (std::uint32_t before = from; before < number; ++before) add(before, nullptr);
        }
        add(number, line);
        next = number + 1;
        if (!source) continue;
        const auto following = lines.upper_bound(number);
        const std::uint32_t until = std::min<std::uint32_t>(following == lines.end() ? number + kAround : std::min(following->first - 1, number + kAround),
                                                            static_cast<std::uint32_t>(source->lines.size()));
        for (; next <= until; ++next) add(next, nullptr);
      }
    }
  }
  lines_->code().setRows(std::move(rows), counts.titles());
}

void SourcePanel::showInstructions() {
  std::vector<CodeRow> rows;
  const CountColumns counts(code_ ? code_->code.counts : kernels::Counts());
  if (code_)
    for (const kernels::CodeInstruction& instruction : code_->code.instructions) {
      CodeRow row;
      row.place = QStringLiteral("%1").arg(instruction.pc, 4, 16, QLatin1Char('0'));
      row.text = QString::fromStdString(instruction.text);
      row.share = static_cast<double>(instruction.samples) / static_cast<double>(std::max<std::uint64_t>(1, code_->code.samples));
      row.reason = reason_of(instruction.stalls);
      row.tip = tip_of(instruction.stalls, instruction.samples);
      row.numbers = counts.numbers(instruction.counts);
      if (!instruction.inlined_into.empty())
        row.tip += (row.tip.isEmpty() ? QString() : QStringLiteral("\n")) + tr("inlined into %1").arg(QString::fromStdString(instruction.inlined_into));
      if (const auto stride = kernels::stride_of(instruction.counts, instruction.access_bytes))
        row.tip += (row.tip.isEmpty() ? QString() : QStringLiteral("\n")) + tr("stride between threads: %1").arg(shown_text(kernels::stride_text(*stride)));
      rows.push_back(std::move(row));
    }
  instructions_->code().setRows(std::move(rows), counts.titles());
}

void SourcePanel::markInstructions(int line_row) {
  if (!code_ || line_row < 0 || static_cast<std::size_t>(line_row) >= places_.size()) return;
  const auto [file, line] = places_[static_cast<std::size_t>(line_row)];
  std::vector<int> rows;
  int hottest = -1;
  const std::vector<kernels::CodeInstruction>& all = code_->code.instructions;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (file == kernels::kNoFile || all[i].file != file || all[i].line != line) continue;
    rows.push_back(static_cast<int>(i));
    if (hottest < 0 || all[i].samples > all[static_cast<std::size_t>(hottest)].samples) hottest = static_cast<int>(i);
  }
  instructions_->code().mark(std::move(rows));
  if (follows_ || hottest < 0) return;
  follows_ = true;
  instructions_->chooseRow(hottest);
  follows_ = false;
}

void SourcePanel::markLine(int instruction_row) {
  if (!code_ || follows_ || instruction_row < 0) return;
  const kernels::CodeInstruction& instruction = code_->code.instructions[static_cast<std::size_t>(instruction_row)];
  const auto place = std::find(places_.begin(), places_.end(), std::pair(instruction.file, instruction.line));
  if (instruction.file == kernels::kNoFile || place == places_.end()) return;
  follows_ = true;
  lines_->chooseRow(static_cast<int>(place - places_.begin()));
  follows_ = false;
}

void SourcePanel::showNextHotSpot() {
  CodeTable& table = lines_->nextHotRow() >= 0 ? *lines_ : *instructions_;
  table.chooseRow(table.nextHotRow());
}

// In the table that has the focus or had it last; lines first.
void SourcePanel::search() {
  for (CodeTable* table : {lines_, instructions_})
    if (const int row = table->find(search_->text()); row >= 0) return table->chooseRow(row);
  search_->selectAll();
}

void SourcePanel::chooseFolder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of sources"));
  if (folder.isEmpty()) return;
  QStringList folders = folders_;
  folders.removeAll(folder);
  folders.prepend(folder);
  setSourceFolders(folders);
  emit sourceFoldersChanged(folders_);
}

}  // namespace lanescope::ui

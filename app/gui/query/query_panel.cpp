#include "query/query_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QFontDatabase>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QRegularExpression>
#include <QShortcut>

#include "analysis/place.h"
#include "base/room/elided_label.h"
#include "base/text/texts.h"
#include "model/trace/segments/demanded_segments.h"
#include "tables/panel_layout.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kMostAnswers = 200'000;  // rows that are sorted without delay; the command line prints all
constexpr std::size_t kAnswerBins = 60;
constexpr int kEditorWidth = 430;       // px initially
constexpr int kResultWidth = 700;       // px initially
constexpr int kResultChartWidth = 240;  // px initially

// The ranges of the answer, each with its first text. Null if the rows have no times. `shift`: from its times to times that are shown.
std::shared_ptr<const timeline::AnswerRow> row_of(const stats::Table& table, Nanoseconds shift) {
  const auto text = std::find_if(table.columns().begin(), table.columns().end(), [](const stats::Column& column) { return column.has_texts(); });
  const auto text_at = [&](TableRow row) { return text == table.columns().end() ? std::string() : std::string(table.text(text->text(row))); };
  std::vector<timeline::AnsweredRange> ranges;
  for (TableRow row = 0; row < table.row_count(); ++row)
    if (const std::optional<TimeRange> time = time_of_row(table, row)) ranges.push_back({{time->begin + shift, time->end + shift}, text_at(row)});
  if (ranges.empty()) return nullptr;
  const std::string count = timeline::format_counted(ranges.size(), "range").in(shown_language());
  return std::make_shared<const timeline::AnswerRow>(QueryPanel::tr("Answer: %1").arg(QString::fromStdString(count)).toStdString(), std::move(ranges));
}

QString tables_text() {
  QStringList lines;
  for (const query::QueryTable& table : query::query_tables()) {
    QStringList columns;
    for (const std::string_view column : table.columns) columns += text_of(column);
    lines += QStringLiteral("<p><b>%1</b>: %2</p>").arg(text_of(table.name), columns.join(QStringLiteral(", ")));
  }
  return lines.join(QString());
}

}  // namespace

QueryPanel::QueryPanel(SelectionState& state, AnsweredTrace& answered, Settings& settings, QWidget* parent)
    : QWidget(parent),
      state_(state),
      answered_(answered),
      settings_(settings),
      of_(new AnsweredTraceBox(answered, this)),
      ready_(new QComboBox(this)),
      recent_(new QToolButton(this)),
      editor_(new QPlainTextEdit(this)),
      ask_(new QPushButton(tr("Run query"), this)),
      stop_(new QPushButton(tr("Stop"), this)),
      message_(new ElidedLabel(this)),
      failure_(new QLabel(this)),
      table_(new ResultTable(QStringLiteral("query-answer"), tr("Answer"), this)),
      chart_(new DurationChart(this)),
      on_timeline_(new QCheckBox(tr("On the timeline"), this)) {
  layOut();
  for (const query::ReadyQuery& ready : query::ready_queries()) ready_->addItem(shown_text(ready.title), text_of(ready.sql));
  connect(ready_, &QComboBox::activated, this, [this](int index) {
    write(ready_->itemData(index).toString());
    ask();
  });
  connect(ask_, &QPushButton::clicked, this, &QueryPanel::ask);
  connect(stop_, &QPushButton::clicked, this, &QueryPanel::stop);
  connect(recent_->menu(), &QMenu::aboutToShow, this, &QueryPanel::fillRecent);
  editor_->installEventFilter(this);
  connect(on_timeline_, &QCheckBox::toggled, this, &QueryPanel::showRow);
  auto* key = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this);
  key->setContext(Qt::WidgetWithChildrenShortcut);
  connect(key, &QShortcut::activated, this, &QueryPanel::ask);
  connect(&job_, &LatestJob::runningChanged, stop_, &QPushButton::setEnabled);
  while_shown_.after(job_);
  connect(&answered, &AnsweredTrace::changed, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) {
      job_.cancel();
      clear();
      showHint();
    }
    while_shown_.soon();
  });
  connect(&state, &SelectionState::boundRangeChanged, &while_shown_, &WhileShown::soon);
  connect(table_, &ResultTable::rowChosen, this, &QueryPanel::showPlace);
  connect(table_->selectionModel(), &QItemSelectionModel::currentColumnChanged, this, &QueryPanel::showHistogram);
  showHint();
}

void QueryPanel::layOut() {
  const auto [column, line] = lay_out(*this);
  for (QWidget* part : std::initializer_list<QWidget*>{of_, ready_, recent_, ask_, stop_, on_timeline_}) line->addWidget(part);
  line->addWidget(message_, 1);
  column->addWidget(failure_);
  const std::pair<QWidget*, int> parts[] = {{editor_, kEditorWidth}, {table_, kResultWidth}, {chart_, kResultChartWidth}};
  column->addWidget(beside_each_other(*this, QStringLiteral("query-parts"), parts), 1);

  ready_->setAccessibleName(tr("Prepared queries"));
  ready_->setPlaceholderText(tr("Prepared queries"));
  ready_->setCurrentIndex(-1);
  ready_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  recent_->setText(tr("Recent"));
  recent_->setToolTip(tr("What was asked before; Up in the first line of the field brings it back, too"));
  recent_->setPopupMode(QToolButton::InstantPopup);
  recent_->setMenu(new QMenu(recent_));
  recent_->menu()->setToolTipsVisible(true);
  editor_->setAccessibleName(tr("SQL query"));
  editor_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  editor_->setPlaceholderText(
      QStringLiteral("SELECT short_name, count(*), sum(duration)\nFROM kernels\nWHERE start >= :begin AND start < :end\nGROUP BY 1 ORDER BY 3 DESC"));
  editor_->setToolTip(tr("<p>SELECT statements of SQLite over these tables. :begin and :end are the selected part of time, or all of it; "
                         "family(name) takes the counters out of a name.</p>") +
                      tables_text());
  editor_->setTabChangesFocus(true);
  editor_->setMinimumWidth(160);
  chart_->setMinimumSize(kResultChartWidth / 2, 60);
  chart_->hide();
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  message_->setTextFormat(Qt::PlainText);
  failure_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  failure_->setTextFormat(Qt::PlainText);
  failure_->setWordWrap(true);
  failure_->setContentsMargins(8, 0, 8, 3);
  failure_->setAccessibleName(tr("Why the query has no answer"));
  failure_->hide();
  stop_->setEnabled(false);
  on_timeline_->setEnabled(false);
  on_timeline_->setToolTip(tr("Shows each row that has a start with a duration or an end as a range on the timeline, above all other rows."));
  setFocusProxy(editor_);
}

void QueryPanel::ask() {
  asked_ = editor_->toPlainText();
  recalled_ = -1;
  if (asked_.trimmed().isEmpty()) {
    asked_.clear();
    return showMessage(tr("Write a query, or choose one of the prepared queries."));
  }
  if (ready_->findData(asked_) < 0) settings_.addQuery(asked_);
  asked_of_.reset();
  while_shown_.atOnce();
}

void QueryPanel::write(const QString& sql) {
  QTextCursor all(editor_->document());
  all.select(QTextCursor::Document);
  all.insertText(sql);
}

// As in a shell: in the first line, Up recalls earlier queries; in the last line, Down recalls later ones, and finally the draft.
bool QueryPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched != editor_ || event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool is_up = key->key() == Qt::Key_Up, is_down = key->key() == Qt::Key_Down;
  if ((!is_up && !is_down) || (key->modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return false;
  QTextCursor cursor = editor_->textCursor();
  if (cursor.movePosition(is_up ? QTextCursor::Up : QTextCursor::Down)) return false;
  return recall(is_up ? Direction::kEarlier : Direction::kLater);
}

bool QueryPanel::recall(Direction direction) {
  const QStringList asked = settings_.queries();
  if (recalled_ >= 0 && (recalled_ >= asked.size() || asked[recalled_] != editor_->toPlainText())) recalled_ = -1;  // it was edited since, so it is a draft
  qsizetype wanted = recalled_ + (direction == Direction::kEarlier ? 1 : -1);
  if (recalled_ < 0 && direction == Direction::kEarlier) {
    if (!asked.isEmpty() && asked.first() == editor_->toPlainText()) ++wanted;  // it is in the field already
    draft_ = editor_->toPlainText();
  }
  if (wanted < -1 || wanted >= asked.size()) return false;
  recalled_ = wanted;
  write(wanted < 0 ? draft_ : asked[wanted]);
  editor_->moveCursor(direction == Direction::kEarlier ? QTextCursor::Start : QTextCursor::End);
  return true;
}

void QueryPanel::fillRecent() {
  constexpr qsizetype kMost = 20;
  constexpr int kWidthInCharacters = 100;
  QMenu& menu = *recent_->menu();
  menu.clear();
  for (const QString& sql : settings_.queries().first(std::min(kMost, settings_.queries().size()))) {
    const QString line = fontMetrics().elidedText(sql.simplified(), Qt::ElideRight, fontMetrics().averageCharWidth() * kWidthInCharacters);
    QAction* action = menu.addAction(QString(line).replace(u'&', QStringLiteral("&&")), this, [this, sql] {
      write(sql);
      ask();
    });
    action->setToolTip(QStringLiteral("<pre>%1</pre>").arg(sql.toHtmlEscaped()));
  }
  if (menu.isEmpty()) menu.addAction(tr("Nothing was asked yet."))->setEnabled(false);
}

void QueryPanel::stop() {
  asked_.clear();  // until the user asks again
  while_shown_.cancel();
  job_.cancel();
  showMessage(tr("Stopped."));
}

QueryPanel::Asked QueryPanel::now() const { return {answered_.subject(), answered_.boundRange(), answered_.shown(TimeRange{0, 1}).begin}; }

void QueryPanel::refresh() {
  if (asked_.isEmpty()) return;
  Asked wanted = now();
  if (asked_of_ && time_ != query::TimeUse::kOfWindow) wanted.window = asked_of_->window;
  if (wanted != asked_of_) answer();
}

// There is no answer, or none about the shown trace.
void QueryPanel::clear() {
  asked_of_.reset();
  made_of_ = {};
  row_ = nullptr;
  table_->setTable(nullptr);
  chart_->hide();
  showRow();
}

void QueryPanel::answer() {
  const Asked of = now();
  const std::shared_ptr<const Trace>& trace = of.subject.trace;
  if (!trace || trace->provenance().outline_only) {
    clear();
    return showMessage(trace ? tr("Only the outline of the trace is loaded so far.") : tr("Open a trace to query it."));
  }
  asked_of_ = of;
  showMessage(tr("Running the query…"));
  job_.start([this, of, sql = asked_.toStdString()](const LatestJob::Context& job) {
    query::QueryOptions asked;
    asked.window = of.window;
    asked.limits.rows = kMostAnswers;
    asked.stop = job.stop();
    auto answer = std::make_shared<Result<query::QueryAnswer>>(query::run_query(*of.subject.trace, sql, asked));
    if (const Result<void> all = check_all_was_read(*of.subject.trace); *answer && !all) *answer = all.error();
    const auto row = *answer ? row_of((*answer)->table, of.shift) : nullptr;
    job.deliver([this, of, answer, row] { present(std::move(*answer), of, row); });
  });
}

void QueryPanel::present(Result<query::QueryAnswer> answer, const Asked& of, std::shared_ptr<const timeline::AnswerRow> row) {
  if (!answer) {
    const std::optional<Asked> asked_of = asked_of_;
    clear();  // an earlier answer beside the sentence would be mistaken for the answer to this query
    asked_of_ = asked_of;
    answered_question_.clear();
    time_ = query::TimeUse::kWhole;  // an error does not depend on the selection
    return showFailure(QString::fromStdString(answer.error().text));
  }
  made_of_ = of;
  time_ = answer->time;
  row_ = std::move(row);
  showRow();
  if (std::exchange(answered_question_, asked_) != asked_) table_->setTable(nullptr);  // the answer to another query starts at its top
  const std::size_t rows = answer->table.row_count();
  QString said = rows == 1 ? tr("1 row") : tr("%1 rows").arg(QString::fromStdString(timeline::format_count(rows)));
  if (answer->rows == query::Rows::kFirst) said = tr("The first %1; the command line prints all").arg(said);
  if (answer->time == query::TimeUse::kOfWindow) said += of.window ? tr(", of the selected part of time") : tr(", of the whole recording");
  table_->setTable(std::make_shared<const stats::Table>(std::move(answer->table)));
  showMessage(said);
  showHistogram();
  while_shown_.soon();  // only now it is known whether the part of time matters
}

// A row that is no event selects its time, except where that would answer the query anew.
void QueryPanel::showPlace(TableRow row) {
  const std::optional<TimeRange> time = time_of_row(*table_->results().table(), row);
  if (!time || !made_of_.subject.trace) return;
  const EventRef event = event_at(*made_of_.subject.trace, *time);
  answered_.show(made_of_.subject, *time, event);
  if (!event.valid() && !time->empty() && time_ != query::TimeUse::kOfWindow) state_.setSelectedRange(answered_.shown(*time));
}

void QueryPanel::showRow() {
  on_timeline_->setEnabled(row_ != nullptr);
  emit rowChanged(on_timeline_->isChecked() ? row_ : nullptr);
}

void QueryPanel::showHint() { showMessage(tr("Ctrl+Enter answers.")); }

void QueryPanel::showMessage(const QString& text) {
  message_->setText(text);
  message_->setToolTip(text);
  failure_->hide();
}

void QueryPanel::showFailure(const QString& sentence) {
  static const QRegularExpression longer_than_a_line(QStringLiteral("(\\S{60})(?=\\S)"));  // a long word would make the window wider
  showMessage({});
  failure_->setText(QString(sentence).replace(longer_than_a_line, QStringLiteral("\\1\u200b")));
  failure_->show();
}

// For the current column if it has durations, else for the first column that has.
void QueryPanel::showHistogram() {
  const std::shared_ptr<const stats::Table>& table = table_->results().table();
  const auto holds_durations = [&](int section) {
    if (!table || section < 0 || section >= static_cast<int>(table->columns().size())) return false;
    const stats::Column& column = table->columns()[static_cast<std::size_t>(section)];
    return column.unit == stats::Unit::kNanoseconds && !column.has_texts() && !is_point_in_time(column);
  };
  int section = table_->currentIndex().isValid() ? table_->currentIndex().column() : -1;
  for (int i = 0; !holds_durations(section) && table && i < static_cast<int>(table->columns().size()); ++i)
    if (holds_durations(i)) section = i;
  chart_->setVisible(holds_durations(section) && table->row_count() > 1);
  if (!chart_->isVisibleTo(this)) return;
  const stats::Column& column = table->columns()[static_cast<std::size_t>(section)];
  std::vector<Nanoseconds> durations;
  for (std::size_t row = 0; row < table->row_count(); ++row) {
    constexpr double kLongest = 9.2e18;  // ns; no integer holds more, as an answer of SQL may be
    if (column.has_reals() && std::abs(column.real(row)) <= kLongest) durations.push_back(std::llround(column.real(row)));
    if (!column.has_reals() && column.integer(row) != stats::kNoInteger) durations.push_back(column.integer(row));
  }
  std::erase_if(durations, [](Nanoseconds duration) { return duration < 0; });
  chart_->setHistogram(tr("Distribution of %1").arg(QString::fromStdString(column.title)), duration_histogram(durations, kAnswerBins));
}

}  // namespace lanescope::ui

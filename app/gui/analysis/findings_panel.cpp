#include "analysis/findings_panel.h"

#include <algorithm>

#include <QEvent>
#include <QHeaderView>
#include <QScrollBar>

#include "analysis/command_text.h"
#include "analysis/place.h"
#include "base/room/elided_label.h"
#include "base/text/texts.h"
#include "model/analysis/overlapping_costs.h"
#include "model/events/name_family.h"
#include "model/text/to_translate.h"
#include "model/trace/segments/demanded_segments.h"
#include "tables/panel_layout.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

using analysis::Finding;
using analysis::Rule;
using analysis::RuleAnswer;
using analysis::RuleOrigin;
using analysis::RuleRequest;

constexpr int kFindingColumn = 1;
constexpr int kFindingsWidth = 750;  // px initially
constexpr int kAnswerWidth = 500;    // px initially

QString paragraph(const QString& label, const QString& text) {
  if (text.isEmpty()) return {};
  return QStringLiteral("<p><span class='label'>%1</span><br>%2</p>").arg(label.toHtmlEscaped(), text.toHtmlEscaped().replace(u'\n', QStringLiteral("<br>")));
}

stats::Table table_of(const std::vector<Finding>& findings) {
  stats::Table table({stats::integers("Cost", stats::Unit::kNanoseconds), stats::texts("Finding"), stats::words("When"), stats::texts("Rule")});
  for (const Finding& finding : findings)
    table.add_row(finding.cost > 0 ? finding.cost - finding.hidden : stats::kNoInteger, table.add_text(finding.title.in(shown_language())),
                  table.add_text(std::string(finding.recurrence == analysis::Recurrence::kOnce ? to_translate("once") : "")),
                  table.add_text(std::string(finding.rule)));
  return table;
}

// Identifies a finding across states of the trace, in which its numbers may differ.
std::string name_of(const Finding& finding) {
  std::string name(finding.rule);
  name.append("\n").append(finding.key).append(finding.recurrence == analysis::Recurrence::kOnce ? "\nonce\n" : "\n\n");
  return name + name_family(finding.title.english());
}

Result<std::vector<RuleRequest>> parse_requests(const QString& text) {
  std::vector<RuleRequest> requests;
  if (!text.isEmpty()) {
    Result<RuleRequest> request = analysis::parse_rule(text.toStdString());
    if (!request) return request.error();
    requests.push_back(*std::move(request));
    return requests;
  }
  for (const Rule& rule : analysis::rules())
    if (rule.origin == RuleOrigin::kLanescope) requests.push_back(*analysis::parse_rule(rule.name));
  return requests;
}

// "gap=10us: the shortest gap that counts"
QString options_text(const Rule& rule) {
  QStringList lines;
  for (const analysis::RuleOption& option : rule.options)
    lines += QStringLiteral("%1=%2: %3").arg(text_of(option.name), text_of(option.default_value), shown_text(option.meaning));
  return lines.join(u'\n');
}

}  // namespace

FindingsPanel::FindingsPanel(AnsweredTrace& answered, QWidget* parent)
    : QWidget(parent),
      answered_trace_(answered),
      of_(new AnsweredTraceBox(answered, this)),
      rule_(new QComboBox(this)),
      arguments_(new QLineEdit(this)),
      command_(new ElidedLabel(this)),
      findings_(new ResultTable(QStringLiteral("findings-table"), tr("Findings"), this)),
      pages_(new QTabWidget(this)),
      answer_(new QTextBrowser(this)),
      overlap_(new ElidedLabel(this)) {
  layOut();
  rule_->addItem(tr("All rules"), QString());
  for (const RuleOrigin origin : {RuleOrigin::kLanescope, RuleOrigin::kNsight}) {
    rule_->insertSeparator(rule_->count());
    for (const Rule& rule : analysis::rules()) {
      if (rule.origin != origin) continue;
      rule_->addItem(shown_text(rule.title), text_of(rule.name));
      rule_->setItemData(rule_->count() - 1, shown_text(rule.description), Qt::ToolTipRole);
    }
  }
  connect(rule_, &QComboBox::activated, this, [this] {
    arguments_->clear();
    while_shown_.atOnce();
  });
  connect(arguments_, &QLineEdit::editingFinished, &while_shown_, &WhileShown::atOnce);
  connect(findings_, &ResultTable::rowChosen, this, &FindingsPanel::showFinding);
  connect(findings_, &ResultTable::rowActivated, this, [this](TableRow row) {
    if (found_[row].place.line.empty()) return;
    showFinding(row);
    emit sourceLineRequested(QString::fromStdString(found_[row].place.line));
  });
  while_shown_.after(job_);
  connect(&answered, &AnsweredTrace::changed, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return while_shown_.soon();
    showSentence({});
    while_shown_.atOnce();
  });
}

void FindingsPanel::layOut() {
  const auto [column, line] = lay_out(*this);
  line->addWidget(of_);
  line->addWidget(rule_);
  line->addWidget(arguments_);
  line->addWidget(command_, 1);
  const std::pair<QWidget*, int> parts[] = {{findings_, kFindingsWidth}, {pages_, kAnswerWidth}};
  column->addWidget(beside_each_other(*this, QStringLiteral("findings-parts"), parts), 1);
  column->addWidget(overlap_);
  overlap_->setText(tr("Costs of findings overlap and are no sum. The answer about a finding names those above it that may count the same time."));
  overlap_->setContentsMargins(8, 3, 8, 3);
  overlap_->setObjectName(QStringLiteral("overlap"));
  overlap_->hide();

  rule_->setAccessibleName(tr("Rule"));
  rule_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  arguments_->setAccessibleName(tr("Arguments of the rule"));
  arguments_->setMaximumWidth(arguments_->fontMetrics().averageCharWidth() * 24);
  show_commands_in(*command_);
  command_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  pages_->setDocumentMode(true);
  pages_->addTab(answer_, tr("Answer"));
  answer_->setFrameShape(QFrame::NoFrame);
  answer_->setAccessibleName(tr("Answer"));
  setFocusProxy(findings_);
}

const Rule* FindingsPanel::rule() const { return analysis::find_rule(rule_->currentData().toString().toStdString()); }

QString FindingsPanel::request() const {
  const QString name = rule_->currentData().toString(), arguments = arguments_->text().trimmed();
  return name.isEmpty() || arguments.isEmpty() ? name : name + u':' + arguments;
}

void FindingsPanel::setFiles(const QStringList& paths) {
  files_ = paths;
  while_shown_.atOnce();
}

void FindingsPanel::chooseRule(const QString& name) {
  rule_->setCurrentIndex(std::max(0, rule_->findData(name)));
  arguments_->clear();
  while_shown_.atOnce();
}

void FindingsPanel::refresh() {
  const Rule* chosen = rule();
  arguments_->setVisible(chosen && !chosen->options.empty());
  if (chosen) {
    arguments_->setToolTip(options_text(*chosen));
    if (!chosen->options.empty()) arguments_->setPlaceholderText(text_of(chosen->options.front().name) + u'=' + text_of(chosen->options.front().default_value));
  }
  QStringList words = {QStringLiteral("lanescope"), QStringLiteral("analyze")};
  if (!request().isEmpty()) words << QStringLiteral("-r") << request();
  const QStringList files = answered_trace_.files(files_);
  command_->setText(files.isEmpty() ? QString() : command_text(words << files));
  const AnsweredTrace::Subject subject = answered_trace_.subject();
  if (!subject.trace) return showSentence(tr("Open a trace to see what costs time in it."));
  if (subject.trace->provenance().outline_only) return showSentence(tr("Only the outline of the trace is loaded so far."));
  if (asked_ == subject && asked_request_ == request()) return;
  apply();
}

void FindingsPanel::showSentence(const QString& sentence) {
  job_.cancel();
  asked_ = answered_ = {};
  found_.clear();
  shared_.clear();
  overlap_->hide();
  described_.reset();
  tables_.clear();
  findings_->setTable(nullptr);
  showTables();
  answer_->setPlainText(sentence);
}

void FindingsPanel::apply() {
  const Result<std::vector<RuleRequest>> requests = parse_requests(request());
  if (!requests) return showSentence(QString::fromStdString(requests.error().text));
  if (asked_request_ != request() || !answered_.trace) showSentence(tr("Looking…"));
  asked_ = answered_trace_.subject();
  asked_request_ = request();
  job_.start([this, subject = asked_, requests = *requests](const LatestJob::Context& job) {
    Result<std::vector<RuleAnswer>> answers = analysis::apply_rules(*subject.trace, requests, job.stop());
    if (job.stop().stop_requested()) return;
    if (const Result<void> all = check_all_was_read(*subject.trace); !all) answers = all.error();
    job.deliver([this, subject, answers = std::move(answers)]() mutable { showAnswers(subject, std::move(answers)); });
  });
}

void FindingsPanel::showAnswers(const AnsweredTrace::Subject& of, Result<std::vector<RuleAnswer>> answers) {
  if (!answers) {
    showSentence(QString::fromStdString(answers.error().text));
    asked_ = of;  // not tried again
    return;
  }
  answered_ = of;
  tables_ = *std::move(answers);
  found_.clear();
  described_.reset();
  QStringList messages;
  for (RuleAnswer& answer : tables_) {
    found_.insert(found_.end(), answer.findings.begin(), answer.findings.end());
    if (!answer.message.empty()) messages += shown_text(answer.message);
  }
  analysis::rank(found_);
  shared_ = analysis::shared_costs(*of.trace, found_);
  overlap_->setVisible(std::any_of(shared_.begin(), shared_.end(), [](const auto& above) { return !above.empty(); }));
  std::vector<std::string> names;
  for (const Finding& finding : found_) names.push_back(name_of(finding));
  findings_->setTable(std::make_shared<const stats::Table>(table_of(found_)), std::move(names));
  findings_->horizontalHeader()->setSectionResizeMode(kFindingColumn, QHeaderView::Stretch);
  showTables();
  const Rule* chosen = rule();
  if (!found_.empty())
    describe(findings_->chosenRow().value_or(0));  // initially the most expensive one
  else
    answer_->setPlainText(chosen ? messages.join(u'\n') + QStringLiteral("\n\n") + shown_text(chosen->description) : nothingFound());
  if (found_.empty() && pages_->count() > 1 && pages_->currentIndex() == 0) pages_->setCurrentIndex(1);
}

// Without GPU work, which most rules need, finding nothing is not a good sign.
QString FindingsPanel::nothingFound() const {
  const RuleAnswer& idle = tables_.front();
  if (idle.summary.empty() && !idle.message.empty())
    return shown_text(idle.message) + u'\n' + tr("What its threads did is on their rows, in Statistics and in Flame Graph.");
  const QString nothing = tr("Nothing was found that costs much of the time.");
  return idle.summary.empty() ? nothing : shown_text(idle.summary) + u'\n' + nothing;
}

// Shows the tables of one rule; those of all rules would be too many. Tables of a later state of the trace replace the previous ones.
void FindingsPanel::showTables() {
  std::vector<const analysis::NamedTable*> tables;
  if (rule())
    for (const RuleAnswer& answer : tables_)
      for (const analysis::NamedTable& named : answer.tables) tables.push_back(&named);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const int page = static_cast<int>(i) + 1;
    const QString title = shown_text(tables[i]->title);
    if (page >= pages_->count() || pages_->tabText(page) != title) {
      keepPages(page);
      pages_->addTab(newPage(title), title);
    }
    static_cast<ResultTable*>(pages_->widget(page))->setTable(std::make_shared<const stats::Table>(tables[i]->table));
  }
  keepPages(static_cast<int>(tables.size()) + 1);
}

void FindingsPanel::keepPages(int count) {
  while (pages_->count() > count) {
    QWidget* page = pages_->widget(count);
    pages_->removeTab(count);
    page->deleteLater();
  }
}

ResultTable* FindingsPanel::newPage(const QString& title) {
  auto* page = new ResultTable({}, title, pages_);
  connect(page, &ResultTable::rowChosen, this, [this, page](TableRow row) {
    if (const std::optional<TimeRange> time = time_of_row(*page->results().table(), row); time && answered_.trace)
      answered_trace_.show(answered_, *time, event_at(*answered_.trace, *time));
  });
  return page;
}

// The text contains colours of the palette.
void FindingsPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && described_) describe(*described_);
}

void FindingsPanel::describe(TableRow row) {
  described_ = row;
  const Finding& finding = found_[row];
  const std::string described_before = std::exchange(described_name_, name_of(finding));
  const QString cost = finding.cost > 0 ? shown_text(analysis::cost_text(finding)) : QString();
  QStringList same_time;
  for (const std::size_t above : shared_[row]) same_time += shown_text(found_[above].title);
  answer_->document()->setDefaultStyleSheet(QStringLiteral(".label { color: %1; }").arg(palette().color(QPalette::PlaceholderText).name(QColor::HexRgb)));
  const int place = described_before == name_of(finding) ? answer_->verticalScrollBar()->value() : 0;
  answer_->setHtml(unbroken(QStringLiteral("<p><b>%1</b></p>").arg(shown_text(finding.title).toHtmlEscaped()) +
                            paragraph(tr("What to do"), shown_text(finding.advice)) + paragraph(tr("What was seen"), shown_text(finding.seen)) +
                            paragraph(tr("What it costs"), cost) + paragraph(tr("May count the same time as"), same_time.join(u'\n'))));
  answer_->verticalScrollBar()->setValue(place);
}

void FindingsPanel::showFinding(TableRow row) {
  describe(row);
  pages_->setCurrentIndex(0);
  const analysis::Place& place = found_[row].place;
  answered_trace_.show(answered_, place.range, place.event);
}

}  // namespace lanescope::ui

#include "panels/report_page.h"

#include <QVBoxLayout>

#include "analysis/place.h"
#include "base/jobs/patience.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kMostReportRows = 200'000;  // rows that are sorted without delay; the command line prints all

}  // namespace

ReportPage::ReportPage(SelectionState& state, AnsweredTrace& answered, QWidget* parent)
    : QWidget(parent),
      state_(state),
      answered_(answered),
      table_(new ResultTable(QStringLiteral("statistics-report"), tr("Report"), this)),
      message_(new QLabel(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(message_);
  column->addWidget(table_, 1);
  message_->setContentsMargins(8, 4, 8, 4);
  message_->setWordWrap(true);
  message_->hide();
  while_shown_.after(job_);
  connect(&answered, &AnsweredTrace::changed, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return while_shown_.soon();
    clear();
    while_shown_.atOnce();
  });
  connect(&state, &SelectionState::boundRangeChanged, &while_shown_, &WhileShown::soon);
  connect(&state, &SelectionState::boundRangeChanged, this, &ReportPage::followRange);
  patience_.setSingleShot(true);
  patience_.setInterval(kPatience);
  connect(&patience_, &QTimer::timeout, this, [this] {
    table_->hide();
    showMessage(tr("Making the report…"));
  });
  connect(table_, &ResultTable::rowChosen, this, [this](TableRow row) {
    if (const std::optional<TimeRange> time = time_of_row(*table_->results().table(), row); time && made_.subject.trace)
      answered_.show(made_.subject, *time, event_at(*made_.subject.trace, *time));
  });
}

void ReportPage::setReport(const stats::Report* report) {
  report_ = report;
  while_shown_.atOnce();
}

QStringList ReportPage::command() const {
  if (!report_) return {};
  QStringList words = {QStringLiteral("lanescope"), QStringLiteral("stats"), QStringLiteral("-r"),
                       QString::fromUtf8(report_->name.data(), static_cast<qsizetype>(report_->name.size()))};
  if (const std::optional<TimeRange> range = answered_.boundRange())
    words << QStringLiteral("--filter-time") << QStringLiteral("%1/%2").arg(range->begin).arg(range->end);
  return words;
}

void ReportPage::showMessage(const QString& sentence) {
  message_->setText(sentence);
  message_->setVisible(!sentence.isEmpty());
}

// A table of another part of time is not shown for long as if it were of the bound one.
void ReportPage::followRange() {
  const std::shared_ptr<const Trace> trace = answered_.trace();
  const bool is_of_range = made_.subject.trace && made_.report == report_ && made_.time == answered_.boundRange();
  if (is_of_range || !report_ || !trace || trace->provenance().outline_only) {
    patience_.stop();
    table_->show();
  } else if (!patience_.isActive() && !table_->isHidden()) {
    patience_.start();
  }
}

void ReportPage::clear() {
  job_.cancel();
  asked_ = made_ = {};
  table_->setTable(nullptr);
  followRange();
  showMessage({});
}

void ReportPage::refresh() {
  if (!report_) return;
  const AnsweredTrace::Subject subject = answered_.subject();
  const std::shared_ptr<const Trace>& trace = subject.trace;
  if (!trace || trace->provenance().outline_only) {
    clear();
    return showMessage(trace ? tr("Only the outline of the trace is loaded so far.") : tr("Open a trace to see reports."));
  }
  Made wanted{subject, report_, answered_.boundRange()};
  if (wanted == asked_) return;
  if (wanted.report != asked_.report) clear();  // the choice above the list names its content
  asked_ = wanted;
  emit commandChanged();
  stats::ReportOptions options;
  options.time_range = wanted.time;
  options.rows = kMostReportRows;
  job_.start([this, wanted, options](const LatestJob::Context& job) {
    stats::ReportOptions asked = options;
    asked.stop = job.stop();
    Result<stats::Table> table = stats::make_report(*wanted.report, *wanted.subject.trace, asked);
    if (job.stop().stop_requested()) return;
    if (const Result<void> all = check_all_was_read(*wanted.subject.trace); !all) table = all.error();
    job.deliver([this, wanted, table = std::move(table)]() mutable {
      made_ = wanted;
      followRange();
      if (!table) {
        table_->setTable(nullptr);
        return showMessage(QString::fromStdString(table.error().text));
      }
      const std::size_t rows = table->row_count();
      table_->setTable(std::make_shared<const stats::Table>(*std::move(table)));
      if (rows == 0)
        showMessage(tr("The trace does not contain %1%2.").arg(shown_text(wanted.report->data), wanted.time ? tr(" in this part of time") : QString()));
      else if (rows == kMostReportRows)
        showMessage(tr("The first %1 rows. The command line prints all.").arg(QString::fromStdString(timeline::format_count(kMostReportRows))));
      else
        showMessage({});
    });
  });
}

}  // namespace lanescope::ui

#include "panels/details_panel.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTextDocumentFragment>
#include <QTextLayout>
#include <QUrl>
#include <QVBoxLayout>

#include "analysis/place.h"
#include "base/text/event_words.h"
#include "base/text/shown_name.h"
#include "base/text/texts.h"
#include "model/events/name_family.h"
#include "model/trace/combining/parts.h"
#include "timeline/core/navigation.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kShownWaits = 3;                    // hops of what an event waited for
constexpr std::size_t kShownSums = 12, kShownParts = 60;  // of the critical path of a step
constexpr std::size_t kLinkedWork = 50;                   // GPU events that are listed for one call; a CUDA graph launches thousands

constexpr const char* kLabelCell = "<td class='label'";  // has no width until all labels are known; texts of a trace have no "<" here

// A Chinese character is as wide as two others.
qsizetype columns_of(const QString& text) {
  constexpr char16_t kFirstWide = 0x2e80;
  return text.size() + std::count_if(text.begin(), text.end(), [](QChar each) { return each.unicode() >= kFirstWide; });
}

// Without a width, Qt may break a label within a word to give the values more room.
QString with_label_width(QString body, const QFontMetrics& metrics) {
  constexpr int kLongestWord = 24, kComfortable = 14;  // characters
  constexpr int kBesideLabel = 12;                     // px of the cell
  static const QRegularExpression label(QStringLiteral("<td class='label'[^>]*>(.*?)</td>"), QRegularExpression::DotMatchesEverythingOption);
  int words = 0, widest = 0;
  for (const QRegularExpressionMatch& each : label.globalMatch(body)) {
    const QString text = QTextDocumentFragment::fromHtml(each.captured(1)).toPlainText();
    widest = std::max(widest, metrics.horizontalAdvance(text));
    for (const QString& word : text.split(u' '))
      if (columns_of(word) == word.size()) words = std::max(words, metrics.horizontalAdvance(word));  // a line of Chinese may be broken anywhere
  }
  const int character = metrics.averageCharWidth();
  const int width = std::max(std::min(words, kLongestWord * character), std::min(widest, kComfortable * character));
  return body.replace(QLatin1String(kLabelCell), QStringLiteral("%1 width='%2'").arg(QLatin1String(kLabelCell)).arg(width + kBesideLabel));
}

enum class Lines { kOne, kAsNeeded };

QString table_cell(const QString& html, const QString& attributes, Lines lines) {
  return QStringLiteral("<td%1%2>%3</td>").arg(attributes, lines == Lines::kOne ? QStringLiteral(" style='white-space:nowrap'") : QString(), html);
}

// Lines are not broken within a time and its share, nor within a short label; only a name that is longer than its line is broken.
QString property_row(const QString& label, const QString& value) {
  constexpr qsizetype kLongestTime = 24, kShortLabel = 12;  // characters
  const QString text = QTextDocumentFragment::fromHtml(value).toPlainText();
  const Lines of_value = !text.isEmpty() && text.front().isDigit() && columns_of(text) <= kLongestTime ? Lines::kOne : Lines::kAsNeeded;
  const Lines of_label = columns_of(QTextDocumentFragment::fromHtml(label).toPlainText()) <= kShortLabel ? Lines::kOne : Lines::kAsNeeded;
  return QStringLiteral("<tr>%1%2</tr>").arg(table_cell(label, QStringLiteral(" class='label'"), of_label), table_cell(value, {}, of_value));
}

// Why GPUs were idle in the range, a line for each cause.
QString idle_rows(const RangeSummary& summary) {
  QString rows;
  const timeline::GpuNames names(*summary.trace);
  for (const auto& [gpu, causes] : summary.idle)
    for (const timeline::IdleTime::CauseTime& cause : causes)
      rows += property_row(QObject::tr("%1 idle").arg(html(names.of(gpu))), html(timeline::format_duration(cause.time)) + QStringLiteral("&nbsp; ") +
                                                                                shown_text(analysis::idle_cause_name(cause.cause)).toHtmlEscaped());
  for (const auto& [gpu, time] : summary.short_idle)
    rows += property_row(QObject::tr("%1 idle").arg(html(names.of(gpu))),
                         html(timeline::format_duration(time)) + QStringLiteral("&nbsp; ") +
                             QObject::tr("in gaps below %1").arg(html(timeline::format_duration(summary.shortest_gap))));
  for (const GpuTime& gpu : summary.gpus)
    for (const auto& [time, where] : {std::pair(gpu.before, QObject::tr("before its first operation")), {gpu.after, QObject::tr("after its last operation")}})
      if (time > 0)
        rows += property_row(QObject::tr("%1 idle").arg(html(names.of(gpu.gpu))), html(timeline::format_duration(time)) + QStringLiteral("&nbsp; ") + where);
  return rows;
}

// "12.500 ms  25.0 %"
QString share_of(double share, TimeRange range) {
  const auto time = static_cast<Nanoseconds>(std::llround(share * static_cast<double>(range.length())));
  return html(timeline::format_duration(time)) + QStringLiteral("&nbsp; ") + html(timeline::format_share(share));
}
QString share_of(Nanoseconds time, TimeRange range) { return share_of(static_cast<double>(time) / static_cast<double>(range.length()), range); }

// How long GPUs communicated, for how much of that nothing else ran, and how much of that was waiting.
QString communication_rows(const RangeSummary& summary) {
  QString rows;
  const timeline::GpuNames names(*summary.trace);
  for (const timeline::CommunicationTime::OfGpu& gpu : summary.communication) {
    if (gpu.communicated == 0) continue;
    rows += property_row(QObject::tr("%1 communicated").arg(html(names.of(gpu.gpu))), share_of(gpu.communicated, summary.range));
    rows += property_row(QObject::tr("of that, with no other work at the time"), share_of(gpu.alone, summary.range));
    if (gpu.waited > 0) rows += property_row(QObject::tr("of that, waiting for another rank"), share_of(gpu.waited, summary.range));
  }
  return rows;
}

QString link(EventRef event, const QString& text) {
  return event.valid() ? QStringLiteral("<a href='event:%1/%2'>%3</a>").arg(event.lane).arg(event.index).arg(text) : text;
}

std::optional<EventRef> linked_event(const QUrl& url) {
  const QStringList parts = url.path().split(u'/');
  if (url.scheme() != u"event" || parts.size() != 2) return std::nullopt;
  return EventRef{parts[0].toUInt(), parts[1].toUInt()};
}

// `shown`: the same event in the trace that is shown; not valid if it is not there.
QString link_with_time(const Trace& trace, EventRef ref, EventRef shown) {
  const Event event = trace.event(ref);
  return QObject::tr("%1 <span class='label'>%2 at %3</span>")
      .arg(link(shown, html(timeline::event_title(trace, ref))), html(timeline::format_duration(event.duration)), html(timeline::format_time(event.start)));
}

QString work_html(const Trace& trace, EventRef call) {
  const std::vector<EventRef> work = trace.work_of(call);
  QStringList links;
  for (std::size_t i = 0; i < std::min(work.size(), kLinkedWork); ++i) links += link_with_time(trace, work[i], work[i]);
  if (work.size() > kLinkedWork) links += QObject::tr("and %1 more").arg(work.size() - kLinkedWork);
  return links.join(QStringLiteral("<br>"));
}

// The value of a property, with a link to the event `named` by it, which belongs to `trace`.
QString value_html(const Trace& trace, EventRef named, const timeline::Property& property) {
  if (named.valid()) return link_with_time(trace, named, named);
  if (property.source) {
    const QString place = QString::fromStdString(property.source->file) + u':' + QString::number(property.source->line);
    return QStringLiteral("<a href='source:%1'>%2</a>").arg(QString::fromLatin1(QUrl::toPercentEncoding(place)), shown_text(property.value).toHtmlEscaped());
  }
  return shown_text(property.value).toHtmlEscaped();
}

// What tells the places of the parts of a path apart: the GPU, if the trace has several; the thread, unless all is of the thread of the step; and the rank of
// the process, if several are known, else its file, if there are several.
class PlaceNames {
 public:
  PlaceNames(const Trace& trace, EventRef step, const std::vector<analysis::PathPart>& path) : trace_(trace), gpus_(trace) {
    std::set<std::uint32_t> ranks;
    for (const Process& process : trace.processes())
      if (process.place.rank) ranks.insert(*process.place.rank);
    has_several_ranks_ = ranks.size() > 1;
    const ThreadId own = step.valid() ? trace.track_of(step.lane).key.thread : kNone;
    names_threads_ = std::any_of(path.begin(), path.end(), [&](const analysis::PathPart& part) {
      const ThreadId thread = thread_of(part);
      return thread != kNone && thread != own;
    });
  }
  [[nodiscard]] QStringList of(const analysis::PathPart& part) const {
    QStringList names;
    if (const GpuId gpu = gpu_of(part); gpu != kNone && trace_.gpus().size() > 1) names += QString::fromStdString(gpus_.of(gpu));
    if (const ThreadId thread = thread_of(part); thread != kNone && names_threads_) names += DetailsPanel::tr("thread %1").arg(trace_.threads()[thread].tid);
    if (const std::optional<std::uint32_t> rank = analysis::rank_of(trace_, part); rank && has_several_ranks_) names += DetailsPanel::tr("rank %1").arg(*rank);
    const ProcessId process = has_several_ranks_ || !part.event.valid() ? kNone : trace_.track_of(part.event.lane).key.process;
    if (const TracePart* file = process == kNone ? nullptr : part_of_process(trace_, process)) names += QString::fromStdString(file->label);
    return names;
  }

 private:
  [[nodiscard]] GpuId gpu_of(const analysis::PathPart& part) const {
    const TrackKey key = part.event.valid() ? trace_.track_of(part.event.lane).key : TrackKey{};
    return part.event.valid() && is_gpu_work(key.kind) ? key.gpu : kNone;
  }
  [[nodiscard]] ThreadId thread_of(const analysis::PathPart& part) const {
    return part.event.valid() ? trace_.track_of(part.event.lane).key.thread : part.thread;
  }

  const Trace& trace_;
  timeline::GpuNames gpus_;
  bool has_several_ranks_ = false, names_threads_ = false;
};

// The critical path of the step, if it is known; of an earlier state of the trace until it is known of the present one.
QString step_html(const WaitSource& waits, const SelectionState& state, EventRef step, TimeRange time) {
  const std::shared_ptr<const WaitSource::StepPath>& of = waits.stepPath();
  if (!of || state.inTrace(of->step, *of->trace) != step || (!step.valid() && of->time != time)) return {};
  const std::shared_ptr<const Trace>& trace = of->trace;
  const TimeRange whole = of->path.range;
  // A kernel as lists show it; its whole name may take more lines than all else.
  const auto title_of = [&](EventRef event) {
    const bool is_kernel = event_kind(*trace, event) == EventKind::kKernel;
    return is_kernel ? shown_name(*trace, EventKind::kKernel, trace->event(event).name).toHtmlEscaped() : html(timeline::event_title(*trace, event));
  };
  const PlaceNames places(*trace, of->step, of->path.parts);
  const auto line = [&](const analysis::PathPart& part, const QString& took) {
    const QString event = part.event.valid() ? link(state.inTrace(part.event, *trace), title_of(part.event)) : QString();
    const QStringList words = QStringList(shown_text(analysis::path_words(part))) + places.of(part);
    return QStringLiteral("%1 <span class='label'>%2</span> %3").arg(took, words.join(QStringLiteral(", ")).toHtmlEscaped(), event);
  };
  QStringList sums, parts;
  for (std::size_t i = 0; i < std::min(of->sums.size(), kShownSums); ++i)
    sums += line(of->sums[i].longest, share_of(of->sums[i].time, whole)) +
            (of->sums[i].parts > 1 ? QStringLiteral(" <span class='label'>%1</span>").arg(DetailsPanel::tr("in %1 parts").arg(of->sums[i].parts)) : QString());
  if (of->sums.size() > kShownSums) sums += DetailsPanel::tr("and %1 more").arg(of->sums.size() - kShownSums);
  for (std::size_t i = 0; i < std::min(of->path.parts.size(), kShownParts); ++i) {
    const analysis::PathPart& part = of->path.parts[i];
    parts += line(part, DetailsPanel::tr("%1 at %2").arg(html(timeline::format_duration(part.range.length())), html(timeline::format_time(part.range.begin))));
  }
  if (of->path.parts.size() > kShownParts) parts += DetailsPanel::tr("and %1 more").arg(of->path.parts.size() - kShownParts);
  const QString title = DetailsPanel::tr("Critical path of %1").arg(html(timeline::format_duration(whole.length())));
  return QStringLiteral("<p><b>%1</b><br>%2</p><p><b>%3</b><br>%4</p>")
      .arg(title, sums.join(QStringLiteral("<br>")), DetailsPanel::tr("In order of time"), parts.join(QStringLiteral("<br>")));
}

}  // namespace

DetailsPanel::DetailsPanel(SelectionState& state, const IdleTimeSource& idle, const WaitSource& waits, QWidget* parent)
    : QWidget(parent), state_(state), idle_(idle), waits_(waits), browser_(new QTextBrowser(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(browser_);
  constexpr int kNarrowestInCharacters = 14;  // a time
  setMinimumWidth(fontMetrics().averageCharWidth() * kNarrowestInCharacters);
  browser_->setMinimumHeight(fontMetrics().height());  // it is scrolled by itself
  browser_->setAccessibleName(tr("Details of the selection"));
  browser_->setFrameShape(QFrame::NoFrame);
  browser_->setOpenLinks(false);
  browser_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(browser_, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
    if (const std::optional<EventRef> event = linked_event(url)) state_.reveal(*event);
    const QString path = url.path(QUrl::FullyDecoded);
    if (url.scheme() == u"source") emit sourceRequested(path.section(u':', 0, -2), path.section(u':', -1).toUInt());
    if (url.scheme() == u"family") emit familyRequested(path);
  });
  connect(browser_, &QTextBrowser::customContextMenuRequested, this, [this](const QPoint& position) {
    QMenu menu;
    QAction* copy = menu.addAction(tr("Copy"), browser_, &QTextBrowser::copy);
    copy->setEnabled(browser_->textCursor().hasSelection());
    menu.addAction(tr("Copy all"), this, &DetailsPanel::copyAll);
    menu.exec(browser_->mapToGlobal(position));
  });
  connect(&state, &SelectionState::selectedEventChanged, this, [this](EventRef event) {
    shows_range_ = !event.valid();
    show();
  });
  connect(&state, &SelectionState::selectedRangeChanged, this, &DetailsPanel::showRange);
  connect(&state, &SelectionState::selectedGapChanged, this, &DetailsPanel::showRange);
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) return show();
    paced_.request();
  });
  connect(&idle, &IdleTimeSource::changed, this, [this] {
    if (shows_range_) paced_.request();
  });
  connect(&waits, &WaitSource::changed, this, [this] { show(); });
  connect(&state, &SelectionState::openEventsChanged, this, [this] {
    const bool grows = state_.trace() && state_.openAt(state_.selectedEvent());
    const bool is_read = browser_->textCursor().hasSelection();  // a text that is about to be copied stays
    if ((std::exchange(shows_open_, grows) || grows) && !is_read) show();
  });
  paced_.after(job_);
  connect(&paced_, &PacedUpdate::due, this, [this] {
    show();  // more may be known of the event now, and links must refer to events of the shown trace
    summarize();
  });
  show();
}

// The text contains colours of the palette.
void DetailsPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) show();
}

void DetailsPanel::show() {
  QString body;
  const std::shared_ptr<const Trace>& trace = state_.trace();
  const bool has_event = trace && state_.selectedEvent().valid();
  const std::optional<TimeRange> range = wantedRange();
  if (trace && range && (shows_range_ || !has_event))
    body = rangeHtml(*range);
  else if (has_event)
    body = eventHtml(state_.selectedEvent());
  else
    body = QStringLiteral("<p class='label'>%1</p>").arg(tr("Select an event to see what is known of it."));
  body = with_label_width(unbroken(body), browser_->fontMetrics());
  const QString dimmed = palette().color(QPalette::PlaceholderText).name(QColor::HexRgb);
  browser_->document()->setDefaultStyleSheet(QStringLiteral(".label { color: %1; } td { padding-right: 8px; } a { color: %2; text-decoration: none; }")
                                                 .arg(dimmed, palette().color(QPalette::Link).name()));
  if (body == shown_body_ && dimmed == shown_color_) return;  // so that the user's scroll position and selected text stay
  shown_body_ = body;
  shown_color_ = dimmed;
  const auto subject = std::pair(state_.selectedEvent(), range);
  const int place = std::exchange(shown_subject_, subject) == subject ? browser_->verticalScrollBar()->value() : 0;
  browser_->setHtml(body);
  alignBaselines();
  browser_->verticalScrollBar()->setValue(place);
}

// A letter that another font lends, as of Chinese, may reach higher than those around it, and would put the whole line lower than the cell beside it. Lines of
// a fixed height have their baseline at four fifths of it.
void DetailsPanel::alignBaselines() {
  if (const QString text = browser_->toPlainText(); columns_of(text) == text.size()) return;  // it has no such letters
  constexpr double kAboveBaseline = 0.8;                                                      // of the height, as Qt lays it out
  QTextLayout both(QStringLiteral("Ágy 持续"), browser_->document()->defaultFont());
  both.beginLayout();
  const QTextLine line = both.createLine();
  both.endLayout();
  QTextBlockFormat format;
  format.setLineHeight(std::ceil(std::max(line.ascent() / kAboveBaseline, line.descent() / (1 - kAboveBaseline))), QTextBlockFormat::FixedHeight);
  QTextCursor all(browser_->document());
  all.select(QTextCursor::Document);
  all.mergeBlockFormat(format);
}

QString DetailsPanel::eventHtml(EventRef event) const {
  const Trace& trace = *state_.trace();
  const std::vector<timeline::Property> properties = words_of_event(state_, event);
  QString rows;
  for (std::size_t i = 1; i < properties.size(); ++i)
    rows += property_row(shown_text(properties[i].label).toHtmlEscaped(),
                         properties[i].label == "GPU work" ? work_html(trace, event) : value_html(trace, properties[i].event, properties[i]));
  const std::string whole = timeline::event_title(trace, event);
  QString title = shown_text(timeline::event_words(trace, event));
  if (event_kind(trace, event) == EventKind::kKernel) title = shown_name(trace, EventKind::kKernel, trace.event(event).name);
  if (event_kind(trace, event) == EventKind::kKernel && title.toStdString() != whole)
    rows += property_row(tr("Whole name"), html(whole));  // it may fill the whole panel
  if (const std::string family = name_family(whole); family != whole)
    rows += property_row(
        tr("Family"),
        QStringLiteral("<a href='family:%1'>%2</a>").arg(QString::fromLatin1(QUrl::toPercentEncoding(QString::fromStdString(family))), html(family)));
  return QStringLiteral("<p><b>%1</b></p>%2<table cellspacing='0' cellpadding='1'>%3</table>").arg(title.toHtmlEscaped(), waitsHtml(event), rows);
}

QString DetailsPanel::waitsHtml(EventRef event) const {
  const Event own_time = state_.trace()->event(event);
  if (const QString way = step_html(waits_, state_, event, {own_time.start, own_time.end()}); !way.isEmpty()) return way;
  const std::shared_ptr<const WaitSource::Chain>& chain = waits_.chain();
  if (!chain) return {};
  const EventRef known = timeline::find_again(*state_.trace(), event, *chain->trace);  // which may be of an earlier state of the trace
  const std::vector<EventRef> events = chain->events();
  const auto own = static_cast<std::size_t>(std::find(events.begin(), events.end(), known) - events.begin());  // events are waits, preceded by the first event
  QStringList lines;
  if (own == 0 && chain->waited > 0) {
    const Nanoseconds whole = chain->trace->event(known).duration;
    lines += tr("This rank waited for another for %1 of %2; the transfer took %3.")
                 .arg(html(timeline::format_duration(chain->waited)), html(timeline::format_duration(whole)),
                      html(timeline::format_duration(whole - chain->waited)));
  }
  for (std::size_t i = own; i < std::min(chain->waits.size(), own + kShownWaits); ++i) {
    const analysis::Wait& wait = chain->waits[i];
    lines +=
        QStringLiteral("<span class='label'>%1</span> %2")
            .arg(shown_text(analysis::wait_words(*chain->trace, wait)).toHtmlEscaped(),
                 wait.event.valid() ? link_with_time(*chain->trace, wait.event, state_.inTrace(wait.event, *chain->trace))
                                    : tr("%1 at %2").arg(html(timeline::format_duration(wait.time.length())), html(timeline::format_time(wait.time.begin))));
  }
  if (chain->waits.size() > own + kShownWaits) lines += tr("and %1 more: press Y").arg(chain->waits.size() - own - kShownWaits);
  return lines.isEmpty() ? QString() : QStringLiteral("<p>%1<br>%2</p>").arg(tr("Waited for:"), lines.join(QStringLiteral("<br>")));
}

// A gap that is selected together with a range was chosen later.
std::optional<TimeRange> DetailsPanel::wantedRange() const {
  const std::optional<timeline::Selection::Gap>& gap = state_.selection().gap();
  return gap ? std::optional(gap->range) : state_.selectedRange();
}

QString DetailsPanel::rangeHtml(TimeRange range) const {
  const bool is_summed = summary_ && summary_->range == range;
  const timeline::IdleTime* idle = idle_.idleTime().get();
  const std::optional<timeline::Selection::Gap>& selected = state_.selection().gap();
  const std::optional<timeline::Gap> gap = idle != nullptr ? idle->find(range, selected ? std::optional(selected->gpu) : std::nullopt) : std::nullopt;
  QString title = tr("Selected range"), rows;
  if (gap) {
    const std::vector<timeline::Property> properties = idle->describe(*gap);
    title = shown_text(properties.front().value).toHtmlEscaped();
    for (std::size_t i = 1; i < properties.size(); ++i)
      rows += property_row(shown_text(properties[i].label).toHtmlEscaped(),
                           value_html(*state_.trace(), state_.inTrace(properties[i].event, *idle->trace()), properties[i]));
  } else {
    rows = property_row(tr("Begin"), html(timeline::format_time(range.begin))) + property_row(tr("End"), html(timeline::format_time(range.end))) +
           property_row(tr("Duration"), html(timeline::format_duration(range.length())));
  }
  for (std::size_t gpu = 0; is_summed && gpu < summary_->busy.size(); ++gpu)
    rows += property_row(tr("%1 busy").arg(html(summary_->busy[gpu].first)), share_of(summary_->busy[gpu].second, range));
  if (is_summed) rows += communication_rows(*summary_);
  if (is_summed && !gap) rows += idle_rows(*summary_);
  const EventRef next = selected && gap ? operation_behind(*state_.trace(), selected->range, selected->gpu) : EventRef{};
  return QStringLiteral("<p><b>%1</b></p><table cellspacing='0' cellpadding='1'>%2</table>%3%4")
      .arg(title, rows, next.valid() ? waitsHtml(next) : QString(), step_html(waits_, state_, {}, range) + (is_summed ? summary_html(*summary_) : QString()));
}

void DetailsPanel::showRange() {
  shows_range_ = wantedRange().has_value();
  if (shows_range_)
    paced_.request();
  else
    summary_.reset();
  show();
}

void DetailsPanel::summarize() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  const std::optional<TimeRange> range = wantedRange();
  if (!trace || !range || trace->provenance().outline_only) return job_.cancel();
  job_.start([this, trace, idle = idle_.idleTime(), communication = idle_.communicationTime(), range = *range,
              open = state_.openEvents()](const LatestJob::Context& job) {
    auto summary = summarize_range(trace, idle, communication, range, open, job.stop());
    if (!summary) return;
    job.deliver([this, summary = std::move(summary)] {
      summary_ = summary;
      if (shows_range_) show();
    });
  });
}

void DetailsPanel::copyAll() const {
  if (state_.trace() && state_.selectedEvent().valid() && !(shows_range_ && wantedRange()))
    QGuiApplication::clipboard()->setText(QString::fromStdString(timeline::as_text(words_of_event(state_, state_.selectedEvent()))));
  else
    QGuiApplication::clipboard()->setText(text());
}

}  // namespace lanescope::ui

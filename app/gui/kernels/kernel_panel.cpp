#include "kernels/kernel_panel.h"

#include <algorithm>
#include <utility>

#include <QEvent>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QScrollBar>
#include <QUrl>
#include <QVBoxLayout>

#include "base/text/texts.h"
#include "kernels/kernel_html.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/text/percent.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr char kTellingLink[] = "telling:";  // to the kernel that tells most
constexpr int kTextWidth = 640;              // px initially
constexpr int kChartsWidth = 520;            // px initially
constexpr int kStallsHeight = 180;           // px initially
constexpr int kLeastChart = 30;              // px

QToolButton* button(const QString& text, const QString& tip, QWidget* parent) {
  auto* made = new QToolButton(parent);
  made->setText(text);
  made->setToolTip(tip);
  made->setAutoRaise(true);
  return made;
}

// What the warps wait for, and a remedy.
QString tip_of(std::string_view reason) {
  const kernels::StallMeaning meaning = kernels::stall_meaning(reason);
  return meaning.waits_for.empty() ? QString() : QObject::tr("%1: %2. %3").arg(text_of(reason), shown_text(meaning.waits_for), shown_text(meaning.remedy));
}

// From samples; if there are none, from the cycles between two instructions of a warp.
std::vector<StallChart::Bar> bars_of(const KernelFacts& facts, QString& title) {
  std::vector<StallChart::Bar> bars;
  if (facts.stalls) {
    const QString samples = QString::fromStdString(timeline::format_count(facts.stalls->samples));
    title = QObject::tr("Where warps stood: %1 samples of all its launches").arg(samples);
    if (facts.sampled)
      title = QObject::tr("Where warps stood: %1 samples, taken in %2 of the time")
                  .arg(samples, QString::fromStdString(format_small_percent(facts.sampled->percent())));
    for (const kernels::StallCount& stall : facts.stalls->stalls)
      bars.push_back({text_of(stall.reason),
                      100.0 * static_cast<double>(stall.samples) / static_cast<double>(std::max<std::uint64_t>(1, facts.stalls->samples)),
                      tip_of(stall.reason)});
    return bars;
  }
  if (!facts.counters) return bars;
  for (const kernels::Section& section : facts.counters->sections) {
    if (section.name != "WarpStateStats" || section.rows.size() < 2) continue;
    const double all = section.rows.front().value;
    title = QObject::tr("What a warp does in the %1 cycles between two instructions").arg(all, 0, 'g', 3);
    for (std::size_t i = 1; i < section.rows.size(); ++i)
      bars.push_back({text_of(section.rows[i].label.english()), all > 0 ? 100 * section.rows[i].value / all : 0, tip_of(section.rows[i].label.english())});
  }
  return bars;
}

}  // namespace

KernelPanel::KernelPanel(SelectionState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      profile_(button(tr("Profile this kernel…"), tr("Starts the program again and reads the counters of this launch"), this)),
      source_(button(tr("Source"), tr("Shows its lines and instructions, where the recording has its code"), this)),
      pin_(button(tr("Pin as baseline"), tr("Shows the next kernels beside this one"), this)),
      progress_(new QLabel(this)),
      cancel_(button(tr("Cancel"), tr("Ends the program"), this)),
      browser_(new QTextBrowser(this)),
      charts_(new QSplitter(Qt::Vertical, this)),
      stalls_(new StallChart(charts_)),
      pages_(new QTabWidget(charts_)),
      roofline_(new RooflineChart(pages_)),
      memory_place_(new QScrollArea(pages_)),
      memory_(new MemoryChart) {
  layOut();
  connect(profile_, &QToolButton::clicked, this, [this] {
    if (facts_) emit profileRequested(facts_);
  });
  connect(source_, &QToolButton::clicked, this, &KernelPanel::sourceRequested);
  connect(cancel_, &QToolButton::clicked, this, &KernelPanel::profilingCancelled);
  connect(pin_, &QToolButton::clicked, this, &KernelPanel::pin);
  connect(&state, &SelectionState::selectedEventChanged, this, [this] {
    job_.cancel();
    next_ = Next::kNothing;  // nobody asked for counters of the kernel that is selected now
    while_shown_.soon();
  });
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) {
      job_.cancel();
      reading_.cancel();
      next_ = Next::kNothing;
      records_.reset();
      facts_.reset();
      baseline_.reset();
      others_.clear();
      present();
    }
    while_shown_.soon();
  });
  while_shown_.after(job_);
  showProgress({});
  present();
}

void KernelPanel::layOut() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(4, 2, 4, 2);
  for (QWidget* part : std::initializer_list<QWidget*>{profile_, progress_, cancel_, source_, pin_}) row->addWidget(part);
  row->addStretch();
  column->addLayout(row);
  auto* parts = new QSplitter(Qt::Horizontal, this);
  parts->setObjectName(QStringLiteral("kernelParts"));
  parts->addWidget(browser_);
  parts->addWidget(charts_);
  parts->setSizes({kTextWidth, kChartsWidth});
  parts->setChildrenCollapsible(false);
  column->addWidget(parts, 1);
  browser_->setFrameShape(QFrame::NoFrame);
  browser_->setOpenLinks(false);
  connect(browser_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    const QString text = link.toString(QUrl::FullyEncoded);
    if (text == QLatin1String(kTellingLink)) return state_.activate(telling_kernel(*state_.trace(), std::nullopt));
    if (text.startsWith(QLatin1String(kSourceLink)))
      emit sourceLineRequested(QUrl::fromPercentEncoding(text.mid(static_cast<qsizetype>(qstrlen(kSourceLink))).toUtf8()));
  });
  browser_->setAccessibleName(tr("Kernel"));
  charts_->addWidget(stalls_);
  charts_->addWidget(pages_);
  pages_->setDocumentMode(true);
  memory_place_->setWidget(memory_);  // scrolls if there is less room than its texts require
  memory_place_->setWidgetResizable(true);
  memory_place_->setFrameShape(QFrame::NoFrame);
  pages_->addTab(memory_place_, tr("Memory"));
  pages_->addTab(roofline_, tr("Roofline"));
  // The minimum sizes do not depend on the facts about a kernel, so that choosing a kernel does not move the splitters.
  charts_->setMinimumSize(kLeastChart, browser_->minimumSizeHint().height());
  for (QWidget* part : std::initializer_list<QWidget*>{stalls_, pages_}) part->setMinimumSize(1, kLeastChart);
  charts_->setSizes({kStallsHeight, 2 * kStallsHeight});
  charts_->setStretchFactor(0, 1);  // in a low panel, too, the page gets most of the room
  charts_->setStretchFactor(1, 2);
}

void KernelPanel::addCounters(std::shared_ptr<const Trace> recording) {
  reading_.start([this, recording = std::move(recording)](const LatestJob::Context& job) {
    auto records = read_kernel_records(recording);
    job.deliver([this, records] {
      others_.push_back(records);
      while_shown_.atOnce();
    });
  });
}

void KernelPanel::profileSelected() {
  next_ = Next::kQuestion;
  while_shown_.atOnce();
}

void KernelPanel::showProgress(const QString& sentence) {
  progress_->setText(sentence);
  progress_->setVisible(!sentence.isEmpty());
  cancel_->setVisible(!sentence.isEmpty());
  profile_->setVisible(sentence.isEmpty());
}

void KernelPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) present();
}

// If the selection has no kernel, the last kernel stays visible.
void KernelPanel::compute() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace || trace->provenance().outline_only) return;
  const EventRef kernel = kernel_of(*trace, state_.selectedEvent());
  if (!kernel.valid()) return facts_ ? void() : present();
  job_.start([this, trace, kernel, records = records_, others = others_](const LatestJob::Context& job) mutable {
    if (!records || records->trace != trace) records = read_kernel_records(trace);
    auto facts = kernel_facts(*records, kernel, others);
    job.deliver([this, records, facts = std::move(facts)] {
      records_ = records;
      facts_ = facts;
      present();
      if (std::exchange(next_, Next::kNothing) == Next::kQuestion && profile_->isEnabled()) emit profileRequested(facts_);
    });
  });
}

// What to do while no kernel is known.
QString KernelPanel::hint() const {
  QString text = QStringLiteral("<p>%1</p>").arg(tr("Select a kernel, or a call that launches one."));
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace || trace->provenance().outline_only || !holds_events(*trace)) return text;  // looking for it would read all events
  const auto has_kernels = [&](const Track& track) {
    return track.key.kind == TrackKind::kKernels &&
           std::any_of(track.lanes.begin(), track.lanes.end(), [&](LaneId lane) { return trace->lane(lane).size() > 0; });
  };
  if (std::none_of(trace->tracks().begin(), trace->tracks().end(), has_kernels)) return text;
  const KernelRecords& records = trace->kernel_records();
  const QString which =
      records.measured.empty() && records.counted.empty() ? tr("Show the one that took longest") : tr("Show the longest whose counters were read");
  return text + QStringLiteral("<p><a href='%1'>%2</a></p>").arg(QLatin1String(kTellingLink), which);
}

void KernelPanel::present() {
  profile_->setEnabled(facts_ && !facts_->is_of_graph() && !facts_->trace->provenance().command.empty());
  source_->setEnabled(facts_ != nullptr);
  pin_->setEnabled(facts_ != nullptr || baseline_ != nullptr);
  pin_->setText(baseline_ ? tr("Remove the baseline") : tr("Pin as baseline"));
  const QString text = facts_ ? kernel_html(*facts_, baseline_.get(), palette()) : hint();
  if (text != shown_) {  // otherwise the user's scroll position would be lost
    const int place = browser_->verticalScrollBar()->value();
    shown_ = text;
    browser_->setHtml(text);
    browser_->verticalScrollBar()->setValue(place);
  }
  showCharts();
}

void KernelPanel::showCharts() {
  QString title;
  std::vector<StallChart::Bar> bars = facts_ ? bars_of(*facts_, title) : std::vector<StallChart::Bar>();
  const bool has_roofline = facts_ && facts_->counters && !facts_->counters->roofline.empty();
  const bool has_memory = facts_ && facts_->counters && !facts_->counters->memory.empty();
  const bool has_bars = !bars.empty();
  stalls_->setVisible(has_bars);
  if (!bars.empty()) stalls_->setBars(title, std::move(bars));
  if (has_roofline) roofline_->setRoofline(facts_->counters->roofline);
  if (has_memory) memory_->setTraffic(facts_->counters->memory);
  pages_->setVisible(has_roofline || has_memory);
  if (has_roofline || has_memory) {  // otherwise the user's page stays chosen for the next kernel
    pages_->setTabVisible(pages_->indexOf(memory_place_), has_memory);
    pages_->setTabVisible(pages_->indexOf(roofline_), has_roofline);
  }
  charts_->setVisible(has_bars || has_roofline || has_memory);
}

void KernelPanel::pin() {
  baseline_ = baseline_ ? nullptr : facts_;
  present();
}

}  // namespace lanescope::ui

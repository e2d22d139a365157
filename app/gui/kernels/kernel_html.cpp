#include "kernels/kernel_html.h"

#include <algorithm>
#include <cmath>

#include <QUrl>

#include "analysis/command_text.h"
#include "base/text/texts.h"
#include "model/analysis/idle/launches_at_once.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

QString said(std::string_view words) { return shown_text(words).toHtmlEscaped(); }
QString said(const Message& message) { return shown_text(message).toHtmlEscaped(); }

QString number_text(double value) {
  return std::abs(value) >= 1000 ? QString::fromStdString(timeline::format_count(static_cast<std::uint64_t>(std::llround(std::abs(value)))))
                                 : QString::number(value, 'g', 3);
}

enum class Baseline { kNone, kBeside };
Baseline beside(const KernelFacts* baseline) { return baseline != nullptr ? Baseline::kBeside : Baseline::kNone; }

// Rows of a table: a label, a value, and the value of the baseline if there is one.
class Rows {
 public:
  explicit Rows(Baseline baseline) : baseline_(baseline) {}
  void add(const QString& label, const QString& value, const QString& before = {}) {
    text_ += QStringLiteral("<tr><td class='label'>%1</td><td align='right'>%2</td>").arg(label, value);
    if (baseline_ == Baseline::kBeside) text_ += QStringLiteral("<td align='right' class='label'>%1</td>").arg(before);
    text_ += QStringLiteral("</tr>");
  }
  [[nodiscard]] QString table(const QString& title) const {
    if (text_.isEmpty()) return {};
    const QString heading =
        baseline_ == Baseline::kBeside
            ? QStringLiteral("<tr><td></td><td align='right' class='label'>%1</td><td align='right' class='label'>%2</td></tr>").arg(tr("now"), tr("baseline"))
            : QString();
    return QStringLiteral("<p><b>%1</b></p><table cellspacing='0' cellpadding='1'>%2%3</table>").arg(title, heading, text_);
  }

 private:
  Baseline baseline_;
  QString text_;
};

QString launch_table(const KernelFacts& facts, const KernelFacts* baseline) {
  Rows rows(beside(baseline));
  const auto add = [&](const char* label, const auto& text_of) { rows.add(tr(label), text_of(facts), baseline != nullptr ? text_of(*baseline) : QString()); };
  const auto extent = [](const std::uint32_t(&size)[3]) { return QStringLiteral("%1 × %2 × %3").arg(size[0]).arg(size[1]).arg(size[2]); };
  add("Grid", [&](const KernelFacts& of) { return extent(of.detail.grid); });
  add("Block", [&](const KernelFacts& of) { return extent(of.detail.block); });
  add("Registers a thread", [](const KernelFacts& of) { return QString::number(of.detail.registers_per_thread); });
  add("Shared memory a block",
      [](const KernelFacts& of) { return html(timeline::format_bytes(std::uint64_t{of.detail.static_shared_memory} + of.detail.dynamic_shared_memory)); });
  add("Theoretical occupancy", [](const KernelFacts& of) { return of.occupancy ? html(timeline::format_share(of.occupancy->share())) : QString(); });
  add("Limited by", [](const KernelFacts& of) { return of.occupancy ? said(kernels::limiters_text(*of.occupancy)) : QString(); });
  add("Waves", [](const KernelFacts& of) { return of.waves ? shown_text(kernels::waves_text(*of.waves)) : QString(); });
  add("Empty in the last wave", [](const KernelFacts& of) { return of.waves ? html(timeline::format_share(of.waves->tail_share())) : QString(); });
  add("Multiprocessors without a block",
      [](const KernelFacts& of) { return of.waves ? html(timeline::format_share(of.waves->idle_multiprocessors())) : QString(); });
  QString text = rows.table(tr("Launch and occupancy"));
  for (const kernels::Relief& relief : facts.reliefs)
    text += QStringLiteral("<br>%1").arg(tr("More occupancy with %1").arg(said(kernels::relief_text(relief, facts.detail))));
  return text;
}

QString section_tables(const KernelFacts& facts, const KernelFacts* baseline) {
  const KernelFacts::Counters& counters = *facts.counters;
  // Opcodes that were counted have a table of their own.
  const auto is_opcode = [&facts](const kernels::SectionRow& row) {
    return std::any_of(facts.opcodes.begin(), facts.opcodes.end(), [&row](const kernels::OpcodeCount& each) { return each.opcode == row.label.english(); });
  };
  const KernelFacts::Counters* const before = baseline != nullptr && baseline->counters ? &*baseline->counters : nullptr;
  const auto value_before = [before](std::string_view section, std::string_view label) {
    if (before == nullptr) return QString();
    for (const kernels::Section& one : before->sections)
      for (const kernels::SectionRow& row : one.rows)
        if (one.name == section && row.label.english() == label) return value_text(row.value, row.unit);
    return QString();
  };
  QString text;
  for (const kernels::Section& section : counters.sections) {
    if (section.name == "LaunchStats") continue;  // these are shown with the launch
    Rows rows(before != nullptr ? Baseline::kBeside : Baseline::kNone);
    for (const kernels::SectionRow& row : section.rows)
      if (!is_opcode(row)) rows.add(said(row.label), value_text(row.value, row.unit), value_before(section.name, row.label.english()));
    text += rows.table(said(section.title));
  }
  return text;
}

// A link to the source; empty if there is no line.
QString line_html(const std::optional<kernels::CostlyLine>& line) {
  if (!line) return {};
  return QStringLiteral("<br><a href='%1%2'>%3</a>")
      .arg(kSourceLink, QString::fromUtf8(QUrl::toPercentEncoding(QString::fromStdString(line->place))), said(kernels::line_text(*line)));
}

// Which launch the counters belong to, and how long it took then.
QString measured_text(const KernelFacts& facts) {
  const KernelFacts::Counters& counters = *facts.counters;
  const QString where = said(counters.where), duration = html(timeline::format_duration(counters.duration));
  QString text = counters.verdict.advice.empty() ? tr("Counters %1, which took %2 then.").arg(where, duration)
                                                 : tr("Counters %1, which took %2 then; gains are of all launches of this shape.").arg(where, duration);
  if (const Message at_once = analysis::at_once_text(facts.once); !at_once.empty() && !counters.verdict.advice.empty()) text += u' ' + said(at_once);
  if (counters.own_clock)
    text +=
        u' ' + tr("Measured at the clock that the GPU had (%1), with caches as they were.").arg(value_text(*counters.own_clock, kernels::ValueUnit::kHertz));
  return text;
}

QString verdict_text(const KernelFacts& facts) {
  const KernelFacts::Counters& counters = *facts.counters;
  QString text = QStringLiteral("<p>%1</p>")
                     .arg(counters.verdict.utilization > 0 ? tr("Bound by <b>%1</b>.").arg(said(kernels::bound_text(counters.verdict)))
                                                           : tr("It was not measured what bounds it."));
  if (!counters.verdict.pipes.empty()) text += QStringLiteral("<p class='label'>%1</p>").arg(said(counters.verdict.pipes));
  const QString measured = QStringLiteral("<p class='label'>%1</p>").arg(measured_text(facts));
  if (counters.verdict.advice.empty()) return text + QStringLiteral("<p>%1</p>").arg(tr("No change stands out that would make it faster.")) + measured;
  text += QStringLiteral("<table cellspacing='0' cellpadding='3'>");
  const Nanoseconds time = std::max(facts.all.time, facts.duration);
  for (std::size_t i = 0; i < counters.verdict.advice.size(); ++i) {
    const kernels::Advice& advice = counters.verdict.advice[i];
    text += QStringLiteral("<tr><td align='right'><b>%1</b></td><td><b>%2</b> <span class='label'>%3</span><br>%4%6<br><span class='label'>%5</span></td></tr>")
                .arg(advice.is_gain_known ? html(timeline::format_duration(static_cast<Nanoseconds>(advice.gain * facts.once * static_cast<double>(time))))
                                          : QStringLiteral("?"),
                     said(kernels::cause_name(advice.rule)),
                     advice.is_gain_known ? tr("up to %1 of each launch").arg(html(timeline::format_share(advice.gain))) : tr("what it could win is not known"),
                     said(advice.seen), said(advice.what_to_do), i < counters.lines.size() ? line_html(counters.lines[i]) : QString());
  }
  return text + QStringLiteral("</table>") + measured;
}

// The instructions that the kernel executed, the most frequent first.
QString opcode_table(const KernelFacts& facts, const KernelFacts* baseline) {
  const auto number_of = [](const std::vector<kernels::OpcodeCount>& opcodes, std::string_view opcode) {
    for (const kernels::OpcodeCount& each : opcodes)
      if (each.opcode == opcode) return number_text(static_cast<double>(each.executed));
    return QString();
  };
  Rows rows(beside(baseline));
  double all = 0;
  for (const kernels::OpcodeCount& each : facts.opcodes) all += static_cast<double>(each.executed);
  for (const kernels::OpcodeCount& each : facts.opcodes)
    rows.add(html(each.opcode),
             tr("%1 (%2)").arg(number_text(static_cast<double>(each.executed)), html(timeline::format_share(static_cast<double>(each.executed) / all))),
             baseline != nullptr ? number_of(baseline->opcodes, each.opcode) : QString());
  return rows.table(tr("Instructions by opcode, as warps executed them"));
}

QStringList program_of(const KernelFacts& facts) {
  QStringList words;
  if (facts.program)
    for (const std::string& word : facts.program->command) words += QString::fromStdString(word);
  else
    words += QStringLiteral("PROGRAM");
  return words;
}

}  // namespace

QString value_text(double value, kernels::ValueUnit unit) {
  switch (unit) {
    case kernels::ValueUnit::kPercent:
      return QString::number(value, 'f', 1) + QStringLiteral(" %");
    case kernels::ValueUnit::kNanoseconds:
      return html(timeline::format_duration(std::llround(value)));
    case kernels::ValueUnit::kBytes:
      return value < 1000 ? QString::number(value, 'g', 3) + QStringLiteral(" B") : html(timeline::format_bytes(static_cast<std::uint64_t>(value)));
    case kernels::ValueUnit::kBytesPerSecond:
      return html(timeline::format_bytes(static_cast<std::uint64_t>(value))) + QStringLiteral("/s");
    case kernels::ValueUnit::kHertz:
      return QString::number(value / 1e9, 'f', 2) + QStringLiteral(" GHz");
    case kernels::ValueUnit::kCycles:
      return number_text(value) + QObject::tr(" cycles");
    case kernels::ValueUnit::kOperationsPerSecond:
      return operations_text(value);
    case kernels::ValueUnit::kNumber:
      break;
  }
  return number_text(value);
}

QString operations_text(double a_second) {
  constexpr double kTera = 1e12, kGiga = 1e9;
  return a_second >= kTera ? QObject::tr("%1 TFLOP/s").arg(a_second / kTera, 0, 'g', 3) : QObject::tr("%1 GFLOP/s").arg(a_second / kGiga, 0, 'g', 3);
}

QStringList counters_command(const KernelFacts& facts, const QString& file) {
  QStringList words{QStringLiteral("kernels"),
                    QStringLiteral("--set"),
                    QStringLiteral("full"),
                    QStringLiteral("-k"),
                    QString::fromStdString(facts.brief_name),
                    QStringLiteral("-s"),
                    QString::number(facts.launches_before),
                    QStringLiteral("-c"),
                    QStringLiteral("1"),
                    QStringLiteral("--save"),
                    file,
                    QStringLiteral("--")};
  return words + program_of(facts);
}

QString kernel_html(const KernelFacts& facts, const KernelFacts* baseline, const QPalette& palette) {
  QString text = QStringLiteral("<style>.label { color: %1; } td { padding-right: 10px; }</style><p><b>%2</b><br><span class='label'>%3</span></p>")
                     .arg(palette.color(QPalette::PlaceholderText).name(), html(facts.brief_name),
                          facts.all.count < 2 ? tr("%1; the only launch of this shape").arg(html(timeline::format_duration(facts.duration)))
                                              : tr("%1; all %2 launches of this shape take %3")
                                                    .arg(html(timeline::format_duration(facts.duration)), html(timeline::format_count(facts.all.count)),
                                                         html(timeline::format_duration(facts.all.time))));
  if (baseline != nullptr)
    text += QStringLiteral("<p class='label'>%1%2</p>")
                .arg(tr("Baseline: %1, %2").arg(html(baseline->brief_name), html(timeline::format_duration(baseline->duration))),
                     baseline->counters ? tr(", bound by %1").arg(said(kernels::bound_text(baseline->counters->verdict))) : QString());
  if (facts.counters)
    text += verdict_text(facts);
  else if (facts.is_of_graph())
    text += QStringLiteral("<p class='label'>%1<br><code>%2</code></p>")
                .arg(tr("It is a node of a CUDA graph, whose kernels are not measured one by one. This measures all kernels in a range of NVTX together:"),
                     (QStringLiteral("lanescope kernels --replay-mode range --nvtx-include RANGE -- ") + command_text(program_of(facts))).toHtmlEscaped());
  else
    text += QStringLiteral("<p class='label'>%1<br><code>%2</code></p>")
                .arg(tr("Its counters were not read. This reads them, and keeps them in a file that opens here:"),
                     (QStringLiteral("lanescope ") + command_text(counters_command(facts, QStringLiteral("kernel.trace")))).toHtmlEscaped());
  if (!facts.stalls)
    text += QStringLiteral("<p class='label'>%1<br><code>%2</code></p>")
                .arg(tr("No samples tell where its warps waited. This records them:"),
                     (QStringLiteral("lanescope profile --kernels=pc ") + command_text(program_of(facts))).toHtmlEscaped());
  text += launch_table(facts, baseline);
  if (facts.counters) text += section_tables(facts, baseline);
  text += opcode_table(facts, baseline);
  return text;
}

}  // namespace lanescope::ui

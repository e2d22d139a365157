#include "page.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <span>
#include <vector>

#include "model/analysis/overlapping_costs.h"
#include "model/analysis/rule.h"
#include "model/file/last_path_part.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/completeness.h"
#include "plots.h"
#include "timeline/core/pixels/svg_picture.h"
#include "timeline/core/words/format.h"

namespace lanescope::report {
namespace {

using analysis::Finding;

constexpr Nanoseconds kShortestGap = 10'000;  // as the viewer shades them
constexpr std::size_t kRowsOfPicture = 8;
constexpr std::size_t kMostIdleRows = 64;
constexpr std::size_t kLongestText = 2'000;  // letters: of a name, a command, or a sentence with names in it
constexpr std::array<std::string_view, 5> kTables{"cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_api_sum", "nvtx_sum", "osrt_sum"};

constexpr std::string_view kStyle = R"(<style>
body { font: 15px/1.45 system-ui, sans-serif; color: #1c1c1c; background: #fff; max-width: 1000px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; margin-bottom: .2em; } h2 { margin-top: 2em; border-bottom: 1px solid #ddd; } h3 { margin: 1.6em 0 .3em; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: 2px 10px 2px 0; text-align: right; vertical-align: top; }
th { color: #666; font-weight: normal; border-bottom: 1px solid #ddd; } .text { text-align: left; overflow-wrap: anywhere; }
.quiet { color: #666; } code { background: #f3f3f3; padding: 1px 4px; overflow-wrap: anywhere; } svg { border: 1px solid #e4e4e4; margin: .4em 0; }
dl { display: grid; grid-template-columns: 8em 1fr; gap: 2px 0; } dt { color: #666; } dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
</style>)";

std::string html(std::string_view text) { return timeline::markup_text(timeline::shortened(text, kLongestText)); }

std::string element(std::string_view name, std::string_view content) {
  return "<" + std::string(name) + ">" + std::string(content) + "</" + std::string(name) + ">";
}

// As a shell reads one word.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view("-_./+:=,@%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string date_text(std::int64_t utc) {
  const std::time_t seconds = utc / 1'000'000'000;
  std::tm parts{};
  if (utc == 0 || gmtime_r(&seconds, &parts) == nullptr) return {};
  std::array<char, 40> text{};
  return std::string(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts));
}

std::string_view text_of(const stats::Table& table, std::string_view column, std::size_t row) {
  const auto found = std::find_if(table.columns().begin(), table.columns().end(), [column](const stats::Column& one) { return one.title == column; });
  return found == table.columns().end() ? std::string_view() : table.text(found->text(row));
}

// Empty where there is nothing in the range.
std::string picture_of(const Trace& trace, const timeline::RowTree& tree, timeline::ContentCache& contents, const timeline::IdleTime& idle,
                       const timeline::CommunicationTime& communication, TimeRange range, std::optional<TimeRange> marked) {
  if (range.empty()) return {};
  timeline::SvgPicture request;
  request.range = range;
  request.marked = marked;
  request.rows = timeline::telling_rows(tree, contents, range, kRowsOfPicture);
  return request.rows.empty() ? std::string() : timeline::svg_text(trace, tree, request, contents, &idle, &communication);
}

class Page {
 public:
  Page(const std::shared_ptr<const Trace>& trace, const PageOptions& options, const TextConsumer& write)
      : shared_(trace),
        trace_(*trace),
        options_(options),
        write_(write),
        tree_(*trace),
        contents_(trace),
        idle_(trace, kShortestGap),
        communication_(*trace, {}, timeline::CommunicationTime::Parts::kWaits) {}

  Result<bool> run() {
    std::vector<Finding> findings;
    std::string summary;
    if (const auto done = judge(findings, summary); !done) return done.error();
    const std::string name(last_path_part(options_.file));
    const bool written =
        say("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + html(name) +
            "</title><meta name=\"viewport\" content=\"width=device-width\">" + std::string(kStyle) + "</head><body>\n" + element("h1", html(name))) &&
        say(provenance()) && say(whole_picture()) && say(plots()) && say(element("h2", "What costs time")) &&
        say(summary.empty() ? "" : element("p", html(summary))) && say_findings(findings) && say(idle_table()) && say_tables() &&
        say("<p class=\"quiet\">Made by lanescope report. Times are of the recording; pictures show names and durations of what the "
            "pointer is over.</p></body></html>\n");
    return written;
  }

 private:
  bool say(const std::string& text) { return write_(text); }

  Result<void> judge(std::vector<Finding>& findings, std::string& summary) {
    std::vector<analysis::RuleRequest> requests;
    for (const analysis::Rule& rule : analysis::rules())
      if (rule.origin == analysis::RuleOrigin::kLanescope) requests.push_back(*analysis::parse_rule(rule.name));
    const auto answers = analysis::apply_rules(trace_, requests, {}, analysis::kWholeTrace, analysis::RuleTables::kLeftOut);
    if (!answers) return answers.error();
    for (const analysis::RuleAnswer& answer : *answers) {
      findings.insert(findings.end(), answer.findings.begin(), answer.findings.end());
      if (summary.empty()) summary = answer.summary;
      for (const analysis::NamedTable& named : answer.tables)
        if (named.name == "gpu_bubbles_causes") idle_causes_ = named.table;
    }
    for (std::size_t row = 0; idle_causes_ && row < idle_causes_->row_count(); ++row) has_loop_ = has_loop_ || !text_of(*idle_causes_, "When", row).empty();
    analysis::rank(findings);
    return {};
  }

  // States of processors are made of those of threads.
  [[nodiscard]] std::uint64_t recorded_events() const {
    std::uint64_t made = 0;
    for (const Track& track : trace_.tracks())
      for (const LaneId lane : track.lanes) made += track.key.kind == TrackKind::kProcessors ? trace_.lane(lane).size() : 0;
    return trace_.event_count() - made;
  }

  [[nodiscard]] std::string provenance() const {
    const Provenance& from = trace_.provenance();
    std::string command;
    for (const std::string& argument : from.command) command += (command.empty() ? "" : " ") + quoted(argument);
    std::string gpus;
    for (const Gpu& gpu : trace_.gpus()) gpus += (gpus.empty() ? "" : ", ") + (gpu.name.empty() ? "GPU " + std::to_string(gpu.ordinal) : gpu.name);
    std::string text = "<dl>";
    const auto line = [&](const char* title, const std::string& value) {
      if (!value.empty()) text += element("dt", title) + element("dd", html(value));
    };
    line("Program", command);
    line("Host", from.host_name);
    line("Recorded", date_text(from.utc_epoch));
    line("By", from.producer);
    line("GPUs", gpus);
    line("Length", timeline::format_duration(trace_.scope().length()));
    if (!has_known_times(from)) line("Times", "not in the file: pictures show kernels one behind the other, each for the time that it took");
    line("Events", timeline::format_count(recorded_events()));
    line("Contents", completeness_text(trace_));
    line("File", from.condition);
    for (const Label& label : from.labels) line(label.key.c_str(), label.value);
    return text + "</dl>";
  }

  [[nodiscard]] std::string picture(TimeRange range, std::optional<TimeRange> marked) {
    return picture_of(trace_, tree_, contents_, idle_, communication_, range, marked);
  }

  [[nodiscard]] std::string whole_picture() { return picture(trace_.scope(), std::nullopt); }

  [[nodiscard]] std::string plots() const {
    if (!has_known_times(trace_.provenance())) return {};
    const std::string busy = busy_plot(shared_, communication_, trace_.scope()), steps = step_plot(trace_);
    return (busy.empty() ? "" : element("h2", "How busy GPUs were") + busy) + (steps.empty() ? "" : element("h2", "How long iterations took") + steps);
  }

  [[nodiscard]] std::string viewer_command(TimeRange range) const {
    return "lanescope-ui " + quoted(options_.file) + " --range " + std::to_string(range.begin) + "ns:" + std::to_string(range.end) + "ns";
  }

  bool say_findings(const std::vector<Finding>& findings) {
    const bool has_gpu_work = std::any_of(trace_.tracks().begin(), trace_.tracks().end(), [](const Track& track) { return is_gpu_work(track.key.kind); });
    if (findings.empty())
      return say(
          element("p", has_gpu_work ? "Nothing was found that costs much of the time." : "The trace holds no GPU work: the tables say what its threads did."));
    for (std::size_t i = 0; i < std::min(findings.size(), options_.findings); ++i) {
      const Finding& finding = findings[i];
      std::string text = element("h3", std::to_string(i + 1) + ". " + html(finding.title.english()));
      text +=
          "<p>" + std::string(finding.cost > 0 ? "Costs " + html(analysis::cost_text(finding).english()) + ". " : "") + html(finding.seen.english()) + "</p>";
      text += element("p", "<b>What to do:</b> " + html(finding.advice.english()));
      if (!finding.place.range.empty()) {
        const TimeRange shown = timeline::padded(finding.place.range, 0.3);
        text += picture(shown, finding.place.range) + "<p class=\"quiet\"><code>" + html(viewer_command(shown)) + "</code></p>";
      }
      if (!say(text)) return false;
    }
    const std::span<const Finding> shown(findings.data(), std::min(findings.size(), options_.findings));
    const Message overlap = analysis::overlap_text(analysis::shared_costs(trace_, shown));
    if (!overlap.empty() && !say(element("p", html(overlap.english())))) return false;
    if (findings.size() <= options_.findings) return true;
    return say("<p class=\"quiet\">" + std::to_string(findings.size() - options_.findings) + " further findings: <code>lanescope analyze " +
               html(quoted(options_.file)) + "</code></p>");
  }

  // Of the same time as the findings, and what lies outside of it apart.
  [[nodiscard]] std::string idle_table() const {
    if (!idle_causes_) return {};
    return element("h2", "Why GPUs were idle") + table_html(*idle_causes_, kMostIdleRows) + "<p class=\"quiet\">" +
           (has_loop_ ? "What is said above is of the loop; what lies before and after it is paid once. " : "") + "<code>lanescope analyze -r gpu_bubbles " +
           html(quoted(options_.file)) + "</code></p>";
  }

  bool say_tables() {
    const stats::ReportSeries series(trace_);
    for (const std::string_view name : kTables) {
      const stats::Report& report = *stats::find_report(name);
      const auto table = series.make(report);
      if (!table || table->empty()) continue;
      if (!say(element("h2", html(report.title)) + table_html(*table, options_.table_rows) + "<p class=\"quiet\"><code>lanescope stats -r " +
               std::string(name) + " " + html(quoted(options_.file)) + "</code></p>"))
        return false;
    }
    return true;
  }

  [[nodiscard]] std::string table_html(const stats::Table& table, std::size_t most) const {
    std::string text = "<div class=\"scroll\"><table><tr>";
    const auto open = [](const char* tag, const stats::Column& column) { return "<" + std::string(tag) + (column.has_texts() ? " class=\"text\">" : ">"); };
    for (const stats::Column& column : table.columns()) text += open("th", column) + html(stats::shown_title(column, stats::TimeUnit::kMilliseconds)) + "</th>";
    text += "</tr>";
    const std::size_t rows = std::min(table.row_count(), most);
    for (std::size_t row = 0; row < rows; ++row) {
      text += "<tr>";
      for (const stats::Column& column : table.columns()) {
        std::string cell;
        stats::append_cell(cell, table, column, row, stats::TimeUnit::kMilliseconds, stats::Separators::kThousands);
        text += open("td", column) + html(cell) + "</td>";
      }
      text += "</tr>";
    }
    text += "</table></div>";
    if (table.row_count() > rows)
      text += "<p class=\"quiet\">and " + std::to_string(table.row_count() - rows) + (table.row_count() - rows == 1 ? " more row</p>" : " more rows</p>");
    return text;
  }

  const std::shared_ptr<const Trace>& shared_;
  const Trace& trace_;
  const PageOptions& options_;
  const TextConsumer& write_;
  timeline::RowTree tree_;
  timeline::ContentCache contents_;  // of all pictures
  timeline::IdleTime idle_;
  timeline::CommunicationTime communication_;
  std::optional<stats::Table> idle_causes_;
  bool has_loop_ = false;
};

}  // namespace

Result<bool> write_page(const std::shared_ptr<const Trace>& trace, const PageOptions& options, const TextConsumer& write) {
  return Page(trace, options, write).run();
}

std::string timeline_svg(const std::shared_ptr<const Trace>& trace) {
  const timeline::RowTree tree(*trace);
  timeline::ContentCache contents(trace);
  return picture_of(*trace, tree, contents, timeline::IdleTime(trace, kShortestGap),
                    timeline::CommunicationTime(*trace, {}, timeline::CommunicationTime::Parts::kWaits), trace->scope(), std::nullopt);
}

}  // namespace lanescope::report

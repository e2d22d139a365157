// lanescope analyze: what costs time in a trace, and what to do about it.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "checks.h"
#include "commands.h"
#include "model/analysis/findings_table.h"
#include "model/analysis/rule.h"
#include "model/stats/selection.h"
#include "options/filter_options.h"
#include "options/foreign_options.h"
#include "output/findings_text.h"
#include "output/losses.h"
#include "output/path_output.h"
#include "output/table_output.h"

namespace lanescope::cli {
namespace {

using analysis::Rule;
using analysis::RuleAnswer;
using analysis::RuleOrigin;
using analysis::RuleRequest;

constexpr const char* kAnalyzeFooter =
    "Examples:\n"
    "  lanescope analyze run.trace                                what costs time, the largest cost first\n"
    "  lanescope analyze -r gpu_bubbles:gap=5us run.trace         one rule, with its tables\n"
    "  lanescope analyze --filter-nvtx 'step 7' run.trace         why one iteration was slow\n"
    "  lanescope analyze --critical-path --filter-nvtx 'step 7' run.trace    what its time went to, one after the other\n"
    "  lanescope analyze rank0.trace rank1.trace                  several ranks together\n"
    "  lanescope analyze --help-rules gpu_bubbles                 what a rule looks for, and its arguments\n";

struct RuleAsked {
  std::string text;  // as asked: "gpu_bubbles:gap=5us"
  RuleRequest rule;
};

struct Answered {
  const RuleAsked* request = nullptr;
  RuleAnswer answer;
};

// Which tables to print besides the findings.
enum class Detail { kFindings, kTables };

Result<RuleAsked> parse_rule_asked(const std::string& text) {
  Result<RuleRequest> parsed = analysis::parse_rule(text);
  if (parsed) return RuleAsked{text, std::move(*parsed)};
  const std::string name = text.substr(0, text.find(':'));
  std::vector<std::string> known;
  for (const Rule& rule : analysis::rules()) known.emplace_back(rule.name);
  const std::string suggestion = nearest(name, known);
  if (analysis::find_rule(name) == nullptr && !suggestion.empty())
    return Error{"There is no rule " + name + ". Did you mean " + suggestion + "?", ErrorKind::kUsage};
  return parsed.error();
}

Result<std::vector<RuleAsked>> parse_rules(std::vector<std::string> texts) {
  std::vector<RuleAsked> requests;
  for (std::string& text : texts) {
    take_name_of_today(text);
    if (text != "all") {
      Result<RuleAsked> request = parse_rule_asked(text);
      if (!request) return request.error();
      requests.push_back(std::move(*request));
      continue;
    }
    for (const Rule& rule : analysis::rules()) requests.push_back(*parse_rule_asked(std::string(rule.name)));
  }
  return requests;
}

int print_rules(const std::string& name) {
  if (!name.empty() && name != "ALL" && analysis::find_rule(name) == nullptr)
    return fail({"There is no rule " + name + ". See: lanescope analyze --help-rules", ErrorKind::kUsage});
  for (const Rule& rule : analysis::rules()) {
    if (!name.empty() && name != "ALL" && name != rule.name) continue;
    std::cout << rule.name << " - " << rule.title << '\n';
    if (name.empty()) continue;
    std::cout << "    " << rule.description << '\n';
    for (const analysis::RuleOption& option : rule.options)
      std::cout << "    :" << option.name << '=' << option.default_value << "  " << option.meaning << '\n';
  }
  return kSuccess;
}

// Our own rules answer with findings first, Nsight's rules with their table, or a sentence if it is empty.
Result<void> write_tables(const std::vector<Answered>& answers, TableOutput& output, std::size_t written) {
  for (const Answered& answered : answers) {
    const Rule& rule = *answered.request->rule.rule;
    const bool nsight = rule.origin == RuleOrigin::kNsight;
    bool has_main_table = false;
    for (const analysis::NamedTable& table : answered.answer.tables) {
      has_main_table |= nsight || table.name == rule.name;
      const TableHeading heading{nsight ? std::string(rule.title) : table.title, nsight ? answered.request->text : table.name,
                                 nsight ? std::string(rule.description) : ""};
      if (const auto done = output.write(written++, heading, table.table); !done) return done;
    }
    if (answers.size() == 1 && nsight && !has_main_table && output.is_json_on_console(written)) {  // its one table is the output
      if (const auto done = output.write(written, {}, stats::Table()); !done) return done;
    } else if (!has_main_table) {
      if (const auto done = output.leave_out(written, nsight ? answered.request->text : std::string(rule.name)); !done) return done;
    }
    if (!answered.answer.message.empty()) TableOutput::skip(std::string(rule.name) + ": " + answered.answer.message.english());
  }
  return {};
}

std::vector<analysis::Finding> findings_of(const std::vector<Answered>& answers) {
  std::vector<analysis::Finding> findings;
  for (const Answered& answered : answers) findings.insert(findings.end(), answered.answer.findings.begin(), answered.answer.findings.end());
  analysis::rank(findings);
  return findings;
}

// The summary that comes before the findings; if there is no GPU work, it says so.
Message summary_of(const std::vector<Answered>& answers) {
  for (const Answered& answered : answers)
    if (!answered.answer.summary.empty()) return answered.answer.summary;
  for (const Answered& answered : answers)
    if (answered.request->rule.rule->name == "gpu_bubbles") return answered.answer.message;
  return {};
}

Result<void> write_answers(const Trace& trace, const std::vector<Answered>& answers, TableOutput& output, Detail detail, const Language& language) {
  const std::vector<analysis::Finding> findings = findings_of(answers);
  const bool own =
      std::any_of(answers.begin(), answers.end(), [](const Answered& answered) { return answered.request->rule.rule->origin == RuleOrigin::kLanescope; });
  std::size_t written = 0;
  if (const auto read = output.check_sources(); !read) return read;
  if (own && output.is_for_people(0)) {
    const bool may_find = std::any_of(answers.begin(), answers.end(), [](const Answered& answered) {  // true unless all rules answer with tables only
      const analysis::Rule& rule = *answered.request->rule.rule;
      return rule.origin == RuleOrigin::kLanescope && rule.name != "step_breakdown";
    });
    if (may_find) std::cout << findings_text(trace, summary_of(answers), findings, language);
  } else if (own) {  // printed even if empty, because having no findings is the answer
    const auto done = output.write(written++, {"Findings", "findings", ""}, analysis::findings_table(trace, findings));
    if (!done) return done;
  }
  return detail == Detail::kTables ? write_tables(answers, output, written) : Result<void>{};
}

// Without -r, Nsight's rules are left out, because ours cover what they find.
Result<std::vector<Answered>> answer_all(const Trace& trace, const std::vector<RuleAsked>& requests, Detail detail, TimeRange time) {
  std::vector<const RuleAsked*> wanted;
  for (const RuleAsked& request : requests)
    if (detail == Detail::kTables || request.rule.rule->origin == RuleOrigin::kLanescope) wanted.push_back(&request);
  std::vector<RuleRequest> rules;
  for (const RuleAsked* request : wanted) rules.push_back(request->rule);
  Result<std::vector<RuleAnswer>> results =
      analysis::apply_rules(trace, rules, {}, time, detail == Detail::kTables ? analysis::RuleTables::kAll : analysis::RuleTables::kLeftOut);
  if (!results) return results.error();
  std::vector<Answered> answers;
  for (std::size_t i = 0; i < wanted.size(); ++i) answers.push_back({wanted[i], std::move((*results)[i])});
  return answers;
}

// The time that is looked at: what was asked for, or that of an NVTX range.
Result<TimeRange> time_of(const Trace& trace, const stats::ReportOptions& options) {
  const Result<stats::Selection> selection = stats::Selection::of(trace, options);
  if (!selection) return selection.error();
  return selection->time().value_or(analysis::kWholeTrace);
}

}  // namespace

int run_analyze(Arguments arguments) {
  CLI::App app(
      "Says what costs time in a trace, where, and what to do: idle GPUs and their causes, waits, small kernels, slow copies, "
      "communication.\n"
      "Without -r, all rules run and what they find is listed by its cost; with -r, the tables behind it follow.",
      "lanescope analyze");
  std::string help_rule;
  std::vector<std::filesystem::path> files;
  std::vector<std::string> names;
  TableOutput output;
  FilterOptions filter;
  app.add_option("FILE", files, "A .trace file, or a trace of another tool; several are read as one trace, such as those of all ranks")
      ->transform(trace_file());
  app.add_option("-r,--rule", names, "Rules, with their arguments: gpu_bubbles:gap=5us (repeat, or separate by commas; all: every rule)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  bool wants_path = false;
  app.add_flag("--critical-path", wants_path,
               "Instead: what the time of a step went to, from its start to its last GPU work, by what waited for what. Name it with --filter-nvtx or "
               "--filter-time. On the terminal the longest parts; in files, csv and json all of them");
  std::string language;
  app.add_option("--language", language, "Of the findings: en or zh_CN; else as the locale says. Tables and files are English")->type_name("CODE");
  output.add_options(app);
  filter.add_options(app, "Only what begins during this NVTX range, on all threads and GPUs. Of several ranges of this name, the first; INDEX counts from 0");
  auto* help_rules =
      app.add_option("--help-rules", help_rule, "List the rules, or explain one with its arguments (ALL: each)")->expected(0, 1)->type_name("[RULE]");
  app.footer(kAnalyzeFooter);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (help_rules->count() > 0) return print_rules(help_rule);
  if (files.empty()) return fail({"Name the trace file: lanescope analyze FILE", ErrorKind::kUsage});

  const Language* const wished = language.empty() ? &language_of_environment() : find_language(language);
  if (wished == nullptr) return fail({"There is no language " + language + ". Name en or zh_CN.", ErrorKind::kUsage});
  const Detail detail = names.empty() ? Detail::kFindings : Detail::kTables;
  if (wants_path && !names.empty()) return fail({"--critical-path is an answer of its own: leave out -r.", ErrorKind::kUsage});
  if (wants_path && filter.time.empty() == filter.range.empty())
    return fail({"Name the step, or the time: lanescope analyze --critical-path --filter-nvtx 'step 7' FILE, or --filter-time 1.2s/1.5s", ErrorKind::kUsage});
  if (names.empty()) names.emplace_back("all");
  const Result<std::vector<RuleAsked>> requests = parse_rules(names);
  if (!requests) return fail(requests.error());
  const Result<stats::ReportOptions> options = filter.parse();
  if (!options) return fail(options.error());
  if (const auto prepared = output.prepare(files); !prepared) return fail(prepared.error());
  const bool is_of_nsight = requests->size() == 1 && requests->front().rule.rule->origin == RuleOrigin::kNsight;
  const bool is_one_table = !wants_path && (detail == Detail::kFindings || is_of_nsight);
  if (const auto fits = output.expect(is_one_table ? TableOutput::Tables::kOne : TableOutput::Tables::kSeveral); !fits) return fail(fits.error());
  const auto trace = open_ranks(files, EventPlace::kInMemoryWhereTheyFit, CounterValues::kLeftOut);
  if (!trace) return fail(trace.error());
  output.set_source(*trace);
  filter.say_which_range(**trace, *options);

  const Result<TimeRange> time = time_of(**trace, *options);
  if (!time) return fail(time.error());
  if (wants_path) {
    const Result<void> written = write_critical_path(**trace, *options, output, *wished);
    output.finish();
    if (!written) return fail(written.error());
    say_losses(**trace, name_of(files));
    return kSuccess;
  }
  Result<std::vector<Answered>> answers = answer_all(**trace, *requests, detail, *time);
  if (!answers) return fail(answers.error());
  const Result<void> written = write_answers(**trace, *answers, output, detail, *wished);
  output.finish();
  if (!written) return fail(written.error());
  say_losses(**trace, name_of(files));
  return kSuccess;
}

}  // namespace lanescope::cli

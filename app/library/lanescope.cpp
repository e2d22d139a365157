#include "lanescope.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "model/analysis/findings_table.h"
#include "model/analysis/rule.h"
#include "model/export/arrow_table_stream.h"
#include "model/import/open_trace.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/completeness.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/workers/home_process.h"

struct lanescope_trace {
  std::shared_ptr<const lanescope::Trace> trace;
  lanescope::HomeProcess home;
};

namespace {

using lanescope::Error;
using lanescope::ErrorKind;
using lanescope::Result;

// For who frees it by lanescope_free(); null where there is no memory.
char* copy_of(std::string_view text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

// What `work` returns; nothing of the standard library leaves it as an exception, which no caller in C could take.
template <typename Value, typename Work>
Value answer(char** error, Value failed, Work work) {
  if (error != nullptr) *error = nullptr;
  const auto say = [error](std::string_view sentence) {
    if (error != nullptr) *error = copy_of(sentence);
  };
  try {
    Result<Value> value = work();
    if (value) return *value;
    say(value.error().text);
  } catch (const std::bad_alloc&) {
    say("There is not enough memory for it.");
  } catch (const std::exception& failure) {
    say(failure.what());
  }
  return failed;
}

Error nothing_given(const char* what) { return {std::string("There is no ") + what + ": it is null.", ErrorKind::kUsage}; }

// Fails where others stand for events that can't be read any more: they are no answer.
Result<void> all_is_read(const lanescope_trace& trace) { return lanescope::check_all_was_read(*trace.trace); }

Result<lanescope::stats::Format> format_of(const char* format) {
  if (const auto known = lanescope::stats::format_of(format == nullptr ? "json" : format)) return *known;
  return Error{"There is no format " + std::string(format) + ". Formats: column, table, csv, tsv, json.", ErrorKind::kUsage};
}

Result<char*> text_of(const lanescope::stats::Table& table, lanescope::stats::Format format) {
  char* const text = copy_of(lanescope::stats::format_table(table, format));
  if (text == nullptr) throw std::bad_alloc();
  return text;
}

// One rule, or all of ours.
Result<std::vector<lanescope::analysis::RuleRequest>> rules_of(const char* rule) {
  using namespace lanescope::analysis;
  std::vector<RuleRequest> requests;
  for (const Rule& each : rules()) {
    if (rule != nullptr || each.origin != RuleOrigin::kLanescope) continue;
    Result<RuleRequest> request = parse_rule(each.name);
    if (!request) return request.error();
    requests.push_back(std::move(*request));
  }
  if (rule == nullptr) return requests;
  Result<RuleRequest> request = parse_rule(rule);
  if (!request) return request.error();
  requests.push_back(std::move(*request));
  return requests;
}

// Texts for who reads them in C, as long as the library is loaded.
class Names {
 public:
  explicit Names(std::vector<std::string> names) : names_(std::move(names)) {
    for (const std::string& name : names_) places_.push_back(name.c_str());
    places_.push_back(nullptr);
  }
  [[nodiscard]] const char* const* places() const noexcept { return places_.data(); }

 private:
  std::vector<std::string> names_;
  std::vector<const char*> places_;
};

std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const lanescope::stats::Report& report : lanescope::stats::reports()) names.emplace_back(report.name);
  return names;
}

}  // namespace

const char* lanescope_version(void) { return LANESCOPE_VERSION; }

lanescope_trace* lanescope_open(const char* path, char** error) { return lanescope_open_several(&path, 1, error); }

lanescope_trace* lanescope_open_several(const char* const* paths, size_t count, char** error) {
  return answer<lanescope_trace*>(error, nullptr, [&]() -> Result<lanescope_trace*> {
    std::vector<std::filesystem::path> files;
    for (size_t i = 0; paths != nullptr && i < count; ++i) {
      if (paths[i] == nullptr) return nothing_given("path");
      files.emplace_back(paths[i]);
    }
    if (files.empty()) return Error{"There are no paths to open.", ErrorKind::kUsage};
    auto trace = lanescope::open_traces(files, lanescope::EventPlace::kInFile);
    if (!trace) return trace.error();
    return new lanescope_trace{std::move(*trace), {}};
  });
}

void lanescope_close(lanescope_trace* trace) {
  std::unique_ptr<lanescope_trace> closed(trace);
  if (closed && !closed->home.is_here()) lanescope::HomeProcess::leave(std::move(closed));
}

char* lanescope_losses(const lanescope_trace* trace, char** error) {
  return answer<char*>(error, nullptr, [&]() -> Result<char*> {
    if (trace == nullptr) return nothing_given("trace");
    std::string losses = lanescope::losses_text(*trace->trace);
    if (const Result<void> read = all_is_read(*trace); !read) lanescope::add_sentence(losses, read.error().text);
    char* const text = copy_of(losses);
    if (text == nullptr) throw std::bad_alloc();
    return text;
  });
}

const char* const* lanescope_tables(void) {
  static const Names names(lanescope::table_names());
  return names.places();
}

bool lanescope_table(const lanescope_trace* trace, const char* table, struct ArrowArrayStream* stream, char** error) {
  if (stream != nullptr) stream->release = nullptr;
  return answer<bool>(error, false, [&]() -> Result<bool> {
    if (trace == nullptr) return nothing_given("trace");
    if (table == nullptr) return nothing_given("table");
    if (stream == nullptr) return nothing_given("stream");
    if (const Result<void> read = all_is_read(*trace); !read) return read.error();
    if (const Result<void> opened = lanescope::open_arrow_stream(trace->trace, table, *stream); !opened) return opened.error();
    return true;
  });
}

const char* const* lanescope_reports(void) {
  static const Names names(report_names());
  return names.places();
}

char* lanescope_report(const lanescope_trace* trace, const char* report, const char* format, char** error) {
  return answer<char*>(error, nullptr, [&]() -> Result<char*> {
    if (trace == nullptr) return nothing_given("trace");
    if (report == nullptr) return nothing_given("report");
    const auto known = format_of(format);
    if (!known) return known.error();
    const auto request = lanescope::stats::parse_report(report);
    if (!request) return request.error();
    const auto table = lanescope::stats::make_report(*request->report, *trace->trace, request->options);
    if (!table) return table.error();
    if (const Result<void> read = all_is_read(*trace); !read) return read.error();
    return text_of(*table, *known);
  });
}

char* lanescope_findings(const lanescope_trace* trace, const char* rule, const char* format, char** error) {
  return answer<char*>(error, nullptr, [&]() -> Result<char*> {
    if (trace == nullptr) return nothing_given("trace");
    const auto known = format_of(format);
    if (!known) return known.error();
    const auto requests = rules_of(rule);
    if (!requests) return requests.error();
    const auto answers =
        lanescope::analysis::apply_rules(*trace->trace, *requests, {}, lanescope::analysis::kWholeTrace, lanescope::analysis::RuleTables::kLeftOut);
    if (!answers) return answers.error();
    std::vector<lanescope::analysis::Finding> findings;
    for (const lanescope::analysis::RuleAnswer& each : *answers) findings.insert(findings.end(), each.findings.begin(), each.findings.end());
    lanescope::analysis::rank(findings);
    const lanescope::stats::Table table = lanescope::analysis::findings_table(*trace->trace, findings);
    if (const Result<void> read = all_is_read(*trace); !read) return read.error();
    return text_of(table, *known);
  });
}

void lanescope_free(char* text) { std::free(text); }

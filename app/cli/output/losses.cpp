#include "output/losses.h"

#include <iostream>
#include <vector>

#include "model/import/open_trace.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/completeness.h"
#include "model/trace/segments/demanded_segments.h"
#include "output/output_file.h"
#include "output/told.h"

namespace lanescope::cli {

namespace {

// Stops reading when everything except values of counters is there, for a compacted file whose events stay in it.
LoadStep until_values_come(double, const std::shared_ptr<const Trace>& partial) {
  return partial && !holds_events(*partial) ? LoadStep::kCancel : LoadStep::kContinue;
}

}  // namespace

Result<std::shared_ptr<const Trace>> open_ranks(std::span<const std::filesystem::path> files, EventPlace place, CounterValues values) {
  const auto ranks = trace_files(files);
  if (!ranks) return ranks.error();
  keep_as_private_as(*ranks);
  if (values == CounterValues::kLeftOut && ranks->size() == 1)
    if (const auto form = form_of(ranks->front()); form && *form == FileForm::kCompacted) return open_trace(ranks->front(), until_values_come, place);
  std::vector<std::string> same_recording;
  auto trace = open_traces(*ranks, place, {}, unreadable_of(files), &same_recording);
  for (const std::string& sentence : same_recording) std::cerr << sentence << '\n';
  return trace;
}

Result<std::shared_ptr<const Trace>> open_again_in_memory(const Trace& damaged, std::span<const std::filesystem::path> files) {
  const auto ranks = trace_files(files);
  if (!ranks) return ranks.error();
  if (const Result<void> read = check_all_was_read(damaged); !read) Told::of_command().add(read.error().text);
  return open_traces(*ranks, EventPlace::kInMemory, {}, unreadable_of(files));
}

void say_losses(const Trace& trace, const std::string& name) {
  std::string losses = lacks_text(trace);
  add_sentence(losses, left_out_text(trace));
  if (!losses.empty()) std::cerr << name << ": " << losses << '\n';
}

std::string name_of(std::span<const std::filesystem::path> files) {
  const std::string first = files.front().string();
  return files.size() == 1 ? first : first + " and " + std::to_string(files.size() - 1) + " more";
}

}  // namespace lanescope::cli

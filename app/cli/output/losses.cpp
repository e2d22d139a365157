#include "output/losses.h"

#include <iostream>
#include <vector>

#include "model/import/open_trace.h"
#include "model/trace/completeness.h"
#include "output/output_file.h"

namespace lanescope::cli {

Result<std::shared_ptr<const Trace>> open_ranks(std::span<const std::filesystem::path> files, EventPlace place) {
  const auto ranks = trace_files(files);
  if (!ranks) return ranks.error();
  keep_as_private_as(*ranks);
  std::vector<std::string> same_recording;
  auto trace = open_traces(*ranks, place, {}, unreadable_of(files), &same_recording);
  for (const std::string& sentence : same_recording) std::cerr << sentence << '\n';
  return trace;
}

void say_losses(const Trace& trace, const std::string& name) {
  std::string losses = losses_text(trace);
  add_sentence(losses, left_out_text(trace));
  if (!losses.empty()) std::cerr << name << ": " << losses << '\n';
}

std::string name_of(std::span<const std::filesystem::path> files) {
  const std::string first = files.front().string();
  return files.size() == 1 ? first : first + " and " + std::to_string(files.size() - 1) + " more";
}

}  // namespace lanescope::cli

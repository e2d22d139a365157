// The profile of the call chains of a selection, computed for all views of the panel at once. An immutable value.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <QStringList>

#include "model/samples/call_tree.h"
#include "model/samples/flame_graph.h"
#include "model/samples/line_weights.h"
#include "model/stats/table.h"
#include "model/text/message.h"

namespace lanescope::ui {

struct SampleProfile {
  samples::StackSource source = samples::StackSource::kCpuSamples;
  samples::WeightBy by = samples::WeightBy::kCount;  // samples by count; calls and GPU work by duration
  samples::CallTree top_down;
  samples::CallTree bottom_up;  // only a root if it was not requested
  // Names of the functions for drawing: kernels without namespaces and parameters, as far as they stay distinct.
  std::vector<std::string> top_down_labels, bottom_up_labels;
  std::vector<samples::FunctionWeight> functions;  // indexes into the functions of top_down
  std::shared_ptr<const stats::Table> table;       // of functions, one per row
  std::vector<samples::LineWeight> lines;          // empty if not requested
  std::shared_ptr<const stats::Table> line_table;  // of lines, one per row, with their texts if their files are on this machine; null if not requested
};

enum class CallTrees { kTopDown, kBoth };  // bottom-up trees of many deep chains are large
enum class SourceLines { kNone, kCounted };

struct ProfileRequest {
  samples::SampleSelection selection;
  samples::CallChoice calls = samples::CallChoice::kAll;
  CallTrees trees = CallTrees::kTopDown;
  SourceLines lines = SourceLines::kNone;
  QStringList source_folders;  // folders with sources that are not at their recorded paths
  // True if the answer to `other` also answers this request.
  [[nodiscard]] bool isPartOf(const ProfileRequest& other) const {
    return selection == other.selection && calls == other.calls && trees <= other.trees && lines <= other.lines &&
           (lines == SourceLines::kNone || source_folders == other.source_folders);
  }
};

// Returns null when asked to stop. O(samples + distinct chains · depth + call nodes of the trace).
[[nodiscard]] std::shared_ptr<const SampleProfile> make_profile(const Trace& trace, const ProfileRequest& request, const std::stop_token& stop);

// "train.py:30"; "" if not known.
[[nodiscard]] std::string source_text(const Trace& trace, const samples::SampledFunction& function);
// "12 345 samples", "1.234 s in 17 calls", "1.234 s in 17 operations".
[[nodiscard]] Message weight_text(const samples::Weight& weight, samples::StackSource source);

}  // namespace lanescope::ui

// What call chains of a selection amount to, computed for all views of the panel at once. An immutable value.
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
  samples::WeightBy by = samples::WeightBy::kCount;  // samples by their count, calls and work of GPUs by their durations
  samples::CallTree top_down;
  samples::CallTree bottom_up;  // a root alone where it was not asked for
  // Names of its functions as they are drawn: kernels without namespaces and parameters, as far as that tells them apart.
  std::vector<std::string> top_down_labels, bottom_up_labels;
  std::vector<samples::FunctionWeight> functions;  // indexes into top_down's
  std::shared_ptr<const stats::Table> table;       // of functions, a row each
  std::vector<samples::LineWeight> lines;          // none where they were not asked for
  std::shared_ptr<const stats::Table> line_table;  // of lines, a row each, with their texts as far as their files are here; null likewise
};

enum class CallTrees { kTopDown, kBoth };  // bottom-up trees of many deep chains are large
enum class SourceLines { kNone, kCounted };

struct ProfileRequest {
  samples::SampleSelection selection;
  samples::CallChoice calls = samples::CallChoice::kAll;
  CallTrees trees = CallTrees::kTopDown;
  SourceLines lines = SourceLines::kNone;
  QStringList source_folders;  // where sources are that are not where the program ran
  // Whether what answers the other request answers this one.
  [[nodiscard]] bool isPartOf(const ProfileRequest& other) const {
    return selection == other.selection && calls == other.calls && trees <= other.trees && lines <= other.lines &&
           (lines == SourceLines::kNone || source_folders == other.source_folders);
  }
};

// Null when asked to stop. O(samples + distinct chains · depth + call nodes of the trace).
[[nodiscard]] std::shared_ptr<const SampleProfile> make_profile(const Trace& trace, const ProfileRequest& request, const std::stop_token& stop);

// "train.py:30", "" where that is not known.
[[nodiscard]] std::string source_text(const Trace& trace, const samples::SampledFunction& function);
// "12 345 samples", "1.234 s in 17 calls", "1.234 s in 17 operations".
[[nodiscard]] Message weight_text(const samples::Weight& weight, samples::StackSource source);

}  // namespace lanescope::ui

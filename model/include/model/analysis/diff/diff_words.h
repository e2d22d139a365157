// The words of a comparison, for everything that shows it: the command line, in English, and the viewer.
#pragma once

#include <string>

#include "model/analysis/diff/counter_diff.h"
#include "model/analysis/diff/trace_diff.h"
#include "model/text/message.h"

namespace lanescope::analysis {

// How the traces were aligned, and which parts of them count, in a sentence: "Compared by iteration of "step *": 19 (without the first 1) in A, 19 in
// B."
[[nodiscard]] Message alignment_words(const TraceDiff& diff);

// "+5.0 % (between +3.1 % and +7.0 %)"; without bounds if they are unknown. Not for items that were not there before.
[[nodiscard]] Message bounded_change_words(double change, double low, double high);
// The same with the reason of the verdict: "-1.0 % (between -7.6 % and +5.5 %), no more than noise".
[[nodiscard]] Message change_words(const DiffItem& item);

// Why a verdict is not one of a change: "no more than noise"; empty if it is one.
[[nodiscard]] Message verdict_reason(DiffVerdict verdict);
[[nodiscard]] Message verdict_reason(const DiffItem& item);  // also says that its noise is known, and too large

// The name for use in a sentence: names of kernels can fill a screen; their first 60 letters tell enough.
[[nodiscard]] std::string abbreviated_name(const std::string& name);

// Says that one run a side is too little to recognize a change, and what to do; empty if there are several runs, or nothing changed. O(items).
[[nodiscard]] Message caution_about(const TraceDiff& diff);

}  // namespace lanescope::analysis

// Which code ran while a GPU was idle, in words, as samples of the CPU tell; and advice that this code suggests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "model/samples/most_sampled.h"
#include "model/text/message.h"
#include "model/trace/trace.h"

namespace lanescope::analysis::bubbles {

inline constexpr double kMost = 0.5;  // a share of samples, or of a time, that is most of it

// What threads mostly ran when they were sampled; empty if there are no samples.
[[nodiscard]] Message sampled_text(const Trace& trace, const samples::ChainCounts& chains, std::size_t functions, double least_share = 0);
// The function that has many of the samples; empty if none has, or if its name is not known.
[[nodiscard]] Message often_sampled_function(const Trace& trace, const samples::ChainCounts& chains);
// The function that has many of the samples, or the file with most of them if each function has few; empty if neither says much.
[[nodiscard]] Message mostly_sampled(const Trace& trace, const samples::ChainCounts& chains);
// The files, or processes of one file, of which there are no samples, although there are samples of others; empty if there are of all.
[[nodiscard]] Message unsampled_text(const Trace& trace, const std::set<ProcessId>& processes);
// " 120 samples of the CPU in it: 60 % forward, 20 % backward."; empty if there are none.
[[nodiscard]] Message samples_text(const Trace& trace, const samples::ChainCounts& chains);
// Whether most of the samples ran in an interpreter of Python.
[[nodiscard]] bool runs_python(const Trace& trace, const samples::ChainCounts& chains);
// Adds what the code itself suggests to the advice for the cause, or replaces it.
[[nodiscard]] Message advice_for_code(const Trace& trace, const samples::ChainCounts& chains, const Message& advice);
// True if a thread that ran did so only to wait: OpenMP's workers spin between parallel regions.
[[nodiscard]] bool waits_by_running(const Trace& trace, const samples::ChainCounts& chains);

}  // namespace lanescope::analysis::bubbles

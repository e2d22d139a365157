// The parts of a trace that formats of other tools cannot store.
#pragma once

#include <cstdint>
#include <string>

#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope {

enum class ForeignFormat : std::uint8_t {
  kEventList,   // CSV, text and JSON: one line or object for each event
  kNsysTables,  // SQLite and Parquet with the tables of Nsight Systems, which have counters of GPUs
};

// Counts the selected data that is left out, as a list: "65,994 values of 22 counters, hardware counters of 12 kernels". Empty if only rows of processors are
// left out, because the states of threads contain the same. O(values + records of kernels + functions).
[[nodiscard]] std::string left_out_of(const Trace& trace, const ExportSelection& selection, ForeignFormat format);

}  // namespace lanescope

// What of a trace a format of other tools has no place for.
#pragma once

#include <cstdint>
#include <string>

#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope {

enum class ForeignFormat : std::uint8_t {
  kEventList,   // CSV, text and JSON: one line or object an event
  kNsysTables,  // SQLite and Parquet with the tables of Nsight Systems, which have counters of GPUs
};

// By count, of what is selected, as a list: "65,994 values of 22 counters, hardware counters of 12 kernels". Empty where all goes out, but for rows of
// processors, which say of threads what their states say. O(values + records of kernels + functions).
[[nodiscard]] std::string left_out_of(const Trace& trace, const ExportSelection& selection, ForeignFormat format);

}  // namespace lanescope

// Writes call chains that share their outer calls, with views that show them call by call as Nsight Systems' tables do. Internal to model/export.
//
// In Nsight's table, a sample of a deep stack has a row for each of its calls: a recording of minutes would become hundreds of millions of rows, and a hostile
// file of 10 MB billions. Here each call has one row, independent of the number of its samples, so the output grows with the file and not with the depth of
// stacks (docs/adr/0029).
#pragma once

#include <cstdint>
#include <vector>

#include "nsys_database.h"
#include "nsys_ids.h"

namespace lanescope::exporters {

class NsysCalls {  // single-threaded
 public:
  NsysCalls(const Trace& trace, NsysDatabase& database, NsysStrings& strings);

  // Writes a chain of one of Nsight's tables (kOsRuntimeChains, kCudaChains, kSampleChains) under its id there. Requires: the chain is not 0, and each id is
  // used once. O(samples, calls and functions) for all chains together.
  void write(NsysTable table, std::int64_t id, CallNodeId chain);
  // Writes views in place of the tables with chains.
  void write_views();

 private:
  void write_call(CallNodeId call);
  void write_functions(CodeLocationId location);

  const Trace& trace_;
  NsysDatabase& database_;
  NsysStrings& strings_;
  std::vector<bool> is_written_;               // by call
  std::vector<std::uint32_t> depths_;          // by call: the number of its functions and its callers' functions
  std::vector<std::int64_t> first_functions_;  // by location; 0: not written
  std::int64_t functions_ = 0;                 // written so far
  bool has_os_runtime_ = false, has_cuda_ = false, has_samples_ = false;
};

// A function of a chain as tables contain it, with or without shared calls.
struct ChainFunction {
  std::int64_t symbol = 0;
  std::int64_t module = 0;
  std::optional<int> kernel_mode;
  std::optional<int> unresolved;
  std::optional<std::int64_t> address;
};
[[nodiscard]] ChainFunction chain_function(const Trace& trace, NsysStrings& strings, const CodeLocation& place, const CodeFunction& function);

inline constexpr int kFramePointer = 1;  // a method of unwinding (nsys_enums.cpp)

}  // namespace lanescope::exporters

// Call chains that share their outer calls, with views that say them call by call as Nsight Systems' tables do. Internal to model/export.
//
// A sample of a deep stack is a row of Nsight's table for each of its calls: a recording of minutes would become hundreds of millions of rows, and a
// hostile file of 10 MB thousands of millions. Here each call is a row once, however many samples were taken in it, so that what is written grows
// with the file and not with depths (docs/adr/0029).
#pragma once

#include <cstdint>
#include <vector>

#include "nsys_database.h"
#include "nsys_ids.h"

namespace lanescope::exporters {

class NsysCalls {  // of one thread
 public:
  NsysCalls(const Trace& trace, NsysDatabase& database, NsysStrings& strings);

  // A chain of a table of Nsight's (kOsRuntimeChains, kCudaChains, kSampleChains) by the id that it has there. Requires: a chain that is not 0, and an id
  // once. All chains together: O(samples, calls and functions).
  void write(NsysTable table, std::int64_t id, CallNodeId chain);
  // Views that stand for the tables of which chains were written.
  void write_views();

 private:
  void write_call(CallNodeId call);
  void write_functions(CodeLocationId location);

  const Trace& trace_;
  NsysDatabase& database_;
  NsysStrings& strings_;
  std::vector<bool> is_written_;               // by call
  std::vector<std::uint32_t> depths_;          // by call: its functions and those of its callers
  std::vector<std::int64_t> first_functions_;  // by location; 0: not written
  std::int64_t functions_ = 0;                 // written so far
  bool has_os_runtime_ = false, has_cuda_ = false, has_samples_ = false;
};

// What tables say of a function of a chain, whether they share calls or not.
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

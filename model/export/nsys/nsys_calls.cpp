#include "nsys_calls.h"

namespace lanescope::exporters {
namespace {

// The module name for code without a file.
std::string_view module_of(CodeKind kind) { return kind == CodeKind::kPython ? "[Python]" : "[Unknown]"; }

NsysTable calls_of(NsysTable table) {
  if (table == NsysTable::kSampleChains) return NsysTable::kSampleCalls;
  return table == NsysTable::kCudaChains ? NsysTable::kCudaCalls : NsysTable::kOsRuntimeCalls;
}

// Walks from an innermost call outwards. A condition on the id of a chain is applied to the table of chains, so one chain is found directly. SQLite allows
// group_concat() in views even if it does not trust a file's schema, but not json_group_array().
std::string rows_of(NsysTable table) {
  const bool is_cuda = table == NsysTable::kCudaChains;
  return std::string("SELECT chain.id AS id, function.symbol AS symbol, function.module AS module, ") +
         (is_cuda ? "" : "function.kernelMode AS kernelMode, NULL AS thumbCode, ") + "function.unresolved AS unresolved, " +
         (is_cuda ? "" : "NULL AS specialEntry, ") + "function.originalIP AS originalIP, " +
         (is_cuda ? "" : std::to_string(kFramePointer) + " AS unwindMethod, ") +
         "innermost.depth - call.depth + function.id - call.firstFunctionId AS stackDepth FROM " + table_schema(calls_of(table)).name +
         " AS chain CROSS JOIN LANESCOPE_CALLS AS innermost ON innermost.id = chain.callId CROSS JOIN "
         "json_each((WITH RECURSIVE outwards(id) AS (SELECT chain.callId UNION ALL SELECT each.callerId FROM outwards CROSS JOIN LANESCOPE_CALLS AS each "
         "ON each.id = outwards.id WHERE each.callerId <> 0) SELECT '[' || group_concat(id) || ']' FROM outwards)) AS number "
         "CROSS JOIN LANESCOPE_CALLS AS call ON call.id = number.value "
         "CROSS JOIN LANESCOPE_CALL_FUNCTIONS AS function ON function.id BETWEEN call.firstFunctionId AND call.lastFunctionId";
}

}  // namespace

ChainFunction chain_function(const Trace& trace, NsysStrings& strings, const CodeLocation& place, const CodeFunction& function) {
  ChainFunction row;
  row.symbol = strings.id(function.function);
  row.module = place.module != 0 ? strings.id(place.module) : strings.id(module_of(place.kind));
  if (place.kind == CodeKind::kKernel) row.kernel_mode = 1;
  if (is_address_text(trace.name(function.function))) row.unresolved = 1;
  if (place.address != 0) row.address = static_cast<std::int64_t>(place.address);
  return row;
}

NsysCalls::NsysCalls(const Trace& trace, NsysDatabase& database, NsysStrings& strings)
    : trace_(trace),
      database_(database),
      strings_(strings),
      is_written_(trace.call_stacks().node_count()),
      depths_(trace.call_stacks().node_count()),
      first_functions_(trace.call_stacks().location_count()) {}

void NsysCalls::write(NsysTable table, std::int64_t id, CallNodeId chain) {
  (table == NsysTable::kSampleChains ? has_samples_ : table == NsysTable::kCudaChains ? has_cuda_ : has_os_runtime_) = true;
  write_call(chain);
  database_.insert(calls_of(table), id, chain);
}

void NsysCalls::write_call(CallNodeId call) {
  const CallStacks& stacks = trace_.call_stacks();
  std::vector<CallNodeId> fresh;
  for (; call != 0 && !is_written_[call]; call = stacks.node(call).parent) fresh.push_back(call);
  while (!fresh.empty()) {
    const CallNode& node = stacks.node(fresh.back());
    is_written_[fresh.back()] = true;
    const auto functions = static_cast<std::uint32_t>(stacks.functions(node.location).size());
    write_functions(node.location);
    depths_[fresh.back()] = depths_[node.parent] + functions;
    const std::int64_t first = first_functions_[node.location];
    database_.insert(NsysTable::kCalls, fresh.back(), node.parent, first, first + functions - 1, depths_[fresh.back()]);
    fresh.pop_back();
  }
}

void NsysCalls::write_functions(CodeLocationId location) {
  if (first_functions_[location] != 0) return;
  first_functions_[location] = functions_ + 1;
  const CodeLocation& place = trace_.call_stacks().location(location);
  for (const CodeFunction& function : trace_.call_stacks().functions(location)) {
    const ChainFunction row = chain_function(trace_, strings_, place, function);
    database_.insert(NsysTable::kCallFunctions, ++functions_, row.symbol, row.module, row.kernel_mode, row.unresolved, row.address);
  }
}

void NsysCalls::write_views() {
  if (has_os_runtime_) database_.create_view(NsysTable::kOsRuntimeChains, rows_of(NsysTable::kOsRuntimeChains));
  if (has_cuda_) database_.create_view(NsysTable::kCudaChains, rows_of(NsysTable::kCudaChains));
  if (has_samples_) database_.create_view(NsysTable::kSampleChains, rows_of(NsysTable::kSampleChains));
}

}  // namespace lanescope::exporters

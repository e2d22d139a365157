// The dictionaries of one process in a .trace file: strings, kernel names, shapes and queues by id. Internal to model/export.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "lanescope/trace.pb.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

class TraceDictionary {
 public:
  TraceDictionary(const Trace& trace, ProcessId process) : trace_(trace), process_(process) {}

  // Each function returns the id of a new or known entry; 0 for the empty string.
  std::uint32_t string(NameId name);
  std::uint32_t kernel_name(NameId readable, const KernelDetail& detail);
  std::uint32_t launch_shape(const KernelDetail& detail);
  std::uint32_t copy_shape(const MemoryDetail& detail);
  std::uint32_t queue(const TrackKey& key);
  std::uint32_t code_location(CodeLocationId location);
  std::uint32_t call_node(CallNodeId node);  // with its callers. O(new calls)

  // Adds the entries that are new since the last call to a chunk.
  void append_new(proto::EventChunk& chunk);
  // Data of code locations beyond the one function that a chunk contains: inlined functions. Call it once, after all chunks.
  [[nodiscard]] proto::Symbols symbols();

 private:
  template <typename Key>
  using Ids = std::map<Key, std::uint32_t>;

  const Trace& trace_;
  ProcessId process_;
  std::unordered_map<NameId, std::uint32_t> strings_;
  std::vector<NameId> new_strings_;
  Ids<std::tuple<NameId, NameId, NameId>> kernel_names_;
  std::vector<proto::KernelName> new_kernel_names_;
  Ids<KernelDetail> launch_shapes_;
  std::vector<proto::LaunchShape> new_launch_shapes_;
  Ids<MemoryDetail> copy_shapes_;
  std::vector<proto::CopyShape> new_copy_shapes_;
  Ids<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> queues_;
  std::vector<proto::Queue> new_queues_;
  std::unordered_map<CodeLocationId, std::uint32_t> code_locations_;
  std::vector<proto::CodeLocation> new_code_locations_;
  std::unordered_map<CallNodeId, std::uint32_t> call_nodes_;
  std::vector<proto::CallNode> new_call_nodes_;
};

}  // namespace lanescope::exporters

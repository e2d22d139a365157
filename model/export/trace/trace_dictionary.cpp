#include "trace_dictionary.h"

namespace lanescope::exporters {
namespace {

// The id of a key, and true if it is new.
template <typename Ids, typename Key>
std::pair<std::uint32_t, bool> identify(Ids& ids, const Key& key) {
  const auto [found, inserted] = ids.try_emplace(key, static_cast<std::uint32_t>(ids.size() + 1));
  return {found->second, inserted};
}

}  // namespace

std::uint32_t TraceDictionary::string(NameId name) {
  if (name == 0) return 0;
  const auto [id, added] = identify(strings_, name);
  if (added) new_strings_.push_back(name);
  return id;
}

std::uint32_t TraceDictionary::kernel_name(NameId readable, const KernelDetail& detail) {
  const auto [id, added] = identify(kernel_names_, std::tuple(readable, detail.short_name, detail.mangled_name));
  if (added) {
    proto::KernelName& name = new_kernel_names_.emplace_back();
    name.set_readable(string(readable));
    name.set_brief(string(detail.short_name));
    name.set_mangled(string(detail.mangled_name));
  }
  return id;
}

std::uint32_t TraceDictionary::launch_shape(const KernelDetail& detail) {
  KernelDetail key = detail;  // the part that launches of one shape share
  key.mangled_name = key.short_name = 0;
  key.graph = 0;
  key.graph_node = 0;
  key.finished = Finished::kYes;
  const auto [id, added] = identify(launch_shapes_, key);
  if (added) {
    proto::LaunchShape& shape = new_launch_shapes_.emplace_back();
    shape.set_grid_x(detail.grid[0]);
    shape.set_grid_y(detail.grid[1]);
    shape.set_grid_z(detail.grid[2]);
    shape.set_block_x(detail.block[0]);
    shape.set_block_y(detail.block[1]);
    shape.set_block_z(detail.block[2]);
    shape.set_cluster_x(detail.cluster[0]);
    shape.set_cluster_y(detail.cluster[1]);
    shape.set_cluster_z(detail.cluster[2]);
    shape.set_registers_per_thread(detail.registers_per_thread);
    shape.set_static_shared_memory(detail.static_shared_memory);
    shape.set_dynamic_shared_memory(detail.dynamic_shared_memory);
    shape.set_shared_memory_executed(detail.shared_memory_executed);
    shape.set_local_memory_per_thread(detail.local_memory_per_thread);
    shape.set_local_memory_total(detail.local_memory_total);
    shape.set_launch_type(detail.launch_type);
    shape.set_cache_config(detail.cache_config);
  }
  return id;
}

std::uint32_t TraceDictionary::copy_shape(const MemoryDetail& detail) {
  MemoryDetail key = detail;
  key.bytes = 0;
  key.graph = 0;
  key.graph_node = 0;
  key.virtual_address = 0;
  key.migration_cause = 0;
  const auto [id, added] = identify(copy_shapes_, key);
  if (added) {
    proto::CopyShape& shape = new_copy_shapes_.emplace_back();
    shape.set_kind(static_cast<proto::CopyKind>(detail.copy_kind));
    shape.set_source_memory(static_cast<proto::MemoryKind>(detail.source_memory));
    shape.set_destination_memory(static_cast<proto::MemoryKind>(detail.destination_memory));
    shape.set_source_device(detail.source_device);
    shape.set_destination_device(detail.destination_device);
    shape.set_source_context(detail.source_context);
    shape.set_destination_context(detail.destination_context);
  }
  return id;
}

std::uint32_t TraceDictionary::queue(const TrackKey& key) {
  const std::uint32_t device = device_ordinal(trace_, process_, key.gpu);
  const auto [id, added] = identify(queues_, std::tuple(device, key.context, key.stream));
  if (added) {
    proto::Queue& queue = new_queues_.emplace_back();
    queue.set_device(device);
    queue.set_context(key.context);
    queue.set_stream(key.stream);
  }
  return id;
}

std::uint32_t TraceDictionary::code_location(CodeLocationId location) {
  if (location == 0) return 0;
  const auto [id, added] = identify(code_locations_, location);
  if (added) {
    const CodeLocation& known = trace_.call_stacks().location(location);
    const CodeFunction& function = trace_.call_stacks().functions(location).front();
    proto::CodeLocation& message = new_code_locations_.emplace_back();
    message.set_kind(static_cast<proto::CodeKind>(known.kind));
    message.set_module(string(known.module));
    message.set_address(known.address);
    message.set_build_id(string(known.build_id));
    message.set_function(string(function.function));
    message.set_source_file(string(function.source_file));
    message.set_source_line(function.source_line);
  }
  return id;
}

std::uint32_t TraceDictionary::call_node(CallNodeId node) {
  std::vector<CallNodeId> added;  // innermost first; callers get their ids before them
  for (; node != 0 && !call_nodes_.contains(node); node = trace_.call_stacks().node(node).parent) added.push_back(node);
  std::uint32_t id = node == 0 ? 0 : call_nodes_.at(node);
  for (auto call = added.rbegin(); call != added.rend(); ++call) {
    proto::CallNode& message = new_call_nodes_.emplace_back();
    message.set_parent(id);
    message.set_location(code_location(trace_.call_stacks().node(*call).location));
    id = identify(call_nodes_, *call).first;
  }
  return id;
}

proto::Symbols TraceDictionary::symbols() {
  proto::Symbols message;
  for (const auto& [location, id] : code_locations_) {
    const auto functions = trace_.call_stacks().functions(location);
    if (functions.size() < 2) continue;
    proto::LocationSymbol& symbol = *message.add_locations();
    symbol.set_location(id);
    for (const CodeFunction& each : functions) {
      proto::FunctionAt& function = *symbol.add_functions();
      function.set_function(string(each.function));
      function.set_source_file(string(each.source_file));
      function.set_source_line(each.source_line);
    }
  }
  if (!new_strings_.empty()) message.set_first_string(static_cast<std::uint32_t>(strings_.size() - new_strings_.size() + 1));
  for (const NameId name : new_strings_) message.add_strings(std::string(trace_.name(name)));
  new_strings_.clear();
  return message;
}

void TraceDictionary::append_new(proto::EventChunk& chunk) {
  const auto first = [](const auto& ids, const auto& added) { return static_cast<std::uint32_t>(ids.size() - added.size() + 1); };
  const auto move_into = [](auto& entries, auto* target) {
    for (auto& entry : entries) *target->Add() = std::move(entry);
    entries.clear();
  };
  if (!new_strings_.empty()) {
    chunk.set_first_string(first(strings_, new_strings_));
    for (const NameId name : new_strings_) chunk.add_strings(std::string(trace_.name(name)));
    new_strings_.clear();
  }
  chunk.set_first_kernel_name(new_kernel_names_.empty() ? 0 : first(kernel_names_, new_kernel_names_));
  chunk.set_first_shape(new_launch_shapes_.empty() ? 0 : first(launch_shapes_, new_launch_shapes_));
  chunk.set_first_copy_shape(new_copy_shapes_.empty() ? 0 : first(copy_shapes_, new_copy_shapes_));
  chunk.set_first_queue(new_queues_.empty() ? 0 : first(queues_, new_queues_));
  move_into(new_kernel_names_, chunk.mutable_kernel_names());
  move_into(new_launch_shapes_, chunk.mutable_launch_shapes());
  move_into(new_copy_shapes_, chunk.mutable_copy_shapes());
  move_into(new_queues_, chunk.mutable_queues());
  chunk.set_first_code_location(new_code_locations_.empty() ? 0 : first(code_locations_, new_code_locations_));
  chunk.set_first_call_node(new_call_nodes_.empty() ? 0 : first(call_nodes_, new_call_nodes_));
  move_into(new_code_locations_, chunk.mutable_code_locations());
  move_into(new_call_nodes_, chunk.mutable_call_nodes());
}

}  // namespace lanescope::exporters

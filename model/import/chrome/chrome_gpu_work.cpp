// Kernels, copies, sets and waits of a Chrome trace.
#include <algorithm>

#include "chrome_assembly.h"
#include "model/trace/text/kernel_name.h"

namespace lanescope::importers {
namespace {

MemoryKind memory_kind(std::string_view word) {
  if (word == "Pageable") return MemoryKind::kPageable;
  if (word == "Pinned") return MemoryKind::kPinned;
  if (word == "Device") return MemoryKind::kDevice;
  if (word == "Array") return MemoryKind::kArray;
  if (word == "Managed") return MemoryKind::kManaged;
  if (word == "Device Static") return MemoryKind::kDeviceStatic;
  if (word == "Managed Static") return MemoryKind::kManagedStatic;
  return MemoryKind::kUnknown;
}

CopyKind copy_kind(std::string_view word) {
  constexpr std::pair<std::string_view, CopyKind> kKinds[] = {{"HtoD", CopyKind::kHostToDevice},
                                                              {"DtoH", CopyKind::kDeviceToHost},
                                                              {"DtoD", CopyKind::kDeviceToDevice},
                                                              {"HtoA", CopyKind::kHostToArray},
                                                              {"AtoH", CopyKind::kArrayToHost},
                                                              {"AtoA", CopyKind::kArrayToArray},
                                                              {"AtoD", CopyKind::kArrayToDevice},
                                                              {"DtoA", CopyKind::kDeviceToArray},
                                                              {"HtoH", CopyKind::kHostToHost},
                                                              {"PtoP", CopyKind::kPeerToPeer},
                                                              {"UHtoD", CopyKind::kUnifiedHostToDevice},
                                                              {"UDtoH", CopyKind::kUnifiedDeviceToHost},
                                                              {"UDtoD", CopyKind::kUnifiedDeviceToDevice}};
  for (const auto& [name, kind] : kKinds)
    if (name == word) return kind;
  return CopyKind::kUnknown;
}

// "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
MemoryDetail memory_detail(const ChromeEvent& event) {
  MemoryDetail detail;
  std::string_view name = event.name;
  const bool is_set = name.starts_with("Memset") || event.category == "gpu_memset" || event.category == "Memset";
  detail.operation = is_set ? MemoryOperation::kSet : MemoryOperation::kCopy;
  detail.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.arguments.bytes.value_or(0)));
  detail.graph = event.arguments.graph;
  detail.graph_node = event.arguments.graph_node;
  const auto open = name.find('(');
  const auto close = name.rfind(')');
  const std::string_view places = open < close && close != name.npos ? name.substr(open + 1, close - open - 1) : std::string_view{};
  if (is_set) {
    detail.destination_memory = memory_kind(places);
    detail.value = event.arguments.value;
    return detail;
  }
  if (name.starts_with("Memcpy ")) {
    name.remove_prefix(7);
    detail.copy_kind = copy_kind(name.substr(0, name.find(' ')));
  }
  if (const auto arrow = places.find(" -> "); arrow != places.npos) {
    detail.source_memory = memory_kind(places.substr(0, arrow));
    detail.destination_memory = memory_kind(places.substr(arrow + 4));
  }
  detail.virtual_address = event.arguments.address;
  detail.migration_cause = event.arguments.migration_cause;
  detail.source_device = event.arguments.from_device;
  detail.destination_device = event.arguments.to_device;
  return detail;
}

std::uint32_t synchronization_type(const ChromeEvent& event) {
  const std::string_view kind = event.arguments.kind.empty() ? event.name : event.arguments.kind;
  if (kind.starts_with("Event")) return 1;
  if (kind.starts_with("Stream W")) return 2;
  if (kind.starts_with("Stream")) return 3;
  if (kind.starts_with("Context")) return 4;
  return 0;
}

// The number in "7" and in "stream 7".
std::uint32_t stream_of(std::string_view tid) {
  if (const auto blank = tid.rfind(' '); blank != tid.npos) tid.remove_prefix(blank + 1);
  return number_of(tid).value_or(0);
}

}  // namespace

const ChromeAssembly::KernelNames& ChromeAssembly::kernel_names(std::string_view name) {
  const NameId given = intern(name);
  const auto [found, inserted] = kernel_names_.try_emplace(given);
  if (inserted) {
    const std::string readable = demangle(name);
    found->second.readable = intern(readable);
    found->second.brief = intern(short_kernel_name(readable));
    if (readable != name) found->second.mangled = given;
  }
  return found->second;
}

ChromeAssembly::GroupKey ChromeAssembly::queue_key(TrackKind kind, const ChromeEvent& event) {
  from_pytorch_ = true;
  GroupKey key;
  key.kind = kind;
  key.source = source(event.pid);
  key.device = event.arguments.device.value_or(number_of(event.pid).value_or(0));
  key.context = event.arguments.context;
  key.stream = event.arguments.stream.value_or(stream_of(event.tid));
  return key;
}

void ChromeAssembly::add_kernel(const ChromeEvent& event) {
  const ChromeArguments& given = event.arguments;
  const KernelNames& names = kernel_names(event.name);
  KernelDetail detail;
  detail.mangled_name = names.mangled;
  detail.short_name = names.brief;
  std::copy(given.grid.begin(), given.grid.end(), detail.grid);
  std::copy(given.block.begin(), given.block.end(), detail.block);
  std::copy(given.cluster.begin(), given.cluster.end(), detail.cluster);
  detail.registers_per_thread = given.registers;
  detail.static_shared_memory = given.static_shared_memory;
  // Kineto only provides the sum.
  detail.dynamic_shared_memory = given.shared_memory - std::min(given.shared_memory, given.static_shared_memory);
  detail.shared_memory_executed = given.executed_shared_memory;
  detail.local_memory_per_thread = given.local_memory_per_thread;
  detail.local_memory_total = given.local_memory;
  detail.launch_type = given.launch_type;
  detail.cache_config = given.cache_config;
  detail.graph = given.graph;
  detail.graph_node = given.graph_node;
  if (given.unfinished) detail.finished = Finished::kNo;
  group(queue_key(TrackKind::kKernels, event)).push_back({event.time, event.duration, names.readable, given.correlation, intern(detail)});
}

void ChromeAssembly::add_copy_or_set(const ChromeEvent& event) {
  const MemoryDetail detail = memory_detail(event);
  group(queue_key(TrackKind::kMemory, event))
      .push_back({event.time, event.duration, intern(memory_operation_name(detail)), event.arguments.correlation, intern(detail)});
}

void ChromeAssembly::add_synchronization(const ChromeEvent& event) {
  const SynchronizationDetail detail{synchronization_type(event), event.arguments.wait_event};
  group(queue_key(TrackKind::kSynchronizations, event))
      .push_back({event.time, event.duration, intern(synchronization_name(detail.type)), event.arguments.correlation, intern(detail)});
}

}  // namespace lanescope::importers

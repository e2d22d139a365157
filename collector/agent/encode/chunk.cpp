#include "agent/encode/chunk.h"

namespace lanescope::agent::encode {
namespace {

template <typename... Columns>
void clear_all(Columns&... columns) noexcept {
  (columns.clear(), ...);
}
template <typename... Columns>
bool any_failed(const Columns&... columns) noexcept {
  return (columns.failed() || ...);
}

}  // namespace

void KernelChunk::add(const Kernel& event) noexcept {
  if (event.completion == Completion::kUnfinished) unfinished_.add(times_.count());
  times_.add(event.time);
  name_.add(event.name);
  queue_.add(event.queue);
  correlation_.add(event.correlation);
  shape_.add(event.shape);
  graph_node_.add(static_cast<std::int64_t>(event.graph.node));
  graph_.add(event.graph.graph);
}
void KernelChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  name_.write(out, 3);
  queue_.write(out, 4);
  correlation_.write(out, 5);
  shape_.write(out, 6);
  graph_node_.write(out, 7, Presence::kIfAnySaysSo);
  graph_.write(out, 8, Presence::kIfAnySaysSo);
  unfinished_.write(out, 9);
}
void KernelChunk::clear() noexcept { clear_all(times_, name_, queue_, correlation_, shape_, graph_node_, graph_, unfinished_); }
bool KernelChunk::failed() const noexcept {
  return any_failed(times_, name_, queue_, correlation_, shape_, graph_node_, graph_, unfinished_);
}

void CopyChunk::add(const Copy& event) noexcept {
  times_.add(event.time);
  bytes_.add(event.bytes);
  queue_.add(event.queue);
  correlation_.add(event.correlation);
  shape_.add(event.shape);
  graph_node_.add(static_cast<std::int64_t>(event.graph.node));
  graph_.add(event.graph.graph);
  virtual_address_.add(event.virtual_address);
  migration_cause_.add(event.migration_cause);
}
void CopyChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  bytes_.write(out, 3);
  queue_.write(out, 4);
  correlation_.write(out, 5);
  shape_.write(out, 6);
  graph_node_.write(out, 7, Presence::kIfAnySaysSo);
  graph_.write(out, 8, Presence::kIfAnySaysSo);
  virtual_address_.write(out, 9, Presence::kIfAnySaysSo);
  migration_cause_.write(out, 10, Presence::kIfAnySaysSo);
}
void CopyChunk::clear() noexcept {
  clear_all(times_, bytes_, queue_, correlation_, shape_, graph_node_, graph_, virtual_address_, migration_cause_);
}
bool CopyChunk::failed() const noexcept {
  return any_failed(times_, bytes_, queue_, correlation_, shape_, graph_node_, graph_, virtual_address_, migration_cause_);
}

void SetChunk::add(const Set& event) noexcept {
  times_.add(event.time);
  bytes_.add(event.bytes);
  value_.add(event.value);
  queue_.add(event.queue);
  correlation_.add(event.correlation);
  memory_kind_.add(event.memory_kind);
  graph_node_.add(static_cast<std::int64_t>(event.graph.node));
  graph_.add(event.graph.graph);
}
void SetChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  bytes_.write(out, 3);
  value_.write(out, 4);
  queue_.write(out, 5);
  correlation_.write(out, 6);
  memory_kind_.write(out, 7);
  graph_node_.write(out, 8, Presence::kIfAnySaysSo);
  graph_.write(out, 9, Presence::kIfAnySaysSo);
}
void SetChunk::clear() noexcept { clear_all(times_, bytes_, value_, queue_, correlation_, memory_kind_, graph_node_, graph_); }
bool SetChunk::failed() const noexcept {
  return any_failed(times_, bytes_, value_, queue_, correlation_, memory_kind_, graph_node_, graph_);
}

void ApiChunk::add(const ApiCall& event) noexcept {
  thread_ = event.thread;
  api_ = event.api;
  times_.add(event.time);
  name_.add(event.name);
  correlation_.add(event.correlation);
  result_.add(event.result);
}
void ApiChunk::write(ProtoWriter& out) const noexcept {
  out.unsigned_field(1, thread_);
  out.unsigned_field(2, static_cast<std::uint32_t>(api_));
  times_.write(out, 3);
  name_.write(out, 5);
  correlation_.write(out, 6);
  result_.write(out, 7, Presence::kIfAnySaysSo);
}
void ApiChunk::clear() noexcept { clear_all(times_, name_, correlation_, result_); }
bool ApiChunk::failed() const noexcept { return any_failed(times_, name_, correlation_, result_); }

void SynchronizationChunk::add(const Synchronization& event) noexcept {
  times_.add(event.time);
  type_.add(event.type);
  queue_.add(event.queue);
  event_.add(event.event);
  correlation_.add(event.correlation);
  event_record_.add(event.event_record);
}
void SynchronizationChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  type_.write(out, 3);
  queue_.write(out, 4);
  event_.write(out, 5);
  correlation_.write(out, 6);
  event_record_.write(out, 7, Presence::kIfAnySaysSo);
}
void SynchronizationChunk::clear() noexcept { clear_all(times_, type_, queue_, event_, correlation_, event_record_); }
bool SynchronizationChunk::failed() const noexcept { return any_failed(times_, type_, queue_, event_, correlation_, event_record_); }

void SpanChunk::add(const Span& event) noexcept {
  times_.add(event.time);
  name_.add(event.name);
  thread_.add(event.thread);
  correlation_.add(event.correlation);
}
void SpanChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  name_.write(out, 3);
  thread_.write(out, 4, Presence::kIfAnySaysSo);
  correlation_.write(out, 5, Presence::kIfAnySaysSo);
}
void SpanChunk::clear() noexcept { clear_all(times_, name_, thread_, correlation_); }
bool SpanChunk::failed() const noexcept { return any_failed(times_, name_, thread_, correlation_); }

void GraphLaunchChunk::add(const GraphLaunch& event) noexcept {
  times_.add(event.time);
  queue_.add(event.queue);
  correlation_.add(event.correlation);
  graph_.add(event.graph);
}
void GraphLaunchChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  queue_.write(out, 3);
  correlation_.write(out, 4);
  graph_.write(out, 5);
}
void GraphLaunchChunk::clear() noexcept { clear_all(times_, queue_, correlation_, graph_); }
bool GraphLaunchChunk::failed() const noexcept { return any_failed(times_, queue_, correlation_, graph_); }

void PageFaultChunk::add(const PageFault& event) noexcept {
  times_.add(event.time);
  device_.add(event.device);
  address_.add(event.address);
  count_.add(event.count);
  access_.add(event.access);
  program_counter_.add(event.program_counter);
  function_.add(event.function);
  module_.add(event.module);
}
void PageFaultChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  device_.write(out, 3, Presence::kIfAnySaysSo);
  address_.write(out, 4);
  count_.write(out, 5);
  access_.write(out, 6, Presence::kIfAnySaysSo);
  program_counter_.write(out, 7, Presence::kIfAnySaysSo);
  function_.write(out, 8, Presence::kIfAnySaysSo);
  module_.write(out, 9, Presence::kIfAnySaysSo);
}
void PageFaultChunk::clear() noexcept { clear_all(times_, device_, address_, count_, access_, program_counter_, function_, module_); }
bool PageFaultChunk::failed() const noexcept {
  return any_failed(times_, device_, address_, count_, access_, program_counter_, function_, module_);
}

void MemoryUsageChunk::add(const MemoryUsage& event) noexcept {
  times_.add(event.time);
  operation_.add(static_cast<std::uint32_t>(event.operation));
  address_.add(static_cast<std::int64_t>(event.address));
  bytes_.add(event.bytes);
  memory_kind_.add(event.memory_kind);
  queue_.add(event.queue);
  correlation_.add(event.correlation);
  name_.add(event.name);
  pool_.add(event.pool);
  pool_size_.add(event.pool_size);
  pool_utilized_.add(event.pool_utilized);
  pool_release_threshold_.add(event.pool_release_threshold);
}
void MemoryUsageChunk::write(ProtoWriter& out) const noexcept {
  times_.write_instants(out, 1);
  operation_.write(out, 2);
  address_.write(out, 3);
  bytes_.write(out, 4);
  memory_kind_.write(out, 5);
  queue_.write(out, 6);
  correlation_.write(out, 7);
  name_.write(out, 8, Presence::kIfAnySaysSo);
  pool_.write(out, 9, Presence::kIfAnySaysSo);
  pool_size_.write(out, 10, Presence::kIfAnySaysSo);
  pool_utilized_.write(out, 11, Presence::kIfAnySaysSo);
  pool_release_threshold_.write(out, 12, Presence::kIfAnySaysSo);
}
void MemoryUsageChunk::clear() noexcept {
  clear_all(times_, operation_, address_, bytes_, memory_kind_, queue_, correlation_, name_, pool_, pool_size_, pool_utilized_,
            pool_release_threshold_);
}
bool MemoryUsageChunk::failed() const noexcept {
  return any_failed(times_, operation_, address_, bytes_, memory_kind_, queue_, correlation_, name_, pool_, pool_size_, pool_utilized_,
                    pool_release_threshold_);
}

void CudaEventChunk::add(const CudaEvent& event) noexcept {
  times_.add(event.time);
  queue_.add(event.queue);
  event_.add(event.event);
  record_.add(event.record);
  correlation_.add(event.correlation);
}
void CudaEventChunk::write(ProtoWriter& out) const noexcept {
  times_.write_instants(out, 1);
  queue_.write(out, 2);
  event_.write(out, 3);
  record_.write(out, 4);
  correlation_.write(out, 5);
}
void CudaEventChunk::clear() noexcept { clear_all(times_, queue_, event_, record_, correlation_); }
bool CudaEventChunk::failed() const noexcept { return any_failed(times_, queue_, event_, record_, correlation_); }

}  // namespace lanescope::agent::encode

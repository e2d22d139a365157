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
}
void CopyChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  bytes_.write(out, 3);
  queue_.write(out, 4);
  correlation_.write(out, 5);
  shape_.write(out, 6);
  graph_node_.write(out, 7, Presence::kIfAnySaysSo);
  graph_.write(out, 8, Presence::kIfAnySaysSo);
}
void CopyChunk::clear() noexcept { clear_all(times_, bytes_, queue_, correlation_, shape_, graph_node_, graph_); }
bool CopyChunk::failed() const noexcept { return any_failed(times_, bytes_, queue_, correlation_, shape_, graph_node_, graph_); }

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
}
void SynchronizationChunk::write(ProtoWriter& out) const noexcept {
  times_.write(out, 1);
  type_.write(out, 3);
  queue_.write(out, 4);
  event_.write(out, 5);
  correlation_.write(out, 6);
}
void SynchronizationChunk::clear() noexcept { clear_all(times_, type_, queue_, event_, correlation_); }
bool SynchronizationChunk::failed() const noexcept { return any_failed(times_, type_, queue_, event_, correlation_); }

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

}  // namespace lanescope::agent::encode

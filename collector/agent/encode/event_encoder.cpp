#include "agent/encode/event_encoder.h"

namespace lanescope::agent::encode {
namespace {

void write_shape(ProtoWriter& out, const LaunchShape& shape) noexcept {
  for (std::uint32_t i = 0; i < 3; ++i) out.unsigned_field(1 + i, shape.grid[i]);
  for (std::uint32_t i = 0; i < 3; ++i) out.unsigned_field(4 + i, shape.block[i]);
  out.unsigned_field(7, shape.registers_per_thread);
  out.unsigned_field(8, shape.static_shared_memory);
  out.unsigned_field(9, shape.dynamic_shared_memory);
  out.unsigned_field(10, shape.local_memory_per_thread);
  out.unsigned_field(11, shape.local_memory_total);
  out.unsigned_field(12, shape.shared_memory_executed);
  out.unsigned_field(13, shape.launch_type);
  for (std::uint32_t i = 0; i < 3; ++i) out.unsigned_field(14 + i, shape.cluster[i]);
  out.unsigned_field(17, shape.cache_config);
}

void write_queue(ProtoWriter& out, const Queue& queue) noexcept {
  out.unsigned_field(1, queue.device);
  out.unsigned_field(2, queue.context);
  out.unsigned_field(3, queue.stream);
}

void write_copy_shape(ProtoWriter& out, const CopyShape& shape) noexcept {
  out.unsigned_field(1, shape.kind);
  out.unsigned_field(2, shape.source_memory);
  out.unsigned_field(3, shape.destination_memory);
  out.unsigned_field(4, shape.source_device);
  out.unsigned_field(5, shape.destination_device);
  out.unsigned_field(6, shape.source_context);
  out.unsigned_field(7, shape.destination_context);
  out.unsigned_field(8, shape.asynchronous);
}

// Writes the entries after the first `told`: the id of the first one, then each entry as a message.
template <typename T>
void write_new(ProtoWriter& out, PageBuffer& part, std::uint32_t first_field, const ValueDictionary<T>& dictionary, std::uint32_t told,
               void (*write)(ProtoWriter&, const T&) noexcept) noexcept {
  if (told == dictionary.size()) return;
  out.unsigned_field(first_field, told + 1);
  for (std::uint32_t id = told + 1; id <= dictionary.size(); ++id) {
    part.clear();
    ProtoWriter entry(part);
    write(entry, dictionary.at(id));
    out.element(first_field + 1, part.bytes());
  }
}

}  // namespace

void EventEncoder::write_dictionaries(ProtoWriter& out) noexcept {
  if (told_.strings != strings_.size()) {
    out.unsigned_field(2, told_.strings + 1);
    for (std::uint32_t id = told_.strings + 1; id <= strings_.size(); ++id) out.element(3, strings_.at(id));
  }
  write_new(out, part_, 4, shapes_, told_.shapes, write_shape);
  write_new(out, part_, 6, queues_, told_.queues, write_queue);
  write_new(out, part_, 8, copy_shapes_, told_.copy_shapes, write_copy_shape);
}

template <typename Chunk>
void EventEncoder::flush_chunk(Chunk& chunk) noexcept {
  const std::uint32_t count = chunk.times().count();
  if (count == 0) return;
  payload_.clear();
  ProtoWriter out(payload_);
  out.signed_field(1, chunk.times().base());
  write_dictionaries(out);
  part_.clear();
  ProtoWriter events(part_);
  chunk.write(events);
  out.element(Chunk::kField, part_.bytes());
  const bool whole = !chunk.failed() && !part_.failed() && !payload_.failed();
  if (whole && frames_.write(FrameType::kEvents, payload_.bytes(), count))
    told_ = {strings_.size(), shapes_.size(), queues_.size(), copy_shapes_.size()};
  else
    dropped_ += count;
  chunk.clear();
}

template <typename Chunk, typename Event>
void EventEncoder::add_to(Chunk& chunk, const Event& event) noexcept {
  chunk.add(event);
  if (chunk.times().count() >= events_of_chunk_) flush_chunk(chunk);
}

void EventEncoder::add(const Kernel& event) noexcept { add_to(kernels_, event); }
void EventEncoder::add(const Copy& event) noexcept { add_to(copies_, event); }
void EventEncoder::add(const Set& event) noexcept { add_to(sets_, event); }
void EventEncoder::add(const Synchronization& event) noexcept { add_to(synchronizations_, event); }
void EventEncoder::add(const GraphLaunch& event) noexcept { add_to(graph_launches_, event); }
void EventEncoder::add(const PageFault& event) noexcept { add_to(page_faults_, event); }
void EventEncoder::add(const MemoryUsage& event) noexcept { add_to(memory_usage_, event); }
void EventEncoder::add(const CudaEvent& event) noexcept { add_to(cuda_events_, event); }
void EventEncoder::add_overhead(const Span& event) noexcept { add_to(overheads_, event); }
void EventEncoder::add_compilation(const Span& event) noexcept { add_to(compilations_, event); }

ApiChunk* EventEncoder::api_chunk(std::uint32_t thread, Api api) noexcept {
  OpenApiChunk** link = &api_chunks_;
  OpenApiChunk** empty = nullptr;
  for (; *link != nullptr; link = &(*link)->next) {
    const ApiChunk& chunk = (*link)->chunk;
    if (chunk.times().count() == 0)
      empty = link;
    else if (chunk.thread() == thread && chunk.api() == api)
      break;
  }
  if (*link == nullptr && empty != nullptr) link = empty;
  OpenApiChunk* found = *link;
  if (found == nullptr) {
    found = api_memory_.create<OpenApiChunk>();
    if (found == nullptr) return nullptr;
  } else {
    *link = found->next;
  }
  found->next = api_chunks_;
  api_chunks_ = found;
  return &found->chunk;
}

void EventEncoder::add(const ApiCall& event) noexcept {
  const bool again =
      api_chunks_ != nullptr && api_chunks_->chunk.times().count() != 0 && api_chunks_->chunk.thread() == event.thread && api_chunks_->chunk.api() == event.api;
  ApiChunk* chunk = again ? &api_chunks_->chunk : api_chunk(event.thread, event.api);
  if (chunk == nullptr) {
    ++dropped_;
    return;
  }
  add_to(*chunk, event);
}

void EventEncoder::flush() noexcept {
  flush_chunk(kernels_);
  flush_chunk(copies_);
  flush_chunk(sets_);
  for (OpenApiChunk* open = api_chunks_; open != nullptr; open = open->next) flush_chunk(open->chunk);
  flush_chunk(synchronizations_);
  flush_chunk(overheads_);
  flush_chunk(compilations_);
  flush_chunk(graph_launches_);
  flush_chunk(page_faults_);
  flush_chunk(memory_usage_);
  flush_chunk(cuda_events_);
}

}  // namespace lanescope::agent::encode

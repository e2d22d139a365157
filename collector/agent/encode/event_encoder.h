// Turns events into EventChunk frames: dictionaries, columns, and one open chunk for each kind (for API calls, for each thread and API).
//
// A chunk is written when it is full and at flush(). Dictionary entries are sent with the first chunk that is written after they were made. If that chunk finds
// no room, they are sent with the next one, so a lost chunk costs no names. One thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "agent/core/memory/arena.h"
#include "agent/core/memory/page_buffer.h"
#include "agent/encode/chunk.h"
#include "agent/encode/dictionary.h"
#include "agent/encode/frame_writer.h"

namespace lanescope::agent::encode {

class EventEncoder {
 public:
  // A chunk is full with this many events; 0: kEventsPerChunk.
  explicit EventEncoder(FrameWriter& frames, std::uint32_t events_of_chunk = 0) noexcept
      : frames_(frames), events_of_chunk_(events_of_chunk == 0 ? kEventsPerChunk : std::min(events_of_chunk, kEventsPerChunk)) {}

  StringDictionary& strings() noexcept { return strings_; }
  std::uint32_t shape(const LaunchShape& value) noexcept { return shapes_.id(value); }
  std::uint32_t queue(const Queue& value) noexcept { return queues_.id(value); }
  std::uint32_t copy_shape(const CopyShape& value) noexcept { return copy_shapes_.id(value); }

  void add(const Kernel& event) noexcept;
  void add(const Copy& event) noexcept;
  void add(const Set& event) noexcept;
  void add(const ApiCall& event) noexcept;
  void add(const Synchronization& event) noexcept;
  void add(const GraphLaunch& event) noexcept;
  void add(const PageFault& event) noexcept;
  void add(const MemoryUsage& event) noexcept;
  void add(const CudaEvent& event) noexcept;
  void add_overhead(const Span& event) noexcept;
  void add_compilation(const Span& event) noexcept;

  // Writes all open chunks.
  void flush() noexcept;

  // Number of events so far that found no room in the ring, or no memory.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  struct OpenApiChunk {
    ApiChunk chunk;
    OpenApiChunk* next = nullptr;
  };
  // How many entries of each dictionary the host has received.
  struct Told {
    std::uint32_t strings = 0;
    std::uint32_t shapes = 0;
    std::uint32_t queues = 0;
    std::uint32_t copy_shapes = 0;
  };

  template <typename Chunk, typename Event>
  void add_to(Chunk& chunk, const Event& event) noexcept;
  template <typename Chunk>
  void flush_chunk(Chunk& chunk) noexcept;
  ApiChunk* api_chunk(std::uint32_t thread, Api api) noexcept;
  void write_dictionaries(ProtoWriter& out) noexcept;

  FrameWriter& frames_;
  std::uint32_t events_of_chunk_;
  StringDictionary strings_;
  ValueDictionary<LaunchShape> shapes_;
  ValueDictionary<Queue> queues_;
  ValueDictionary<CopyShape> copy_shapes_;
  Told told_;
  KernelChunk kernels_;
  CopyChunk copies_;
  SetChunk sets_;
  SynchronizationChunk synchronizations_;
  OverheadChunk overheads_;
  CompilationChunk compilations_;
  GraphLaunchChunk graph_launches_;
  PageFaultChunk page_faults_;
  MemoryUsageChunk memory_usage_;
  CudaEventChunk cuda_events_;
  Arena api_memory_{64u << 20};
  OpenApiChunk* api_chunks_ = nullptr;  // the most recently used one comes first
  PageBuffer payload_;
  PageBuffer part_;
  std::uint64_t dropped_ = 0;
};

}  // namespace lanescope::agent::encode

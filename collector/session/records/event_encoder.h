// Packs the NVTX and OS runtime events of one process into chunks: columns, and the strings that they are the first to use.
//
// There is one open chunk for each (thread, domain, style). It is emitted once it is full, when its thread ends, with all others by flush(), and if all open
// chunks together take more than there is room for.
//
// As many strings are remembered as there is room for (EncoderRoom). Strings that were not used lately are forgotten, and get another number when they come
// again. Numbers are never used again, so that earlier uses stay valid.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "collector/cpu/remembered_ids.h"
#include "lanescope/trace.pb.h"

namespace lanescope::session {

inline constexpr std::size_t kMaximumChunkEvents = 1u << 16;
inline constexpr std::size_t kMaximumChunkTextBytes = 4u << 20;  // bytes of strings; a chunk that reaches it is full
inline constexpr std::size_t kRememberedTextBytes = 64u << 20;   // bytes of strings, including what each costs beyond its text

// Approximate limits of an encoder's memory in bytes, and of a chunk. They may change at any time, and apply from the next event on.
struct EncoderRoom {
  std::size_t text_bytes = kRememberedTextBytes;             // for strings that are remembered
  std::size_t chunk_bytes = std::size_t{256} << 20;          // for open chunks
  std::size_t events_of_chunk = kMaximumChunkEvents;         // that make it full
  std::size_t text_bytes_of_chunk = kMaximumChunkTextBytes;  // likewise
};
inline constexpr EncoderRoom kAmpleRoom{};
// The room for each of this many encoders, if `free` bytes of memory are free: all encoders together get an eighth for texts and an eighth for chunks. If a
// file may have at most `file_bytes`, a chunk takes at most about a sixteenth of that, because a file has only whole chunks.
[[nodiscard]] EncoderRoom encoder_room(std::uint64_t free, std::size_t encoders, std::optional<std::uint64_t> file_bytes = {}) noexcept;

// What ranges and marks have in common.
struct NvtxAttributes {
  std::uint32_t name = 0;  // string id
  std::uint32_t category = 0;
  std::uint32_t color = 0;  // ARGB
  proto::PayloadType payload_type = proto::PAYLOAD_NONE;
  std::uint64_t payload = 0;
  std::uint32_t payload_json = 0;  // string id
};

enum class RangeEnding : std::uint8_t { kFinished, kUnfinished };

struct NvtxRange {
  std::uint32_t thread = 0;  // on which it began
  std::uint32_t domain = 0;
  proto::NvtxStyle style = proto::NVTX_PUSH_POP;
  std::int64_t start = 0;  // CLOCK_MONOTONIC ns
  std::int64_t end = 0;
  std::uint32_t depth = 0;
  std::uint32_t end_thread = 0;
  RangeEnding ending = RangeEnding::kFinished;
  NvtxAttributes attributes;
};

struct NvtxMark {
  std::uint32_t thread = 0;
  std::uint32_t domain = 0;
  std::int64_t time = 0;
  NvtxAttributes attributes;
};

struct OsRuntimeCall {
  std::uint32_t thread = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::uint32_t name = 0;  // string id
};

class EventEncoder {
 public:
  using EmitChunk = std::function<void(const proto::EventChunk& chunk, std::uint32_t events)>;
  // `room` must outlive *this.
  explicit EventEncoder(EmitChunk emit, const EncoderRoom& room = kAmpleRoom) : emit_(std::move(emit)), room_(room) {}

  // The id of a string; 0 for the empty one.
  std::uint32_t intern(std::string_view text);

  // A string that no chunk has had yet; empty for others. O(1).
  [[nodiscard]] std::string_view text_of_new(std::uint32_t id) const noexcept;

  void add(const NvtxRange& range);
  void add(const NvtxMark& mark);
  void add(const OsRuntimeCall& call);

  // Emits every chunk that has events.
  void flush();
  // Emits the chunks of a thread, which makes hardly any further events. So there are few open chunks at a time, whatever number of threads comes and goes.
  void flush_thread(std::uint32_t thread);

 private:
  enum class Column : std::uint8_t { kPushPop, kStartEnd, kMark, kOsRuntime };
  struct Chunk {
    proto::EventChunk message;
    std::uint32_t events = 0;
    std::int64_t last_start = 0;
  };
  using Key = std::tuple<Column, std::uint32_t, std::uint32_t>;  // column, thread, domain

  Chunk& chunk(const Key& key);
  // Counts one more event in the chunk. Emits the chunk if it is full, and all chunks if there is no room for more.
  void count(Chunk& chunk);
  void emit(Chunk& chunk);

  EmitChunk emit_;
  const EncoderRoom& room_;
  std::map<Key, Chunk> chunks_;
  std::pair<Key, Chunk*> last_{};  // mostly, an event belongs to the chunk of the one before; null: none
  std::size_t pending_ = 0;        // events of all chunks
  cpu::RememberedTexts strings_{kRememberedTextBytes};
  std::uint32_t string_count_ = 0;
  std::pair<std::string, std::uint32_t> last_string_;  // mostly, a text is the one before
  std::vector<std::string> new_strings_;               // not yet in any emitted chunk; their ids are the highest
  std::size_t new_bytes_ = 0;
};

}  // namespace lanescope::session

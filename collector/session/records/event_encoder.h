// Packs the NVTX and OS runtime events of one process into chunks: columns, and the strings that they are first to use.
//
// One chunk is under way for each (thread, domain, style); it is emitted once it is full, or with all others by flush(), and where all of them together
// are more than there is room for.
//
// Of strings, as many are remembered as there is room for (EncoderRoom): those that did not come lately are forgotten, and get another number when they
// come again. What was named stays named, for numbers are never used again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "collector/cpu/remembered_ids.h"
#include "lanescope/trace.pb.h"

namespace lanescope::session {

inline constexpr std::size_t kMaximumChunkEvents = 1u << 16;
inline constexpr std::size_t kMaximumChunkTextBytes = 4u << 20;  // of strings; a chunk that reaches it is full
inline constexpr std::size_t kRememberedTextBytes = 64u << 20;   // of strings, with what each costs beyond its text

// How much memory an encoder may take, in bytes, about. It may change at any time, and counts from the next event on.
struct EncoderRoom {
  std::size_t text_bytes = kRememberedTextBytes;     // of strings that are remembered
  std::size_t chunk_bytes = std::size_t{256} << 20;  // of chunks that are under way
};
inline constexpr EncoderRoom kAmpleRoom{};
// Of each of so many encoders, where so many bytes of memory are free: an eighth of them is theirs in all, twice.
[[nodiscard]] EncoderRoom encoder_room(std::uint64_t free, std::size_t encoders) noexcept;

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

  void add(const NvtxRange& range);
  void add(const NvtxMark& mark);
  void add(const OsRuntimeCall& call);

  // Emits every chunk that has events.
  void flush();

 private:
  enum class Column : std::uint8_t { kPushPop, kStartEnd, kMark, kOsRuntime };
  struct Chunk {
    proto::EventChunk message;
    std::uint32_t events = 0;
    std::int64_t last_start = 0;
  };
  using Key = std::tuple<Column, std::uint32_t, std::uint32_t>;  // column, thread, domain

  Chunk& chunk(const Key& key);
  // Counts one more event in the chunk; emits it when that fills it, and all chunks where there is no room for more.
  void count(Chunk& chunk);
  void emit(Chunk& chunk);

  EmitChunk emit_;
  const EncoderRoom& room_;
  std::map<Key, Chunk> chunks_;
  std::size_t pending_ = 0;  // events of all chunks
  cpu::RememberedTexts strings_{kRememberedTextBytes};
  std::uint32_t string_count_ = 0;
  std::vector<std::string> new_strings_;  // not yet in any emitted chunk; their ids are the highest
  std::size_t new_bytes_ = 0;
};

}  // namespace lanescope::session

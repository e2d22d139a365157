// Packs the NVTX and OS runtime events of one process into chunks: columns, and the strings that they are first to use.
//
// One chunk is under way for each (thread, domain, style); it is emitted once it is full, or with all others by flush().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "lanescope/trace.pb.h"

namespace lanescope::session {

inline constexpr std::size_t kMaximumChunkEvents = 1u << 16;

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
  explicit EventEncoder(EmitChunk emit) : emit_(std::move(emit)) {}

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
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  using Key = std::tuple<Column, std::uint32_t, std::uint32_t>;  // column, thread, domain

  Chunk& chunk(const Key& key);
  // Counts one more event in the chunk; emits it when that fills it.
  void count(Chunk& chunk);
  void emit(Chunk& chunk);

  EmitChunk emit_;
  std::map<Key, Chunk> chunks_;
  std::unordered_map<std::string, std::uint32_t, StringHash, std::equal_to<>> strings_;
  std::vector<std::string> new_strings_;  // not yet in any emitted chunk; their ids are the highest
};

}  // namespace lanescope::session

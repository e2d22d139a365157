// Decodes chunks into plain events, for comparison. Written from the schema's comments, column by column.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lanescope/trace.pb.h"

namespace lanescope::test {

struct DecodedEvent {
  char kind = ' ';  // 'P' push/pop range, 'S' start/end range, 'M' mark, 'O' OS runtime call
  std::uint32_t thread = 0;
  std::uint32_t domain = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint32_t depth = 0;
  std::uint32_t end_thread = 0;
  bool unfinished = false;
  std::string name;
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  std::uint32_t payload_type = 0;
  std::uint64_t payload = 0;
  auto operator<=>(const DecodedEvent&) const = default;
};

class ChunkDecoder {
 public:
  void add(const proto::EventChunk& chunk, std::uint32_t events);
  std::vector<DecodedEvent> sorted() const;
  std::size_t chunks() const { return chunks_; }

 private:
  std::string text(std::uint32_t id) const;
  void add_ranges(const proto::NvtxRanges& ranges, std::int64_t base);
  void add_marks(const proto::NvtxMarks& marks, std::int64_t base);
  void add_calls(const proto::Spans& spans, std::int64_t base);

  std::map<std::uint32_t, std::string> strings_;
  std::vector<DecodedEvent> events_;
  std::size_t chunks_ = 0;
};

}  // namespace lanescope::test

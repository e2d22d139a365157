// Recordings as files, and what compaction makes of them.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

inline std::vector<std::filesystem::path> recordings() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(LANESCOPE_TEST_DATA))
    if (entry.path().extension() == ".trace") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::shared_ptr<const Trace> loaded(const std::filesystem::path& path) {
  auto trace = load_trace(path);
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

inline Compacted compacted(const std::filesystem::path& from, const std::filesystem::path& to, const CompactionOptions& options = {}) {
  auto result = compact_trace_file(from, to, Overwrite::kAllow, {}, options);
  if (!result) FAIL(result.error().text);
  return *result;
}

// A copy of a compacted file, in which the index says something else of its lane segments: change() is called with each of their heads. Of counters, it says
// nothing. Returns its path.
inline std::filesystem::path with_other_heads(const std::filesystem::path& from, const std::filesystem::path& to,
                                              const std::function<void(proto::SegmentHead&)>& change) {
  const auto reader = TraceFileReader::open(from);
  auto writer = TraceFileWriter::create(to, Overwrite::kAllow);
  REQUIRE(reader);
  REQUIRE(writer);
  for (const IndexedFrame& indexed : reader->index()) {
    const auto frame = reader->read(indexed);
    REQUIRE(frame);
    std::vector<std::byte> bytes(sizeof(FrameHeader));
    std::memcpy(bytes.data(), &frame->header, sizeof(FrameHeader));
    bytes.insert(bytes.end(), frame->stored.begin(), frame->stored.end());
    if (indexed.type == proto::FRAME_LANE_SEGMENT) {
      proto::SegmentHead head;
      REQUIRE(head.ParseFromString(std::string(indexed.segment_head)));
      change(head);
      REQUIRE(writer->append_segment(bytes, content_of(*frame), head.SerializeAsString()));
    } else {
      REQUIRE(writer->append(bytes));
    }
  }
  REQUIRE(writer->finish());
  return to;
}

// A compacted file without what its index says of counters, as versions before format 1.7 wrote it. Returns its path.
inline std::filesystem::path without_counter_heads(const std::filesystem::path& from, const std::filesystem::path& to) {
  return with_other_heads(from, to, [](proto::SegmentHead&) {});
}

// A compacted file as versions before format 1.8 wrote it, in which nothing is known of the ends of parts and of their longest events. Returns its path.
inline std::filesystem::path without_ends_of_parts(const std::filesystem::path& from, const std::filesystem::path& to) {
  return with_other_heads(from, to, [](proto::SegmentHead& head) {
    head.clear_part_rest();
    head.clear_part_longest_at();
    head.clear_part_longest_name();
  });
}

}  // namespace lanescope::test

// Files of a few frames, each of which names its number in its header and in its payload.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "model/file/trace_file.h"
#include "support/catch.h"
#include "support/file_content.h"

namespace lanescope::test {

constexpr int kFrames = 5;

inline std::string payload_of(int i) { return "payload " + std::to_string(i) + std::string(static_cast<std::size_t>(i) * 20, 'p'); }

inline std::vector<std::byte> frame_bytes(int i, std::uint32_t events = 0) {
  std::vector<std::byte> bytes;
  FrameHeader header;
  header.type = 6;
  header.process = static_cast<std::uint32_t>(i);
  header.event_count = events;
  append_frame(header, payload_of(i), bytes);
  return bytes;
}

// Writes a file of kFrames frames without its index. Returns the position after each frame.
inline std::vector<std::uint64_t> write_unfinished(TraceFileWriter& writer) {
  std::vector<std::uint64_t> ends;
  for (int i = 0; i < kFrames; ++i) {
    REQUIRE(writer.append(frame_bytes(i)));
    ends.push_back(writer.size());
  }
  return ends;
}
inline std::vector<std::uint64_t> write_unfinished(const std::filesystem::path& path) {
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  return write_unfinished(*writer);
}

// The same with its index.
inline std::vector<std::uint64_t> write_file(const std::filesystem::path& path) {
  auto writer = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(writer);
  const std::vector<std::uint64_t> ends = write_unfinished(*writer);
  REQUIRE(writer->finish());
  return ends;
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// The number of frames that the reader still gives, each of which must be as it was written.
inline int frames_in(TraceFileReader& reader) {
  int count = 0;
  while (const auto frame = reader.next()) {
    CHECK(*open_frame(*frame) == payload_of(static_cast<int>(frame->header.process)));
    ++count;
  }
  return count;
}

}  // namespace lanescope::test

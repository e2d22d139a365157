// Hostile files: messages, the index and the outline.
#include <algorithm>

#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

void long_output(const Path& path, std::size_t bytes) {
  proto::Output output;
  output.set_time(kEpoch);
  output.set_data(std::string(7u << 20, 'x'));
  FileOfFrames(path, bytes).fill_with(proto::FRAME_OUTPUT, output);
}
void many_messages(const Path& path, std::size_t bytes) { FileOfFrames(path, bytes).fill_with(proto::FRAME_DIAGNOSTIC, proto::Diagnostic()); }
void many_arguments(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::ProcessStart start;
  for (int i = 0; i < 300'000; ++i) start.add_arguments("");
  const std::string payload = start.SerializeAsString();
  for (std::uint32_t process = 2; !file.is_full(); ++process) file.add_payload(proto::FRAME_PROCESS_START, payload, process);
}

void index_that_repeats_a_frame(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  const std::uint64_t frame = file.position();
  std::string noise(bytes / 2, '\0');
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1'664'525u + 1'013'904'223u) >> 24);
  proto::Resources resources;
  resources.add_threads()->set_name(noise);
  file.add(proto::FRAME_RESOURCES, resources);
  proto::EventChunk chunk = chunk_at(0);
  kernels_in(chunk, 1);
  file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  const std::uint64_t outline_at = file.position();
  proto::Outline outline;
  outline.set_bucket_length(1'000);
  file.add(proto::FRAME_OUTLINE, outline, 0);
  proto::Index index;
  for (int i = 0; i < 100'000; ++i) {
    proto::IndexEntry& entry = *index.add_entries();
    entry.set_offset(frame);
    entry.set_type(proto::FRAME_RESOURCES);
  }
  index.add_entries()->set_offset(outline_at);
  index.mutable_entries(100'000)->set_type(proto::FRAME_OUTLINE);
  file.add_index({index.SerializeAsString()});
}
void index_of_empty_entries(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::string entries;
  while (entries.size() < kHugeColumns) entries += std::string_view("\x0a\0", 2);
  const std::vector<std::string> frames(std::clamp<std::size_t>(bytes / 8'192, 1, 10), entries);
  file.add_index(frames);
}
void outline_of_deep_lanes(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::vector<std::uint64_t> outlines;
  proto::Outline outline;
  outline.set_bucket_length(1'000);
  outline.set_begin(kEpoch);
  outline.add_names("n");
  for (std::uint32_t i = 0; i < bytes / 40; ++i) {
    proto::OutlineLane& lane = *outline.add_lanes();
    lane.set_track_kind(4);
    lane.set_process(1);
    lane.set_thread(i + 1);
    lane.set_depth(511);
    lane.add_bucket_delta(1);
    lane.add_busy(1);
    lane.add_name(0);
  }
  const std::uint64_t at = file.position();
  file.add(proto::FRAME_OUTLINE, outline, 0);
  proto::Index index = file.entries_of_start();
  proto::IndexEntry& entry = *index.add_entries();
  entry.set_offset(at);
  entry.set_type(proto::FRAME_OUTLINE);
  entry.set_stored_size(static_cast<std::uint32_t>(file.position() - at - sizeof(FrameHeader)));
  file.add_index({index.SerializeAsString()});
}

}  // namespace

std::vector<HostileFile> messages_and_index() {
  return {
      {"long_output", &long_output},
      {"many_messages", &many_messages},
      {"many_arguments", &many_arguments},
      {"index_that_repeats_a_frame", &index_that_repeats_a_frame},
      {"index_of_empty_entries", &index_of_empty_entries},
      {"outline_of_deep_lanes", &outline_of_deep_lanes},
  };
}

}  // namespace lanescope::test

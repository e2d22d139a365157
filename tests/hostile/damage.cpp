// Hostile files: data that looks like frames, and is not.
#include <algorithm>

#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

void unknown_frames(const Path& path, std::size_t bytes) { FileOfFrames(path, bytes).fill_with(99, std::string(64u << 20, '\0')); }

void false_magic(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  while (!file.is_full()) {
    FrameHeader header;
    header.type = proto::FRAME_EVENTS;
    header.stored_size = static_cast<std::uint32_t>(std::min<std::size_t>(64u << 20, bytes - file.position() - 200));
    header.raw_size = header.stored_size;
    file.put({reinterpret_cast<const char*>(&header), 16});
  }
}
void false_magic_between_frames(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  while (!file.is_full()) {
    for (int i = 0; i < 20; ++i) {
      FrameHeader header;
      header.type = proto::FRAME_EVENTS;
      header.stored_size = header.raw_size = static_cast<std::uint32_t>(bytes / 2);
      file.put({reinterpret_cast<const char*>(&header), 16});
    }
    file.add(proto::FRAME_DIAGNOSTIC, proto::Diagnostic());
  }
}

}  // namespace

std::vector<HostileFile> damage() {
  return {
      {"unknown_frames", &unknown_frames},
      {"false_magic", &false_magic},
      {"false_magic_between_frames", &false_magic_between_frames},
  };
}

}  // namespace lanescope::test

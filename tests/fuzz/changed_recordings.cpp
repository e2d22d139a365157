// Writes recordings that were changed at random, and are sound frame by frame: lanescope_changed_recordings FOLDER COUNT SEED FILE...
//
// Each is one of the files with one to eight changes to its messages, to their bytes, or to the set of frames. In most, the index fits its frames again, so
// that what the index says is read and not refused. Prints the paths. The same arguments give the same files.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "frame_sequence.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"

using namespace lanescope;

namespace {

std::vector<fuzz::Frame> frames_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<fuzz::Frame> frames;
  for (std::size_t at = sizeof(FileHeader); at + sizeof(FrameHeader) <= bytes.size();) {
    FrameView frame;
    std::memcpy(&frame.header, bytes.data() + at, sizeof(FrameHeader));
    at += sizeof(FrameHeader);
    if (frame.header.magic != kFrameMagic || frame.header.stored_size > bytes.size() - at) break;  // the trailer
    frame.stored = std::as_bytes(std::span(bytes)).subspan(at, frame.header.stored_size);
    at += frame.header.stored_size;
    auto payload = open_frame(frame);
    if (!payload) break;
    frames.push_back({static_cast<std::uint8_t>(frame.header.type), frame.header.source, static_cast<std::uint8_t>(frame.header.process),
                      frame.header.event_count, *std::move(payload)});
  }
  return frames;
}

// Says where the frames are now, as far as the index has an entry for each.
void fit(proto::Index& index, const std::vector<FrameHeader>& headers, const std::vector<std::uint64_t>& offsets) {
  for (int i = 0; i < index.entries_size() && static_cast<std::size_t>(i) < headers.size(); ++i) {
    index.mutable_entries(i)->set_offset(offsets[static_cast<std::size_t>(i)]);
    index.mutable_entries(i)->set_stored_size(headers[static_cast<std::size_t>(i)].stored_size);
  }
}

enum class Fit : std::uint8_t { kYes, kNo };

void write(const std::filesystem::path& path, const std::vector<fuzz::Frame>& frames, Fit index_fits) {
  FileHeader first{};
  std::memcpy(first.magic, kFileMagic, sizeof(kFileMagic));
  first.major_version = kFormatMajor;
  first.minor_version = kFormatMinor;
  std::vector<std::byte> file(sizeof(first));
  std::memcpy(file.data(), &first, sizeof(first));
  std::vector<FrameHeader> headers;
  std::vector<std::uint64_t> offsets;
  FileTrailer trailer{};
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
  for (const fuzz::Frame& each : frames) {
    std::string payload = each.payload;
    if (proto::Index index; each.type == proto::FRAME_INDEX && trailer.index_offset == 0) {
      trailer.index_offset = file.size();
      if (index_fits == Fit::kYes && index.ParseFromString(payload)) {
        fit(index, headers, offsets);
        payload = index.SerializeAsString();
      }
    }
    FrameHeader header;
    header.type = each.type;
    header.source = each.source;
    header.process = each.process;
    header.event_count = each.events;
    offsets.push_back(file.size());
    append_frame(header, payload, file);
    std::memcpy(&headers.emplace_back(), file.data() + offsets.back(), sizeof(FrameHeader));
  }
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  if (trailer.index_offset != 0) out.write(reinterpret_cast<const char*>(&trailer), sizeof(trailer));
  if (!out.flush()) {
    std::cerr << "lanescope_changed_recordings: " << path.string() << " can't be written\n";
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: lanescope_changed_recordings FOLDER COUNT SEED FILE...\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const long count = std::atol(argv[2]);
  for (long i = 0; i < count; ++i) {
    std::mt19937 random(static_cast<unsigned>(std::atol(argv[3]) + i));
    const std::filesystem::path from = argv[4 + random() % static_cast<unsigned>(argc - 4)];
    std::vector<fuzz::Frame> frames = frames_of_file(from);
    if (frames.empty()) {
      std::cerr << "lanescope_changed_recordings: " << from.string() << " has no frames\n";
      return 1;
    }
    for (unsigned changes = 1 + random() % 8; changes > 0; --changes) fuzz::change(frames, random);
    const std::filesystem::path path = folder / (from.stem().string() + "-" + std::to_string(i) + ".trace");
    write(path, frames, random() % 8 != 0 ? Fit::kYes : Fit::kNo);
    std::cout << path.string() << '\n';
  }
}

#include "file_of_frames.h"

#include <cstring>

#include "model/file/limits.h"

namespace lanescope::test {
namespace {

std::vector<std::byte> frame_of(int type, const std::string& payload, std::uint32_t process, int source, std::uint32_t events) {
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(type);
  header.process = process;
  header.source = static_cast<std::uint8_t>(source);
  header.event_count = events;
  std::vector<std::byte> frame;
  append_frame(header, payload, frame);
  return frame;
}

std::string_view text_of(const std::vector<std::byte>& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number > 127; number >>= 7) bytes += static_cast<char>((number & 127) | 128);
  return bytes + static_cast<char>(number);
}

}  // namespace

FileOfFrames::FileOfFrames(const std::filesystem::path& path, std::size_t bytes)
    : file_(path, std::ios::binary), most_bytes_(bytes), most_unpacked_(2 * limits::budget_of(bytes).unpacked) {
  FileHeader header{};
  std::memcpy(header.magic, kFileMagic, sizeof(kFileMagic));
  header.major_version = kFormatMajor;
  header.minor_version = kFormatMinor;
  put({reinterpret_cast<const char*>(&header), sizeof(header)});
  const auto note = [this](proto::FrameType type, std::uint32_t process) {
    proto::IndexEntry& entry = *entries_of_start_.add_entries();
    entry.set_offset(bytes_ - last_.size());
    entry.set_type(type);
    entry.set_process(process);
    entry.set_stored_size(static_cast<std::uint32_t>(last_.size() - sizeof(FrameHeader)));
  };
  proto::SessionStart start;
  start.set_epoch(kEpoch);
  start.set_utc_epoch(1'790'000'000'000'000'000);
  start.set_lanescope_version("0.1.0");
  add(proto::FRAME_SESSION_START, start, 0);
  note(proto::FRAME_SESSION_START, 0);
  proto::ProcessStart process;
  process.set_pid(4242);
  process.set_time(kEpoch);
  process.set_executable("/bin/program");
  add(proto::FRAME_PROCESS_START, process);
  note(proto::FRAME_PROCESS_START, kProcess);
}

FileOfFrames::~FileOfFrames() {
  if (has_index_) return;
  if (unpacked_ >= most_unpacked_)
    while (bytes_ + last_.size() < most_bytes_) put(text_of(last_));
  proto::SessionEnd end;
  end.set_time(1'000'000'000);
  end.set_reason(proto::END_TARGET_EXITED);
  add(proto::FRAME_SESSION_END, end, 0);
}

void FileOfFrames::add_payload(int type, const std::string& payload, std::uint32_t process, int source, std::uint32_t events) {
  last_ = frame_of(type, payload, process, source, events);
  unpacked_ += payload.size();
  put(text_of(last_));
}

void FileOfFrames::fill_with(int type, const std::string& payload, std::uint32_t events) {
  const std::vector<std::byte> frame = frame_of(type, payload, kProcess, 0, events);
  do put(text_of(frame));
  while (bytes_ + frame.size() < most_bytes_);
}

void FileOfFrames::add_index(const std::vector<std::string>& payloads) {
  FileTrailer trailer{};
  trailer.index_offset = bytes_;
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
  for (const std::string& payload : payloads) add_payload(proto::FRAME_INDEX, payload, 0);
  put({reinterpret_cast<const char*>(&trailer), sizeof(trailer)});
  has_index_ = true;
}

void FileOfFrames::put(std::string_view bytes) {
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes_ += bytes.size();
}

std::string field(std::uint32_t number, std::string_view content) { return varint(number << 3 | 2) + varint(content.size()).append(content); }
std::string number_field(std::uint32_t number, std::uint64_t value) { return varint(number << 3) + varint(value); }

}  // namespace lanescope::test

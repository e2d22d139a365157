#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"

namespace lanescope {

struct TraceFileWriter::State {
  std::filesystem::path path;
  int descriptor = -1;
  std::uint64_t size = 0;
  proto::Index index;

  ~State() {
    if (descriptor >= 0) close(descriptor);
  }

  Result<void> write_all(const void* data, std::size_t bytes) {
    const std::uint64_t whole = size;
    const char* next = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = write(descriptor, next, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const int reason = errno;
        const bool cut = ftruncate(descriptor, static_cast<off_t>(whole)) == 0;
        lseek(descriptor, static_cast<off_t>(whole), SEEK_SET);
        size = whole;
        return Error{"Can't write to " + path.string() + ": " + std::strerror(reason) +
                     (cut ? ". What was recorded before is whole; free some space or record to another disk with -o."
                          : ". The last frame is cut off; everything before it can be read.")};
      }
      next += written;
      bytes -= static_cast<std::size_t>(written);
      size += static_cast<std::uint64_t>(written);
    }
    return {};
  }
};

TraceFileWriter::TraceFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceFileWriter::TraceFileWriter(TraceFileWriter&&) noexcept = default;
TraceFileWriter& TraceFileWriter::operator=(TraceFileWriter&&) noexcept = default;
TraceFileWriter::~TraceFileWriter() = default;

std::uint64_t TraceFileWriter::size() const noexcept { return state_->size; }
const std::filesystem::path& TraceFileWriter::path() const noexcept { return state_->path; }

Result<TraceFileWriter> TraceFileWriter::create(const std::filesystem::path& path, Overwrite overwrite) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite == Overwrite::kRefuse ? O_EXCL : O_TRUNC);
  auto state = std::make_unique<State>();
  state->path = path;
  state->descriptor = ::open(path.c_str(), flags, 0644);
  if (state->descriptor < 0) {
    if (errno == EEXIST) return Error{path.string() + " exists already. Give another name with -o, or allow overwriting with -f."};
    return Error{"Can't create " + path.string() + ": " + std::strerror(errno) + ". Give another place with -o."};
  }
  FileHeader header{};
  std::memcpy(header.magic, kFileMagic, sizeof(kFileMagic));
  header.major_version = kFormatMajor;
  header.minor_version = kFormatMinor;
  if (auto written = state->write_all(&header, sizeof(header)); !written) return written.error();
  return TraceFileWriter(std::move(state));
}

Result<TraceFileWriter> TraceFileWriter::reopen(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (state->descriptor < 0) return Error{"Can't open " + path.string() + " to add to it: " + std::strerror(errno) + "."};
  const Error unfinished{path.string() + " has no index that could be written anew: its recording was cut off."};
  const off_t end = lseek(state->descriptor, 0, SEEK_END);
  FileTrailer trailer{};
  const off_t trailer_at = end - static_cast<off_t>(sizeof(trailer));
  if (trailer_at < 0 || pread(state->descriptor, &trailer, sizeof(trailer), trailer_at) != static_cast<ssize_t>(sizeof(trailer)) ||
      std::memcmp(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic)) != 0 ||
      trailer.index_offset > static_cast<std::uint64_t>(trailer_at))
    return unfinished;
  std::vector<std::byte> bytes(static_cast<std::size_t>(trailer_at) - trailer.index_offset);
  if (bytes.size() < sizeof(FrameHeader) ||
      pread(state->descriptor, bytes.data(), bytes.size(), static_cast<off_t>(trailer.index_offset)) != static_cast<ssize_t>(bytes.size()))
    return unfinished;
  FrameView frame;
  std::memcpy(&frame.header, bytes.data(), sizeof(FrameHeader));
  frame.stored = std::span(bytes).subspan(sizeof(FrameHeader));
  if (frame.header.type != proto::FRAME_INDEX || !frame_is_sound(frame)) return unfinished;
  const auto payload = open_frame(frame);
  if (!payload || !state->index.ParseFromString(*payload)) return unfinished;
  state->size = trailer.index_offset;
  if (ftruncate(state->descriptor, static_cast<off_t>(state->size)) != 0 ||
      lseek(state->descriptor, static_cast<off_t>(state->size), SEEK_SET) != static_cast<off_t>(state->size))
    return Error{"Can't add to " + path.string() + ": " + std::strerror(errno) + "."};
  return TraceFileWriter(std::move(state));
}

Result<void> TraceFileWriter::append(std::span<const std::byte> frames) {
  const std::uint64_t begin = state_->size;
  if (auto written = state_->write_all(frames.data(), frames.size()); !written) return written;
  for (std::size_t at = 0; at + sizeof(FrameHeader) <= frames.size();) {
    FrameHeader header;
    std::memcpy(&header, frames.data() + at, sizeof(header));
    auto* entry = state_->index.add_entries();
    entry->set_offset(begin + at);
    entry->set_type(header.type);
    entry->set_process(header.process);
    entry->set_stored_size(header.stored_size);
    entry->set_event_count(header.event_count);
    at += sizeof(FrameHeader) + header.stored_size;
  }
  return {};
}

Result<void> TraceFileWriter::finish() {
  FileTrailer trailer{};
  trailer.index_offset = state_->size;
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
  std::vector<std::byte> tail;
  FrameHeader header;
  header.type = proto::FRAME_INDEX;
  append_frame(header, state_->index.SerializeAsString(), tail);
  const auto* bytes = reinterpret_cast<const std::byte*>(&trailer);
  tail.insert(tail.end(), bytes, bytes + sizeof(trailer));
  return state_->write_all(tail.data(), tail.size());
}

}  // namespace lanescope

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"

namespace lanescope {
namespace {

struct ForeignFormat {
  std::string_view magic;
  std::string_view sentence;
};

// Files that users are likely to hand over by mistake.
constexpr ForeignFormat kForeignFormats[] = {
    {"SQLite format 3", " is an SQLite database, not a .trace file. Convert it with: lanescope import "},
    {"\x1f\x8b", " is a gzip file, not a .trace file. If it holds a PyTorch or Chrome trace, convert it with: lanescope import "},
    {"{", " is a JSON file, not a .trace file. If it is a PyTorch or Chrome trace, convert it with: lanescope import "},
    {"[", " is a JSON file, not a .trace file. If it is a PyTorch or Chrome trace, convert it with: lanescope import "},
};

}  // namespace

std::string FileCondition::sentence() const {
  std::string text;
  if (damaged_frames > 0)
    text += std::to_string(damaged_frames) + (damaged_frames == 1 ? " frame is" : " frames are") +
            " damaged and skipped, the first at byte " + std::to_string(first_damage) + ". ";
  if (!finished) text += "The recording was cut off or is still being written: everything up to its last whole frame is here. ";
  if (!text.empty()) text.pop_back();
  return text;
}

struct TraceFileReader::State {
  std::filesystem::path path;
  int descriptor = -1;
  const std::byte* data = nullptr;
  std::uint64_t mapped = 0;
  std::uint64_t at = sizeof(FileHeader);
  FileCondition condition;

  ~State() {
    if (data) munmap(const_cast<std::byte*>(data), mapped);
    if (descriptor >= 0) close(descriptor);
  }

  // Maps what the file has now. A file that shrinks under us would fault, so a smaller one keeps the old size only until the next look.
  bool look_again() {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return false;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size == mapped) return false;
    if (data) munmap(const_cast<std::byte*>(data), mapped);
    data = nullptr;
    mapped = 0;
    if (size == 0) return false;
    void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED) return false;
    data = static_cast<const std::byte*>(address);
    mapped = size;
    return true;
  }

  // The frame whose header begins at `position`, where that is whole and its sizes are possible.
  std::optional<FrameView> frame_at(std::uint64_t position) const {
    if (position + sizeof(FrameHeader) > mapped) return std::nullopt;
    FrameView frame;
    std::memcpy(&frame.header, data + position, sizeof(FrameHeader));
    if (frame.header.magic != kFrameMagic || frame.header.stored_size > kMaximumPayloadBytes) return std::nullopt;
    if (position + sizeof(FrameHeader) + frame.header.stored_size > mapped) return std::nullopt;
    frame.stored = {data + position + sizeof(FrameHeader), frame.header.stored_size};
    return frame;
  }

  bool trailer_at(std::uint64_t position) const {
    if (position + sizeof(FileTrailer) != mapped) return false;
    FileTrailer trailer;
    std::memcpy(&trailer, data + position, sizeof(trailer));
    return std::memcmp(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic)) == 0;
  }

  // The index that the trailer points to.
  std::optional<proto::Index> index() const {
    if (mapped < sizeof(FileHeader) + sizeof(FileTrailer) || !trailer_at(mapped - sizeof(FileTrailer))) return std::nullopt;
    FileTrailer trailer;
    std::memcpy(&trailer, data + mapped - sizeof(trailer), sizeof(trailer));
    if (trailer.index_offset > mapped) return std::nullopt;
    const auto frame = frame_at(trailer.index_offset);
    if (!frame || frame->header.type != proto::FRAME_INDEX || !frame_is_sound(*frame)) return std::nullopt;
    const auto payload = open_frame(*frame);
    proto::Index found;
    if (!payload || !found.ParseFromString(*payload)) return std::nullopt;
    return found;
  }

  // The next position at or after `from` where a sound frame begins.
  std::optional<std::uint64_t> resynchronize(std::uint64_t from) const {
    const std::uint32_t magic = kFrameMagic;
    const auto* pattern = reinterpret_cast<const std::byte*>(&magic);
    while (from < mapped) {
      const auto* found = std::search(data + from, data + mapped, pattern, pattern + sizeof(magic));
      if (found == data + mapped) return std::nullopt;
      const auto position = static_cast<std::uint64_t>(found - data);
      if (const auto frame = frame_at(position); frame && frame_is_sound(*frame)) return position;
      from = position + 1;
    }
    return std::nullopt;
  }
};

TraceFileReader::TraceFileReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceFileReader::TraceFileReader(TraceFileReader&&) noexcept = default;
TraceFileReader& TraceFileReader::operator=(TraceFileReader&&) noexcept = default;
TraceFileReader::~TraceFileReader() = default;

const FileCondition& TraceFileReader::condition() const noexcept { return state_->condition; }
std::uint64_t TraceFileReader::size() const noexcept { return state_->mapped; }
std::uint64_t TraceFileReader::position() const noexcept { return state_->at; }

Result<TraceFileReader> TraceFileReader::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state->descriptor < 0) return Error{"Can't open " + path.string() + ": " + std::strerror(errno) + "."};
  struct stat status {};
  if (fstat(state->descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    return Error{path.string() + " is not a file. Give the path of a .trace file."};
  if (status.st_size == 0) return Error{path.string() + " is empty: nothing was recorded into it."};
  if (!state->look_again()) return Error{"Can't read " + path.string() + ": " + std::strerror(errno) + "."};

  const std::string_view content(reinterpret_cast<const char*>(state->data), static_cast<std::size_t>(state->mapped));
  const std::string_view magic(reinterpret_cast<const char*>(kFileMagic), sizeof(kFileMagic));
  if (content.substr(0, magic.size()) != magic.substr(0, content.size())) {
    for (const ForeignFormat& foreign : kForeignFormats)
      if (content.starts_with(foreign.magic)) return Error{path.string() + std::string(foreign.sentence) + path.string()};
    return Error{path.string() + " is not a .trace file: it does not begin with the format's mark."};
  }
  if (state->mapped < sizeof(FileHeader)) return Error{path.string() + " is cut off within its first bytes: it holds no events."};
  FileHeader header;
  std::memcpy(&header, state->data, sizeof(header));
  if (header.major_version > kFormatMajor)
    return Error{path.string() + " has format version " + std::to_string(header.major_version) + ", and this Lanescope reads up to " +
                 std::to_string(kFormatMajor) + ". Open it with a newer Lanescope."};
  return TraceFileReader(std::move(state));
}

std::vector<FrameView> TraceFileReader::indexed(std::span<const std::uint16_t> types) const {
  std::vector<FrameView> frames;
  const auto index = state_->index();
  if (!index) return frames;
  for (const auto& entry : index->entries()) {
    if (std::find(types.begin(), types.end(), entry.type()) == types.end() || entry.offset() > state_->mapped) continue;
    if (const auto frame = state_->frame_at(entry.offset()); frame && frame_is_sound(*frame)) frames.push_back(*frame);
  }
  return frames;
}

std::optional<FrameView> TraceFileReader::next() {
  State& state = *state_;
  for (;;) {
    auto frame = state.frame_at(state.at);
    if (!frame && state.trailer_at(state.at)) {
      state.condition.finished = true;
      state.condition.unread_bytes = 0;
      return std::nullopt;
    }
    if (!frame && state.look_again()) continue;
    if (frame && frame_is_sound(*frame)) {
      state.at += sizeof(FrameHeader) + frame->header.stored_size;
      if (frame->header.type == proto::FRAME_INDEX) continue;
      ++state.condition.frames;
      return frame;
    }
    const auto resumed = state.resynchronize(state.at + 1);
    if (!resumed) {
      // Nothing sound behind: a write that was cut off, or is not complete yet.
      state.condition.unread_bytes = state.mapped - state.at;
      return std::nullopt;
    }
    if (state.condition.damaged_frames++ == 0) state.condition.first_damage = state.at;
    state.at = *resumed;
  }
}

}  // namespace lanescope

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "model/file/trace_file.h"
#include "trace_index.h"

namespace lanescope {
namespace {

struct ForeignFormat {
  std::string_view magic;
  std::string_view sentence;
};

// Files that users are likely to pass by mistake.
constexpr ForeignFormat kForeignFormats[] = {
    {"SQLite format 3", " is an SQLite database, not a .trace file. Convert it with: lanescope import "},
    {"\x1f\x8b", " is a gzip file, not a .trace file. If it holds a PyTorch or Chrome trace, convert it with: lanescope import "},
    {"{", " is a JSON file, not a .trace file. If it is a PyTorch or Chrome trace, convert it with: lanescope import "},
    {"[", " is a JSON file, not a .trace file. If it is a PyTorch or Chrome trace, convert it with: lanescope import "},
};

constexpr std::size_t kBlockBytes = 1u << 20;                                 // read at once
constexpr std::size_t kHeadBytes = sizeof(FileHeader) + sizeof(FrameHeader);  // by which a file is recognized

// Bytes of the file, and their owner.
struct Bytes {
  std::span<const std::byte> span;
  std::shared_ptr<const void> owner;
};

}  // namespace

std::string FileCondition::sentence() const {
  std::string text;
  if (damaged_frames > 0)
    text += std::to_string(damaged_frames) + (damaged_frames == 1 ? " frame is" : " frames are") + " damaged and skipped, the first at byte " +
            std::to_string(first_damage) + ". ";
  if (search_ended > 0) text += "Behind byte " + std::to_string(search_ended) + " much looks like frames and is none: what follows was not searched for more. ";
  if (!read_error.empty()) text += read_error + " ";
  if (changed)
    text += "The file was cut, or written anew, while it was read: what had been read by then is here. ";
  else if (!finished)
    text += "The recording was cut off or is still being written: everything up to its last whole frame is here. ";
  if (!text.empty()) text.pop_back();
  return text;
}

// Nothing is mapped: if another program truncates a mapped file, access to the missing part ends this process.
struct TraceFileReader::State {
  std::filesystem::path path;
  int descriptor = -1;
  std::uint64_t size = 0;  // when it was last examined
  std::uint64_t at = sizeof(FileHeader);
  std::uint64_t searched = 0;  // bytes behind damage
  FileCondition condition;
  std::vector<std::byte> head;  // when the file was opened

  // The most recently read part of the file.
  std::shared_ptr<std::byte[]> block;
  std::uint64_t block_at = 0;
  std::size_t block_bytes = 0;
  std::vector<std::byte> candidate;       // bytes of a possible frame that is not in the block
  std::optional<TraceIndex> known_index;  // read if frames are damaged

  ~State() {
    if (descriptor >= 0) close(descriptor);
  }

  // Returns the number of requested bytes that the file has.
  std::size_t read(std::uint64_t position, std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t bytes = pread(descriptor, into.data() + done, into.size() - done, static_cast<off_t>(position + done));
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0 && condition.read_error.empty())
        condition.read_error = "Can't read " + path.string() + " at byte " + std::to_string(position + done) + ": " + std::strerror(errno) +
                               "; what had been read by then is here.";
      if (bytes <= 0) break;
      done += static_cast<std::size_t>(bytes);
    }
    return done;
  }

  [[nodiscard]] bool is_the_file_that_was_opened() {
    std::vector<std::byte> now(head.size());
    return read(0, now) == now.size() && now == head;
  }

  // Bytes [position, position + bytes), as far as the file has them, or these and the rest of the block.
  enum class Extent { kAsked, kRestOfBlock };
  Bytes view(std::uint64_t position, std::size_t bytes, Extent extent = Extent::kAsked) {
    if (position < block_at || position + bytes > block_at + block_bytes) {
      const std::size_t wanted = std::max(bytes, kBlockBytes);
      block = std::make_shared_for_overwrite<std::byte[]>(wanted);
      block_at = position;
      block_bytes = read(position, {block.get(), wanted});
      // Otherwise frames of two recordings would be combined.
      if (!is_the_file_that_was_opened()) {
        condition.changed = true;
        block_bytes = 0;
      }
    }
    const auto from = std::min(static_cast<std::size_t>(position - block_at), block_bytes);
    const std::size_t rest = block_bytes - from;
    return {std::span<const std::byte>(block.get() + from, extent == Extent::kAsked ? std::min(bytes, rest) : rest), block};
  }

  // Returns true if the file's size has changed. If it became shorter, another program changed it.
  bool look_again() {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return false;
    const auto now = static_cast<std::uint64_t>(status.st_size);
    if (now < size) condition.changed = true;
    const bool differs = now != size;
    size = now;
    block_bytes = 0;
    return differs;
  }

  // The frame whose header begins at `position`, if the header is complete and its sizes are possible.
  std::optional<FrameView> frame_at(std::uint64_t position) {
    if (position > size || size - position < sizeof(FrameHeader)) return std::nullopt;
    const Bytes header = view(position, sizeof(FrameHeader));
    FrameView frame;
    if (header.span.size() < sizeof(FrameHeader)) return std::nullopt;
    std::memcpy(&frame.header, header.span.data(), sizeof(FrameHeader));
    if (frame.header.magic != kFrameMagic || frame.header.stored_size > kMaximumPayloadBytes) return std::nullopt;
    const std::size_t bytes = sizeof(FrameHeader) + frame.header.stored_size;
    if (size - position < bytes) return std::nullopt;
    Bytes whole = view(position, bytes);
    if (whole.span.size() < bytes) return std::nullopt;
    frame.stored = whole.span.subspan(sizeof(FrameHeader));
    frame.owner = std::move(whole.owner);
    return frame;
  }

  bool trailer_at(std::uint64_t position) {
    if (position + sizeof(FileTrailer) != size) return false;
    const Bytes bytes = view(position, sizeof(FileTrailer));
    FileTrailer trailer;
    if (bytes.span.size() < sizeof(trailer)) return false;
    std::memcpy(&trailer, bytes.span.data(), sizeof(trailer));
    return std::memcmp(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic)) == 0;
  }

  // True if the file is finished although no frame is sound from here to its trailer: its index is damaged.
  bool ends_behind_damage() { return size > sizeof(FileTrailer) && at < size - sizeof(FileTrailer) && trailer_at(size - sizeof(FileTrailer)); }

  TraceIndex index() {
    return read_index(size, [this](std::uint64_t position, std::span<std::byte> into) { return read(position, into) == into.size(); });
  }

  // Marks [at, end), which contains no sound frame, as damaged. The index gives the number of frames; if the index is damaged, they count as one.
  void skip_damage(std::uint64_t end) {
    if (!known_index) known_index = index();
    const auto lies_before = [](const IndexedFrame& frame, std::uint64_t position) { return frame.offset < position; };
    const auto& frames = known_index->entries;
    const auto first = std::lower_bound(frames.begin(), frames.end(), at, lies_before);
    const auto last = std::lower_bound(first, frames.end(), end, lies_before);
    if (condition.damaged_frames == 0) condition.first_damage = at;
    condition.damaged_frames += std::max<std::uint64_t>(1, static_cast<std::uint64_t>(last - first));
    at = end;
  }

  // True if a sound frame begins at `position`, which lies in the block. Adds the bytes that it examines to `searched`.
  bool is_sound_at(std::uint64_t position) {
    const std::span<const std::byte> rest = view(position, 1, Extent::kRestOfBlock).span;
    FrameView frame;
    const auto header = std::as_writable_bytes(std::span(&frame.header, 1));
    if (rest.size() >= header.size())
      std::copy_n(rest.begin(), header.size(), header.begin());
    else if (read(position, header) < header.size())
      return false;
    const std::uint64_t stored_at = position + header.size();
    if (!has_possible_sizes(frame.header) || stored_at > size || size - stored_at < frame.header.stored_size) return false;
    searched += frame.header.stored_size;
    if (rest.size() >= header.size() + frame.header.stored_size) {
      frame.stored = rest.subspan(header.size(), frame.header.stored_size);
    } else {
      candidate.resize(frame.header.stored_size);
      if (read(stored_at, candidate) < candidate.size()) return false;
      frame.stored = candidate;
    }
    return frame_is_sound(frame);
  }

  // The next position, from `from` on, where a sound frame begins.
  std::optional<std::uint64_t> resynchronize(std::uint64_t from) {
    const std::uint32_t magic = kFrameMagic;
    const std::uint64_t budget = limits::budget_of(size).searched;
    const std::uint64_t searched_before = searched;
    while (from < size && size - from >= sizeof(magic)) {
      const std::span<const std::byte> part = view(from, sizeof(magic), Extent::kRestOfBlock).span;
      if (part.size() < sizeof(magic)) break;
      const void* found = memmem(part.data(), part.size(), &magic, sizeof(magic));
      if (found == nullptr) {
        searched += part.size();
        from += part.size() - sizeof(magic) + 1;
        continue;
      }
      const auto skipped = static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - part.data());
      searched += skipped;
      from += skipped;
      if (is_sound_at(from)) return from;
      if (searched > budget) {
        condition.search_ended = from;
        return std::nullopt;
      }
      ++from;
    }
    searched = searched_before;  // a growing file is searched again from here
    return std::nullopt;
  }
};

TraceFileReader::TraceFileReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceFileReader::TraceFileReader(TraceFileReader&&) noexcept = default;
TraceFileReader& TraceFileReader::operator=(TraceFileReader&&) noexcept = default;
TraceFileReader::~TraceFileReader() = default;

const FileCondition& TraceFileReader::condition() const noexcept { return state_->condition; }
std::uint64_t TraceFileReader::size() const noexcept { return state_->size; }
std::uint64_t TraceFileReader::position() const noexcept { return state_->at; }

Result<TraceFileReader> TraceFileReader::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // without O_NONBLOCK, a FIFO would block
  if (state->descriptor < 0) return Error{"Can't open " + path.string() + ": " + std::strerror(errno) + "."};
  struct stat status {};
  if (fstat(state->descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return Error{path.string() + " is not a file. Give the path of a .trace file."};
  if (status.st_size == 0) return Error{path.string() + " is empty: nothing was recorded into it."};
  state->size = static_cast<std::uint64_t>(status.st_size);
  state->head.resize(std::min<std::uint64_t>(kHeadBytes, state->size));
  state->head.resize(state->read(0, state->head));
  if (!state->condition.read_error.empty()) return Error{state->condition.read_error};

  const std::string_view content(reinterpret_cast<const char*>(state->head.data()), state->head.size());
  const std::string_view magic(reinterpret_cast<const char*>(kFileMagic), sizeof(kFileMagic));
  if (content.substr(0, magic.size()) != magic.substr(0, content.size())) {
    for (const ForeignFormat& foreign : kForeignFormats)
      if (content.starts_with(foreign.magic)) return Error{path.string() + std::string(foreign.sentence) + path.string()};
    return Error{path.string() + " is not a .trace file: it does not begin with the format's mark."};
  }
  if (content.size() < sizeof(FileHeader)) return Error{path.string() + " is cut off within its first bytes: it holds no events."};
  FileHeader header;
  std::memcpy(&header, state->head.data(), sizeof(header));
  if (header.major_version > kFormatMajor)
    return Error{path.string() + " has format version " + std::to_string(header.major_version) + ", and this Lanescope reads up to " +
                 std::to_string(kFormatMajor) + ". Open it with a newer Lanescope."};
  return TraceFileReader(std::move(state));
}

std::vector<FrameView> TraceFileReader::indexed(std::span<const std::uint16_t> types) const {
  std::vector<FrameView> frames;
  for (const TraceIndex::Entry& entry : state_->index().entries) {
    if (std::find(types.begin(), types.end(), entry.type) == types.end()) continue;
    // Separate memory, so that a few frames of a large file do not keep everything around them.
    const std::size_t bytes = sizeof(FrameHeader) + entry.stored_size;
    auto memory = std::make_shared_for_overwrite<std::byte[]>(bytes);
    if (state_->read(entry.offset, {memory.get(), bytes}) < bytes) break;
    FrameView frame;
    std::memcpy(&frame.header, memory.get(), sizeof(FrameHeader));
    frame.stored = {memory.get() + sizeof(FrameHeader), entry.stored_size};
    frame.owner = std::move(memory);
    if (frame_is_sound(frame)) frames.push_back(std::move(frame));
  }
  return frames;
}

std::uint64_t TraceFileReader::indexed_events() const {
  std::uint64_t events = 0;
  for (const TraceIndex::Entry& entry : state_->index().entries)
    if (entry.type == proto::FRAME_EVENTS || entry.type == proto::FRAME_LANE_SEGMENT) events += entry.event_count;
  return events;
}

std::vector<IndexedFrame> TraceFileReader::index() const { return std::move(state_->index().entries); }

Result<FrameView> TraceFileReader::read(const IndexedFrame& indexed) const {
  const Error damaged{state_->path.string() + " has no sound frame at byte " + std::to_string(indexed.offset) +
                      ", where its index names one: it was changed, or is damaged. Open it again."};
  if (indexed.stored_size > kMaximumPayloadBytes) return damaged;
  const std::size_t bytes = sizeof(FrameHeader) + indexed.stored_size;
  auto memory = std::make_shared_for_overwrite<std::byte[]>(bytes);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t part = pread(state_->descriptor, memory.get() + done, bytes - done, static_cast<off_t>(indexed.offset + done));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return Error{"Can't read " + state_->path.string() + ": " + std::strerror(errno) + "."};
    if (part == 0) return damaged;
    done += static_cast<std::size_t>(part);
  }
  FrameView frame;
  std::memcpy(&frame.header, memory.get(), sizeof(FrameHeader));
  frame.stored = {memory.get() + sizeof(FrameHeader), indexed.stored_size};
  frame.owner = std::move(memory);
  if (frame.header.type != indexed.type || !frame_is_sound(frame)) return damaged;
  return frame;
}

std::uint16_t TraceFileReader::minor_version() const noexcept {
  FileHeader header;
  std::memcpy(&header, state_->head.data(), sizeof(header));
  return header.minor_version;
}

std::optional<FrameView> TraceFileReader::next() {
  State& state = *state_;
  while (!state.condition.changed) {
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
    if (!resumed && state.condition.search_ended == 0 && state.ends_behind_damage()) {
      state.skip_damage(state.size - sizeof(FileTrailer));
      continue;
    }
    if (!resumed) {
      // No sound frame follows: a write was interrupted, or is not complete yet.
      state.condition.unread_bytes = state.size > state.at ? state.size - state.at : 0;
      return std::nullopt;
    }
    state.skip_damage(*resumed);
  }
  return std::nullopt;
}

}  // namespace lanescope

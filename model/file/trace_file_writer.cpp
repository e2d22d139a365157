#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/file/limits.h"
#include "model/file/trace_file.h"
#include "trace_index.h"

namespace lanescope {
namespace {

const char* what_to_do(int reason) {
  if (reason == EFBIG) return "allow larger files (ulimit -f).";
  return "free some space, or record to another disk.";
}

constexpr std::uint64_t kIndexEntryBytes = 48;  // at most, of one frame
constexpr std::uint64_t kIndexBytes = sizeof(FrameHeader) + sizeof(FileTrailer) + 64;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool valid() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Fails where somebody else has the lock. Where the file system knows none, nobody is kept out.
bool lock(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

bool is_at(int descriptor, const std::filesystem::path& path) {
  struct stat ours {};
  struct stat theirs {};
  return fstat(descriptor, &ours) == 0 && lstat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

// What a reader takes to read the frames so far, against what it takes of a file of their size (limits.h).
//
// How much memory a frame takes a header does not say. Events take what they take on lanes. What a payload holds beyond their columns, and all of a
// payload without events, are texts, values and tables, of which readers keep one to three copies: four are counted. Too much costs little:
// one byte of twelve of what is counted has to be stored without compression then.
struct Taken {
  std::uint64_t unpacked = 0;
  std::uint64_t events = 0;
  std::uint64_t memory = 0;

  static std::uint64_t memory_of(const FrameHeader& header) {
    constexpr std::uint64_t kCopies = 4;
    constexpr std::uint64_t kEventPayload = 40;  // bytes in the columns of an event, at most about
    const std::uint64_t of_events = std::min<std::uint64_t>(header.raw_size, kEventPayload * header.event_count);
    return limits::kEventMemory * header.event_count + kCopies * (header.raw_size - of_events);
  }
  void remove(const FrameHeader& header) {
    unpacked -= header.raw_size;
    events -= header.event_count;
    memory -= memory_of(header);
  }
  void add(const FrameHeader& header) {
    unpacked += header.raw_size;
    events += header.event_count;
    memory += memory_of(header);
  }
  // With one frame more.
  [[nodiscard]] bool stays_readable(const FrameHeader& header, std::uint64_t file_bytes) const {
    const limits::FileBudget budget = limits::budget_of(file_bytes + sizeof(header) + header.stored_size);
    return unpacked + header.raw_size <= budget.unpacked && events + header.event_count <= budget.events && memory + memory_of(header) <= budget.memory;
  }
};

Error being_written(const std::filesystem::path& path) {
  return {path.string() + " is being written by another recording. Give another name with -o, such as one with %p or %n."};
}

}  // namespace

struct TraceFileWriter::State {
  std::filesystem::path path;
  Descriptor own;                // where the file was made at its place
  std::optional<NewFile> beside;  // where it replaces another, or is to be put in its place
  Descriptor replaced;           // locked until then
  int descriptor = -1;           // of either
  std::uint64_t size = 0;
  std::vector<TraceIndex::Entry> index;
  std::uint64_t head_bytes = 0;  // of segments, in the index
  Taken taken;

  Result<void> write_all(const void* data, std::size_t bytes) {
    const std::uint64_t whole = size;
    const char* next = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = pwrite(descriptor, next, bytes, static_cast<off_t>(size));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const int reason = errno;
        const bool cut = ftruncate(descriptor, static_cast<off_t>(whole)) == 0;
        size = whole;
        return Error{"Can't write to " + path.string() + ": " + std::strerror(reason) +
                     (cut ? std::string(". What was recorded before is whole; ") + what_to_do(reason)
                          : ". The last frame is cut off; everything before it can be read.")};
      }
      next += written;
      bytes -= static_cast<std::size_t>(written);
      size += static_cast<std::uint64_t>(written);
    }
    return {};
  }

  Result<void> begin() {
    FileHeader header{};
    std::memcpy(header.magic, kFileMagic, sizeof(kFileMagic));
    header.major_version = kFormatMajor;
    header.minor_version = kFormatMinor;
    return write_all(&header, sizeof(header));
  }

  // Where readers would refuse one of the frames, since it says very much in few bytes: the same frames, and that one without compression,
  // which takes bytes for each event, text and value. Else none.
  [[nodiscard]] std::optional<std::vector<std::byte>> kept_readable(std::span<const std::byte> frames) const {
    std::optional<std::vector<std::byte>> kept;
    Taken so_far = taken;
    for (std::size_t at = 0; at + sizeof(FrameHeader) <= frames.size();) {
      FrameView frame;
      std::memcpy(&frame.header, frames.data() + at, sizeof(frame.header));
      const std::span<const std::byte> as_given = frames.subspan(at, sizeof(frame.header) + frame.header.stored_size);
      frame.stored = as_given.subspan(sizeof(frame.header));
      const std::uint64_t file_bytes = size + (kept ? kept->size() : at);
      const bool is_too_dense = frame.header.codec == Codec::kZstd && !so_far.stays_readable(frame.header, file_bytes);
      const auto payload = is_too_dense ? open_frame(frame) : Result<std::string>(Error{});
      if (payload && !kept) kept.emplace(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(at));
      if (payload) append_uncompressed_frame(frame.header, *payload, *kept);
      if (!payload && kept) kept->insert(kept->end(), as_given.begin(), as_given.end());
      so_far.add(frame.header);
      at += as_given.size();
    }
    return kept;
  }

  Result<void> take_place() {
    if (!beside || beside->has_taken_place()) return {};
    const auto lock_of_place = replaced.valid() ? NewFile::LockOfPlace::kOurs : NewFile::LockOfPlace::kOthers;
    if (Result<void> placed = beside->take_place(lock_of_place); !placed) return placed;
    replaced = Descriptor();
    return {};
  }
};

TraceFileWriter::TraceFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceFileWriter::TraceFileWriter(TraceFileWriter&&) noexcept = default;
TraceFileWriter& TraceFileWriter::operator=(TraceFileWriter&&) noexcept = default;
TraceFileWriter::~TraceFileWriter() = default;

std::uint64_t TraceFileWriter::size() const noexcept { return state_->size; }
std::uint64_t TraceFileWriter::finished_size() const noexcept {
  return state_->size + kIndexBytes + state_->index.size() * kIndexEntryBytes + state_->head_bytes;
}
std::uint64_t TraceFileWriter::finished_size_with(std::span<const std::byte> frames) const {
  const std::optional<std::vector<std::byte>> readable = state_->kept_readable(frames);
  return finished_size() + (readable ? readable->size() : frames.size());
}
const std::filesystem::path& TraceFileWriter::path() const noexcept { return state_->path; }

Result<TraceFileWriter> TraceFileWriter::create(const std::filesystem::path& path, Overwrite overwrite, Readers readers) {
  auto state = std::make_unique<State>();
  constexpr mode_t kForOwner = 0600;
  constexpr mode_t kForAll = 0644;
  state->own = Descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, readers == Readers::kOwnerAlone ? kForOwner : kForAll));
  state->path = path;
  state->descriptor = state->own.get();
  if (state->own.valid() && !lock(state->descriptor)) return being_written(path);  // by one that came in between
  if (!state->own.valid()) {
    // Says why, where that is not that something is there.
    auto file = NewFile::create(path, overwrite, readers);
    if (!file) return file.error();
    state->beside.emplace(std::move(*file));
    state->path = state->beside->path();
    state->descriptor = state->beside->descriptor();
    do {
      state->replaced = Descriptor(::open(state->path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (state->replaced.valid() && !lock(state->replaced.get())) return being_written(path);
    } while (state->replaced.valid() && !is_at(state->replaced.get(), state->path));  // it was replaced meanwhile
    static_cast<void>(lock(state->descriptor));  // for when it is in its place
  }
  if (auto begun = state->begin(); !begun) {
    if (state->own.valid()) unlink(path.c_str());
    return begun.error();
  }
  return TraceFileWriter(std::move(state));
}

Result<TraceFileWriter> TraceFileWriter::create(NewFile& file) {
  auto state = std::make_unique<State>();
  state->path = file.path();
  state->descriptor = file.descriptor();
  if (auto begun = state->begin(); !begun) return begun.error();
  return TraceFileWriter(std::move(state));
}

bool TraceFileWriter::is_being_written(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return file.valid() && !lock(file.get());
}

Result<TraceFileWriter> TraceFileWriter::reopen(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->own = Descriptor(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  state->descriptor = state->own.get();
  if (!state->own.valid()) return Error{"Can't open " + path.string() + " to add to it: " + std::strerror(errno) + "."};
  if (!lock(state->descriptor)) return being_written(path);
  const Error unfinished{path.string() + " has no index that could be written anew: its recording was cut off."};
  const off_t end = lseek(state->descriptor, 0, SEEK_END);
  TraceIndex index = read_index(static_cast<std::uint64_t>(std::max<off_t>(end, 0)), [&](std::uint64_t position, std::span<std::byte> into) {
    return pread(state->descriptor, into.data(), into.size(), static_cast<off_t>(position)) == static_cast<ssize_t>(into.size());
  });
  if (!index.is_sound()) return unfinished;
  state->index = std::move(index.entries);
  for (const IndexedFrame& frame : state->index) {
    state->head_bytes += frame.segment_head.size();
    FrameHeader header;
    if (pread(state->descriptor, &header, sizeof(header), static_cast<off_t>(frame.offset)) != static_cast<ssize_t>(sizeof(header))) return unfinished;
    state->taken.add(header);
  }
  state->size = index.begin;
  if (ftruncate(state->descriptor, static_cast<off_t>(state->size)) != 0)
    return Error{"Can't add to " + path.string() + ": " + std::strerror(errno) + "."};
  return TraceFileWriter(std::move(state));
}

Result<void> TraceFileWriter::append(std::span<const std::byte> frames) {
  const std::optional<std::vector<std::byte>> readable = state_->kept_readable(frames);
  if (readable) frames = *readable;
  const std::uint64_t begin = state_->size;
  if (auto written = state_->write_all(frames.data(), frames.size()); !written) return written;
  bool has_events = false;
  for (std::size_t at = 0; at + sizeof(FrameHeader) <= frames.size();) {
    FrameHeader header;
    std::memcpy(&header, frames.data() + at, sizeof(header));
    state_->index.push_back({begin + at, header.type, header.process, header.stored_size, header.event_count, {}});
    state_->taken.add(header);
    has_events = has_events || header.event_count > 0;
    at += sizeof(FrameHeader) + header.stored_size;
  }
  return has_events ? state_->take_place() : Result<void>();
}

Result<void> TraceFileWriter::append_segment(std::span<const std::byte> frame, std::string segment_head) {
  if (auto appended = append(frame); !appended) return appended;
  state_->head_bytes += segment_head.size();
  state_->index.back().segment_head = std::move(segment_head);
  return {};
}

std::uint64_t TraceFileWriter::make_room(std::uint64_t bytes, std::optional<std::uint64_t> limit) {
  const std::uint64_t room = limit.value_or(state_->size);
  std::uint64_t events = 0;
  while (state_->index.size() > 1 && finished_size() + bytes > room) {
    events += state_->index.back().event_count;
    FrameHeader header{};
    if (pread(state_->descriptor, &header, sizeof(header), static_cast<off_t>(state_->index.back().offset)) == static_cast<ssize_t>(sizeof(header)))
      state_->taken.remove(header);
    state_->size = state_->index.back().offset;
    state_->head_bytes -= state_->index.back().segment_head.size();
    state_->index.pop_back();
  }
  return events;
}

Result<void> TraceFileWriter::finish() {
  const std::vector<std::byte> tail = index_and_trailer(state_->index, state_->size);
  if (Result<void> written = state_->write_all(tail.data(), tail.size()); !written) return written;
  // Behind it lie parts of frames over which others were written.
  if (ftruncate(state_->descriptor, static_cast<off_t>(state_->size)) != 0)
    return Error{"Can't write to " + state_->path.string() + ": " + std::strerror(errno) + "."};
  return state_->take_place();
}

bool TraceFileWriter::is_in_place() const noexcept {
  return state_->own.valid() || (state_->beside && state_->beside->has_taken_place());
}

void TraceFileWriter::discard() {
  if (is_in_place() && is_at(state_->descriptor, state_->path)) unlink(state_->path.c_str());
  state_.reset();
}

}  // namespace lanescope

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_lock.h"
#include "lanescope/kernel_metrics.pb.h"
#include "model/file/limits.h"
#include "model/file/message_size.h"
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

// What is to be replaced: to be locked, it is opened for writing where that is allowed.
Descriptor opened_to_lock(const std::filesystem::path& path) {
  constexpr int kHow = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), O_RDWR | kHow));
  return file.valid() ? std::move(file) : Descriptor(::open(path.c_str(), O_RDONLY | kHow));
}

bool is_at(int descriptor, const std::filesystem::path& path) {
  struct stat ours {};
  struct stat theirs {};
  return fstat(descriptor, &ours) == 0 && lstat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

// What a reader takes to read frames, in the terms of limits.h.
//
// Payloads, events and entries are counted as readers count them. How much memory a frame takes only a reader knows: events take what they take
// on lanes; what a payload holds beyond their columns, its texts, and all of a payload without events, are kept in one to three copies, of which
// four are counted; an entry takes its place in tables. Too much costs little: a byte of padding for 48 of what is counted.
using Taken = limits::FileBudget;

constexpr std::uint64_t kCopies = 4;
constexpr std::uint64_t kEntryMemory = 64;

// The most that a frame can take, by its header.
Taken most_taken(const FrameHeader& header) {
  constexpr std::uint64_t kShortestEntry = 2;  // bytes
  if (message_of_frame(header.type).empty()) return {};
  Taken most{.unpacked = header.raw_size, .entries = header.raw_size / kShortestEntry, .events = header.event_count};
  most.memory = limits::kEventMemory * most.events + kCopies * most.unpacked + kEntryMemory * most.entries;
  return most;
}

Taken taken(const FrameHeader& header, std::string_view payload) {
  constexpr std::uint64_t kEventPayload = 40;  // bytes in the columns of an event, at most about
  const std::string_view type = message_of_frame(header.type);
  if (type.empty()) return {};
  const MessageSize size = measure_message(type, payload, limits::kDecodedFrameBytes);
  const std::uint64_t of_events = std::min<std::uint64_t>(header.raw_size, kEventPayload * header.event_count);
  const std::uint64_t copied = std::max(size.text_bytes, header.raw_size - of_events);
  return {.unpacked = header.raw_size,
          .entries = size.entries,
          .events = header.event_count,
          .memory = limits::kEventMemory * header.event_count + kCopies * copied + kEntryMemory * size.entries};
}

Taken operator+(const Taken& a, const Taken& b) {
  return {.unpacked = a.unpacked + b.unpacked, .entries = a.entries + b.entries, .events = a.events + b.events, .memory = a.memory + b.memory};
}
Taken operator-(const Taken& a, const Taken& b) {
  return {.unpacked = a.unpacked - b.unpacked, .entries = a.entries - b.entries, .events = a.events - b.events, .memory = a.memory - b.memory};
}

Error being_written(const std::filesystem::path& path) {
  return {path.string() + " is being written by another recording. Give another name with -o, such as one with %p or %n."};
}

}  // namespace

struct TraceFileWriter::State {
  std::filesystem::path path;
  Descriptor own;                // where the file was made at its place
  std::optional<NewFile> beside;  // where it replaces another, or is to be put in its place
  Descriptor replaced;           // until then
  FileLock lock_of_replaced = FileLock::kNone;
  int descriptor = -1;           // of either
  std::uint64_t size = 0;
  // Of a finished file that is added to: what comes from here on is not in it before finish().
  struct Addition {
    std::uint64_t begin = 0;           // where its index was
    std::vector<std::byte> index;      // which is there until then
    std::vector<std::byte> bytes = {};
  };
  std::optional<Addition> addition;
  std::vector<TraceIndex::Entry> index;
  std::uint64_t head_bytes = 0;  // of segments, in the index
  Taken all_taken;                // to read what is there: the most by headers, or exactly
  bool is_taken_exactly = false;

  // 0, or why not all of it could be written.
  [[nodiscard]] int put(std::span<const std::byte> bytes, std::uint64_t at) const {
    while (!bytes.empty()) {
      const ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (written < 0 && errno != EINTR) return errno;
      if (written <= 0) continue;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      at += static_cast<std::uint64_t>(written);
    }
    return 0;
  }

  Result<void> write_all(const void* data, std::size_t length) {
    const std::span bytes(static_cast<const std::byte*>(data), length);
    if (addition) {
      addition->bytes.resize(size - addition->begin);
      addition->bytes.insert(addition->bytes.end(), bytes.begin(), bytes.end());
    } else if (const int reason = put(bytes, size); reason != 0) {
      const bool cut = ftruncate(descriptor, static_cast<off_t>(size)) == 0;
      return Error{"Can't write to " + path.string() + ": " + std::strerror(reason) +
                   (cut ? std::string(". What was recorded before is whole; ") + what_to_do(reason)
                        : ". The last frame is cut off; everything before it can be read.")};
    }
    size += length;
    return {};
  }

  // Puts what was added in the place of the old index, once there is room for it. Where that fails, the file is as it was.
  Result<void> write_addition() {
    const Addition added = std::move(*addition);
    addition.reset();
    const bool has_room = fallocate(descriptor, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(added.begin), static_cast<off_t>(added.bytes.size())) == 0 || errno != ENOSPC;
    if (const int reason = has_room ? put(added.bytes, added.begin) : ENOSPC; reason != 0) {
      size = added.begin + added.index.size();
      const bool is_restored = !has_room || put(added.index, added.begin) == 0;
      static_cast<void>(ftruncate(descriptor, static_cast<off_t>(size)));
      return Error{"Can't add to " + path.string() + ": " + std::strerror(reason) +
                   (is_restored ? std::string(". It is as it was; ") + what_to_do(reason) : ". Its index is lost; everything before it can be read.")};
    }
    fdatasync(descriptor);
    return {};
  }

  // Bytes of what was written, as many as there are.
  [[nodiscard]] std::size_t read_back(std::uint64_t offset, std::span<std::byte> into) const {
    if (addition && offset >= addition->begin) {
      const auto from = std::min<std::uint64_t>(offset - addition->begin, addition->bytes.size());
      const std::size_t bytes = std::min<std::size_t>(into.size(), addition->bytes.size() - from);
      std::memcpy(into.data(), addition->bytes.data() + from, bytes);
      return bytes;
    }
    return static_cast<std::size_t>(std::max<ssize_t>(0, pread(descriptor, into.data(), into.size(), static_cast<off_t>(offset))));
  }

  Result<void> begin(std::uint16_t minor_version = kFormatMinor) {
    FileHeader header{};
    std::memcpy(header.magic, kFileMagic, sizeof(kFileMagic));
    header.major_version = kFormatMajor;
    header.minor_version = minor_version;
    return write_all(&header, sizeof(header));
  }

  // What it takes to read a frame. While all may take the most that their headers let them take, which is so of small files alone, none is
  // decompressed for that.
  [[nodiscard]] Taken taken_by(const FrameView& frame) const {
    if (!is_taken_exactly) return most_taken(frame.header);
    const auto payload = open_frame(frame);
    return payload ? taken(frame.header, *payload) : Taken();  // what is damaged, readers skip
  }
  [[nodiscard]] Taken taken_by(const IndexedFrame& indexed) const {
    std::vector<std::byte> bytes(sizeof(FrameHeader) + indexed.stored_size);
    return read_back(indexed.offset, bytes) == bytes.size() ? taken_by(first_of(bytes)) : Taken();
  }

  // Counts what is in the file by what it holds.
  void take_exactly() {
    is_taken_exactly = true;
    all_taken = {};
    for (const IndexedFrame& indexed : index) all_taken = all_taken + taken_by(indexed);
  }

  // Of whole frames, back to back.
  static FrameView first_of(std::span<const std::byte> frames) {
    FrameView frame;
    std::memcpy(&frame.header, frames.data(), sizeof(frame.header));
    frame.stored = frames.subspan(sizeof(frame.header), frame.header.stored_size);
    return frame;
  }

  struct Readable {
    std::optional<std::vector<std::byte>> frames;  // none where they are so as they were given
    Taken taken;                                   // with them
  };
  // Where readers would refuse one of the frames, since it says very much in few bytes: the same frames, and padding in front of that one.
  [[nodiscard]] Readable kept_readable(std::span<const std::byte> frames) {
    std::optional<std::vector<std::byte>> kept;
    Taken so_far = all_taken;
    for (std::size_t at = 0; at + sizeof(FrameHeader) <= frames.size();) {
      const FrameView frame = first_of(frames.subspan(at));
      const std::span<const std::byte> as_given = frames.subspan(at, sizeof(frame.header) + frame.header.stored_size);
      const std::uint64_t file_bytes = size + (kept ? kept->size() : at) + as_given.size();
      const Taken of_it = taken_by(frame);
      so_far = so_far + of_it;
      const std::uint64_t wanted_bytes = of_it.unpacked > 0 ? limits::size_for(so_far) : 0;
      if (wanted_bytes > file_bytes && !is_taken_exactly) {
        take_exactly();
        return kept_readable(frames);
      }
      if (wanted_bytes > file_bytes) {
        if (!kept) kept.emplace(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(at));
        append_padding(wanted_bytes - file_bytes, *kept);
      }
      if (kept) kept->insert(kept->end(), as_given.begin(), as_given.end());
      at += as_given.size();
    }
    return {std::move(kept), so_far};
  }

  // At least so many bytes.
  static void append_padding(std::uint64_t bytes, std::vector<std::byte>& frames) {
    constexpr std::uint64_t kLeast = 64u << 10;  // so that there are few of them
    bytes = std::max(bytes, kLeast);
    FrameHeader header;
    header.type = proto::FRAME_PADDING;
    for (std::uint64_t part = 0; bytes > 0; bytes -= part) {
      part = std::min<std::uint64_t>(bytes, kMaximumPayloadBytes);
      append_uncompressed_frame(header, std::string(part, '\0'), frames);
    }
  }

  Result<void> take_place() {
    if (!beside || beside->has_taken_place()) return {};
    const bool is_locked = replaced.valid() && lock_of_replaced != FileLock::kShared;
    const auto lock_of_place = is_locked ? NewFile::LockOfPlace::kOurs : NewFile::LockOfPlace::kOthers;
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
std::uint64_t TraceFileWriter::finished_size_with(std::span<const std::byte> frames) {
  const State::Readable readable = state_->kept_readable(frames);
  return finished_size() + (readable.frames ? readable.frames->size() : frames.size());
}
const std::filesystem::path& TraceFileWriter::path() const noexcept { return state_->path; }

Result<TraceFileWriter> TraceFileWriter::create(const std::filesystem::path& path, Overwrite overwrite, Readers readers) {
  auto state = std::make_unique<State>();
  constexpr mode_t kMost = 0644;
  state->own = Descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMost & (readers.permitted | 0600)));
  state->path = path;
  state->descriptor = state->own.get();
  if (state->own.valid() && own_lock(state->descriptor) == FileLock::kOthers) return being_written(path);  // by one that came in between
  if (!state->own.valid()) {
    // Says why, where that is not that something is there.
    auto file = NewFile::create(path, overwrite, readers);
    if (!file) return file.error();
    state->beside.emplace(std::move(*file));
    state->path = state->beside->path();
    state->descriptor = state->beside->descriptor();
    do {
      state->replaced = opened_to_lock(state->path);
      if (!state->replaced.valid()) break;
      state->lock_of_replaced = own_lock(state->replaced.get());
      if (state->lock_of_replaced == FileLock::kOthers) return being_written(path);
    } while (!is_at(state->replaced.get(), state->path));  // it was replaced meanwhile
    static_cast<void>(own_lock(state->descriptor));  // for when it is in its place
  }
  if (auto begun = state->begin(); !begun) {
    if (state->own.valid()) unlink(path.c_str());
    return begun.error();
  }
  return TraceFileWriter(std::move(state));
}

Result<TraceFileWriter> TraceFileWriter::create(NewFile& file, std::uint16_t minor_version) {
  auto state = std::make_unique<State>();
  state->path = file.path();
  state->descriptor = file.descriptor();
  if (auto begun = state->begin(minor_version); !begun) return begun.error();
  return TraceFileWriter(std::move(state));
}

bool TraceFileWriter::is_being_written(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return file.valid() && shared_lock(file.get()) == FileLock::kOthers;
}

Result<TraceFileWriter> TraceFileWriter::reopen(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->own = Descriptor(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  state->descriptor = state->own.get();
  if (!state->own.valid()) return Error{"Can't open " + path.string() + " to add to it: " + std::strerror(errno) + "."};
  if (own_lock(state->descriptor) == FileLock::kOthers) return being_written(path);
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
    state->all_taken = state->all_taken + most_taken(header);
  }
  // A long recording is not decompressed for what is added: all that its size allows counts as taken, and what comes is measured.
  constexpr std::uint64_t kLong = 4 * limits::kSmallFileBytes;
  if (index.begin > kLong) {
    state->all_taken = limits::budget_of(index.begin);
    state->is_taken_exactly = true;
  }
  State::Addition addition{index.begin, std::vector<std::byte>(static_cast<std::uint64_t>(end) - index.begin)};
  if (state->read_back(addition.begin, addition.index) != addition.index.size()) return unfinished;
  state->size = addition.begin;
  state->addition = std::move(addition);
  return TraceFileWriter(std::move(state));
}

Result<void> TraceFileWriter::append(std::span<const std::byte> frames) {
  const State::Readable readable = state_->kept_readable(frames);
  if (readable.frames) frames = *readable.frames;
  const std::uint64_t begin = state_->size;
  if (auto written = state_->write_all(frames.data(), frames.size()); !written) return written;
  bool has_events = false;
  for (std::size_t at = 0; at + sizeof(FrameHeader) <= frames.size();) {
    const FrameHeader header = State::first_of(frames.subspan(at)).header;
    state_->index.push_back({begin + at, header.type, header.process, header.stored_size, header.event_count, {}});
    has_events = has_events || header.event_count > 0;
    at += sizeof(FrameHeader) + header.stored_size;
  }
  state_->all_taken = readable.taken;
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
    state_->all_taken = state_->all_taken - state_->taken_by(state_->index.back());
    state_->size = state_->index.back().offset;
    state_->head_bytes -= state_->index.back().segment_head.size();
    state_->index.pop_back();
  }
  return events;
}

Result<void> TraceFileWriter::finish() {
  const std::vector<std::byte> tail = index_and_trailer(state_->index, state_->size);
  if (Result<void> written = state_->write_all(tail.data(), tail.size()); !written) return written;
  if (state_->addition)
    if (Result<void> written = state_->write_addition(); !written) return written;
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

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
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
  return "free some space, or write to another disk.";
}

constexpr std::size_t kBeginning = 256;         // bytes that identify a recording: its header, and its begin
constexpr std::uint64_t kIndexEntryBytes = 48;  // for one frame, at most
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

// The file to be replaced. It is opened for writing if permitted, so that it can be locked.
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

// The resources that a reader needs for frames, in the terms of limits.h.
//
// Payloads, events and entries are counted as readers count them. The exact memory of a frame is known only to a reader, so it is estimated. Events count with
// their size on lanes. The rest of a payload (its texts, and a whole payload without events) is stored in one to three copies, and counted as four. An entry
// takes its place in tables. Overestimates are cheap: one byte of padding for 48 counted bytes.
using Taken = limits::FileBudget;

constexpr std::uint64_t kCopies = 4;
constexpr std::uint64_t kEntryMemory = 64;

// The maximum content of a frame, by its header.
FrameContent most_content(const FrameHeader& header) {
  constexpr std::uint32_t kShortestEntry = 2;  // bytes
  if (message_of_frame(header.type).empty()) return {};
  return {header.raw_size, header.raw_size / kShortestEntry, header.raw_size};
}

// `events`: what the frame's header says, which may be wrong. An event takes at least a byte of the payload.
Taken taken(const FrameContent& content, std::uint64_t events) {
  constexpr std::uint64_t kEventPayload = 40;  // approximate maximum of bytes in the columns of an event
  if (content.unpacked == 0) return {};        // readers skip damaged frames
  events = std::min<std::uint64_t>(events, content.unpacked);
  const std::uint64_t of_events = std::min<std::uint64_t>(content.unpacked, kEventPayload * events);
  const std::uint64_t copied = std::max<std::uint64_t>(content.text_bytes, content.unpacked - of_events);
  return {.unpacked = content.unpacked,
          .entries = content.entries,
          .events = events,
          .memory = limits::kEventMemory * events + kCopies * copied + kEntryMemory * content.entries};
}

Taken operator+(const Taken& a, const Taken& b) {
  return {.unpacked = a.unpacked + b.unpacked, .entries = a.entries + b.entries, .events = a.events + b.events, .memory = a.memory + b.memory};
}
Taken operator-(const Taken& a, const Taken& b) {
  return {.unpacked = a.unpacked - b.unpacked, .entries = a.entries - b.entries, .events = a.events - b.events, .memory = a.memory - b.memory};
}

// For a path relative to this folder, or for the descriptor itself if the path is empty.
std::optional<FileIdentity> ask_identity(int folder, const char* path) {
  struct statx facts {};
  constexpr unsigned kWanted = STATX_INO | STATX_BTIME;
  if (syscall(SYS_statx, folder, path, AT_EMPTY_PATH, kWanted, &facts) == 0) {  // statx() is newer than C libraries that we support
    const bool says_when = (facts.stx_mask & STATX_BTIME) != 0;
    return FileIdentity{makedev(facts.stx_dev_major, facts.stx_dev_minor), facts.stx_ino,
                        says_when ? facts.stx_btime.tv_sec * 1'000'000'000 + facts.stx_btime.tv_nsec : 0};
  }
  struct stat old {};
  if ((errno != ENOSYS && errno != EPERM) || fstatat(folder, path, &old, AT_EMPTY_PATH) != 0) return std::nullopt;
  return FileIdentity{old.st_dev, old.st_ino, 0};
}

Error being_written(const std::filesystem::path& path) {
  return {path.string() + " is being written by another recording. Give another name with -o, such as one with %p or %n."};
}

}  // namespace

struct TraceFileWriter::State {
  std::filesystem::path path;
  Descriptor own;                 // if the file was created at its place
  std::optional<NewFile> beside;  // if the file replaces another, or is to be moved to its place
  Descriptor replaced;            // until then
  FileLock lock_of_replaced = FileLock::kNone;
  int descriptor = -1;  // of the file in use
  std::uint64_t size = 0;
  std::vector<std::byte> beginning;  // of a new file
  bool was_cut = false;              // before something was appended
  // For a finished file that is extended: appended frames are not in the file before finish().
  struct Addition {
    std::uint64_t begin = 0;       // position of its index
    std::vector<std::byte> index;  // the index, which stays there until then
    std::vector<std::byte> bytes = {};
  };
  std::optional<Addition> addition;
  std::vector<TraceIndex::Entry> index;
  std::uint64_t head_bytes = 0;        // of segments' heads in the index
  std::vector<FrameContent> contents;  // of each frame in the index
  std::vector<std::size_t> unopened;   // frames in `contents` with the maximum by their headers
  bool opens_frames = false;           // opens appended frames whose contents are not given
  Taken all_taken;                     // to read the file so far

  // True if the caller moves the file to its place when it is complete.
  [[nodiscard]] bool is_of_others() const noexcept { return !own.valid() && !beside; }

  // Returns 0, or the errno of the failure.
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
    was_cut = was_cut || (!addition && is_cut());
    if (addition) {
      addition->bytes.resize(size - addition->begin);
      addition->bytes.insert(addition->bytes.end(), bytes.begin(), bytes.end());
    } else if (const int reason = put(bytes, size); reason != 0) {
      const bool cut = ftruncate(descriptor, static_cast<off_t>(size)) == 0;
      if (is_of_others()) return Error{"Can't write to " + path.string() + ": " + std::strerror(reason) + ". Nothing is kept of it; " + what_to_do(reason)};
      return Error{"Can't write to " + path.string() + ": " + std::strerror(reason) +
                   (cut ? std::string(". What was recorded before is whole, and nothing more is recorded. For the next recording, ") + what_to_do(reason)
                        : ". The last frame is cut off; everything before it can be read.")};
    }
    if (!addition && size == beginning.size() && size < kBeginning) {
      const auto part = bytes.first(std::min(bytes.size(), kBeginning - beginning.size()));
      beginning.insert(beginning.end(), part.begin(), part.end());
    }
    size += length;
    return {};
  }

  [[nodiscard]] bool is_cut() const {
    struct stat facts {};
    return fstat(descriptor, &facts) == 0 && static_cast<std::uint64_t>(facts.st_size) < size;
  }

  // Checks that the written data is still there, as far as that is known without reading everything.
  [[nodiscard]] Whereabouts::Kind kind_in_place() const {
    std::vector<std::byte> there(beginning.size());
    if (read_back(0, there) < there.size() || there != beginning) return Whereabouts::kOverwritten;
    return was_cut || is_cut() ? Whereabouts::kCut : Whereabouts::kInPlace;
  }

  // Writes the appended frames over the old index, once there is room for them. After a failure, the file is unchanged.
  Result<void> write_addition() {
    const Addition added = std::move(*addition);
    addition.reset();
    const bool has_room =
        fallocate(descriptor, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(added.begin), static_cast<off_t>(added.bytes.size())) == 0 || errno != ENOSPC;
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

  // Reads back written bytes; returns their number.
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

  void set_head_of_last(std::string head) {
    head_bytes += head.size();
    index.back().segment_head = std::move(head);
  }

  [[nodiscard]] Taken taken_by(std::size_t position) const { return taken(contents[position], index[position].event_count); }

  // Counts the frame of a reopened file by its maximum. Frames of small files are opened if necessary.
  void count_at_most(const FrameHeader& header) {
    unopened.push_back(contents.size());
    contents.push_back(most_content(header));
    all_taken = all_taken + taken(contents.back(), header.event_count);
  }

  // The maximum by headers soon exceeds the limits of a file that is not small. From then on, contents are determined exactly.
  void open_frames() {
    opens_frames = true;
    for (const std::size_t position : unopened) {
      all_taken = all_taken - taken_by(position);
      std::vector<std::byte> bytes(sizeof(FrameHeader) + index[position].stored_size);
      contents[position] = read_back(index[position].offset, bytes) == bytes.size() ? content_of(first_of(bytes)) : FrameContent();
      all_taken = all_taken + taken_by(position);
    }
    unopened.clear();
  }

  // `frames` contains whole frames, one after another.
  static FrameView first_of(std::span<const std::byte> frames) {
    FrameView frame;
    std::memcpy(&frame.header, frames.data(), sizeof(frame.header));
    frame.stored = frames.subspan(sizeof(frame.header), frame.header.stored_size);
    return frame;
  }

  // The result of appending frames.
  struct Foreseen {
    struct Padding {
      std::size_t at;  // in front of the frame that begins there
      std::uint64_t bytes;
    };
    std::vector<Padding> padding;
    std::vector<FrameContent> contents;  // of each frame except padding
    std::size_t frames = 0;              // including padding
    std::uint64_t bytes = 0;             // likewise
    Taken taken;                         // by everything in the file afterwards
  };
  // Readers would refuse a frame with very much content in few bytes, so it gets padding in front.
  [[nodiscard]] Foreseen foresee(std::span<const FrameRun> runs) {
    Foreseen foreseen{.taken = all_taken};
    std::size_t at = 0;
    for (const FrameRun& run : runs) {
      std::size_t number = 0;
      for (std::size_t in_run = 0; in_run + sizeof(FrameHeader) <= run.frames.size(); ++number) {
        const FrameView frame = first_of(run.frames.subspan(in_run));
        const std::size_t bytes = sizeof(frame.header) + frame.header.stored_size;
        const FrameContent content = number < run.contents.size() ? run.contents[number] : opens_frames ? content_of(frame) : most_content(frame.header);
        foreseen.taken = foreseen.taken + taken(content, frame.header.event_count);
        foreseen.bytes += bytes;
        const std::uint64_t wanted_bytes = content.unpacked > 0 ? limits::size_for(foreseen.taken) : 0;
        if (wanted_bytes > size + foreseen.bytes && !opens_frames) {
          open_frames();
          return foresee(runs);
        }
        if (wanted_bytes > size + foreseen.bytes) {
          constexpr std::uint64_t kLeast = 64u << 10;  // so that there are few paddings
          const std::uint64_t padding = std::max(wanted_bytes - size - foreseen.bytes, kLeast);
          const std::size_t frames_of_it = (padding + kMaximumPayloadBytes - 1) / kMaximumPayloadBytes;
          foreseen.padding.push_back({at, padding});
          foreseen.frames += frames_of_it;
          foreseen.bytes += padding + frames_of_it * sizeof(FrameHeader);
        }
        if (frame.header.type != proto::FRAME_PADDING) foreseen.contents.push_back(content);
        ++foreseen.frames;
        at += bytes;
        in_run += bytes;
      }
    }
    return foreseen;
  }

  static std::vector<std::byte> with_padding(std::span<const std::byte> frames, std::span<const Foreseen::Padding> padding) {
    std::vector<std::byte> padded;
    std::size_t at = 0;
    for (const Foreseen::Padding& each : padding) {
      padded.insert(padded.end(), frames.begin() + static_cast<std::ptrdiff_t>(at), frames.begin() + static_cast<std::ptrdiff_t>(each.at));
      append_padding(each.bytes, padded);
      at = each.at;
    }
    padded.insert(padded.end(), frames.begin() + static_cast<std::ptrdiff_t>(at), frames.end());
    return padded;
  }

  static void append_padding(std::uint64_t bytes, std::vector<std::byte>& frames) {
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
    if (Result<void> placed = beside->take_place(lock_of_place, NewFile::Replaced::kSetAside); !placed) return placed;
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
std::uint64_t TraceFileWriter::finished_size_with(std::span<const std::byte> frames, std::span<const FrameContent> contents) {
  const FrameRun run{frames, contents};
  return finished_size_with(std::span(&run, 1));
}
std::uint64_t TraceFileWriter::finished_size_with(std::span<const FrameRun> runs) {
  const State::Foreseen foreseen = state_->foresee(runs);
  return finished_size() + foreseen.bytes + foreseen.frames * kIndexEntryBytes;
}
const std::filesystem::path& TraceFileWriter::path() const noexcept { return state_->path; }

Result<TraceFileWriter> TraceFileWriter::create(const std::filesystem::path& path, Overwrite overwrite, Readers readers) {
  auto state = std::make_unique<State>();
  constexpr mode_t kMost = 0644;
  state->own = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMost & (readers.permitted | 0600)));
  state->path = path;
  state->descriptor = state->own.get();
  if (state->own.valid() && own_lock(state->descriptor) == FileLock::kOthers) return being_written(path);  // by a process that came in between
  if (!state->own.valid()) {
    // Reports the reason, unless the reason is that something exists there.
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
    static_cast<void>(own_lock(state->descriptor));        // for when it is in its place
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

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) { return ask_identity(AT_FDCWD, path.c_str()); }

std::optional<FileIdentity> TraceFileWriter::identity() const { return ask_identity(state_->descriptor, ""); }

Result<TraceFileWriter> TraceFileWriter::reopen(const std::filesystem::path& path, const std::optional<FileIdentity>& meant) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->own = Descriptor(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  state->descriptor = state->own.get();
  if (!state->own.valid()) return Error{"Can't open " + path.string() + " to add to it: " + std::strerror(errno) + "."};
  if (meant && ask_identity(state->descriptor, "") != meant)
    return Error{path.string() + " was replaced by another recording meanwhile: nothing is added to that."};
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
    state->count_at_most(header);
  }
  // A long recording is not decompressed before frames are appended. Everything that its size permits counts as taken, and new frames are measured.
  constexpr std::uint64_t kLong = 4 * limits::kSmallFileBytes;
  if (index.begin > kLong) {
    state->all_taken = limits::budget_of(index.begin);
    state->contents.assign(state->index.size(), {});
    state->unopened.clear();
    state->opens_frames = true;
  }
  State::Addition addition{index.begin, std::vector<std::byte>(static_cast<std::uint64_t>(end) - index.begin)};
  if (state->read_back(addition.begin, addition.index) != addition.index.size()) return unfinished;
  state->size = addition.begin;
  state->addition = std::move(addition);
  return TraceFileWriter(std::move(state));
}

Result<void> TraceFileWriter::append(std::span<const std::byte> frames, std::span<const FrameContent> contents) {
  const FrameRun run{frames, contents};
  const State::Foreseen foreseen = state_->foresee(std::span(&run, 1));
  std::vector<std::byte> padded;
  if (!foreseen.padding.empty()) frames = padded = State::with_padding(frames, foreseen.padding);
  const std::uint64_t begin = state_->size;
  if (auto written = state_->write_all(frames.data(), frames.size()); !written) return written;
  bool has_events = false;
  std::size_t number = 0;  // of frames except padding
  for (std::size_t at = 0; at + sizeof(FrameHeader) <= frames.size();) {
    const FrameHeader header = State::first_of(frames.subspan(at)).header;
    const bool is_padding = header.type == proto::FRAME_PADDING;
    if (!is_padding && contents.empty() && !state_->opens_frames) state_->unopened.push_back(state_->index.size());
    state_->contents.push_back(is_padding ? FrameContent() : foreseen.contents[number++]);
    state_->index.push_back({begin + at, header.type, header.process, header.stored_size, header.event_count, {}});
    has_events = has_events || header.event_count > 0;
    at += sizeof(FrameHeader) + header.stored_size;
  }
  state_->all_taken = foreseen.taken;
  return has_events ? state_->take_place() : Result<void>();
}

Result<void> TraceFileWriter::append_segment(std::span<const std::byte> frame, const FrameContent& content, std::string segment_head) {
  if (auto appended = append(frame, std::span(&content, 1)); !appended) return appended;
  state_->set_head_of_last(std::move(segment_head));
  return {};
}

Result<void> TraceFileWriter::append_segment(std::span<const std::byte> frame, std::string segment_head) {
  if (auto appended = append(frame); !appended) return appended;
  state_->set_head_of_last(std::move(segment_head));
  return {};
}

std::uint64_t TraceFileWriter::make_room(std::uint64_t bytes, std::optional<std::uint64_t> limit) {
  const std::uint64_t room = limit.value_or(state_->size);
  std::uint64_t events = 0;
  while (state_->index.size() > 1 && finished_size() + bytes > room) {
    events += state_->index.back().event_count;
    const std::size_t last = state_->index.size() - 1;
    state_->all_taken = state_->all_taken - state_->taken_by(last);
    if (!state_->unopened.empty() && state_->unopened.back() == last) state_->unopened.pop_back();
    state_->contents.pop_back();
    state_->size = state_->index.back().offset;
    state_->beginning.resize(std::min<std::size_t>(state_->beginning.size(), state_->size));
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
  // Parts of overwritten frames lie behind the end.
  if (ftruncate(state_->descriptor, static_cast<off_t>(state_->size)) != 0)
    return Error{"Can't write to " + state_->path.string() + ": " + std::strerror(errno) + "."};
  if (Result<void> placed = state_->take_place(); !placed) return placed;
  if (state_->beside && whereabouts().kind == Whereabouts::kInPlace)
    state_->beside->remove_set_aside();
  else if (state_->beside)
    state_->beside->put_back();
  return {};
}

bool TraceFileWriter::is_in_place() const noexcept { return state_->own.valid() || (state_->beside && state_->beside->has_taken_place()); }

Whereabouts TraceFileWriter::whereabouts() const {
  if (!is_in_place()) return {};
  const std::optional<FileIdentity> ours = identity();
  if (ours && identity_of(state_->path) == ours) return {state_->kind_in_place(), {}};
  struct stat facts {};
  if (!ours || fstat(state_->descriptor, &facts) != 0 || facts.st_nlink == 0) return {Whereabouts::kRemoved, {}};
  std::error_code unknown;
  std::filesystem::path now = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(state_->descriptor), unknown);
  if (unknown || identity_of(now) != ours) now.clear();  // this one of several names no longer exists
  return {Whereabouts::kMoved, std::move(now)};
}

std::filesystem::path TraceFileWriter::discard() {
  if (state_->beside) state_->beside->put_back();
  if (is_in_place() && is_at(state_->descriptor, state_->path)) unlink(state_->path.c_str());
  std::filesystem::path left = earlier();
  state_.reset();
  return left;
}

std::filesystem::path TraceFileWriter::earlier() const { return state_->beside ? state_->beside->set_aside() : std::filesystem::path(); }

}  // namespace lanescope

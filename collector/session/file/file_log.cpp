#include "file/file_log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "clock.h"
#include "collector/session/discard_notes.h"
#include "model/file/memory_limits.h"

namespace lanescope::session {
namespace {

constexpr std::uint64_t kMostLastWords = 1u << 20;           // bytes
constexpr std::uint64_t kMostHeld = std::uint64_t{4} << 30;  // bytes, if no size is set
constexpr std::uint64_t kEndBytes = 256;                     // for the end frame
constexpr std::uint64_t kIndexEntryBytes = 64;               // in the index

// Limit of what is held if no size is set: the recording must not end the program for lack of memory.
std::uint64_t most_held() {
  static const std::uint64_t most = std::min(kMostHeld, memory_limit() / 4);
  return most;
}

std::vector<std::byte> frame_of_recording(proto::FrameType type, const google::protobuf::MessageLite& message) {
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(type);
  std::vector<std::byte> frame;
  append_frame(header, message.SerializeAsString(), frame);
  return frame;
}

std::vector<FrameContent> contents_of(std::span<const std::byte> frames) {
  std::vector<FrameContent> contents;
  for_each_frame(frames, [&](const FrameHeader& header, std::span<const std::byte> frame) {
    contents.push_back(content_of({header, frame.subspan(sizeof(header)), nullptr}));
  });
  return contents;
}

// The process of the frames, which is the same for all.
std::uint32_t process_of(std::span<const std::byte> frames) {
  FrameHeader header;
  if (frames.size() >= sizeof(header)) std::memcpy(&header, frames.data(), sizeof(header));
  return header.process;
}

// True for small frames of which only the last one counts.
bool is_last_word(std::uint16_t type) {
  return type == proto::FRAME_PROCESS_START || type == proto::FRAME_COUNTERS || type == proto::FRAME_PROCESS_END || type == proto::FRAME_DIAGNOSTIC;
}

}  // namespace

void FileLog::open(TraceFileWriter file, const proto::SessionStart& start) {
  file_.emplace(std::move(file));
  failure_.reset();
  has_no_room_ = false;
  unwritten_ = 0;
  last_words_.clear();
  last_words_bytes_ = 0;
  events_ = 0;
  opened_ = start.epoch();
  whole_from_ = 0;
  lacked_room_ = false;
  kept_part_ = KeptPart::kAll;
  kept_.clear();
  first_new_ = prologue_.first_new();
  begun_ = prologue_.known();
  const std::vector<std::byte> first = frame_of_recording(proto::FRAME_SESSION_START, start);
  if (!append({first, {}}, 0) || rules_.keep_last) return;
  std::vector<std::byte> known;
  prologue_.append_to(known, opened_);
  if (!known.empty()) append({known, {}}, 0);
}

void FileLog::take(const FrameRun& run, std::uint64_t events) {
  if (!file_) {
    absorb(run.frames);
  } else if (comes_late(run)) {
    return;
  } else if (rules_.maximum_bytes) {  // one by one, because there may be room for some of them
    std::size_t number = 0;
    for_each_frame(run.frames, [&](const FrameHeader& header, std::span<const std::byte> frame) {
      const bool is_known = number < run.contents.size();
      take_into_file({frame, is_known ? run.contents.subspan(number++, 1) : run.contents}, header.event_count);
    });
  } else {
    take_into_file(run, events);
  }
}

void FileLog::take_into_file(const FrameRun& run, std::uint64_t events) {
  if (rules_.keep_last) {
    hold(run, events);
  } else {
    append_or_count(run, events);
    if (rules_.several_files) absorb(run.frames);
  }
}

void FileLog::keep_for_later(std::span<const std::byte> frames) {
  if (!file_)
    absorb(frames);
  else if (rules_.several_files)
    for_later_.insert(for_later_.end(), frames.begin(), frames.end());
}

void FileLog::absorb_later() { absorb(std::exchange(for_later_, {})); }

// Samples and names come some time after the events they describe. Those of a process that ended before the file was opened, or whose end was dropped, are
// older than what is kept.
bool FileLog::comes_late(const FrameRun& run) const {
  const std::uint32_t process = process_of(run.frames);
  if (process == 0) return false;
  if (process < first_new_ && !begun_.contains(process)) return true;
  return rules_.keep_last && process < prologue_.first_new() && !prologue_.knows(process) && !held_of_.contains(process);
}

void FileLog::hold(const FrameRun& run, std::uint64_t events) {
  std::uint64_t bytes = 0;
  for_each_frame(run.frames, [&](const FrameHeader&, std::span<const std::byte> frame) { bytes += frame.size() + kIndexEntryBytes; });
  const std::uint32_t process = process_of(run.frames);
  ++held_of_[process];
  held_.push_back({monotonic_now(), process, {run.frames.begin(), run.frames.end()}, {run.contents.begin(), run.contents.end()}, events, bytes});
  held_bytes_ += bytes;
  events_ += events;
  const std::uint64_t most = rules_.maximum_bytes ? *rules_.maximum_bytes - std::min(*rules_.maximum_bytes, file_->finished_size()) : most_held();
  while (!held_.empty() && held_bytes_ > most) {
    lacked_room_ = true;
    give_up_oldest();
  }
  bytes_ = file_->size() + held_bytes_;
}

void FileLog::goes_on(std::int64_t time) {
  if (!file_ || !rules_.keep_last) return;
  while (!held_.empty() && time - held_.front().time > rules_.keep_last->count()) give_up_oldest();
  bytes_ = file_->size() + held_bytes_;
}

void FileLog::give_up_oldest() {
  events_ -= held_.front().events;
  if (held_.front().events != 0) whole_from_ = held_.front().time;
  let_oldest_go();
}

void FileLog::let_oldest_go() {
  const std::uint32_t process = held_.front().process;
  absorb(held_.front().frames);
  held_bytes_ -= held_.front().bytes;
  held_.pop_front();
  if (--held_of_[process] != 0) return;
  held_of_.erase(process);
  prologue_.forget_ended(process);
}

// What is dropped must be said before the rest from then on, which takes room itself: this may take several rounds.
std::vector<std::byte> FileLog::held_to_size() {
  for (;;) {
    std::vector<std::byte> known;
    prologue_.append_to(known, opened_);
    if (!rules_.maximum_bytes || held_.empty()) return known;
    const std::size_t too_many = too_many_behind(known);
    if (too_many == 0) return known;
    lacked_room_ = true;
    for (std::size_t i = 0; i < too_many; ++i) give_up_oldest();
  }
}

std::size_t FileLog::too_many_behind(std::span<const std::byte> known) {
  for (Held& part : held_)
    if (part.contents.empty()) part.contents = contents_of(part.frames);
  const std::vector<FrameContent> contents = contents_of(known);
  std::vector<FrameRun> runs;
  const auto has_room = [&](std::size_t first) {
    runs.assign(1, {known, contents});
    for (std::size_t i = first; i < held_.size(); ++i) runs.push_back(held_[i].run());
    return file_->finished_size_with(runs) + kEndBytes + kIndexEntryBytes <= *rules_.maximum_bytes;
  };
  std::size_t first = 0;
  for (std::size_t end = held_.size(); first < end;) {
    const std::size_t middle = first == 0 ? 0 : first + (end - first) / 2;  // mostly there is room for everything
    if (has_room(middle))
      end = middle;
    else
      first = middle + 1;
  }
  return first;
}

void FileLog::write_held() {
  const std::vector<std::byte> known = held_to_size();
  events_ = 0;
  if (!known.empty()) append({known, {}}, 0);
  for (; !held_.empty(); let_oldest_go()) append_or_count(held_.front().run(), held_.front().events);
}

void FileLog::note_kept(std::int64_t end) {
  const auto seconds = [](std::int64_t duration) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g s", static_cast<double>(std::max<std::int64_t>(0, duration)) / 1e9);
    return std::string(text.data());
  };
  const std::string all = seconds(end - opened_), asked = seconds(rules_.keep_last->count());
  const std::string kept = file_->path().string() + " has the last " + seconds(end - whole_from_) + " of " + all;
  const bool is_short = lacked_room_ && end - whole_from_ < rules_.keep_last->count();
  kept_part_ = is_short ? KeptPart::kShorterThanAsked : KeptPart::kAsAsked;
  kept_ = is_short
              ? kept + ", in place of the " + asked + " of --ring: more had no room in " + (rules_.maximum_bytes ? "the file (--max-file-size)." : "memory.")
              : kept + ", as --ring asks; what came before was not kept.";
}

void FileLog::absorb(std::span<const std::byte> frames) {
  for_each_frame(frames, [this](const FrameHeader& header, std::span<const std::byte> bytes) {
    prologue_.absorb({header, bytes.subspan(sizeof(header))});
    if (header.type == proto::FRAME_PROCESS_END && !held_of_.contains(header.process)) prologue_.forget_ended(header.process);
  });
}

void FileLog::append_or_count(FrameRun run, std::uint64_t events) {
  std::vector<FrameContent> contents;
  if (rules_.maximum_bytes && !has_no_room_) {
    if (run.contents.empty()) run.contents = contents = contents_of(run.frames);
    has_no_room_ = file_->finished_size_with(run.frames, run.contents) > *rules_.maximum_bytes;
  }
  if (has_no_room_ || !append(run, events)) set_aside(run.frames);
}

void FileLog::set_aside(std::span<const std::byte> frames) {
  for_each_frame(frames, [this](const FrameHeader& header, std::span<const std::byte> bytes) {
    unwritten_ += header.event_count;
    if (!is_last_word(header.type)) return;
    const std::uint64_t most = std::min(kMostLastWords, rules_.maximum_bytes.value_or(kMostLastWords) / 4);
    std::vector<std::byte>& word = last_words_[{header.type, header.process, header.source}];
    if (last_words_bytes_ - word.size() + bytes.size() > most) return;
    last_words_bytes_ += bytes.size() - word.size();
    word.assign(bytes.begin(), bytes.end());
  });
}

std::vector<std::byte> FileLog::last_words() const {
  std::vector<std::byte> words;
  for (const auto& [tag, word] : last_words_) words.insert(words.end(), word.begin(), word.end());
  return words;
}

bool FileLog::is_full() const noexcept {
  constexpr std::uint64_t kForTheRest = 16u << 20;  // limit in bytes, for what comes until recording stops
  if (!file_ || !rules_.maximum_bytes) return false;
  if (rules_.keep_last) return has_no_room_;  // held parts are dropped to make room
  const std::uint64_t enough = *rules_.maximum_bytes - std::min(*rules_.maximum_bytes / 16, kForTheRest);
  return has_no_room_ || file_->finished_size() >= enough;
}

bool FileLog::append(const FrameRun& run, std::uint64_t events) {
  if (Result<void> written = file_->append(run.frames, run.contents); !written) {
    if (!failure_) failure_ = written.error();
    has_no_room_ = true;
    return false;
  }
  events_ += events;
  bytes_ = file_->size();
  if (sink_) sink_(run.frames);
  return true;
}

Whereabouts FileLog::close(proto::SessionEnd end) {
  constexpr std::uint64_t kMostSlack = 64u << 20;
  if (rules_.keep_last) write_held();
  if (whole_from_ != 0) end.set_whole_from(std::min(whole_from_, end.time()));
  if (whole_from_ != 0) note_kept(end.time());
  bool is_finished = !has_no_room_ && finish(end);
  // Another program may take the free room of the disk; each attempt therefore asks for more.
  for (std::uint64_t slack = kEndBytes + kIndexEntryBytes * last_words_.size(); !is_finished && slack <= kMostSlack; slack *= 4) {
    const std::vector<std::byte> words = last_words();
    const std::uint64_t events = file_->make_room(words.size() + slack, failure_ ? std::nullopt : rules_.maximum_bytes);
    events_ -= events;
    unwritten_ += events;
    end.set_unwritten_events(unwritten_);
    is_finished = (words.empty() || append({words, {}}, 0)) && finish(end);
  }
  bytes_ = file_->size();
  Whereabouts whereabouts = file_->whereabouts();
  earlier_ = file_->earlier();
  file_.reset();
  absorb_later();
  return whereabouts;
}

bool FileLog::finish(proto::SessionEnd& end) {
  const std::vector<std::byte> frame = frame_of_recording(proto::FRAME_SESSION_END, end);
  if (rules_.maximum_bytes && file_->finished_size_with(frame) > *rules_.maximum_bytes && !has_no_room_) {
    has_no_room_ = true;
    return false;
  }
  if (!append({frame, {}}, 0)) return false;
  const Result<void> finished = file_->finish();
  if (!finished && !failure_) failure_ = finished.error();
  return finished.has_value();
}

std::filesystem::path FileLog::discard() {
  while (!held_.empty()) let_oldest_go();
  note_discard(file_->path());
  std::filesystem::path earlier = file_->discard();
  file_.reset();
  absorb_later();
  return earlier;
}

}  // namespace lanescope::session

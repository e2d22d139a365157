#include "file/frame_log.h"

#include <algorithm>
#include <cstring>

#include "clock.h"

namespace lanescope::session {
namespace {

constexpr std::uint64_t kMostLastWords = 1u << 20;        // bytes
constexpr std::uint64_t kMostHeld = std::uint64_t{4} << 30;  // bytes, where no size is set

// Calls use(frame, event_count) with each whole frame.
template <typename Use>
void for_each_frame(std::span<const std::byte> frames, Use use) {
  while (frames.size() >= sizeof(FrameHeader)) {
    FrameHeader header;
    std::memcpy(&header, frames.data(), sizeof(header));
    const std::size_t bytes = sizeof(header) + header.stored_size;
    if (bytes > frames.size()) return;
    use(header, frames.first(bytes));
    frames = frames.subspan(bytes);
  }
}

// What is small, and of which the last one counts.
bool is_last_word(std::uint16_t type) {
  return type == proto::FRAME_PROCESS_START || type == proto::FRAME_COUNTERS || type == proto::FRAME_PROCESS_END || type == proto::FRAME_DIAGNOSTIC;
}

}  // namespace

void FrameLog::open(TraceFileWriter file, const proto::SessionStart& start) {
  file_.emplace(std::move(file));
  failure_.reset();
  has_no_room_ = false;
  unwritten_ = 0;
  last_words_.clear();
  last_words_bytes_ = 0;
  events_.store(0, std::memory_order_relaxed);
  opened_ = start.epoch();
  gives_up_ = true;
  seal({proto::FRAME_SESSION_START}, start);
  if (!append(buffer_, 0) || rules_.keep_last) return;
  std::vector<std::byte> known;
  prologue_.append_to(known, opened_);
  if (!known.empty()) append(known, 0);
}

void FrameLog::seal(const FrameTag& tag, const google::protobuf::MessageLite& message) {
  payload_.clear();
  message.AppendToString(&payload_);
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(tag.type);
  header.source = static_cast<std::uint8_t>(tag.source);
  header.process = tag.process;
  header.event_count = tag.events;
  buffer_.clear();
  append_frame(header, payload_, buffer_);
}

void FrameLog::write(const FrameTag& tag, const google::protobuf::MessageLite& message) {
  seal(tag, message);
  take(buffer_, tag.events);
}

void FrameLog::pass_on(std::span<const std::byte> frames, std::uint64_t events) {
  if (!frames.empty()) take(frames, events);
}

void FrameLog::take(std::span<const std::byte> frames, std::uint64_t events) {
  if (!file_) {
    absorb(frames);
  } else if (rules_.keep_last) {
    hold(frames, events);
  } else {
    append_or_count(frames, events);
    if (rules_.several_files) absorb(frames);
  }
}

void FrameLog::hold(std::span<const std::byte> frames, std::uint64_t events) {
  const std::int64_t now = monotonic_now();
  held_.push_back({now, {frames.begin(), frames.end()}, events});
  held_bytes_ += frames.size();
  events_.fetch_add(events, std::memory_order_relaxed);
  const std::uint64_t most = rules_.maximum_bytes.value_or(kMostHeld);
  while (!held_.empty() && ((gives_up_ && now - held_.front().time > rules_.keep_last->count()) || held_bytes_ > most)) {
    absorb(held_.front().frames);
    held_bytes_ -= held_.front().frames.size();
    events_.fetch_sub(held_.front().events, std::memory_order_relaxed);
    held_.pop_front();
  }
  bytes_.store(file_->size() + held_bytes_, std::memory_order_relaxed);
}

void FrameLog::write_held() {
  events_.store(0, std::memory_order_relaxed);
  std::vector<std::byte> known;
  prologue_.append_to(known, opened_);
  if (!known.empty()) append(known, 0);
  for (const Held& part : held_) {
    append_or_count(part.frames, part.events);
    absorb(part.frames);
  }
  held_.clear();
  held_bytes_ = 0;
}

void FrameLog::absorb(std::span<const std::byte> frames) {
  for_each_frame(frames, [this](const FrameHeader& header, std::span<const std::byte> bytes) {
    prologue_.absorb({header, bytes.subspan(sizeof(header))});
  });
}

void FrameLog::append_or_count(std::span<const std::byte> frames, std::uint64_t events) {
  const bool fits = !rules_.maximum_bytes || file_->finished_size() + frames.size() <= *rules_.maximum_bytes;
  has_no_room_ = has_no_room_ || !fits;
  if (has_no_room_ || !append(frames, events)) set_aside(frames);
}

void FrameLog::set_aside(std::span<const std::byte> frames) {
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

std::vector<std::byte> FrameLog::last_words() const {
  std::vector<std::byte> words;
  for (const auto& [tag, word] : last_words_) words.insert(words.end(), word.begin(), word.end());
  return words;
}

bool FrameLog::is_full() const noexcept {
  constexpr std::uint64_t kForTheRest = 16u << 20;  // bytes at most, for what comes until recording stops
  if (!file_ || !rules_.maximum_bytes) return false;
  const std::uint64_t enough = *rules_.maximum_bytes - std::min(*rules_.maximum_bytes / 16, kForTheRest);
  return has_no_room_ || file_->finished_size() + held_bytes_ >= enough;
}

bool FrameLog::append(std::span<const std::byte> frames, std::uint64_t events) {
  if (Result<void> written = file_->append(frames); !written) {
    if (!failure_) failure_ = written.error();
    has_no_room_ = true;
    return false;
  }
  events_.fetch_add(events, std::memory_order_relaxed);
  bytes_.store(file_->size(), std::memory_order_relaxed);
  if (sink_) sink_(frames);
  return true;
}

bool FrameLog::close(proto::SessionEnd end) {
  constexpr std::uint64_t kEndBytes = 256;   // for the frame of `end`
  constexpr std::uint64_t kEntryBytes = 64;  // in the index
  constexpr std::uint64_t kMostSlack = 64u << 20;
  if (rules_.keep_last) write_held();
  bool is_finished = !has_no_room_ && finish(end);
  // Another program may take what room there is on the disk; so each attempt asks for more.
  for (std::uint64_t slack = kEndBytes + kEntryBytes * last_words_.size(); !is_finished && slack <= kMostSlack; slack *= 4) {
    const std::vector<std::byte> words = last_words();
    const std::uint64_t events = file_->make_room(words.size() + slack, failure_ ? std::nullopt : rules_.maximum_bytes);
    events_.fetch_sub(events, std::memory_order_relaxed);
    unwritten_ += events;
    end.set_unwritten_events(unwritten_);
    is_finished = (words.empty() || append(words, 0)) && finish(end);
  }
  bytes_.store(file_->size(), std::memory_order_relaxed);
  const bool is_there = file_->is_in_place();
  file_.reset();
  return is_there;
}

bool FrameLog::finish(proto::SessionEnd& end) {
  seal({proto::FRAME_SESSION_END}, end);
  if (rules_.maximum_bytes && file_->finished_size() + buffer_.size() > *rules_.maximum_bytes && !has_no_room_) {
    has_no_room_ = true;
    return false;
  }
  if (!append(buffer_, 0)) return false;
  const Result<void> finished = file_->finish();
  if (!finished && !failure_) failure_ = finished.error();
  return finished.has_value();
}

void FrameLog::discard() {
  for (const Held& part : held_) absorb(part.frames);
  held_.clear();
  held_bytes_ = 0;
  file_->discard();
  file_.reset();
}

}  // namespace lanescope::session

#include "file/frame_log.h"

#include <algorithm>
#include <numeric>

namespace lanescope::session {
namespace {

constexpr std::size_t kMostShares = 1024;  // of one recorder: each needs a descriptor

// True for what is said about the whole machine. The programs' output can't be split by process.
bool is_common(const FrameHeader& header) { return header.process == 0 && header.type != proto::FRAME_OUTPUT; }

}  // namespace

void FrameLog::open(TraceFileWriter file, const proto::SessionStart& start, ShareFiles files) {
  start_ = start;
  files_ = std::move(files);
  part_ = Part::kGoesOn;
  main_.open(std::move(file), start);
}

void FrameLog::assign(std::uint32_t process, const Variables& share) {
  if (!rules_.has_shares || share.empty() || share_of_.contains(process)) return;
  if (!shares_.contains(share)) {
    if (shares_.size() == kMostShares) return;
    // A watcher sees frames that concern the whole recording once.
    const FrameSink of_processes = [this](std::span<const std::byte> frames) {
      for_each_frame(frames, [this](const FrameHeader& header, std::span<const std::byte> frame) {
        if (header.process != 0) sink_(frame);
      });
    };
    shares_.try_emplace(share, rules_, sink_ ? of_processes : FrameSink(), common_);
  }
  share_of_[process] = share;
}

FileLog& FrameLog::file_of(std::uint32_t process) {
  const auto share = share_of_.find(process);
  if (share == share_of_.end()) return main_;
  FileLog& file = shares_.at(share->second);
  if (main_.is_open() && !file.is_open()) open_share(Variables(share->second), file);
  return main_.is_open() && !file.is_open() ? main_ : file;
}

void FrameLog::open_share(const Variables& share, FileLog& file) {
  Result<CreatedFile> created = files_ ? files_(share) : Result<CreatedFile>(Error{"A rank's file has no name."});
  if (created && told_ && !created->note.empty()) told_(created->note);
  if (created) return file.open(std::move(created->file), start_);
  if (told_) told_(created.error().text + " What belongs there is in " + path().string() + ".");
  std::vector<std::byte> known;
  file.known().append_to(known, start_.epoch());
  for_each_frame(known, [this](const FrameHeader& header, std::span<const std::byte> frame) {
    if (header.process != 0) main_.take({frame, {}}, 0);
  });
  std::erase_if(share_of_, [&share](const auto& entry) { return entry.second == share; });
}

bool FrameLog::is_for_later(const FrameHeader& header) const noexcept {
  if (part_ == Part::kGoesOn || !main_.is_open()) return false;
  return header.process > newest_of_part_ || (part_ == Part::kTold && header.type == proto::FRAME_PROCESS_END);
}

void FrameLog::take(FrameHeader header, const FrameRun& run, std::uint64_t events) {
  newest_ = std::max(newest_, header.process);
  if (is_for_later(header)) {
    const auto share = share_of_.find(header.process);
    return (share == share_of_.end() ? main_ : shares_.at(share->second)).keep_for_later(run.frames);
  }
  file_of(header.process).take(run, events);
  if (!rules_.has_shares || !is_common(header)) return;
  for_each_frame(run.frames, [this](const FrameHeader& each, std::span<const std::byte> frame) { common_.absorb({each, frame.subspan(sizeof(each))}); });
  for (auto& [share, file] : shares_) file.take(run, events);
}

void FrameLog::write(const FrameTag& tag, const google::protobuf::MessageLite& message) {
  payload_.clear();
  message.AppendToString(&payload_);
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(tag.type);
  header.source = static_cast<std::uint8_t>(tag.source);
  header.process = tag.process;
  header.event_count = tag.events;
  buffer_.clear();
  append_frame(header, payload_, buffer_);
  const FrameContent content = content_of(header.type, payload_);
  take(header, {buffer_, std::span(&content, 1)}, tag.events);
}

void FrameLog::pass_on(std::span<const std::byte> frames, std::uint64_t events) {
  FrameHeader first;
  if (frames.size() < sizeof(first)) return;
  std::memcpy(&first, frames.data(), sizeof(first));
  take(first, {frames, {}}, events);
}

void FrameLog::goes_on(std::int64_t time) {
  main_.goes_on(time);
  for (auto& [share, file] : shares_) file.goes_on(time);
}

void FrameLog::begin_nothing_more() noexcept {
  part_ = Part::kOver;
  newest_of_part_ = newest_;
}

void FrameLog::forget(proto::FrameSource source) {
  common_.forget(source);
  main_.forget(source);
  for (auto& [share, file] : shares_) file.forget(source);
}

std::vector<ClosedFile> FrameLog::close(const proto::SessionEnd& end) {
  std::vector<ClosedFile> closed;
  const auto close_one = [&](FileLog& file) {
    if (!file.is_open()) return;
    const std::filesystem::path path = file.path();
    const std::optional<FileIdentity> identity = file.identity();
    Whereabouts whereabouts = file.close(end);
    closed.push_back(
        {path, file.events(), file.bytes(), file.unwritten(), std::move(whereabouts), file.failure(), identity, file.kept_part(), file.kept(), file.earlier()});
  };
  close_one(main_);
  for (auto& [share, file] : shares_) close_one(file);
  const auto by_name = [](const ClosedFile& a, const ClosedFile& b) { return a.path < b.path; };
  if (closed.size() > 1) std::sort(std::next(closed.begin()), closed.end(), by_name);
  return closed;
}

std::vector<std::filesystem::path> FrameLog::discard() {
  std::vector<std::filesystem::path> left{main_.discard()};
  for (auto& [share, file] : shares_)
    if (file.is_open()) left.push_back(file.discard());
  std::erase(left, std::filesystem::path());
  return left;
}

bool FrameLog::is_full() const noexcept {
  return main_.is_full() || std::any_of(shares_.begin(), shares_.end(), [](const auto& share) { return share.second.is_full(); });
}

std::uint64_t FrameLog::unwritten() const noexcept {
  const auto add = [](std::uint64_t sum, const auto& share) { return sum + share.second.unwritten(); };
  return std::accumulate(shares_.begin(), shares_.end(), main_.unwritten(), add);
}

std::optional<Error> FrameLog::failure() const {
  if (main_.failure()) return main_.failure();
  for (const auto& [share, file] : shares_)
    if (file.failure()) return file.failure();
  return std::nullopt;
}

std::uint64_t FrameLog::events() const noexcept {
  const auto add = [](std::uint64_t sum, const auto& share) { return sum + share.second.events(); };
  return std::accumulate(shares_.begin(), shares_.end(), main_.events(), add);
}

std::uint64_t FrameLog::bytes() const noexcept {
  const auto add = [](std::uint64_t sum, const auto& share) { return sum + share.second.bytes(); };
  return std::accumulate(shares_.begin(), shares_.end(), main_.bytes(), add);
}

}  // namespace lanescope::session

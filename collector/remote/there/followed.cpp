#include "there/followed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "link/block_sums.h"
#include "model/file/trace_file.h"

namespace lanescope::remote {
namespace {

namespace fs = std::filesystem;
using channel::FileDescriptor;
using namespace std::chrono_literals;

constexpr std::size_t kPiece = 256u << 10;     // limit of the bytes of a file in a message
constexpr std::size_t kFirstPiece = 256;       // in a link's first message: a message that is cut is lost, and some links transfer little before they break
constexpr std::size_t kMostUnsent = 1u << 20;  // bytes that wait for the link
// If outlines are sent, these wait behind what is on its way: so much, and as much as comes in this time.
constexpr std::size_t kMostOnItsWay = 32u << 10;
constexpr auto kRateTime = 1s;
constexpr auto kOutlinedFrom = 2s;  // how far a copy is behind at least
constexpr auto kUntilLost = 2s;     // between the end of a recorder and its keeper's note

}  // namespace

struct OpenFile {
  FileDescriptor descriptor;
  std::uint64_t size = 0;
  bool owner_alone = false;
  std::uint64_t inode = 0;
  std::int64_t modified = 0;  // ns since 1970
};

namespace {

// Opens a regular file only, so that a pipe does not block and a device is not touched. On failure errno says why; only ENOENT means that nothing is there.
std::optional<OpenFile> open_file(const fs::path& path) {
  const auto is_file = [](const struct stat& facts) {
    if (!S_ISREG(facts.st_mode)) errno = S_ISDIR(facts.st_mode) ? EISDIR : ENODEV;
    return S_ISREG(facts.st_mode);
  };
  struct stat before {};
  if (stat(path.c_str(), &before) != 0) {
    const int reason = errno;
    errno = reason == ENOENT && lstat(path.c_str(), &before) == 0 ? ELOOP : reason;  // a link that leads nowhere counts as existing
    return std::nullopt;
  }
  if (!is_file(before)) return std::nullopt;
  OpenFile opened{FileDescriptor(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC))};
  struct stat facts {};
  if (!opened.descriptor.valid() || fstat(opened.descriptor.get(), &facts) != 0 || !is_file(facts)) return std::nullopt;
  opened.size = static_cast<std::uint64_t>(facts.st_size);
  opened.owner_alone = (facts.st_mode & (S_IRGRP | S_IROTH)) == 0;
  opened.inode = facts.st_ino;
  opened.modified = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  return opened;
}

// Sends signs of life, so that reading long files does not look like silence.
std::function<void()> with_pulses(Link& link) {
  return [&link] {
    constexpr auto kPulse = 2s;
    if (link.unspoken() < kPulse) return;
    proto::RemoteReply pulse;
    pulse.mutable_pulse();
    link.send(pulse);
    link.move(0ms);
  };
}

// What can be read at `offset` in a file of this size, at most `most` bytes.
std::string piece_of(int descriptor, std::uint64_t offset, std::uint64_t size, std::uint64_t most) {
  std::string piece(std::min(most, size - std::min(size, offset)), '\0');
  const ssize_t read = pread(descriptor, piece.data(), piece.size(), static_cast<off_t>(offset));
  piece.resize(read > 0 ? static_cast<std::size_t>(read) : 0);
  return piece;
}

bool has_mark(const OpenFile& opened) {
  return piece_of(opened.descriptor.get(), 0, opened.size, sizeof(kFileMagic)) ==
         std::string_view(reinterpret_cast<const char*>(kFileMagic), sizeof(kFileMagic));
}

// Rejects files that are not recordings, because a copy would be taken for one. A recording that has just started may be empty. Newer formats are copied,
// too.
Result<void> check_recording(const OpenFile& opened, const fs::path& path) {
  const std::string_view mark(reinterpret_cast<const char*>(kFileMagic), sizeof(kFileMagic));
  const std::string head = piece_of(opened.descriptor.get(), 0, opened.size, mark.size());
  if (head == mark || (mark.starts_with(head) && TraceFileWriter::is_being_written(path))) return {};
  const Result<TraceFileReader> reader = TraceFileReader::open(path);
  return reader ? Result<void>() : reader.error();
}

}  // namespace

Result<Followed> Followed::begin(const proto::RemoteRequest::Follow& request, std::uint32_t number, const Recordings& recordings,
                                 std::function<Outlines(const fs::path&)> outlines) {
  Followed followed(request, number);
  followed.recordings_ = &recordings;
  if (request.wants_outlines()) followed.make_outlines_ = std::move(outlines);
  if (!request.file().empty()) {
    const std::optional<OpenFile> opened = open_file(request.file());
    if (!opened) return Error{"There is no file " + request.file() + " that can be read."};
    if (const Result<void> recording = check_recording(*opened, request.file()); !recording) return recording.error();
    return followed;
  }
  const Result<fs::path> folder = recordings.folder_of(request.recording());
  if (!folder) return folder.error();
  followed.folder_ = *folder;
  if (request.says_taken()) followed.reader_.emplace(followed.folder_ / kReading);
  return followed;
}

void Followed::take(const proto::RemoteRequest::Taken& taken) {
  if (!reader_) return;
  reading_.taken = {taken.output(), taken.messages()};
  reading_.has_left = {taken.output_has_left(), taken.messages_have_left()};
  reader_->write(reading_);
}

void Followed::take(const proto::RemoteRequest::Received& received) {
  const auto now = Clock::now();
  received_.push_back({now, std::min(received.bytes(), sent_of_files_)});
  while (received_.size() > 1 && now - received_[1].seen >= kRateTime) received_.pop_front();
}

bool Followed::has_room(const Link& link) const {
  if (!make_outlines_) return link.unsent() < kMostUnsent;
  const std::uint64_t received = received_.empty() ? 0 : received_.back().bytes, before = received_.empty() ? 0 : received_.front().bytes;
  return link.unsent() < kMostUnsent && sent_of_files_ - received < kMostOnItsWay + (received - std::min(before, received));
}

// Counted from the start of the stream.
std::uint64_t Followed::most_sent(proto::RemoteReply::Stream stream) const {
  constexpr std::uint64_t kMostUntaken = 4u << 20;
  const std::uint64_t taken = reading_.taken[static_cast<std::size_t>(stream)];
  return reader_ ? taken + std::min(kMostUntaken, ~taken) : ~std::uint64_t{0};
}

bool Followed::is_taken(std::uint64_t output, std::uint64_t messages) const {
  return !reader_ || (output <= reading_.taken[0] && messages <= reading_.taken[1]);
}

RecordingState Followed::state() const {
  if (!folder_.empty()) return recordings_->state_of(folder_);
  return {TraceFileWriter::is_being_written(request_.file()) ? Progress::kRuns : Progress::kEnded, 0, 0};
}

int Followed::find_files() {
  const auto add = [this](const std::string& name, const fs::path& path) {
    const auto number = static_cast<std::uint32_t>(files_.size() + 1);
    files_.try_emplace(name, File{path, number, 0, 0, false});
  };
  if (folder_.empty()) {
    add("file", request_.file());
    return 0;
  }
  std::error_code failed;
  for (fs::directory_iterator entry(folder_, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed))
    if (entry->path().extension() == ".trace") add(entry->path().filename(), entry->path());
  return failed.value();
}

void Followed::announce(Link& link, const std::string& name, File& file, const OpenFile& opened) {
  for (const proto::RemotePosition& position : request_.files())
    if (position.name() == name) file.sent = equal_bytes(position, opened.descriptor.get(), opened.size, with_pulses(link));
  proto::RemoteReply reply;
  reply.mutable_file()->set_number(file.number);
  reply.mutable_file()->set_name(name);
  reply.mutable_file()->set_from(file.sent);
  reply.mutable_file()->set_owner_alone(opened.owner_alone);
  reply.mutable_file()->set_inode(opened.inode);
  reply.mutable_file()->set_modified(opened.modified);
  link.send(reply);
  file.is_announced = true;
}

// As many bytes as all before it together.
std::uint64_t Followed::next_piece() const { return std::clamp<std::uint64_t>(sent_, kFirstPiece, make_outlines_ ? kMostOnItsWay / 4 : kPiece); }

bool Followed::send_file(Link& link, const std::string& name, File& file) {
  const std::optional<OpenFile> opened = open_file(file.path);
  if (!opened) return true;
  file.size = opened->size;
  if (!file.is_announced) announce(link, name, file, *opened);
  while (has_room(link)) {
    proto::RemoteReply reply;
    auto& bytes = *reply.mutable_bytes();
    *bytes.mutable_data() = piece_of(opened->descriptor.get(), file.sent, opened->size, next_piece());
    if (bytes.data().empty()) return true;
    bytes.set_file(file.number);
    bytes.set_offset(file.sent);
    file.sent += bytes.data().size();
    sent_ += bytes.data().size();
    sent_of_files_ += bytes.data().size();
    link.send(reply);
  }
  return false;
}

bool Followed::send_text(Link& link, proto::RemoteReply::Stream stream, const char* name, std::uint64_t behind, std::uint64_t& sent) {
  const std::optional<OpenFile> opened = open_file(folder_ / name);
  while (opened && link.unsent() < kMostUnsent && sent < most_sent(stream)) {
    proto::RemoteReply reply;
    auto& text = *reply.mutable_text();
    *text.mutable_data() = piece_of(opened->descriptor.get(), sent - behind, opened->size, next_piece());
    if (text.data().empty()) return true;
    text.set_stream(stream);
    text.set_offset(sent);
    sent += text.data().size();
    sent_ += text.data().size();
    link.send(reply);
  }
  return !opened;
}

bool Followed::send_texts(Link& link, Recorder recorder) {
  std::uint64_t output = request_.output(), messages = request_.messages();
  bool is_all_sent = send_text(link, proto::RemoteReply::STREAM_OUTPUT, kOutput, 0, output);
  is_all_sent = send_text(link, proto::RemoteReply::STREAM_MESSAGES, kMessages, 0, messages) && is_all_sent;
  // Where it begins is known once nothing comes before it any more.
  if (recorder == Recorder::kHasEnded && is_all_sent) {
    std::error_code missing;
    const std::uint64_t size = fs::file_size(folder_ / kMessages, missing), behind = missing ? 0 : std::min(size, messages);
    is_all_sent = send_text(link, proto::RemoteReply::STREAM_MESSAGES, kReserve, behind, messages);
  }
  request_.set_output(output);
  request_.set_messages(messages);
  return is_all_sent && is_taken(output, messages);
}

bool Followed::send_some(Link& link) {
  // The state is read before the files: of a recording that has ended, everything is there.
  const RecordingState state = this->state();
  std::error_code failed;
  if (!folder_.empty() && !std::filesystem::is_directory(folder_, failed)) return refuse_as_gone(link);
  const auto now = Clock::now();
  if (state.progress != Progress::kLost && state.progress != Progress::kUnknown) running_ = now;
  const bool is_over = state.progress == Progress::kEnded || now - running_ > kUntilLost;
  const int unlisted = find_files();
  bool is_all_sent = true;
  for (auto& [name, file] : files_) is_all_sent = send_file(link, name, file) && is_all_sent;
  if (!folder_.empty()) is_all_sent = send_texts(link, is_over ? Recorder::kHasEnded : Recorder::kRuns) && is_all_sent;
  if (!is_over || !is_all_sent) {
    send_standing(link);
    if (make_outlines_ && behind() >= kOutlinedFrom) send_outline(link);
    return true;
  }
  // What can't be seen or read now is not reported as gone, because the other side would believe it.
  if (unlisted != 0) return refuse(link, folder_.string() + " can't be listed: " + std::strerror(unlisted) + ".");
  return send_end(link, state);
}

bool Followed::refuse(Link& link, const std::string& sentence, Recording recording) {
  proto::RemoteReply reply;
  reply.set_request(number_);
  reply.mutable_refusal()->set_sentence(sentence);
  reply.mutable_refusal()->set_is_gone(recording == Recording::kGone);
  link.send(reply);
  return false;
}

// Somebody else has fetched it to its end, or removed it.
bool Followed::refuse_as_gone(Link& link) {
  return refuse(link, "The recording " + request_.recording() + " is not there any more: it was fetched, or removed, meanwhile.", Recording::kGone);
}

void Followed::send_standing(Link& link) {
  constexpr auto kLook = 100ms;
  constexpr auto kInterval = 1s;
  const auto now = Clock::now();
  std::uint64_t there = 0, sent = 0;
  for (const auto& [name, file] : files_) {
    there += file.size;
    sent += file.sent;
  }
  while (!unsent_sizes_.empty() && unsent_sizes_.front().bytes <= sent) unsent_sizes_.pop_front();
  const bool is_due = unsent_sizes_.empty() || (now - unsent_sizes_.back().seen > kLook && unsent_sizes_.back().bytes < there);
  if (there > sent && is_due) unsent_sizes_.push_back({now, there});
  if (now - stood_ < kInterval) return;
  stood_ = now;
  proto::RemoteReply reply;
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  reply.mutable_standing()->set_time(static_cast<std::uint64_t>(time.count()));
  reply.mutable_standing()->set_behind(static_cast<std::uint64_t>(behind().count()));
  link.send(reply);
}

std::chrono::milliseconds Followed::behind() const {
  return unsent_sizes_.empty() ? 0ms : std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - unsent_sizes_.front().seen);
}

void Followed::send_outline(Link& link) {
  // The file that the other side shows: the first that it knew, or else the first that was announced, which is done by name.
  if (outlined_.empty() && request_.files_size() > 0) outlined_ = request_.files(0).name();
  if (outlined_.empty() && !files_.empty()) outlined_ = files_.begin()->first;
  const auto first = files_.find(outlined_);
  if (first == files_.end()) return;
  if (!outlines_) outlines_ = std::make_unique<SentOutlines>(make_outlines_(first->second.path));
  const std::vector<std::byte> frames = outlines_->next(first->second.size);
  if (frames.empty()) return;
  proto::RemoteReply reply;
  reply.mutable_outline()->set_file(first->second.number);
  reply.mutable_outline()->set_frames(reinterpret_cast<const char*>(frames.data()), frames.size());
  link.send(reply);
}

bool Followed::send_end(Link& link, const RecordingState& state) {
  proto::RemoteReply reply;
  reply.set_request(number_);
  auto& end = *reply.mutable_end();
  for (const auto& [name, file] : files_) {
    const std::optional<OpenFile> opened = open_file(file.path);
    BlockSums sums;
    if (!opened && errno == ENOENT) continue;  // reported by name_missing()
    if (!opened || !sums.append_file(opened->descriptor.get(), opened->size, with_pulses(link)))
      return refuse(link, file.path.string() + " can't be read to its end: " + (errno != 0 ? std::strerror(errno) : "it became shorter meanwhile") + ".");
    auto& position = *end.add_files();
    position.set_name(name);
    position.set_size(sums.size());
    position.set_tail(sums.all());
  }
  name_missing(end);
  // When the other side hears that a file was removed, it has the folder removed, and with it a file that was only renamed.
  if (const fs::path renamed = end.removed().empty() ? fs::path() : renamed_file(); !renamed.empty())
    return refuse(link, end.removed(0) + " has got another name, so it seems: " + renamed.string() + " is a recording. Copy it yourself.");
  end.set_is_known(state.progress == Progress::kEnded);
  end.set_code(state.code);
  end.set_signal(state.signal);
  std::error_code failed;
  if (!folder_.empty() && !std::filesystem::is_directory(folder_, failed)) return refuse_as_gone(link);  // whoever copied it removes its files
  link.send(reply);
  return false;
}

// A recording in the folder whose name is not that of a recording's file.
fs::path Followed::renamed_file() const {
  if (folder_.empty()) return {};
  std::error_code failed;
  for (fs::directory_iterator entry(folder_, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    if (entry->path().extension() == ".trace") continue;
    if (const std::optional<OpenFile> opened = open_file(entry->path()); opened && has_mark(*opened)) return entry->path();
  }
  return {};
}

// Names files that were there, or of which the other side has copies.
void Followed::name_missing(proto::RemoteReply::End& end) const {
  std::set<std::string> missing;
  for (const auto& [name, file] : files_) missing.insert(name);
  for (const proto::RemotePosition& copy : request_.files()) missing.insert(copy.name());
  for (const proto::RemotePosition& there : end.files()) missing.erase(there.name());
  std::set<std::string> noted;
  if (!folder_.empty()) {
    std::ifstream notes(folder_ / kThrownAway);
    for (std::string name; std::getline(notes, name);) noted.insert(name);
  }
  for (const std::string& name : missing) (noted.contains(name) ? end.add_thrown_away(name) : end.add_removed(name));
  end.set_is_all(true);
}

}  // namespace lanescope::remote

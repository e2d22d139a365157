#include "here/worker.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "collector/remote/recording_name.h"
#include "link/protocol.h"

namespace lanescope::remote {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 50ms;
constexpr auto kReaderLook = 5ms;  // while a reader takes text slowly
constexpr int kMostDifferingEnds = 3;
constexpr int kMostLostDiscards = 5;
constexpr std::size_t kLongestSentence = 4'096;

Error senseless(const std::string& what) { return {"What came from there makes no sense: " + what + "."}; }

Error unasked() { return senseless("an answer to what was not asked"); }

// True for messages of shells, and of programs that run commands in containers and jobs and that end with exit codes of their own. A container or host that is
// not found does not count.
bool says_not_found(std::string_view line) {
  const auto has = [&line](std::string_view text) { return line.find(text) != std::string_view::npos; };
  return has("ommand not found") || has("executable file not found") || (has("execve(): ") && has("No such file or directory"));
}

template <typename Function>
void for_each_line(std::string& text, TextExtent extent, const Function& function) {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const bool is_for_terminal = end > begin && text[end - 1] == '\r';  // ssh ends its lines like this
    function(text.substr(begin, end - begin - (is_for_terminal ? 1 : 0)));
  }
  text.erase(0, begin);
  const bool is_too_long = text.size() > kLongestSentence;
  if ((extent == TextExtent::kWhole || is_too_long) && !text.empty()) function(std::exchange(text, {}));
}

}  // namespace

Worker::Worker(const WorkSettings& settings)
    : settings_(settings),
      copies_(task<ForeignFile>() != nullptr ? Copies::Of::kFile : Copies::Of::kRecording, settings.place, settings.overwrite,
              task<NewRecording>() != nullptr ? Beginnings::kRefused : Beginnings::kContinued),
      pause_(settings.patience.first_pause) {
  if (task<NewRecording>() != nullptr) recording_ = new_recording_name();
  if (const auto* existing = task<ExistingRecording>()) recording_ = existing->name;
}

bool Worker::is_recording() const { return !recording_.empty(); }

WorkOutcome Worker::run() {
  while (state_ != State::kOver) {
    if (!connect()) break;
    talk();
    if (state_ == State::kToBeAskedAgain) continue;
    if (state_ != State::kOver) lose_link();
    if (state_ == State::kBroken) pause();
  }
  connection_.reset();
  outcome_.files = copies_.files();
  for (const std::filesystem::path& earlier : copies_.earlier()) settings_.tell("The file that was to be replaced is kept: " + earlier.string() + ".");
  return std::move(outcome_);
}

void Worker::fail(Error error) {
  if (may_have_begun_ && !is_all_here_) outcome_.recording = recording_;
  outcome_.failure = std::move(error);
  state_ = State::kOver;
}

bool Worker::connect() {
  connection_.reset();
  const bool is_first = !was_greeted_ && !settings_.first_command.empty();
  Result<Transport> transport = Transport::start(is_first ? settings_.first_command : settings_.command, settings_.terminal);
  if (!transport) {
    fail(transport.error());
    return false;
  }
  auto output = transport->take_output();
  auto input = transport->take_input();
  connection_.emplace(Connection{std::move(*transport), Link(std::move(output), std::move(input), kMostFromThere)});
  copies_.forget_numbers();
  is_stop_sent_ = false;
  unanswered_.clear();
  asked_ = 0;
  noise_is_told_ = false;
  least_offset_.reset();
  told_taken_.reset();
  state_ = State::kGreeting;
  began_ = Clock::now();
  if (is_first) connection_->link.send(settings_.first_bytes);
  unsent_ = connection_->link.unsent();
  proto::RemoteRequest greeting;
  greeting.mutable_greeting()->set_protocol(kProtocol);
  greeting.mutable_greeting()->set_version(settings_.version);
  connection_->link.send(greeting);
  return true;
}

void Worker::talk() {
  Link& link = connection_->link;
  const auto is_at_end = [this] { return state_ == State::kOver || state_ == State::kToBeAskedAgain; };
  while (!is_at_end()) {
    std::array<pollfd, 1> others{pollfd{connection_->transport.messages(), POLLIN, 0}};
    const bool was_closed = link.is_closed();
    link.move(look_at_readers(), others);
    if (state_ == State::kGreeting && std::exchange(unsent_, link.unsent()) > link.unsent()) began_ = Clock::now();
    print_transport(TextExtent::kGoesOn);
    while (!is_at_end()) {
      const std::optional<std::string> message = link.next();
      if (!message) break;
      take(*message);
    }
    tell_noise();
    if (is_at_end()) return;
    tell_received();
    if (link.reader().is_from_terminal())
      return fail({"What comes from " + settings_.target +
                   " has gone through a terminal, which changes it. Leave -t away (ssh -t, docker exec -it, kubectl exec -it): -i alone is right."});
    if (link.reader().has_begun() && !link.reader().problem().empty()) return fail(senseless(link.reader().problem()));
    if (was_closed || link.is_closed()) return;
    // A side that only sends signs of life may do so while a program runs, but not instead of an answer.
    if (link.silence() > settings_.patience.silence && state_ != State::kGreeting) return;
    if (state_ != State::kFollowing && Clock::now() - began_ > settings_.patience.greeting) return;
    look_at_wish();
    keep_link_alive();
  }
}

void Worker::keep_link_alive() {
  if (state_ == State::kGreeting || connection_->link.unspoken() < kPulse || connection_->link.unsent() > 0) return;
  proto::RemoteRequest pulse;
  pulse.mutable_pulse();
  connection_->link.send(pulse);
}

void Worker::print_transport(TextExtent extent) {
  transport_line_ += connection_->transport.take_messages();
  for_each_line(transport_line_, extent, [this](const std::string& line) {
    is_program_missing_ = is_program_missing_ || says_not_found(line);
    settings_.tell(settings_.target + ": " + line);
  });
}

void Worker::tell_noise() {
  const MessageReader& reader = connection_->link.reader();
  if (noise_is_told_ || !reader.has_begun()) return;
  noise_is_told_ = true;
  std::string noise = reader.noise();
  for_each_line(noise, TextExtent::kWhole, [this](const std::string& line) {
    if (!take_marked(line)) settings_.tell(settings_.target + " says first: " + line);
  });
}

bool Worker::take_marked(const std::string& line) {
  if (settings_.mark.empty() || !line.starts_with(settings_.mark)) return false;
  outcome_.marked = line.substr(settings_.mark.size());
  return true;
}

void Worker::lose_link() {
  if (is_all_here_ && ++lost_discards_ > kMostLostDiscards) {  // the rest does not matter
    state_ = State::kOver;
    return;
  }
  if (state_ == State::kFollowing) linked_ = Clock::now();
  if (!was_greeted_) return explain_no_answer();
  if (task<ForeignCommand>() != nullptr) return fail({"The link to " + settings_.target + " broke before the command had ended."});
  // A link that breaks again and again as soon as it is made is reported once.
  constexpr auto kHolds = 60s;
  const bool is_news = !is_break_told_ || Clock::now() - began_ > kHolds;
  if (state_ != State::kGreeting && !is_all_here_ && is_news)
    settings_.tell("The link to " + settings_.target + " broke; it is made again. What runs there goes on.");
  is_break_told_ = is_break_told_ || state_ != State::kGreeting;
  print_transport(TextExtent::kWhole);
  state_ = State::kBroken;
  connection_.reset();
}

void Worker::explain_no_answer() {
  constexpr auto kForItsEnd = 1'000ms;
  const bool was_silent = !connection_->link.is_closed();
  const int code = connection_->transport.wait(was_silent ? 0ms : kForItsEnd);
  print_transport(TextExtent::kWhole);
  constexpr int kNotExecutable = 126, kNotFound = 127;
  std::string noise = connection_->link.reader().noise().substr(0, kLongestSentence);
  for_each_line(noise, TextExtent::kWhole, [this](const std::string& line) {
    if (take_marked(line)) return;
    is_program_missing_ = is_program_missing_ || says_not_found(line);
    settings_.tell(settings_.target + " says: " + line);
  });
  if (was_silent) return fail({"No lanescope on " + settings_.target + " has answered in time."});
  if (code == kNotFound || code == kNotExecutable || is_program_missing_) {
    outcome_.missing = Missing::kProgram;
    return fail({settings_.target + " has no lanescope that could be run."});
  }
  fail({"No lanescope has answered on " + settings_.target +
        (code >= 0 ? ": " + settings_.command.front() + " ended with code " + std::to_string(code) + "." : ".")});
}

void Worker::pause() {
  const auto end = Clock::now() + pause_;
  pause_ = std::min(2 * pause_ + 1ms, settings_.patience.longest_pause);
  if (Clock::now() - linked_ > settings_.patience.without_link)
    return fail({"The link to " + settings_.target + " could not be made again. What was not copied is there."});
  while (Clock::now() < end && state_ == State::kBroken) {
    pollfd nothing{-1, 0, 0};
    poll(&nothing, 1, static_cast<int>(std::min<std::chrono::milliseconds>(look_at_readers(), pause_).count()));
    look_at_wish();
  }
}

void Worker::look_at_wish() {
  const Wish wish = settings_.wish();
  // A recording that may have started there is ended as soon as there is a link again.
  if (wish == Wish::kLeave || (wish == Wish::kStop && (!is_recording() || !was_greeted_))) {
    outcome_.was_left = true;
    outcome_.recording = was_greeted_ ? recording_ : "";
    const bool copies = task<ForeignCommand>() == nullptr;
    return fail({copies ? "Left before all was copied." : "Left before the command there had ended."});
  }
  is_stop_wished_ = is_stop_wished_ || wish == Wish::kStop;
  if (state_ != State::kFollowing) return;
  pass_signals_on();
  if (!is_stop_wished_ || is_stop_sent_) return;
  proto::RemoteRequest stop;
  stop.mutable_stop()->set_recording(recording_);
  stop.mutable_stop()->set_signal(static_cast<std::uint32_t>(settings_.stop_signal()));
  ask(stop);
  is_stop_sent_ = true;
}

void Worker::pass_signals_on() {
  while (const std::optional<int> signal = settings_.signal()) {
    proto::RemoteRequest request;
    request.mutable_signal()->set_recording(recording_);
    request.mutable_signal()->set_signal(static_cast<std::uint32_t>(*signal));
    connection_->link.send(request);
  }
}

std::chrono::milliseconds Worker::look_at_readers() {
  if (!says_taken()) return kLook;
  const Reading output = settings_.reading(TextStream::kOutput), messages = settings_.reading(TextStream::kMessages);
  const std::chrono::milliseconds look = output.waits > 0 || messages.waits > 0 ? kReaderLook : kLook;
  if (state_ != State::kFollowing) return look;
  proto::RemoteRequest request;
  auto& taken = *request.mutable_taken();
  taken.set_output(printed_[0] - output.waits);
  taken.set_messages(printed_[1] - messages.waits);
  taken.set_output_has_left(output.has_left);
  taken.set_messages_have_left(messages.has_left);
  std::string told = request.SerializeAsString();
  if (told_taken_ == told) return look;
  connection_->link.send(request);
  told_taken_ = std::move(told);
  return look;
}

void Worker::tell_received() {
  if (!settings_.outline || state_ != State::kFollowing || told_received_ == received_) return;
  proto::RemoteRequest request;
  request.mutable_received()->set_bytes(received_);
  connection_->link.send(request);
  told_received_ = received_;
}

void Worker::take(const std::string& message) {
  proto::RemoteReply reply;
  if (!reply.ParseFromString(message)) return fail(senseless("a message is none of ours"));
  switch (reply.reply_case()) {
    case proto::RemoteReply::kGreeting:
      return take_greeting(reply);
    case proto::RemoteReply::kStanding:
      return take_standing(reply.standing());
    case proto::RemoteReply::kOutline:
      if (settings_.outline && state_ == State::kFollowing && copies_.is_first(reply.outline().file())) settings_.outline(reply.outline().frames());
      return;
    case proto::RemoteReply::kPulse:
    case proto::RemoteReply::REPLY_NOT_SET:
      return;
    case proto::RemoteReply::kRefusal:
      return take_refusal(reply);
    case proto::RemoteReply::kDone:
      return take_done(reply);
    default:
      return take_in_order(reply);
  }
}

void Worker::ask(proto::RemoteRequest& request) {
  request.set_number(++asked_);
  unanswered_.push_back({asked_, request.request_case()});
  connection_->link.send(request);
}

std::optional<proto::RemoteRequest::RequestCase> Worker::asked(const proto::RemoteReply& answer) {
  using Request = proto::RemoteRequest;
  const auto is_stream = [](const Asked& each) { return each.what == Request::kFollow || each.what == Request::kRun; };
  const bool is_end = answer.reply_case() == proto::RemoteReply::kEnd;
  // Without numbers, only a refusal of what is followed may come out of order, and the answer that ends a follow is its last.
  const auto fits = [&](const Asked& each) { return names_requests_ ? each.number == answer.request() : is_stream(each) == is_end; };
  auto found = std::find_if(unanswered_.begin(), unanswered_.end(), fits);
  if (found == unanswered_.end() && !names_requests_ && answer.reply_case() == proto::RemoteReply::kRefusal) found = unanswered_.begin();
  if (found == unanswered_.end() || (is_stream(*found) != is_end && answer.reply_case() != proto::RemoteReply::kRefusal)) return std::nullopt;
  const Request::RequestCase what = found->what;
  unanswered_.erase(found);
  return what;
}

void Worker::take_refusal(const proto::RemoteReply& reply) {
  const std::optional<proto::RemoteRequest::RequestCase> what = asked(reply);
  const std::string sentence = reply.refusal().sentence().substr(0, kLongestSentence);
  if (state_ != State::kDiscarding || !what || (*what != proto::RemoteRequest::kStop && *what != proto::RemoteRequest::kDiscard)) {
    if (what == proto::RemoteRequest::kRecord) may_have_begun_ = false;
    fail({settings_.target + " refuses: " + sentence, reply.refusal().is_usage() ? ErrorKind::kUsage : ErrorKind::kFailure});
    if (what == proto::RemoteRequest::kFollow && reply.refusal().is_gone()) outcome_.recording.clear();
    return;
  }
  if (*what == proto::RemoteRequest::kStop) return;  // its end was already on the way when it was asked to stop
  if (reply.refusal().is_kept())
    settings_.tell(settings_.target + " keeps it: " + sentence);
  else
    outcome_.recording.clear();  // it is gone: the answer to an earlier request was lost
  state_ = State::kOver;
}

void Worker::take_done(const proto::RemoteReply& reply) {
  const std::optional<proto::RemoteRequest::RequestCase> what = asked(reply);
  if (what != proto::RemoteRequest::kStop && what != proto::RemoteRequest::kRecord && what != proto::RemoteRequest::kDiscard) return fail(unasked());
  outcome_.recording = recording_;
  if (what == proto::RemoteRequest::kStop) return;  // the rest follows, or has come already
  if (what == proto::RemoteRequest::kRecord) {
    has_begun_ = true;
    return follow();
  }
  outcome_.recording.clear();
  state_ = State::kOver;
}

void Worker::take_standing(const proto::RemoteReply::Standing& standing) {
  constexpr std::uint64_t kMost = 1'000'000'000;  // ms; a larger value makes no sense
  const std::chrono::milliseconds behind(std::min(standing.behind(), kMost));
  const auto here = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
  constexpr std::uint64_t kLatest = std::uint64_t{1} << 53;
  const auto offset = std::chrono::milliseconds(here - static_cast<std::int64_t>(std::min(standing.time(), kLatest)));
  if (!least_offset_ || offset < *least_offset_) least_offset_ = offset;
  settings_.behind(behind + std::min(std::chrono::milliseconds(kMost), offset - *least_offset_));
}

void Worker::take_greeting(const proto::RemoteReply& reply) {
  if (state_ != State::kGreeting) return fail(senseless("a second greeting"));
  const std::string version = reply.greeting().version().substr(0, 64);
  if (reply.greeting().protocol() != kProtocol) {
    outcome_.missing = Missing::kProtocol;
    return fail({settings_.target + " has lanescope " + version + ", which is too different from " + settings_.version + " here."});
  }
  if (!was_greeted_ && version != settings_.version) settings_.tell(settings_.target + " has lanescope " + version + ", here is " + settings_.version + ".");
  if (!was_greeted_) linked_ = Clock::now();
  was_greeted_ = true;
  names_requests_ = reply.greeting().names_requests();
  began_ = Clock::now();
  request();
}

void Worker::request() {
  if (is_all_here_) return discard();  // a complete recording is never started again
  proto::RemoteRequest request;
  if (const auto* command = task<ForeignCommand>()) {
    request.mutable_run()->mutable_arguments()->Assign(command->arguments.begin(), command->arguments.end());
    state_ = State::kFollowing;
  } else if (const auto* recording = task<NewRecording>(); recording != nullptr && !has_begun_) {
    // Also sent on a further link if no answer came: a recording that was started is not started again, as long as its folder exists.
    auto& record = *request.mutable_record();
    record.set_recording(recording_);
    record.set_command(recording->command);
    record.mutable_options()->Assign(recording->options.begin(), recording->options.end());
    record.mutable_operands()->Assign(recording->operands.begin(), recording->operands.end());
    record.set_folder(recording->folder);
    state_ = State::kStarting;
    may_have_begun_ = true;
  } else {
    return follow();
  }
  ask(request);
}

void Worker::follow() {
  proto::RemoteRequest request;
  auto& follow = *request.mutable_follow();
  if (const auto* file = task<ForeignFile>())
    follow.set_file(file->path);
  else
    follow.set_recording(recording_);
  copies_.forget_numbers();
  copies_.describe(follow);
  received_ = told_received_ = 0;
  follow.set_output(printed_[0]);
  follow.set_messages(printed_[1]);
  follow.set_says_taken(says_taken());
  follow.set_wants_outlines(static_cast<bool>(settings_.outline));
  ask(request);
  told_taken_.reset();
  state_ = State::kFollowing;
}

void Worker::take_in_order(const proto::RemoteReply& reply) {
  const bool is_end = reply.reply_case() == proto::RemoteReply::kEnd;
  if (state_ != State::kFollowing || (is_end && !asked(reply))) return fail(unasked());
  outcome_.recording = recording_;
  pause_ = settings_.patience.first_pause;
  if (reply.reply_case() == proto::RemoteReply::kText) return take_text(reply.text());
  if (is_end) return take_end(reply.end());
  if (task<ForeignCommand>() != nullptr) return fail(senseless("a file where a command's output was asked for"));
  const Result<void> taken = reply.reply_case() == proto::RemoteReply::kFile ? copies_.take(reply.file()) : copies_.take(reply.bytes());
  if (!taken) return fail(taken.error());
  received_ += reply.bytes().data().size();
  if (copies_.must_ask_again()) state_ = State::kToBeAskedAgain;
}

void Worker::take_text(const proto::RemoteReply::Text& text) {
  const bool is_output = text.stream() == proto::RemoteReply::STREAM_OUTPUT;
  std::uint64_t& printed = printed_[is_output ? 0 : 1];
  if (text.offset() != printed) return fail(senseless("text that does not follow the text before"));
  printed += text.data().size();
  settings_.print(is_output ? TextStream::kOutput : TextStream::kMessages, text.data());
}

void Worker::take_end(const proto::RemoteReply::End& end) {
  constexpr int kMostCodes = 256, kMostSignals = 128;  // of any system
  if (end.code() < 0 || end.code() >= kMostCodes || end.signal() < 0 || end.signal() >= kMostSignals)
    return fail(senseless("a program ended with code " + std::to_string(end.code()) + " and by signal " + std::to_string(end.signal())));
  if (task<ForeignCommand>() == nullptr && !copies_.are_equal(end)) {
    // The recorder has overwritten earlier bytes, for example to rebuild the index.
    if (++differing_ends_ <= kMostDifferingEnds) return follow();
    return fail({"The copy differs from what is on " + settings_.target + ", and could not be made the same. The file there is whole."});
  }
  outcome_.is_known = end.is_known();
  outcome_.code = end.code();
  outcome_.signal = end.signal();
  if (const Result<void> finished = copies_.finish(); !finished) return fail(finished.error());
  const bool may_be_removed = task<ForeignCommand>() != nullptr || tell_lost(end);
  if (!is_recording() || !may_be_removed || settings_.keeps_recording()) {
    state_ = State::kOver;
    return;
  }
  is_all_here_ = true;
  discard();
}

bool Worker::tell_lost(const proto::RemoteReply::End& end) {
  bool is_all_told = true;
  for (const Copies::Lost& lost : copies_.lost()) {
    is_all_told = is_all_told && lost.was_removed;
    const std::string what = settings_.target + (lost.was_removed ? ": " + lost.name + " was removed there while it was copied, and not by its recorder."
                                                                  : " does not say what became of " + lost.name + " there.");
    if (outcome_.failure) settings_.tell(outcome_.failure->text);
    outcome_.failure = Error{what + (lost.copy.empty() ? " What had come of it was not worth replacing the file here."
                                                       : " What had come of it is in " + lost.copy.string() + ", which is cut off.")};
  }
  if (is_recording() && is_all_told && !end.is_all() && end.files().empty()) {
    settings_.tell(settings_.target + " does not say what became of the files there. They are not removed.");
    return false;
  }
  return is_all_told;
}

void Worker::discard() {
  proto::RemoteRequest request;
  request.mutable_discard()->set_recording(recording_);
  ask(request);
  began_ = Clock::now();
  state_ = State::kDiscarding;
}

WorkOutcome work_on(const WorkSettings& settings) { return Worker(settings).run(); }

}  // namespace lanescope::remote

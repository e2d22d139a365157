#include "collector/remote/serve.h"

#include <csignal>
#include <optional>

#include "link/protocol.h"
#include "there/command.h"
#include "there/followed.h"
#include "there/recordings.h"

namespace lanescope::remote {
namespace {

using namespace std::chrono_literals;

// The signal of a request to end; older lanescopes name none.
int signal_of(const proto::RemoteRequest::Stop& stop) {
  const int signal = static_cast<int>(stop.signal());
  return signal == SIGTERM || signal == SIGQUIT ? signal : SIGINT;
}

// One link, from the greeting to its end. At most one recording or file is followed, and one command runs.
class Server {
 public:
  Server(Link link, Recordings recordings, const ServeSettings& settings) : link_(std::move(link)), recordings_(std::move(recordings)), settings_(settings) {}

  Result<void> run() {
    proto::RemoteReply greeting;
    greeting.mutable_greeting()->set_protocol(kProtocol);
    greeting.mutable_greeting()->set_version(settings_.version);
    greeting.mutable_greeting()->set_names_requests(true);
    link_.send(greeting);
    while (!link_.is_closed() && link_.silence() < settings_.patience) {
      link_.move(is_busy() ? settings_.look : 1'000ms);
      while (const std::optional<std::string> message = link_.next())
        if (const Result<void> taken = take(*message); !taken) return say_last(taken.error());
      if (followed_ && !followed_->send_some(link_)) followed_.reset();
      if (command_ && !command_->send_some(link_)) command_.reset();
      if (link_.unspoken() > kPulse && link_.unsent() == 0) send_pulse();
    }
    if (!link_.reader().problem().empty()) return Error{"What came was " + link_.reader().problem() + "."};
    return {};
  }

 private:
  [[nodiscard]] bool is_busy() const { return followed_ || command_; }

  void send_pulse() {
    proto::RemoteReply pulse;
    pulse.mutable_pulse();
    link_.send(pulse);
  }

  // `number`: of the request that is answered; 0 if there is none.
  static proto::RemoteReply answer_of(std::uint32_t number, const Result<void>& result) {
    proto::RemoteReply reply;
    reply.set_request(number);
    if (result) {
      reply.mutable_done();
    } else {
      reply.mutable_refusal()->set_sentence(result.error().text);
      reply.mutable_refusal()->set_is_usage(result.error().kind == ErrorKind::kUsage);
    }
    return reply;
  }

  void answer(std::uint32_t number, const Result<void>& result) { link_.send(answer_of(number, result)); }

  void discard(std::uint32_t number, const std::string& recording) {
    const Result<void> discarded = recordings_.discard(recording);
    proto::RemoteReply reply = answer_of(number, discarded);
    if (!discarded) reply.mutable_refusal()->set_is_kept(recordings_.folder_of(recording).has_value());
    link_.send(reply);
  }

  Result<void> say_last(const Error& error) {
    answer(0, error);
    for (int attempt = 0; attempt < 20 && link_.unsent() > 0 && !link_.is_closed(); ++attempt) link_.move(50ms);
    return error;
  }

  // Fails if it makes no sense to continue.
  Result<void> take(const std::string& message) {
    proto::RemoteRequest request;
    if (!request.ParseFromString(message)) return Error{"A request could not be understood."};
    using Case = proto::RemoteRequest;
    if (request.request_case() == Case::kGreeting) {
      is_greeted_ = request.greeting().protocol() == kProtocol;
      if (is_greeted_) return {};
      return Error{"The other side speaks another protocol."};
    }
    if (!is_greeted_) return Error{"A request came before the greeting."};
    carry_out(request);
    return {};
  }

  void carry_out(const proto::RemoteRequest& request) {
    using Case = proto::RemoteRequest;
    const std::uint32_t number = request.number();
    if (request.request_case() == Case::kRecord) answer(number, recordings_.start(request.record(), settings_.program));
    if (request.request_case() == Case::kStop) answer(number, recordings_.stop(request.stop().recording(), signal_of(request.stop())));
    if (request.request_case() == Case::kSignal) recordings_.pass_on(request.signal().recording(), static_cast<int>(request.signal().signal()));
    if (request.request_case() == Case::kDiscard) discard(number, request.discard().recording());
    if (request.request_case() == Case::kTaken && followed_) followed_->take(request.taken());
    if (request.request_case() == Case::kReceived && followed_) followed_->take(request.received());
    if (request.request_case() == Case::kFollow) follow(number, request.follow());
    if (request.request_case() == Case::kRun) {
      command_.reset();
      begin(command_, number, Command::start(request.run(), number, settings_.program));
    }
  }

  void follow(std::uint32_t number, const proto::RemoteRequest::Follow& request) {
    followed_.reset();
    Result<Followed> followed = Followed::begin(request, number, recordings_, settings_.outlines);
    if (followed) return void(followed_.emplace(std::move(*followed)));
    proto::RemoteReply reply = answer_of(number, followed.error());
    const bool is_recording = request.file().empty();
    reply.mutable_refusal()->set_is_gone(is_recording && !recordings_.folder_of(request.recording()).has_value());
    link_.send(reply);
  }

  template <typename Work>
  void begin(std::optional<Work>& place, std::uint32_t number, Result<Work> work) {
    place.reset();
    if (work)
      place.emplace(std::move(*work));
    else
      answer(number, work.error());
  }

  Link link_;
  Recordings recordings_;
  const ServeSettings& settings_;
  bool is_greeted_ = false;
  std::optional<Followed> followed_;
  std::optional<Command> command_;
};

const char* state_word(Progress progress) {
  switch (progress) {
    case Progress::kRuns:
      return "runs";
    case Progress::kEnded:
      return "ended";
    case Progress::kElsewhere:
      return "elsewhere";
    case Progress::kUnknown:
      return "unknown";
    case Progress::kLost:
      break;
  }
  return "lost";
}

}  // namespace

Result<void> serve(channel::FileDescriptor in, channel::FileDescriptor out, const ServeSettings& settings) {
  Link link(std::move(in), std::move(out), kMostToThere);
  Result<Recordings> recordings = Recordings::open();
  if (!recordings) {
    proto::RemoteReply reply;
    reply.mutable_refusal()->set_sentence(recordings.error().text);
    link.send(reply);
    link.move(100ms);
    return recordings.error();
  }
  return Server(std::move(link), std::move(*recordings), settings).run();
}

Result<std::vector<KeptRecording>> kept_recordings() {
  const Result<Recordings> recordings = Recordings::open();
  if (!recordings) return recordings.error();
  std::vector<KeptRecording> kept;
  for (const std::string& name : recordings->names()) {
    const Result<std::filesystem::path> folder = recordings->folder_of(name);
    if (!folder) continue;  // it was removed just now
    const Progress progress = recordings->state_of(*folder).progress;
    KeptRecording recording{name, state_word(progress), 0};
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(*folder, failed); !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
      std::error_code gone;
      const std::uint64_t size = entry->path().extension() == ".trace" ? std::filesystem::file_size(entry->path(), gone) : 0;
      if (!gone) recording.bytes += size;
    }
    kept.push_back(std::move(recording));
  }
  return kept;
}

}  // namespace lanescope::remote

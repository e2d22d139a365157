// The near end of a link, and the only owner of its state. It makes links, one after the other, until the task is done or given up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/remote/remote_work.h"
#include "here/copies.h"
#include "here/transport.h"
#include "lanescope/remote.pb.h"
#include "link/link.h"

namespace lanescope::remote {

// For lines from another machine: whether the last one may be incomplete.
enum class TextExtent { kGoesOn, kWhole };

class Worker {
 public:
  explicit Worker(const WorkSettings& settings);
  WorkOutcome run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class State {
    kGreeting,        // a link was started; the other side has not greeted yet
    kStarting,        // it was asked to start the recording
    kFollowing,       // it sends what is there
    kDiscarding,      // everything is here; it was asked to remove its files
    kToBeAskedAgain,  // it must be told what is here already. This needs another link, because data is on its way on this one
    kBroken,          // there is no link
    kOver,
  };
  struct Connection {
    Transport transport;
    Link link;
  };

  bool connect();
  void talk();
  void pause();
  void lose_link();
  void explain_no_answer();
  void fail(Error error);

  void take(const std::string& message);
  void take_greeting(const proto::RemoteReply& reply);
  void take_in_order(const proto::RemoteReply& reply);
  void take_refusal(const proto::RemoteReply& reply);
  void take_done(const proto::RemoteReply& reply);
  void take_standing(const proto::RemoteReply::Standing& standing);
  void take_text(const proto::RemoteReply::Text& text);
  void take_end(const proto::RemoteReply::End& end);
  // ask() sends a request. asked() returns which request an answer belongs to, and stops waiting for it; nothing if no such request was made.
  void ask(proto::RemoteRequest& request);
  std::optional<proto::RemoteRequest::RequestCase> asked(const proto::RemoteReply& answer);
  void request();
  void follow();
  void discard();
  // Says which files are missing there although their recorder did not remove them. Returns true if the files there may be removed.
  bool tell_lost(const proto::RemoteReply::End& end);
  void look_at_wish();
  void pass_signals_on();
  // Returns how long the next look may be delayed.
  std::chrono::milliseconds look_at_readers();
  [[nodiscard]] bool says_taken() const { return task<NewRecording>() != nullptr && settings_.reading; }
  void tell_received();
  void tell_noise();
  // Keeps a line that is for our caller. Returns false for others.
  bool take_marked(const std::string& line);
  void keep_link_alive();
  void print_transport(TextExtent extent);

  [[nodiscard]] bool is_recording() const;
  template <typename T>
  [[nodiscard]] const T* task() const {
    return std::get_if<T>(&settings_.task);
  }

  struct Asked {
    std::uint32_t number;
    proto::RemoteRequest::RequestCase what;
  };

  const WorkSettings& settings_;
  State state_ = State::kBroken;
  std::optional<Connection> connection_;
  Copies copies_;
  std::uint64_t printed_[2] = {0, 0};      // bytes of each TextStream
  std::optional<std::string> told_taken_;  // last message about what was taken, on this link
  std::uint64_t received_ = 0;             // bytes of files, since the last request to follow
  std::uint64_t told_received_ = 0;
  WorkOutcome outcome_;
  std::string recording_;
  std::vector<Asked> unanswered_;  // on this link, in order
  std::uint32_t asked_ = 0;        // on this link
  bool names_requests_ = false;    // the other side repeats the request's number in its answers
  bool was_greeted_ = false;       // on any link
  bool noise_is_told_ = false;
  bool is_break_told_ = false;
  bool is_program_missing_ = false;  // according to messages from there
  bool may_have_begun_ = false;      // the new recording was requested, and not refused
  bool has_begun_ = false;           // the answer says so
  bool is_stop_wished_ = false;
  bool is_stop_sent_ = false;  // on this link
  bool is_all_here_ = false;   // copies are equal; the recording there is no longer needed
  int differing_ends_ = 0;
  int lost_discards_ = 0;
  std::string transport_line_;              // last line of the transport's messages, not ended yet
  Clock::time_point began_ = Clock::now();  // start of this link, or of its state; while first_bytes are sent, when some were
  std::size_t unsent_ = 0;                  // at the last look
  // Smallest offset of our clock to the clock there, on this link. A larger offset is a delay of the link.
  std::optional<std::chrono::milliseconds> least_offset_;
  Clock::time_point linked_ = Clock::now();  // when the last useful link broke
  std::chrono::milliseconds pause_;
};

}  // namespace lanescope::remote

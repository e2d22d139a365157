// The near end of a link, and the only owner of its state: it makes links, one after the other, until the task is done or given up.
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

class Worker {
 public:
  explicit Worker(const WorkSettings& settings);
  WorkOutcome run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class State {
    kGreeting,        // a link was begun; the other side has not greeted yet
    kStarting,        // it was asked to start the recording
    kFollowing,       // it sends what there is
    kDiscarding,      // all is here; it was asked to remove what is there
    kToBeAskedAgain,  // what is here already has to be told: on another link, as much is on its way on this one
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
  // Sends what is answered; and which of these an answer is of, which is not waited for any more then. None: of nothing that was asked.
  void ask(proto::RemoteRequest& request);
  std::optional<proto::RemoteRequest::RequestCase> asked(const proto::RemoteReply& answer);
  void request();
  void follow();
  void discard();
  // What is gone there without its recorder's doing is said. Returns whether what is there may be removed.
  bool tell_lost(const proto::RemoteReply::End& end);
  void look_at_wish();
  void pass_signals_on();
  // Returns how long may be waited for the next look.
  std::chrono::milliseconds look_at_readers();
  [[nodiscard]] bool says_taken() const { return task<NewRecording>() != nullptr && settings_.reading; }
  void tell_noise();
  void keep_link_alive();
  void print_transport(bool is_last);

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
  std::optional<std::string> told_taken_;  // on this link
  WorkOutcome outcome_;
  std::string recording_;
  std::vector<Asked> unanswered_;  // on this link, in order
  std::uint32_t asked_ = 0;        // on this link
  bool names_requests_ = false;    // the other side, in its answers
  bool was_greeted_ = false;       // on any link
  bool noise_is_told_ = false;
  bool is_program_missing_ = false;  // by what was said there
  bool may_have_begun_ = false;      // the new recording: it was asked for, and not refused
  bool has_begun_ = false;           // it was answered so
  bool is_stop_wished_ = false;
  bool is_stop_sent_ = false;  // on this link
  bool is_all_here_ = false;   // copies are equal; the recording there is not needed any more
  int differing_ends_ = 0;
  int lost_discards_ = 0;
  std::string transport_line_;                             // begun, not ended
  Clock::time_point began_ = Clock::now();                 // this link, or its state
  std::optional<std::chrono::milliseconds> least_offset_;  // of our clock to the one there, on this link: what is more, the link holds back
  Clock::time_point linked_ = Clock::now();                // when one that was of use broke
  std::chrono::milliseconds pause_;
};

}  // namespace lanescope::remote

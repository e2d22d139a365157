#include "processes/unfollowed/unfollowed.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "clock.h"
#include "collector/attach/process_text.h"

namespace lanescope::session {

// Nothing if the process is gone, because its number may be another's by now.
std::optional<UnfollowedProcesses::Process> UnfollowedProcesses::process_of(const std::string& who) {
  constexpr std::size_t kStart = 22;  // field of proc(5)
  Process process;
  if (who.empty() || std::from_chars(who.data() + 1, who.data() + who.size(), process.pid).ec != std::errc()) return std::nullopt;
  process.start = attach::process_stat("/proc/" + std::to_string(process.pid)).number(kStart);
  if (process.start == 0) return std::nullopt;
  return process;
}

void UnfollowedProcesses::write(const std::string& sentence) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(monotonic_now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(proto::COMPONENT_SESSION);
  diagnostic.set_state(proto::STATE_FAILED);
  diagnostic.set_text(sentence);
  diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
  log_.write({proto::FRAME_DIAGNOSTIC}, diagnostic);
}

void UnfollowedProcesses::add(const std::string& who, const std::string& reason, Missing missing) {
  constexpr std::uint64_t kNamed = 16;
  constexpr std::size_t kMostKnown = 65'536;
  const std::optional<Process> process = process_of(who);
  const bool is_known = process && counted_.contains(*process);
  if (process && counted_.size() < kMostKnown) counted_.insert(*process);
  if (!is_known) ++count_;
  if (++sentences_ > kNamed) return;
  if (!is_known) ++written_;
  const std::string sentence = who +
                               (missing == Missing::kAll ? ": this process could not be followed, so nothing is recorded of what it did: "
                                                         : ": this process could not be followed in all that it did: ") +
                               reason;
  write(sentence);
  report_(sentence);
}

void UnfollowedProcesses::write_others() {
  if (count_ == written_) return;
  write("Of " + std::to_string(count_ - written_) + " more processes nothing is recorded: they could not be followed.");
  written_ = count_;
}

std::string reason_of(int problem) {
  switch (problem) {
    case EMFILE:
      return "it has no file descriptor left by which it could report. Allow it more (ulimit -n) and record again.";
    case ENFILE:
      return "the system has no file descriptor left by which it could report. Close other programs and record again.";
    case ENOMEM:
      return "it has no room for the memory in which it would report. Allow it more (ulimit -v, or ulimit -l where it locks its memory) and record again.";
    case EPERM:
      return "its seccomp filter has the kernel end it for what joining the recording takes. Its threads can be recorded from outside (-t none).";
    case EAFNOSUPPORT:
      return "it may have no socket by which it could report, as under a seccomp filter that refuses them. Its threads can be recorded from outside (-t none).";
    case ELIBACC:
      return "it was forked while another thread's loader was at work on the agent, which it has half loaded. Make an NVTX or CUDA call before the first fork, "
             "or record with -t osrt as well, by which the agent is there before.";
    case ENOEXEC:
      return "it became another program under a seccomp filter that would have the kernel end it for what an agent does: of that program nothing is recorded. "
             "Attach to it, or record its threads from outside (-t none).";
    case EAGAIN:
      return "so many others reported at the same time that it gave up.";
    default:
      return std::string("it can't reach the recorder (") + std::strerror(problem) +
             "): the recorder's socket lies in another network or behind a boundary of its own.";
  }
}

}  // namespace lanescope::session

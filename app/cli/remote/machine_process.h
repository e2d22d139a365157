// A lanescope process that records on one of several machines.
//
// What it prints comes to us by pipes, so that each line can be printed here with the machine's name before it. Its standard input is a socket to us if
// somebody is here who can answer: it asks there whether a recorder may be copied, and waits for the answer. If we are killed, it gets SIGHUP, and leaves what
// runs there as it is.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>

#include "collector/channel/file_descriptor.h"
#include "command.h"
#include "model/file/result.h"

namespace lanescope::cli {

// What is said on the socket: a byte each.
inline constexpr char kMayCopy = '?', kAnswerYes = 'y', kAnswerNo = 'n';

enum class Questions {
  kAnswered,  // somebody is here
  kNone,
};

struct MachineProcess {
  pid_t process = 0;
  std::array<channel::FileDescriptor, 2> texts;  // to be read: of its standard output and of its standard error
  channel::FileDescriptor questions;             // none without questions
  std::optional<int> status;                     // as waitpid() has it, once it has ended
};

// Starts this program with these arguments, the first of which is its name, and this signal mask. One thread may run.
Result<MachineProcess> start_machine_process(const Arguments& arguments, const sigset_t& mask, Questions questions);

}  // namespace lanescope::cli

#include "remote/question.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <iostream>

#include "remote/machine_process.h"

namespace lanescope::cli {
namespace {

// True once standard input has something to read.
bool await_answer(const std::function<bool()>& goes_on) {
  constexpr int kMilliseconds = 100;  // a signal is seen between two looks
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (goes_on())
    if (poll(&input, 1, kMilliseconds) > 0) return true;
  return false;
}

}  // namespace

void ask_whether_to_copy(const std::string& target) {
  std::cerr << "lanescope: Copy lanescope " LANESCOPE_VERSION " to " << target << ", into ~/.cache/lanescope/recorders there? [y/N] " << std::flush;
}

bool is_answered_by_yes() {
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

bool is_copy_wished(const std::string& target, const std::function<bool()>& goes_on) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return false;
  ask_whether_to_copy(target);
  if (await_answer(goes_on)) return is_answered_by_yes();
  std::cerr << '\n';
  return false;
}

bool is_copy_wished_by_starter(const std::function<bool()>& goes_on) {
  char answer = kAnswerNo;
  if (send(STDIN_FILENO, &kMayCopy, 1, MSG_NOSIGNAL) != 1) return false;  // it has given us no socket: nobody is there to answer
  return await_answer(goes_on) && recv(STDIN_FILENO, &answer, 1, 0) == 1 && answer == kAnswerYes;
}

}  // namespace lanescope::cli

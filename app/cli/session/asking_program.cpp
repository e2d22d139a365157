#include "session/asking_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace lanescope::cli {

AskingProgram::AskingProgram(int pipe) : pipe_(pipe) {
  if (pipe_ < 0) return;
  fcntl(pipe_, F_SETFD, FD_CLOEXEC);  // a process that we start must not hold its end open
  if (fork() > 0) _exit(0);
  tell("recorder", std::to_string(getpid()));
}

AskingProgram::~AskingProgram() {
  if (pipe_ >= 0) close(pipe_);
}

void AskingProgram::tell(std::string_view word, std::string_view value) const {
  if (pipe_ < 0) return;
  std::string record(word);
  record.append(" ").append(value).push_back('\0');
  for (std::size_t written = 0; written < record.size();) {
    const ssize_t now = write(pipe_, record.data() + written, record.size() - written);
    if (now < 0 && errno != EINTR) return;  // without a reader, nobody needs the answer
    written += static_cast<std::size_t>(now > 0 ? now : 0);
  }
}

}  // namespace lanescope::cli

// A child that runs attach_target (or another program) with pipes for input and output.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace lanescope::test {

class RunningTarget {
 public:
  explicit RunningTarget(std::vector<std::string> command) {
    int input[2];
    int output[2];
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(input[0], STDIN_FILENO);
      dup2(output[1], STDOUT_FILENO);
      std::vector<char*> arguments;
      for (std::string& argument : command) arguments.push_back(argument.data());
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(input[0]);
    close(output[1]);
    input_ = input[1];
    output_ = output[0];
  }
  ~RunningTarget() {
    if (pid_ > 0 && !ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close_input();
    close(output_);
  }
  RunningTarget(const RunningTarget&) = delete;
  RunningTarget& operator=(const RunningTarget&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  void send(const std::string& text) const { static_cast<void>(!write(input_, text.data(), text.size())); }
  void close_input() {
    if (input_ >= 0) close(input_);
    input_ = -1;
  }

  // Returns once the kernel shows that the main thread sleeps in this system call.
  void wait_until_in(long system_call) const {
    long number = -1;
    while (number != system_call && kill(pid_, 0) == 0) {
      std::ifstream file("/proc/" + std::to_string(pid_) + "/syscall");
      if (!(file >> number)) number = -1;
    }
  }
  // Returns once it runs the program and has this number of threads.
  void wait_for_threads(std::size_t count) const {
    const std::string own = name_of(getpid());
    for (;;) {
      std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
      std::size_t threads = 0;
      for (std::string line; std::getline(file, line);)
        if (line.starts_with("Threads:")) threads = std::stoul(line.substr(8));
      if (threads >= count && name_of(pid_) != own) return;
    }
  }

  // The next line of its output, without the line feed; empty at its end.
  [[nodiscard]] std::string read_line() const {
    std::string line;
    for (char letter = 0; read(output_, &letter, 1) == 1 && letter != '\n';) line += letter;
    return line;
  }

  // Reads all remaining output and waits for the end. Returns the wait status.
  int finish(std::string& output) {
    char buffer[256];
    for (ssize_t count; (count = read(output_, buffer, sizeof buffer)) > 0;) output.append(buffer, static_cast<std::size_t>(count));
    int status = 0;
    waitpid(pid_, &status, 0);
    ended_ = true;
    return status;
  }

 private:
  static std::string name_of(pid_t pid) {
    std::string name;
    std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
    return name;
  }

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  bool ended_ = false;
};

}  // namespace lanescope::test

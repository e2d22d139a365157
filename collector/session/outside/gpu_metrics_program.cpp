#include "outside/gpu_metrics_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "collector/session/gpu_metrics.h"
#include "file_descriptor.h"
#include "processes/proc.h"

extern char** environ;

namespace lanescope::session {

Result<std::vector<std::string>> gpu_metrics_command() {
  std::vector<std::string> words;
  if (const char* variable = std::getenv("LANESCOPE_GPU_METRICS"); variable != nullptr) {
    std::istringstream text(variable);
    for (std::string word; text >> word;) words.push_back(word);
    if (!words.empty()) return words;
  }
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "lanescope-gpu-metrics";
  if (!std::filesystem::exists(program, ignored))
    return Error{"GPU metrics can't be sampled: " + program.string() + " is not there. Install Lanescope whole, or set LANESCOPE_GPU_METRICS to the program."};
  return std::vector<std::string>{program.string()};
}

Result<std::string> ask_gpu_metrics(const std::vector<std::string>& question, std::chrono::milliseconds patience) {
  Result<std::vector<std::string>> command = gpu_metrics_command();
  if (!command) return command.error();
  command->insert(command->end(), question.begin(), question.end());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{"No pipe could be made."};
  FileDescriptor answer(ends[0]), its_output(ends[1]);
  std::vector<char*> arguments;
  for (std::string& argument : *command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, its_output.get(), STDOUT_FILENO);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  its_output.reset();
  if (failure != 0) return Error{"GPU metrics can't be sampled: " + command->front() + " could not be started."};
  std::string text;
  char piece[4096];
  for (ssize_t count = 1; count != 0;) {
    pollfd readable{answer.get(), POLLIN, 0};
    const int ready = poll(&readable, 1, static_cast<int>(patience.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      kill(pid, SIGKILL);
      wait_for_in_background(pid);  // in a hanging driver, it ends when the driver continues
      return Error{"GPU metrics can't be sampled: " + command->front() + " has not answered in " + std::to_string(patience.count() / 1000) +
                   " s. The driver may hang: see whether nvidia-smi answers."};
    }
    count = read(answer.get(), piece, sizeof(piece));
    if (count < 0 && errno != EINTR) break;
    if (count > 0) text.append(piece, static_cast<std::size_t>(count));
  }
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace lanescope::session

#include "outside/own_program.h"

#include <spawn.h>

#include <csignal>

extern char** environ;

namespace lanescope::session {

pid_t start_own_program(const std::vector<std::string>& words, std::initializer_list<Handed> descriptors) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const Handed& each : descriptors) posix_spawn_file_actions_adddup2(&actions, each.ours, each.theirs);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failure == 0 ? pid : -failure;
}

}  // namespace lanescope::session

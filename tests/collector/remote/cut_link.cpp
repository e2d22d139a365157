// cut_link STATE PROGRAM ARGUMENTS...: a transport that is cut. Runs the program and passes on its standard input and output, until as many bytes have gone one
// way as the first line of the file STATE says ("out 17", "in 40"). That line is then removed. If no line is left, passes on everything. A cut is like a broken
// link: both ways end at once, and the program is killed. "rate 50000" instead: a slow link, over which so many bytes go in a second on the way out, until
// the file is removed.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct Cut {
  bool is_out = true;
  std::uint64_t after = UINT64_MAX;
  std::uint64_t rate = 0;  // bytes in a second; 0: as fast as they come
};

Cut next_cut(const char* path) {
  std::vector<std::string> lines;
  {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  if (lines.empty()) return {};
  if (lines.front().starts_with("rate ")) return {.rate = std::stoull(lines.front().substr(5))};
  std::ofstream file(path);
  for (std::size_t i = 1; i < lines.size(); ++i) file << lines[i] << '\n';
  const std::size_t space = lines.front().find(' ');
  return {lines.front().starts_with("out"), std::stoull(lines.front().substr(space + 1))};
}

// Passes on the available bytes; false at their end.
bool pass(int from, int to, std::uint64_t& room) {
  char bytes[4096];
  const ssize_t size = read(from, bytes, std::min<std::uint64_t>(sizeof(bytes), room));
  if (size <= 0) return false;
  room -= static_cast<std::uint64_t>(size);
  for (ssize_t written = 0; written < size;) {
    const ssize_t now = write(to, bytes + written, static_cast<std::size_t>(size - written));
    if (now <= 0) return false;
    written += now;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  Cut cut = next_cut(arguments[1]);
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) return 1;
  const pid_t program = fork();
  if (program == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
    execvp(arguments[2], arguments + 2);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  std::uint64_t room_in = cut.is_out ? UINT64_MAX : cut.after, room_out = cut.is_out ? cut.after : UINT64_MAX;
  int from_here = STDIN_FILENO;
  bool goes_on = true;
  auto free_at = std::chrono::steady_clock::now();  // when the link has carried what it was given
  while (goes_on && room_in > 0 && room_out > 0) {
    const auto now = std::chrono::steady_clock::now();
    const int wait = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(std::max(free_at, now) - now).count());
    pollfd ends[2] = {{from_here, POLLIN, 0}, {wait > 0 ? -1 : out[0], POLLIN, 0}};
    if (poll(ends, 2, wait > 0 ? wait : -1) < 0) continue;
    if (cut.rate > 0 && access(arguments[1], F_OK) != 0) cut.rate = 0;
    const std::uint64_t room_before = room_out;
    if (ends[1].revents != 0) goes_on = pass(out[0], STDOUT_FILENO, room_out);
    if (cut.rate > 0) free_at = std::max(free_at, now) + std::chrono::nanoseconds((room_before - room_out) * 1'000'000'000 / cut.rate);
    if (ends[0].revents == 0 || pass(from_here, in[1], room_in)) continue;
    close(in[1]);
    from_here = -1;
  }
  if (room_in == 0 || room_out == 0) kill(program, SIGKILL);
  int status = 0;
  waitpid(program, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

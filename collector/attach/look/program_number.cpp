#include "collector/attach/program_number.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "collector/attach/process_text.h"

namespace lanescope::attach {
namespace {

// Fields of /proc/PID/stat, numbered as in proc(5).
constexpr std::size_t kParent = 4;
constexpr std::size_t kStackStart = 28;

std::uint64_t address_of_random(const std::string& folder) {
  constexpr std::size_t kMostAuxiliary = 4096;
  const std::string auxiliary = process_text(folder + "/auxv", kMostAuxiliary);
  std::uint64_t address = 0;
  std::uint64_t entry[2];
  for (std::size_t at = 0; at + sizeof(entry) <= auxiliary.size(); at += sizeof(entry)) {
    std::memcpy(entry, auxiliary.data() + at, sizeof(entry));
    if (entry[0] == AT_RANDOM) address = entry[1];
  }
  return address;
}

// The first eight of the random bytes; 0 if they can't be read.
std::uint64_t random_bytes_of(const std::string& folder) {
  const std::uint64_t address = address_of_random(folder);
  const int memory = address != 0 ? open((folder + "/mem").c_str(), O_RDONLY | O_CLOEXEC) : -1;
  if (memory < 0) return 0;
  std::uint64_t random = 0;
  if (pread(memory, &random, sizeof(random), static_cast<off_t>(address)) != sizeof(random)) random = 0;
  close(memory);
  return random;
}

}  // namespace

ProgramState program_state(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  ProcessStat stat = process_stat(folder);
  ProgramState state;
  state.parent = static_cast<pid_t>(stat.number(kParent));
  if (stat.state() == '\0' || stat.state() == 'Z' || stat.state() == 'X') return state;
  state.runs = true;
  state.name = std::move(stat.name);
  state.number.stack = stat.number(kStackStart);
  if (state.number.is_known()) state.number.random = random_bytes_of(folder);
  return state;
}

std::uint64_t address_of_random(pid_t pid) { return address_of_random("/proc/" + std::to_string(pid)); }

}  // namespace lanescope::attach

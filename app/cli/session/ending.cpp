#include "session/ending.h"

#include <unistd.h>

#include <atomic>
#include <iostream>

#include "collector/session/end_by_signal.h"

namespace lanescope::cli {
namespace {

int ending_signal = 0;
constexpr int kNoCode = -1;
std::atomic<int> code_of_program = kNoCode;

// Called for uncaught exceptions. Memory may be short, so that nothing is allocated or destroyed.
[[noreturn]] void end_with_kept_code() noexcept {
  constexpr std::string_view kSentence =
      "lanescope: Not all that was to follow the program's end could be done, most likely for want of memory or of threads.\n";
  static_cast<void>(write(STDERR_FILENO, kSentence.data(), kSentence.size()));
  _exit(code_of_program);
}

}  // namespace

void keep_code(int code) noexcept {
  code_of_program = code;
  std::set_terminate(end_with_kept_code);
}

std::optional<int> kept_code() noexcept {
  const int code = code_of_program;
  return code == kNoCode ? std::nullopt : std::optional(code);
}

void say_not_made(std::string_view what, std::string_view why) noexcept {
  std::cerr.clear();  // clears the errors of output that failed for lack of memory
  std::cerr << "lanescope: " << what << " could not be made: " << why << ".\n";
}

void end_by(int signal) noexcept { ending_signal = signal; }

void end_as_told() noexcept {
  if (ending_signal != 0) session::end_by_signal(ending_signal);
}

}  // namespace lanescope::cli

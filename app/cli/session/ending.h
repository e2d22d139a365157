// How this process ends, if its exit code does not say all of it.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string_view>

namespace lanescope::cli {

// Keeps the exit code of the program that this process ran for somebody, and that has ended. From here on an uncaught exception, on whichever thread, ends
// this process with that code. A later call replaces an earlier one. Any thread.
void keep_code(int code) noexcept;
// The code of the last keep_code(); nothing if there was none.
[[nodiscard]] std::optional<int> kept_code() noexcept;

// Says in one sentence on standard error that `what`, the start of the sentence, could not be made.
void say_not_made(std::string_view what, std::string_view why) noexcept;

// Makes something after the end of a program, whose failure must not have other effects. Returns true on success; otherwise the reason is said. `what`: "An
// outline of the recording".
template <typename Make>
[[nodiscard]] bool is_made(std::string_view what, const Make& make) noexcept {
  try {
    make();
    return true;
  } catch (const std::bad_alloc&) {
    say_not_made(what, "there is not enough memory");
  } catch (const std::exception& failure) {
    say_not_made(what, failure.what());
  }
  return false;
}

// Notes that the signal that came to us ended the program as well: we must end by it, too, once everything is done. Our parent then sees what it would see of
// the program: a shell ends a script or a loop if its child was ended by Ctrl+C, and continues after a child that exits, with whatever code.
void end_by(int signal) noexcept;

// Ends by the signal of the last end_by(), without a core file. Returns if there is none, or if it does not end us, as in a container's first process.
void end_as_told() noexcept;

}  // namespace lanescope::cli

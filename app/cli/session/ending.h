// How this process ends, where its exit code does not say all of it.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string_view>

namespace lanescope::cli {

// The program that this process ran for somebody has ended, and that is its exit code: from here on nothing that is thrown, on whichever thread, ends this
// process with another. A later call replaces an earlier one. Any thread.
void keep_code(int code) noexcept;
// Of the last keep_code(); none before.
[[nodiscard]] std::optional<int> kept_code() noexcept;

// One sentence on standard error: `what`, which begins it, could not be made.
void say_not_made(std::string_view what, std::string_view why) noexcept;

// What is made behind the end of a program fails by itself. Returns whether it did not; why is said then. `what`: "An outline of the recording".
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

// The signal that came to us ended the program as well: we are to end by it, once all is done. Who waits for us is to see what it would see of the program:
// a shell ends a script or a loop where its child was ended by Ctrl+C, and goes on behind one that exits, with whatever code.
void end_by(int signal) noexcept;

// Ends by the signal that end_by() was told last, without a core file. Returns where there is none, or where it ends nobody, as of a container's first process.
void end_as_told() noexcept;

}  // namespace lanescope::cli

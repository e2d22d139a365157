#include <fcntl.h>
#include <unistd.h>

#include "command.h"

namespace {

// Without these three, the first files that we open would take their numbers, and what is printed would go into a trace.
void open_missing_standard_files() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", O_RDWR);  // gets the lowest number that is free, which is this one
}

}  // namespace

int main(int argc, char** argv) {
  open_missing_standard_files();
  return lanescope::cli::run({argv + 1, argv + argc});
}

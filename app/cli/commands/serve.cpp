// lanescope serve: the far end of a link.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <memory>

#include "collector/remote/serve.h"
#include "commands.h"
#include "model/trace/outline.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope::cli {
namespace {

constexpr const char* kServeFooter =
    "It is started by another lanescope (--on TARGET) through ssh, docker exec and the like, and ends with the link. Recordings that\n"
    "it has started run on, in ~/.cache/lanescope/recordings, until they were copied: lanescope fetch --list shows them.";

// Takes standard input and output for the link alone, so that nothing that is printed by mistake comes between its messages.
std::pair<channel::FileDescriptor, channel::FileDescriptor> take_standard_streams() {
  channel::FileDescriptor in(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  close(nothing);
  return {std::move(in), std::move(out)};
}

}  // namespace

int run_serve(Arguments arguments) {
  CLI::App app("Answers another lanescope over standard input and output.", "lanescope serve");
  app.footer(kServeFooter);
  bool stdio = false;
  app.add_flag("--stdio", stdio, "By standard input and output, which is the only way");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (!stdio) return fail({"lanescope serve works over standard input and output alone. Say so: lanescope serve --stdio", ErrorKind::kUsage});
  if (isatty(STDIN_FILENO) != 0) return fail({"lanescope serve answers another lanescope, not a terminal. See: lanescope profile --help", ErrorKind::kUsage});
  std::signal(SIGPIPE, SIG_IGN);
  auto [in, out] = take_standard_streams();
  remote::ServeSettings settings{.program = "/proc/self/exe", .version = LANESCOPE_VERSION};
  settings.outlines = [](const std::filesystem::path& path) -> remote::Outlines {
    constexpr std::uint64_t kMostMemory = 256u << 20;  // beside a program that is being recorded
    SegmentCache& events = SegmentCache::of_process();
    if (events.use().budget > kMostMemory) events.set_budget(kMostMemory);
    const auto outline = std::make_shared<GrowingOutline>(path);
    return [outline](std::size_t most, const std::stop_token& stop) { return outline->frames(most, stop); };
  };
  const Result<void> served = remote::serve(std::move(in), std::move(out), settings);
  return served ? kSuccess : fail(served.error());
}

}  // namespace lanescope::cli

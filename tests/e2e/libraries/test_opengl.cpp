// Frames and debug groups of programs that draw with OpenGL: by Mesa on the processor, in a window of Xvfb.
#include <csignal>
#include <cstdlib>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

#include "../recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

bool runs(const std::string& command) { return std::system(command.c_str()) == 0; }

// A display without a screen, which chooses its number itself; there is none if Xvfb is missing.
class Display {
 public:
  Display() {
    int answers[2];
    if (pipe(answers) != 0) return;
    server_ = fork();
    if (server_ == 0) {
      close(answers[0]);
      execlp("Xvfb", "Xvfb", "-displayfd", std::to_string(answers[1]).c_str(), "-screen", "0", "320x240x24", "-nolisten", "tcp", nullptr);
      _exit(127);
    }
    close(answers[1]);
    char letter = 0;
    while (read(answers[0], &letter, 1) == 1 && letter != '\n') number_ += letter;
    close(answers[0]);
  }
  ~Display() {
    if (server_ <= 0) return;
    kill(server_, SIGTERM);
    waitpid(server_, nullptr, 0);
  }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  [[nodiscard]] bool is_there() const { return !number_.empty(); }
  [[nodiscard]] std::string name() const { return ":" + number_; }

 private:
  pid_t server_ = -1;
  std::string number_;
};

// True if there is a program that can draw here.
bool build(const std::filesystem::path& folder, const Display& display) {
  const std::string program = (folder / "work").string();
  const bool built = runs("cc -O1 -w " LANESCOPE_TEST_PROGRAMS "/interfaces/opengl_frames.c -o " + program + " -lX11 -lGL -ldl 2>/dev/null") &&
                     display.is_there() && runs("DISPLAY=" + display.name() + " LIBGL_ALWAYS_SOFTWARE=1 " + program + " >/dev/null 2>&1");
  if (!built) WARN("there is no Mesa with GLX, or no Xvfb: not tried");
  return built;
}

Ran record(const std::filesystem::path& folder, const Display& display, const std::string& traces, const std::string& way) {
  return run_lanescope(folder, {"profile", "-t", traces, "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x", "./work", way},
                       {{"DISPLAY", display.name()}, {"LIBGL_ALWAYS_SOFTWARE", "1"}});
}

// The payloads of the frames of the trace, each with true if the frame is finished.
std::set<std::pair<std::uint64_t, bool>> frames(const Trace& trace) {
  std::set<std::pair<std::uint64_t, bool>> result;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxProcessRanges) continue;
    CHECK(trace.domain_name(track.key.process, track.key.domain) == "OpenGL");
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        CHECK(trace.name(lane.name(i)) == "frame");
        const NvtxDetail detail = trace.nvtx_detail(lane.detail(i));
        result.insert({detail.payload, detail.finished == Finished::kYes});
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("frames and debug groups of OpenGL are ranges, however the program finds the functions") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  const Display display;
  if (!build(folder, display)) return;
  for (const char* way : {"linked", "dlsym", "address"}) {
    CAPTURE(way);
    const Ran ran = record(folder, display, "opengl", way);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.output, contains_text("pixel 0 0 255\nerror 0\n"));
    const auto trace = load(folder / "x.trace");
    for (const char* group : {"scene", "shadow", "glXSwapBuffers"}) CHECK(count_events(*trace, TrackKind::kNvtxRanges, group) == 3);
    CHECK(count_events(*trace, TrackKind::kNvtxMarks, "drawn") == 3);
    CHECK(frames(*trace) == std::set<std::pair<std::uint64_t, bool>>{{1, true}, {2, true}, {3, false}});
  }
  CHECK(record(folder, display, "nvtx", "linked").code == 0);
  CHECK(count_events(*load(folder / "x.trace"), TrackKind::kNvtxRanges, "scene") == 0);
}

TEST_CASE("a program without OpenGL finds none, and dlsym goes by who calls it") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  // Another library stands before getpid() and finds the next function by RTLD_NEXT, which depends on the caller.
  if (!runs(
          "printf '#define _GNU_SOURCE\\n#include <dlfcn.h>\\nint getpid(void) { int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, \"getpid\"); "
          "return next == getpid ? -1 : next() > 0 ? 17 : -2; }\\n' >'" +
          (folder / "before.c").string() +
          "' && "
          "printf '#define _GNU_SOURCE\\n#include <dlfcn.h>\\n#include <stdio.h>\\nint getpid(void);\\nint main(void) { printf(\"%%d %%d %%d\\\\n\", getpid(), "
          "dlsym(RTLD_DEFAULT, \"glXSwapBuffers\") != 0, dlsym(dlopen(0, RTLD_NOW), \"main\") != 0); return 0; }\\n' >'" +
          (folder / "main.c").string() +
          "' && "
          "cc -shared -fPIC -o '" +
          (folder / "libbefore.so").string() + "' '" + (folder / "before.c").string() +
          "' -ldl && "
          "cc -rdynamic -o '" +
          (folder / "work").string() + "' '" + (folder / "main.c").string() + "' -L'" + folder.string() + "' -lbefore -ldl -Wl,-rpath,'" + folder.string() +
          "'")) {
    WARN("there is no C compiler: not tried");
    return;
  }
  const Ran ran = run_lanescope(folder, {"profile", "-t", "opengl", "-s", "none", "--cpuctxsw", "none", "-f", "-o", "x", "./work"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, contains_text("17 0 1\n"));
}

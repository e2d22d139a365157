// Files of recordings that are removed, moved or overwritten while they grow: the program is not disturbed, and it is said what became of them.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string endings() { return program("lanescope_program_endings").string(); }
std::string endless() { return program("lanescope_program_nvtx_endless").string(); }

}  // namespace

TEST_CASE("a file that is removed while it grows harms nobody") {
  const TemporaryFolder folder;
  LanescopeProcess recording(folder.path(), {"profile", "-o", "gone", endless(), "5"});
  recording.wait_for_line("ready");
  std::filesystem::remove(folder.path() / "gone.trace");
  kill(recording.target(), SIGTERM);
  CHECK(recording.wait() == 5);
}

TEST_CASE("a program that removes its own recording ends as without us, and nobody is told of a file that is not there") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "gone.trace").string();
  const std::vector<std::string> command{"/bin/sh", "-c", "rm -f " + file + "; " + endings() + " exit; echo $?; exit 9"};
  const Ran alone = run_alone(command);
  std::vector<std::string> arguments{"profile", "-o", "gone"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Ran ran = run_lanescope(folder.path(), arguments);
  CHECK(ran.code == alone.code);
  CHECK(ran.output == alone.output);
  CHECK_THAT(ran.messages, contains_text(file + " was removed while it was recorded: what was recorded, "));
  CHECK_THAT(ran.messages, !contains_text("Generated"));
}

TEST_CASE("a recording whose place another file has by its end says where it is, and is not taken for a good one") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "x.trace").string(), kept = (folder.path() / "kept.trace").string();
  struct Case {
    std::string done;  // during the recording
    std::string words;
    std::string left;  // the content at its place
  };
  const std::vector<Case> cases{
      Case{"mv " + file + " " + kept, file + " was moved to " + kept + " while it was recorded: all that was recorded is in the file that was moved.", ""},
      Case{"mv " + file + " " + kept + "; echo other > " + file,
           file + " was moved to " + kept + " while it was recorded, and another file has its name now: ", "other\n"},
      Case{"for i in 1 2 3 4 5 6 7 8 9 10; do " + endings() + " exit; done; rm " + file + "; echo other > " + file,
           file + " was removed while it was recorded, and another file has its name now: what was recorded, 1,100 events, is lost.", "other\n"},
      Case{": > " + file, file + " was overwritten by another program while it was recorded: what was recorded can't be read.", std::string(16, '\0')},
      Case{"until [ $(stat -c %s " + file + ") -gt 400 ]; do sleep 0.02; done; truncate -s 300 " + file,
           file + " was cut by another program while it was recorded: part of what was recorded is lost.", "\x89LST"}};
  const auto& [done, words, left] = cases[GENERATE(0u, 1u, 2u, 3u, 4u)];
  const Ran ran = run_lanescope(folder.path(), {"profile", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", "--stats=true", "--export=csv", "-o", "x", "sh", "-c",
                                                endings() + " exit; " + done + "; exit 0"});
  INFO(ran.messages);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.messages, contains_text(words));
  CHECK_THAT(ran.messages, !contains_text("Generated") && !contains_text("nothing dropped"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.csv"));
  if (std::ifstream there(file); there) {
    std::string beginning(left.size(), ' ');
    there.read(beginning.data(), static_cast<std::streamsize>(left.size()));
    CHECK(beginning == left);
  }
  if (std::filesystem::exists(kept)) CHECK(count_events(*load(kept), TrackKind::kNvtxRanges, "step") == 100);
}

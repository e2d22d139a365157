// Recordings whose file is gone, or unreadable, where they were made, when they end: a copy may be all that is left of them.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "collector/channel/file_descriptor.h"
#include "here/copies.h"
#include "link/block_sums.h"
#include "machines.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::remote;
using lanescope::test::content;
using lanescope::test::Machines;
using lanescope::test::random_bytes;
using lanescope::test::write_file;
namespace fs = std::filesystem;

namespace {

// A shell command that waits for the file, but no longer than the test runs: the test's end removes the folder.
std::string until_there(const fs::path& file) {
  return "while [ -d " + file.parent_path().string() + " ] && ! [ -e " + file.string() + " ]; do sleep 0.02; done";
}

// Copies a recording of a program that runs until `change` was applied to its file. A part of the file is here by then.
template <typename Function>
WorkOutcome copy_and_do(const Machines& machines, std::string& told, Function change) {
  const fs::path go = machines.there() / "go";
  WorkSettings settings = machines.settings(
      NewRecording{"profile", {"--trace=none", "--sample=none", "--cpuctxsw=none"}, {"sh", "-c", "echo begun; " + until_there(go) + "; exit 3"}, ""});
  settings.tell = [&told](const std::string& sentence) { told += sentence + "\n"; };
  settings.wish = [&, is_done = false]() mutable {
    std::error_code missing;
    if (is_done || !fs::exists(machines.here() / "1.trace", missing) || machines.output().empty()) return Wish::kGoOn;
    change(fs::directory_iterator(machines.recordings())->path() / "recording1.trace");
    write_file(go, "");
    is_done = true;
    return Wish::kGoOn;
  };
  return work_on(settings);
}

}  // namespace

TEST_CASE("a recording that can't be read there at its end is kept there and here, and that is said") {
  const Machines machines;
  std::string told;
  const WorkOutcome outcome = copy_and_do(machines, told, [](const fs::path& file) {
    fs::rename(file, file.string() + ".aside");
    REQUIRE(symlink(file.c_str(), file.c_str()) == 0);  // to itself: nobody can open it, not even root
  });
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("recording1.trace can't be read to its end: Too many levels of symbolic links"));
  CHECK_FALSE(outcome.recording.empty());
  CHECK(machines.recordings_there() == 1);
  REQUIRE(outcome.files.size() == 1);
  CHECK(fs::file_size(outcome.files.front().path) > 0);
}

TEST_CASE("a recording that was renamed there while it was copied is not removed") {
  const Machines machines;
  std::string told;
  const WorkOutcome outcome = copy_and_do(machines, told, [](const fs::path& file) { fs::rename(file, file.string() + ".aside"); });
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("recording1.trace.aside is a recording"));
  CHECK(machines.recordings_there() == 1);
  CHECK(outcome.files.size() == 1);
}

TEST_CASE("of a recording that somebody removes while it is copied, what had come is kept as cut off, and that is said") {
  const Machines machines;
  std::string told;
  const WorkOutcome outcome = copy_and_do(machines, told, [](const fs::path& file) { REQUIRE(fs::remove(file)); });
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("recording1.trace was removed there while it was copied") && contains_text("1.trace, which is cut off"));
  CHECK(outcome.recording.empty());
  CHECK(machines.recordings_there() == 0);
  REQUIRE(outcome.files.size() == 1);
  CHECK(fs::file_size(outcome.files.front().path) > 0);
}

TEST_CASE("a recording whose folder is removed there is said to be gone, and not said to be there, nor begun again on the next link") {
  const Machines machines;
  const bool breaks = GENERATE(false, true);  // true: the link breaks at that moment
  const fs::path go = machines.there() / "go", runs = machines.there() / "runs";
  WorkSettings settings = machines.settings(NewRecording{
      "profile", {"--trace=none", "--sample=none", "--cpuctxsw=none"}, {"sh", "-c", "echo run >> " + runs.string() + "; echo begun; " + until_there(go)}, ""});
  settings.wish = [&, is_done = false]() mutable {
    std::error_code missing;
    if (is_done || !fs::exists(machines.here() / "1.trace", missing) || machines.output().empty()) return Wish::kGoOn;
    fs::remove_all(machines.recordings());
    std::ifstream children("/proc/self/task/" + std::to_string(gettid()) + "/children");
    for (pid_t transport = 0; breaks && children >> transport;) kill(transport, SIGKILL);
    is_done = true;
    return Wish::kGoOn;
  };
  const WorkOutcome outcome = work_on(settings);
  write_file(go, "");
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("refuses: "));
  CHECK(outcome.recording.empty());
  CHECK(content(runs) == "run\n");
}

TEST_CASE("a file that is removed while it is copied leaves its copy, as cut off") {
  const Machines machines;
  const std::string bytes = random_bytes(100'000);
  const fs::path file = machines.there() / "file";
  write_file(file, bytes);
  const channel::FileDescriptor writer(open(file.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(flock(writer.get(), LOCK_EX) == 0);  // it is locked as if being written until it is gone
  WorkSettings settings = machines.settings(ForeignFile{file.string()});
  settings.wish = [&file, &machines] {
    std::error_code missing;
    if (fs::exists(machines.here() / "1.trace", missing)) fs::remove(file, missing);
    return Wish::kGoOn;
  };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(outcome.failure);
  REQUIRE(outcome.files.size() == 1);
  CHECK((content(outcome.files.front().path) == bytes));
}

TEST_CASE("a copy that has replaced a file leaves that beside it until the copy is whole, and puts it back where the recorder throws the original away") {
  const Machines machines;
  const fs::path place = machines.here() / "1.trace";
  write_file(place, "earlier");
  Copies copies(
      Copies::Of::kRecording, [&](std::size_t) -> Result<fs::path> { return place; }, Overwrite::kAllow, Beginnings::kRefused);
  proto::RemoteReply::File file;
  file.set_number(1);
  file.set_name("recording1.trace");
  REQUIRE(copies.take(file));
  proto::RemoteReply::Bytes bytes;
  bytes.set_file(1);
  bytes.set_data(random_bytes(20'000));
  REQUIRE(copies.take(bytes));
  REQUIRE(content(place) == bytes.data());
  CHECK(copies.earlier() == std::vector{machines.here() / "1.trace.earlier"});
  proto::RemoteReply::End end;
  const std::string way = GENERATE(as<std::string>{}, "whole", "thrown away", "removed");
  CAPTURE(way);
  if (way == "whole") {
    BlockSums sums;
    sums.append(bytes.data());
    end.add_files()->set_name(file.name());
    end.mutable_files(0)->set_size(sums.size());
    end.mutable_files(0)->set_tail(sums.all());
  }
  if (way == "thrown away") end.add_thrown_away(file.name());
  if (way == "removed") end.add_removed(file.name());
  REQUIRE(copies.are_equal(end));
  REQUIRE(copies.finish());
  CHECK(machines.files_here() == (way == "removed" ? 2u : 1u));
  CHECK((content(place) == (way == "thrown away" ? "earlier" : bytes.data())));
  CHECK(copies.earlier().size() == (way == "removed" ? 1 : 0));
  if (way == "removed") CHECK(content(machines.here() / "1.trace.earlier") == "earlier");
}

TEST_CASE("a recording that its recorder throws away is thrown away here, too") {
  const Machines machines;
  const fs::path program = machines.there() / "program";
  write_file(program, "#!/nowhere/interpreter\n");  // it cannot be started, which shows only after there is a file
  fs::permissions(program, fs::perms::owner_all);
  WorkSettings settings = machines.settings(NewRecording{"profile", {"--trace=nvtx"}, {program.string()}, ""});
  settings.keeps_recording = [] { return true; };
  const WorkOutcome outcome = work_on(settings);
  CHECK_FALSE(outcome.failure);
  CHECK(outcome.code != 0);
  CHECK(machines.files_here() == 0);
  REQUIRE(machines.recordings_there() == 1);
  CHECK(content(machines.recordings() / outcome.recording / "thrown-away") == "recording1.trace\n");
}

TEST_CASE("nothing is removed of which the far side does not say that its recorder has thrown it away") {
  const Machines machines;
  WorkSettings settings = machines.settings(NewRecording{"profile", {}, {"true"}, ""});
  const std::string way = GENERATE(as<std::string>{}, "thrown away", "removed", "unsaid");
  CAPTURE(way);
  settings.command = {test::program("lanescope_test_far_side").string(), "end without file, " + way};
  const WorkOutcome outcome = work_on(settings);
  CHECK(outcome.failure.has_value() == (way != "thrown away"));
  CHECK(outcome.recording.empty() == (way != "unsaid"));
  CHECK(outcome.files.size() == (way == "thrown away" ? 0 : 1));
  CHECK(machines.files_here() == (way == "thrown away" ? 0u : 1u));
  if (way != "thrown away") CHECK(content(machines.here() / "1.trace") == "bytes");
}

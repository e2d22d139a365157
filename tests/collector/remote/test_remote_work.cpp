// Both ends of a link, as processes, with a transport between them that breaks where it is told to; and far sides that are not lanescope.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "collector/remote/signals.h"
#include "machines.h"
#include "model/export/trace_file_export.h"
#include "model/trace/load.h"
#include "model/trace/outline.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::remote;
using lanescope::test::content;
using lanescope::test::Machines;
using lanescope::test::random_bytes;
using lanescope::test::write_file;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::string lines_of_cuts(unsigned seed, int count, unsigned most) {
  std::mt19937 random(seed);
  std::string lines;
  for (int i = 0; i < count; ++i) lines += (random() % 4 == 0 ? "in " : "out ") + std::to_string(50 + random() % most) + "\n";
  return lines;
}

// A file that its writer has locked, as a recorder does, and that grows as long as the writer lives.
class GrowingFile {
 public:
  explicit GrowingFile(const fs::path& path) : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    REQUIRE(flock(descriptor_, LOCK_EX) == 0);
  }
  ~GrowingFile() { close(descriptor_); }
  void append(std::string_view bytes) const { REQUIRE(write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())); }
  void cut(std::uint64_t size) const {
    REQUIRE(ftruncate(descriptor_, static_cast<off_t>(size)) == 0);
    lseek(descriptor_, static_cast<off_t>(size), SEEK_SET);
  }

 private:
  int descriptor_;
};

}  // namespace

TEST_CASE("a link that is cut at any byte, either way, leaves the copy as the file is") {
  const Machines machines;
  const std::string bytes = random_bytes(100);
  write_file(machines.there() / "file", bytes);
  const ForeignFile file{(machines.there() / "file").string()};
  const std::string way = GENERATE(as<std::string>{}, "out ", "in ");
  const std::size_t most = way == "out " ? 290 : 160;  // more than ever goes that way
  for (std::size_t cut = 1; cut < most; ++cut) {
    // One link gets as far as a greeting: otherwise the far side would not be known to be lanescope.
    const WorkOutcome outcome = work_on(machines.settings(file, "out 45\n" + way + std::to_string(cut) + "\n"));
    CAPTURE(cut, outcome.failure ? outcome.failure->text : "");
    REQUIRE_FALSE(outcome.failure);
    REQUIRE(outcome.files.size() == 1);
    REQUIRE(content(outcome.files.front().path) == bytes);
  }
}

TEST_CASE("a link that always breaks after a few thousand bytes brings a file nevertheless") {
  const Machines machines;
  const std::string bytes = random_bytes(12'000);
  write_file(machines.there() / "file", bytes);
  std::string cuts;
  for (int i = 0; i < 40; ++i) cuts += "out 3000\n";
  WorkSettings settings = machines.settings(ForeignFile{(machines.there() / "file").string()}, cuts);
  int breaks_told = 0;
  settings.tell = [&breaks_told](const std::string& sentence) { breaks_told += sentence.find("it is made again") != std::string::npos ? 1 : 0; };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE_FALSE(outcome.failure);
  CHECK((content(outcome.files.front().path) == bytes));
  CHECK(breaks_told == 1);
  const std::string left = machines.cuts_left();
  CHECK(std::count(left.begin(), left.end(), '\n') >= 20);  // it finished without a link that holds
}

TEST_CASE("a file that grows while the link breaks again and again is copied to its end") {
  const Machines machines;
  const std::string bytes = random_bytes(3'000'000);
  std::thread writer;
  {
    auto growing = std::make_unique<GrowingFile>(machines.there() / "file");
    growing->append(std::string_view(bytes).substr(0, 16));
    writer = std::thread([&bytes, growing = std::move(growing)] {
      for (std::size_t at = 16; at < bytes.size(); at += 9'999) {
        growing->append(std::string_view(bytes).substr(at, 9'999));
        std::this_thread::sleep_for(3ms);
      }
    });
  }
  const WorkOutcome outcome = work_on(machines.settings(ForeignFile{(machines.there() / "file").string()}, lines_of_cuts(7, 40, 200'000)));
  writer.join();
  REQUIRE_FALSE(outcome.failure);
  CHECK((content(outcome.files.front().path) == bytes));
}

TEST_CASE("a file whose end is written anew, as an index is, is copied as it is in the end") {
  const Machines machines;
  const std::string bytes = random_bytes(9'000'000);
  std::string last;
  std::thread writer;
  {
    auto growing = std::make_unique<GrowingFile>(machines.there() / "file");
    growing->append(bytes);
    writer = std::thread([&, growing = std::move(growing)] {
      const auto come_to = [&](std::uint64_t size) {
        const auto give_up = std::chrono::steady_clock::now() + 60s;
        std::error_code missing;
        while (!(fs::exists(machines.here() / "1.trace", missing) && fs::file_size(machines.here() / "1.trace", missing) >= size))
          if (std::this_thread::sleep_for(2ms); std::chrono::steady_clock::now() > give_up) return;
      };
      come_to(bytes.size());
      last = bytes.substr(0, 8'500'000) + random_bytes(900'000, 2);
      growing->cut(8'500'000);
      growing->append(std::string_view(last).substr(8'500'000));
    });
  }
  const WorkOutcome outcome = work_on(machines.settings(ForeignFile{(machines.there() / "file").string()}));
  writer.join();
  REQUIRE_FALSE(outcome.failure);
  CHECK((content(outcome.files.front().path) == last));
}

TEST_CASE("a recording runs on and is copied whole, however often the link breaks; its program's words arrive once") {
  const Machines machines;
  const NewRecording recording{"profile",
                               {"--trace=nvtx", "--sample=none", "--cpuctxsw=none"},
                               {"sh", "-c", "i=0; while [ $i -lt 40 ]; do echo line $i; sleep 0.02; i=$((i+1)); done; echo over >&2; exit 9"},
                               ""};
  const unsigned seed = GENERATE(1u, 2u, 3u);
  const WorkOutcome outcome = work_on(machines.settings(recording, "out 45\n" + lines_of_cuts(seed, 30, 500)));
  REQUIRE_FALSE(outcome.failure);
  CHECK(outcome.is_known);
  CHECK(outcome.code == 9);
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += "line " + std::to_string(i) + "\n";
  CHECK(machines.output() == expected);
  CHECK_THAT(machines.messages(), contains_text("over\n") && contains_text("nothing dropped"));
  REQUIRE(outcome.files.size() == 1);
  CHECK(content(outcome.files.front().path).substr(0, 4) == content(test::data_file("cuda_streams.trace")).substr(0, 4));
  CHECK(outcome.recording.empty());
  CHECK(machines.recordings_there() == 0);  // it was removed there once it was here
}

TEST_CASE("words of a program arrive as they are") {
  const Machines machines;
  const std::vector<std::string> words{"", "a b", "it's", "\"q\"", "$HOME $(id) `id`", "line\nfeed", "\\", "*", "-x", "--", "\xff\x01"};
  std::vector<std::string> operands{"sh", "-c", "printf '%s|' \"$@\"", "sh"};
  operands.insert(operands.end(), words.begin(), words.end());
  const WorkOutcome outcome = work_on(machines.settings(NewRecording{"profile", {"--trace=none", "--sample=none", "--cpuctxsw=none"}, operands, ""}));
  REQUIRE_FALSE(outcome.failure);
  std::string expected;
  for (const std::string& word : words) expected += word + "|";
  CHECK(machines.output() == expected);
}

TEST_CASE("who leaves finds the recording there, going on, and fetches it whole") {
  const Machines machines;
  const fs::path go = machines.there() / "go";
  const NewRecording recording{"profile",
                               {"--trace=none", "--sample=none", "--cpuctxsw=none"},
                               {"sh", "-c", "echo begun; until [ -e " + go.string() + " ]; do sleep 0.02; done; echo ended"},
                               ""};
  WorkSettings settings = machines.settings(recording);
  settings.wish = [&machines] { return machines.output().empty() ? Wish::kGoOn : Wish::kLeave; };
  const WorkOutcome left = work_on(settings);
  CHECK(left.was_left);
  REQUIRE_FALSE(left.recording.empty());
  CHECK(machines.recordings_there() == 1);
  machines.forget_output();
  std::ofstream(go).flush();
  const WorkOutcome fetched = work_on(machines.settings(ExistingRecording{left.recording}));
  REQUIRE_FALSE(fetched.failure);
  CHECK(machines.output() == "begun\nended\n");
  CHECK(fetched.code == 0);
  CHECK(fetched.files.size() == 1);
  CHECK(machines.recordings_there() == 0);
}

TEST_CASE("a wish to stop ends the program there, and all that it has done is copied") {
  const Machines machines;
  const std::string program = test::program("lanescope_program_nvtx_endless").string();
  WorkSettings settings = machines.settings(NewRecording{"profile", {"--trace=nvtx", "--sample=none", "--cpuctxsw=none"}, {program, "5"}, ""});
  settings.wish = [&machines] { return machines.output().find("ready") == std::string::npos ? Wish::kGoOn : Wish::kStop; };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE_FALSE(outcome.failure);
  CHECK(outcome.code == 5);
  CHECK_THAT(machines.messages(), contains_text("nothing dropped"));
}

TEST_CASE("a wish to stop reaches what a shell has started there, as Ctrl+C in a terminal does, and each process once") {
  const Machines machines;
  const std::string waits = "echo ready; for i in $(seq 1000); do sleep 0.02; done";
  const std::string inner = "trap \"echo inner; exit 4\" INT; " + waits;
  WorkSettings settings = machines.settings(NewRecording{
      "profile", {"--trace=none", "--sample=none", "--cpuctxsw=none"}, {"sh", "-c", "trap 'echo outer' INT; sh -c '" + inner + "'; echo $?; exit 3"}, ""});
  settings.wish = [&machines] { return machines.output().find("ready") == std::string::npos ? Wish::kGoOn : Wish::kStop; };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE_FALSE(outcome.failure);
  CHECK(outcome.code == 3);
  CHECK(machines.output() == "ready\ninner\nouter\n4\n");
}

TEST_CASE("signals that come here reach the program there, and the one that asks for its end is the one that it gets") {
  const Machines machines;
  const std::string program = "trap 'echo warned' USR1; trap 'echo term; exit 9' TERM; echo ready; for i in $(seq 1000); do sleep 0.02; done";
  WorkSettings settings = machines.settings(NewRecording{"profile", {"--trace=none", "--sample=none", "--cpuctxsw=none"}, {"sh", "-c", program}, ""});
  const auto has_said = [&machines](std::string_view word) { return machines.output().find(word) != std::string::npos; };
  int signals = 0;
  settings.signal = [&] { return has_said("ready") && signals++ == 0 ? std::optional(SIGUSR1) : std::nullopt; };
  settings.wish = [&] { return has_said("warned") ? Wish::kStop : Wish::kGoOn; };
  settings.stop_signal = [] { return SIGTERM; };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE_FALSE(outcome.failure);
  CHECK(outcome.code == 9);
  CHECK(machines.output() == "ready\nwarned\nterm\n");
}

TEST_CASE("signals of a user and of a batch system go to a program there, and none that a far end could be harmed by") {
  for (const int signal : {SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGRTMIN, SIGRTMAX}) CHECK(passes_on(signal));
  for (const int signal : {SIGKILL, SIGSTOP, SIGSEGV, SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE, 0, -1, SIGRTMAX + 1}) CHECK_FALSE(passes_on(signal));
}

TEST_CASE("a wish to stop that meets a broken link ends the program there as soon as there is one again") {
  const Machines machines;
  const std::string program = test::program("lanescope_program_nvtx_endless").string();
  WorkSettings settings =
      machines.settings(NewRecording{"profile", {"--trace=nvtx", "--sample=none", "--cpuctxsw=none"}, {program, "5"}, ""}, "out 4000\nout 300\nout 300\n");
  bool is_broken = false;
  settings.tell = [&is_broken](const std::string& sentence) { is_broken = is_broken || sentence.find("broke") != std::string::npos; };
  settings.wish = [&] { return is_broken ? Wish::kStop : Wish::kGoOn; };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(is_broken);
  REQUIRE_FALSE(outcome.failure);
  CHECK_FALSE(outcome.was_left);
  CHECK(outcome.code == 5);
  CHECK(machines.recordings_there() == 0);
}

TEST_CASE("a file is not copied over itself, nor into itself, by who shares its folder") {
  const Machines machines;
  const std::string bytes = random_bytes(3'000'000);
  const fs::path file = machines.here() / "1.trace";
  write_file(file, bytes);
  std::optional<GrowingFile> writer;
  SECTION("one that has ended, long ago") { fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(40)); }
  SECTION("one that is being recorded") { writer.emplace(file); }
  WorkSettings settings = machines.settings(ForeignFile{file.string()});
  settings.overwrite = GENERATE(Overwrite::kRefuse, Overwrite::kAllow);
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("is the file there itself"));
  CHECK((content(file) == bytes));
  CHECK(machines.files_here() == 1);
  CHECK(outcome.files.empty());
}

TEST_CASE("a recorder that is killed is told, and what it had written is copied") {
  const Machines machines;
  const std::string program = test::program("lanescope_program_nvtx_endless").string();
  WorkSettings settings = machines.settings(NewRecording{"profile", {"--trace=nvtx", "--sample=none", "--cpuctxsw=none"}, {program}, ""});
  bool is_killed = false;
  settings.wish = [&] {
    if (is_killed || machines.output().empty()) return Wish::kGoOn;
    for (const auto& folder : fs::directory_iterator(machines.recordings())) {
      pid_t recorder = 0;
      std::ifstream(folder.path() / "recorder") >> recorder;
      REQUIRE(recorder > 0);
      std::ifstream children("/proc/" + std::to_string(recorder) + "/task/" + std::to_string(recorder) + "/children");
      kill(recorder, SIGKILL);
      for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
    }
    is_killed = true;
    return Wish::kGoOn;
  };
  const WorkOutcome outcome = work_on(settings);
  CAPTURE(outcome.failure ? outcome.failure->text : "");
  REQUIRE_FALSE(outcome.failure);
  CHECK(outcome.is_known);
  CHECK(outcome.signal == SIGKILL);
  CHECK(outcome.files.size() == 1);
}

TEST_CASE("a file here is not replaced unasked, and one that may be is whole until the copy is worth it") {
  const Machines machines;
  write_file(machines.there() / "file", random_bytes(200'000));
  write_file(machines.here() / "1.trace", "mine");
  WorkSettings settings = machines.settings(ForeignFile{(machines.there() / "file").string()}, "out 20000\n");
  settings.overwrite = Overwrite::kRefuse;
  const WorkOutcome refused = work_on(settings);
  REQUIRE(refused.failure);
  CHECK_THAT(refused.failure->text, contains_text("exists already"));
  CHECK(content(machines.here() / "1.trace") == "mine");
  CHECK(machines.files_here() == 1);
  settings = machines.settings(ForeignFile{(machines.there() / "file").string()}, "out 2000\n");
  settings.wish = [&machines] {
    CHECK((content(machines.here() / "1.trace") == "mine" || fs::file_size(machines.here() / "1.trace") >= 16'384));
    return Wish::kGoOn;
  };
  REQUIRE_FALSE(work_on(settings).failure);
  CHECK((content(machines.here() / "1.trace") == content(machines.there() / "file")));
}

TEST_CASE("a file that is no recording is not copied as one") {
  const Machines machines;
  const std::string bytes = GENERATE(as<std::string>{}, "model weights", std::string("SQLite format 3\0", 16) + std::string(100, 'x'), std::string());
  write_file(machines.there() / "file", bytes);
  const WorkOutcome outcome = work_on(machines.settings(ForeignFile{(machines.there() / "file").string()}));
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("command:test refuses: ") && contains_text((machines.there() / "file").string() + " is "));
  CHECK(outcome.failure->kind == ErrorKind::kFailure);
  CHECK(machines.files_here() == 0);
}

TEST_CASE("a recording that has just begun is copied though nothing is in it yet") {
  const Machines machines;
  const std::string bytes = random_bytes(1'000);
  WorkSettings settings = machines.settings(ForeignFile{(machines.there() / "file").string()});
  std::optional<GrowingFile> growing;
  growing.emplace(machines.there() / "file");
  // Called after the far side has named the file, and before any byte of it is here.
  settings.place = [&, place = settings.place](std::size_t number) {
    growing->append(bytes);
    growing.reset();
    return place(number);
  };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE_FALSE(outcome.failure);
  CHECK(content(outcome.files.front().path) == bytes);
}

TEST_CASE("what is no file, is not there, or is no recording, is refused in a sentence") {
  const Machines machines;
  const Task task = GENERATE(as<Task>{}, ForeignFile{"/nowhere/file"}, ForeignFile{"/dev/zero"}, ForeignFile{"/tmp"},
                             ExistingRecording{"20260101-000000-00000000"}, ExistingRecording{"../.."}, ForeignCommand{{"export", "x"}},
                             ForeignCommand{{"attach", "1"}}, ForeignCommand{{}}, NewRecording{"export", {}, {}, ""});
  const WorkOutcome outcome = work_on(machines.settings(task));
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("command:test refuses: "));
  // As for a missing file on this machine, which is not wrong usage.
  CHECK(outcome.failure->kind == (std::holds_alternative<ForeignFile>(task) ? ErrorKind::kFailure : ErrorKind::kUsage));
  CHECK(machines.files_here() == 0);
}

TEST_CASE("a far side that is none of ours is given up in a sentence, and writes nothing but copies in their places") {
  const Machines machines;
  const std::string way =
      GENERATE(as<std::string>{}, "silent", "noise", "exits", "other protocol", "silent later", "pulses", "garbage", "no message of ours", "too long",
               "changed", "begins later", "offset", "unnamed", "two numbers", "long name", "many files", "text", "never equal", "impossible end", "refusal");
  CAPTURE(way);
  const Task task = GENERATE(as<Task>{}, ForeignFile{"file"}, NewRecording{"profile", {}, {"true"}, ""}, ForeignCommand{{"sessions"}});
  if (way == "never equal" && std::holds_alternative<ForeignCommand>(task)) return;  // a command has no files, whatever the far side says about them
  if (way == "pulses" && !std::holds_alternative<NewRecording>(task)) return;        // as far as can be known, this is a quiet program
  WorkSettings settings = machines.settings(task);
  settings.command = {test::program("lanescope_test_far_side").string(), way};
  settings.patience = {.greeting = 300ms, .silence = 300ms, .first_pause = 0ms, .longest_pause = 1ms, .without_link = 400ms};
  std::string told;
  settings.tell = [&told](const std::string& sentence) { told += sentence; };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(outcome.failure);
  CHECK_FALSE(outcome.failure->text.empty());
  CHECK(outcome.failure->text.size() < 5'000);
  CHECK(told.size() < 100'000);
  CHECK(machines.files_here() <= 1'000);
  // A far side that makes no sense may still have started the recording: its name is needed to find it.
  const bool is_senseless = outcome.failure->text.find("makes no sense") != std::string::npos;
  if (std::holds_alternative<NewRecording>(task) && is_senseless) CHECK_FALSE(outcome.recording.empty());
  if (way == "refusal") CHECK(outcome.recording.empty());
  if (way == "impossible end" && std::holds_alternative<ForeignCommand>(task)) CHECK_THAT(outcome.failure->text, contains_text("by signal 2147483647"));
}

TEST_CASE("a far side that says anything in any order ends, and nothing lies here but copies in their places") {
  const Machines machines;
  const Task task = GENERATE(as<Task>{}, ForeignFile{"file"}, NewRecording{"profile", {}, {"true"}, ""}, ExistingRecording{"20260101-000000-00000000"},
                             ForeignCommand{{"sessions"}});
  for (unsigned seed = 1; seed <= 60; ++seed) {
    WorkSettings settings = machines.settings(task);
    settings.command = {test::program("lanescope_test_far_side").string(), "anything " + std::to_string(seed)};
    settings.overwrite = Overwrite::kRefuse;
    settings.patience = {.greeting = 5min, .silence = 5min, .first_pause = 0ms, .longest_pause = 1ms, .without_link = 20ms};
    const WorkOutcome outcome = work_on(settings);
    CAPTURE(seed, outcome.failure ? outcome.failure->text : "");
    for (const auto& entry : fs::directory_iterator(machines.here())) CHECK(entry.path().extension() == ".trace");
    for (const CopiedFile& file : outcome.files) CHECK((fs::file_size(file.path) == file.bytes || !outcome.failure));
    CHECK_FALSE(fs::exists(machines.here().parent_path() / "x"));
    for (const auto& entry : fs::directory_iterator(machines.here())) fs::remove(entry);
  }
}

TEST_CASE("a recording that ends just as it is asked to stop is taken for removed only where that is the answer to its removal") {
  const Machines machines;
  WorkSettings settings = machines.settings(ExistingRecording{"20260101-000000-00000000"});
  const std::string way = GENERATE(as<std::string>{}, "numbered end before stop", "numbered end before stop, refused",  //
                                   "end before stop", "end before stop, refused");                                      // as an older far side sends it
  CAPTURE(way);
  settings.command = {test::program("lanescope_test_far_side").string(), way};
  bool is_followed = false;
  settings.behind = [&is_followed](std::chrono::milliseconds) { is_followed = true; };
  settings.wish = [&is_followed] { return is_followed ? Wish::kStop : Wish::kGoOn; };
  std::string told;
  settings.tell = [&told](const std::string& sentence) { told += sentence; };
  const WorkOutcome outcome = work_on(settings);
  CHECK_FALSE(outcome.failure);
  CHECK(outcome.recording == "20260101-000000-00000000");
  CHECK_THAT(told, contains_text("keeps it: It is dear to somebody."));
}

TEST_CASE("how far copies are behind is what the far side says, and what the link holds back beside it") {
  const Machines machines;
  WorkSettings settings = machines.settings(NewRecording{"profile", {}, {"true"}, ""});
  settings.command = {test::program("lanescope_test_far_side").string(), "behind"};
  std::vector<std::chrono::milliseconds> behind;
  settings.behind = [&behind](std::chrono::milliseconds each) { behind.push_back(each); };
  settings.wish = [&behind] { return behind.size() < 2 ? Wish::kGoOn : Wish::kLeave; };
  CHECK(work_on(settings).was_left);
  REQUIRE(behind.size() == 2);
  CHECK(behind[0] == 0ms);
  CHECK(behind[1] >= 12s);
}

TEST_CASE("over a slow link an outline of all that is there comes first, and the copy is whole in the end") {
  const Machines machines;
  constexpr Nanoseconds kEvery = 1'000, kEnd = 800'000 * kEvery;
  {
    TraceBuilder builder;
    builder.provenance().monotonic_epoch = 5'000;
    const ProcessId process = builder.process_of_instance(1);
    TrackKey key{TrackKind::kCudaApi, process};
    key.thread = builder.thread(process, 42);
    std::mt19937 random(1);
    std::vector<Event> events;
    const NameId launch = builder.intern("cudaLaunchKernel");
    for (Nanoseconds time = 0; time < kEnd; time += kEvery) events.push_back({time, 250 + static_cast<Nanoseconds>(random() % 500), launch, 0, 0});
    builder.add(key, std::move(events));
    REQUIRE(export_trace_file(*builder.snapshot(), machines.there() / "x.trace", Overwrite::kRefuse));
  }
  const std::uint64_t size = fs::file_size(machines.there() / "x.trace");
  WorkSettings settings = machines.settings(ForeignFile{machines.there() / "x.trace"}, "rate " + std::to_string(size / 10) + "\n");
  std::optional<std::uintmax_t> here;
  std::shared_ptr<const Trace> outline;
  settings.outline = [&](std::string_view frames) {
    if (!here) here = fs::file_size(machines.here() / "1.trace");
    outline = trace_of_outline(std::as_bytes(std::span(frames)));
  };
  const WorkOutcome outcome = work_on(settings);
  CHECK_FALSE(outcome.failure);
  REQUIRE(here);
  CHECK(*here < size / 2);
  REQUIRE(outline);
  CHECK(outline->provenance().outline_only);
  REQUIRE(outline->tracks().size() == 1);
  const auto whole = load_trace(machines.there() / "x.trace");
  REQUIRE(whole);
  const TimeRange all{0, kEnd};
  CHECK(outline->lane(outline->tracks()[0].lanes[0]).busy(all) == (*whole)->lane((*whole)->tracks()[0].lanes[0]).busy(all));
  CHECK(content(machines.here() / "1.trace") == content(machines.there() / "x.trace"));
}

TEST_CASE("a recording says once a second how far its copy is behind") {
  const Machines machines;
  const fs::path go = machines.there() / "go";
  WorkSettings settings = machines.settings(
      NewRecording{"profile", {"--trace=none", "--sample=none", "--cpuctxsw=none"}, {"sh", "-c", "until [ -e " + go.string() + " ]; do sleep 0.02; done"}, ""});
  settings.behind = [&go](std::chrono::milliseconds) { write_file(go, ""); };
  const WorkOutcome outcome = work_on(settings);  // ends because this was called
  CHECK_FALSE(outcome.failure);
}

TEST_CASE("names that a far side gives lead nowhere") {
  const Machines machines;
  WorkSettings settings = machines.settings(ExistingRecording{"20260101-000000-00000000"});
  settings.command = {test::program("lanescope_test_far_side").string(), "paths"};
  settings.wish = [&machines] { return content(machines.here() / "3.trace") == "bytes" ? Wish::kLeave : Wish::kGoOn; };
  const WorkOutcome outcome = work_on(settings);
  CHECK(outcome.was_left);
  CHECK(outcome.files.size() == 3);
  CHECK(machines.files_here() == 3);
  for (const char* name : {"1.trace", "2.trace", "3.trace"}) CHECK(content(machines.here() / name) == "bytes");
  CHECK_FALSE(fs::exists(machines.here() / "../../escaped"));
  CHECK_FALSE(fs::exists("/tmp/lanescope-escaped"));
}

TEST_CASE("who asks for a file gets one") {
  const Machines machines;
  WorkSettings settings = machines.settings(ForeignFile{"file"});
  settings.command = {test::program("lanescope_test_far_side").string(), "paths"};
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("more files than"));
  CHECK(machines.files_here() == 1);
}

TEST_CASE("where no lanescope is, that is said") {
  const Machines machines;
  WorkSettings settings = machines.settings(ForeignFile{"file"});
  settings.command = {"env", "/nowhere/lanescope", "serve", "--stdio"};
  const WorkOutcome missing = work_on(settings);
  REQUIRE(missing.failure);
  CHECK(missing.missing == Missing::kProgram);
  CHECK_THAT(missing.failure->text, contains_text("has no lanescope"));
  settings.command = {"/nowhere/ssh"};
  const WorkOutcome nothing = work_on(settings);
  REQUIRE(nothing.failure);
  CHECK_THAT(nothing.failure->text, contains_text("/nowhere/ssh can't be started"));
  CHECK(nothing.failure->kind == ErrorKind::kFailure);
}

TEST_CASE("whether a lanescope is missing there is what the shell there says, and not that nothing came") {
  const Machines machines;
  WorkSettings settings = machines.settings(ForeignFile{"file"});
  for (const auto& [script, missing] : std::vector<std::pair<std::string, Missing>>{
           {"exit 127", Missing::kProgram},
           {"exit 126", Missing::kProgram},
           {"echo 'lanescope: Command not found.' >&2; exit 1", Missing::kProgram},                                   // csh
           {"echo 'error: exec: \"lanescope\": executable file not found in $PATH' >&2; exit 1", Missing::kProgram},  // kubectl
           {"echo 'slurmstepd: error: execve(): lanescope: No such file or directory' >&2; exit 2", Missing::kProgram},
           {"echo 'lanescope: command not found'; exit 1", Missing::kProgram},
           {"echo 'ssh: Could not resolve hostname nohost' >&2; exit 255", Missing::kNothing},
           {"echo 'Permission denied (publickey).' >&2; exit 255", Missing::kNothing},
           {"echo 'Error from server (NotFound): pods \"x\" not found' >&2; exit 1", Missing::kNothing},
           {"echo 'Cannot connect to the Docker daemon' >&2; exit 1", Missing::kNothing}}) {
    settings.command = {"sh", "-c", script};
    const WorkOutcome outcome = work_on(settings);
    CAPTURE(script);
    REQUIRE(outcome.failure);
    CHECK(outcome.missing == missing);
  }
}

TEST_CASE("a terminal on the way is told as one") {
  const Machines machines;
  WorkSettings settings = machines.settings(ForeignFile{"file"});
  const std::string way = GENERATE(as<std::string>{}, "terminal echo", "terminal lines");
  settings.command = {test::program("lanescope_test_far_side").string(), way};
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("gone through a terminal") && contains_text("Leave -t away"));
  CHECK(outcome.missing == Missing::kNothing);
}

TEST_CASE("a terminal that a command gives its program is told as one") {
  if (std::system("command -v script >/dev/null") != 0) return;
  const Machines machines;
  WorkSettings settings = machines.settings(ForeignFile{"file"});
  settings.command = {"script", "-qec", test::program("lanescope").string() + " serve --stdio", "/dev/null"};
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("gone through a terminal"));
}

TEST_CASE("a copy that was broken off is gone on with by the next fetch, which moves no more than is missing") {
  const Machines machines;
  const std::string bytes = random_bytes(9'000'000);
  write_file(machines.there() / "file", bytes);
  const std::size_t had = GENERATE(std::size_t{1}, std::size_t{4u << 20}, std::size_t{8'500'000}, std::size_t{9'000'000});
  write_file(machines.here() / "1.trace", bytes.substr(0, had));
  fs::permissions(machines.here() / "1.trace", fs::perms::owner_read | fs::perms::owner_write);
  WorkSettings settings =
      machines.settings(ForeignFile{(machines.there() / "file").string()}, "out 20000000\nout " + std::to_string(bytes.size() - had + 100'000) + "\n");
  settings.overwrite = Overwrite::kRefuse;
  std::string told;
  settings.tell = [&told](const std::string& sentence) { told += sentence; };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE_FALSE(outcome.failure);
  CHECK((content(machines.here() / "1.trace") == bytes));
  CHECK(machines.files_here() == 1);
  CHECK(fs::status(machines.here() / "1.trace").permissions() == (fs::perms::owner_read | fs::perms::owner_write));  // the same file
  CHECK_THAT(told, !contains_text("broke"));                                                                         // not told about a link that brought more
}

TEST_CASE("a file here that is no beginning of the one there stays as it is") {
  const Machines machines;
  const std::string bytes = random_bytes(100'000);
  write_file(machines.there() / "file", bytes);
  const std::string mine = GENERATE_COPY(bytes + "x", bytes.substr(0, 50'000) + "x", std::string("mine"), std::string());
  write_file(machines.here() / "1.trace", mine);
  WorkSettings settings = machines.settings(ForeignFile{(machines.there() / "file").string()});
  settings.overwrite = Overwrite::kRefuse;
  const WorkOutcome refused = work_on(settings);
  REQUIRE(refused.failure);
  CHECK_THAT(refused.failure->text, contains_text("exists already"));
  CHECK((content(machines.here() / "1.trace") == mine));
  CHECK(refused.files.empty());
  CHECK(machines.files_here() == 1);
}

TEST_CASE("a recording here that has ended is not added to, whatever the file there begins with") {
  const Machines machines;
  const std::string whole = content(test::data_file("cuda_streams.trace"));
  write_file(machines.here() / "1.trace", whole);
  write_file(machines.there() / "file", whole + "more");
  WorkSettings settings = machines.settings(ForeignFile{(machines.there() / "file").string()});
  settings.overwrite = Overwrite::kRefuse;
  const WorkOutcome refused = work_on(settings);
  REQUIRE(refused.failure);
  CHECK_THAT(refused.failure->text, contains_text("exists already"));
  CHECK((content(machines.here() / "1.trace") == whole));
}

TEST_CASE("a beginning that has another name, or a writer, is not gone on with") {
  const Machines machines;
  const std::string bytes = random_bytes(1'000);
  write_file(machines.there() / "file", bytes);
  write_file(machines.here() / "mine", bytes.substr(0, 500));
  std::optional<GrowingFile> writer;
  SECTION("another name") { fs::create_hard_link(machines.here() / "mine", machines.here() / "1.trace"); }
  SECTION("a link") { fs::create_symlink(machines.here() / "mine", machines.here() / "1.trace"); }
  SECTION("a writer") {
    write_file(machines.here() / "1.trace", bytes.substr(0, 500));
    writer.emplace(machines.here() / "1.trace");
  }
  WorkSettings settings = machines.settings(ForeignFile{(machines.there() / "file").string()});
  settings.overwrite = Overwrite::kRefuse;
  CHECK(work_on(settings).failure);
  CHECK(content(machines.here() / "mine") == bytes.substr(0, 500));
  CHECK(content(machines.here() / "1.trace") == bytes.substr(0, 500));
}

TEST_CASE("the recording there is kept where its copy was removed or replaced here") {
  const Machines machines;
  const fs::path go = machines.there() / "go";
  WorkSettings settings = machines.settings(
      NewRecording{"profile", {"--trace=none", "--sample=none", "--cpuctxsw=none"}, {"sh", "-c", "until [ -e " + go.string() + " ]; do sleep 0.02; done"}, ""});
  const bool is_replaced = GENERATE(false, true);
  settings.wish = [&] {
    if (fs::exists(go) || !fs::exists(machines.here() / "1.trace")) return Wish::kGoOn;
    fs::rename(machines.here() / "1.trace", machines.here() / "moved");
    if (is_replaced) write_file(machines.here() / "1.trace", "mine");
    write_file(go, "");
    return Wish::kGoOn;
  };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("was removed or replaced"));
  CHECK_FALSE(outcome.recording.empty());
  CHECK(machines.recordings_there() == 1);
  CHECK((!is_replaced || content(machines.here() / "1.trace") == "mine"));
}

TEST_CASE("what a far side prints arrives where its standard error is closed, and a link is made where our input is") {
  const Machines machines;
  WorkSettings settings =
      machines.settings(NewRecording{"profile", {"--trace=none", "--sample=none", "--cpuctxsw=none"}, {"sh", "-c", "echo out; echo error >&2"}, ""});
  settings.command.insert(settings.command.begin(), {"sh", "-c", "exec \"$@\" 2>&-", "sh"});
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  const WorkOutcome outcome = work_on(settings);
  dup2(input, STDIN_FILENO);
  close(input);
  CAPTURE(outcome.failure ? outcome.failure->text : "");
  REQUIRE_FALSE(outcome.failure);
  CHECK(machines.output() == "out\n");
  CHECK_THAT(machines.messages(), contains_text("error\n") && contains_text("Generated:"));
}

TEST_CASE("a recording that was begun on another machine with the same home is followed, and ended and removed only there") {
  const Machines machines;
  const std::string name = "20260101-000000-00000000";
  const fs::path folder = machines.recordings() / name;
  fs::create_directories(folder);
  fs::permissions(machines.recordings(), fs::perms::owner_all);
  write_file(folder / "recorder", "1 1 another-machine\n");
  write_file(folder / "recording1.trace", "bytes");
  WorkSettings settings = machines.settings(ExistingRecording{name});
  settings.wish = [&machines] { return content(machines.here() / "1.trace") == "bytes" ? Wish::kStop : Wish::kGoOn; };
  const WorkOutcome refused = work_on(settings);
  REQUIRE(refused.failure);
  CHECK_THAT(refused.failure->text, contains_text("was begun on another-machine"));
  CHECK(fs::exists(folder / "recording1.trace"));
  write_file(folder / "ended", "3 0\n");
  const WorkOutcome ended = work_on(machines.settings(ExistingRecording{name}));
  REQUIRE_FALSE(ended.failure);
  CHECK(ended.code == 3);
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("a recording that somebody else removes while it is copied is said to be gone") {
  const Machines machines;
  const std::string name = "20260101-000000-00000000";
  const fs::path folder = machines.recordings() / name;
  fs::create_directories(folder);
  fs::permissions(machines.recordings(), fs::perms::owner_all);
  write_file(folder / "recorder", "1 1 another-machine\n");
  write_file(folder / "recording1.trace", "bytes");
  WorkSettings settings = machines.settings(ExistingRecording{name});
  settings.wish = [&] {
    if (content(machines.here() / "1.trace") == "bytes") fs::remove_all(folder);
    return Wish::kGoOn;
  };
  const WorkOutcome outcome = work_on(settings);
  REQUIRE(outcome.failure);
  CHECK_THAT(outcome.failure->text, contains_text("is not there any more"));
  CHECK(outcome.recording.empty());  // nobody is told how to fetch it
  CHECK(content(machines.here() / "1.trace") == "bytes");
}

TEST_CASE("a recording of which it is not known whether it runs is kept there, and its copy is no reason to forget it") {
  const Machines machines;
  const std::string name = "20260101-000000-00000000";
  const fs::path folder = machines.recordings() / name;
  fs::create_directories(folder);
  fs::permissions(machines.recordings(), fs::perms::owner_all);
  write_file(folder / "recorder", "");
  write_file(folder / "recording1.trace", "bytes");
  WorkSettings settings = machines.settings(ExistingRecording{name});
  std::string told;
  settings.tell = [&told](const std::string& sentence) { told += sentence + "\n"; };
  const WorkOutcome outcome = work_on(settings);
  CHECK_FALSE(outcome.failure);
  CHECK_FALSE(outcome.is_known);
  CHECK(outcome.recording == name);
  CHECK_THAT(told, contains_text("keeps it") && contains_text("does not say which process makes it"));
  CHECK(fs::exists(folder / "recording1.trace"));
  CHECK(content(machines.here() / "1.trace") == "bytes");
}

// What a shell may do to lanescope: files that are closed, full, missing or not what they should be, signals, names that nsys would give.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "support/catch.h"
#include "support/paths.h"

using lanescope::test::data_file;
using lanescope::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// A folder in which commands of a shell run, with programs of this build in PATH, and sessions of its own.
class Shell {
 public:
  struct Ran {
    int code;
    std::string output;
    std::string messages;
  };
  Ran run(const std::string& script) const {
    std::ofstream(folder_.path() / "script") << begin() << "cd " << place().string() << '\n' << script << '\n';
    const fs::path output = folder_.path() / "output", messages = folder_.path() / "messages";
    const std::string command = "sh " + (folder_.path() / "script").string() + " >" + output.string() + " 2>" + messages.string();
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(output), content(messages)};
  }
  // Where scripts run.
  [[nodiscard]] fs::path place() const {
    fs::create_directory(folder_.path() / "place");
    return folder_.path() / "place";
  }
  [[nodiscard]] std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(place()), fs::directory_iterator()));
  }

 private:
  [[nodiscard]] std::string begin() const {
    return "PATH=" + (fs::path(LANESCOPE_BINARY_DIR) / "bin").string() + ":$PATH\nexport XDG_RUNTIME_DIR=" + folder_.path().string() + "\n";
  }
  TemporaryFolder folder_;
};

std::string trace() { return data_file("torch_training_workers0.trace").string(); }

template <typename Condition>
void await(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

TEST_CASE("what is printed does not go into a trace, whichever standard files are closed") {
  const Shell shell;
  const std::string closed = GENERATE(as<std::string>{}, "<&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-");
  CAPTURE(closed);
  const std::string look = "'for i in 0 1 2; do readlink /proc/$PPID/fd/$i; done >ours; echo out; echo error >&2'";
  CHECK(shell.run("lanescope profile -t none -s none --cpuctxsw none -o x sh -c " + look + " " + closed).code == 0);
  CHECK_THAT(content(shell.place() / "ours"), !contains_text("x.trace"));
  const std::string info = shell.run("lanescope info --json x.trace").output;
  CHECK_THAT(info, contains_text("\"stdout_bytes\": 4") && contains_text("\"stderr_bytes\": 6"));
}

TEST_CASE("output that does not arrive is a failure, a reader that has read enough is none") {
  const Shell shell;
  for (const std::string command : {"info ", "info --json ", "stats ", "analyze ", "export -t csv -o - "}) {
    CAPTURE(command);
    const auto full = shell.run("lanescope " + command + trace() + " >/dev/full");
    CHECK(full.code == 1);
    CHECK_THAT(full.messages, contains_text("Standard output can't be written"));
    CHECK(shell.run("lanescope " + command + trace() + " 2>messages | head -n 1 >/dev/null; cat messages >&2").messages.find("written") ==
          std::string::npos);
  }
  CHECK(shell.run("lanescope --help >/dev/full").code == 1);
}

TEST_CASE("tables that find no room leave no file, and say why") {
  const Shell shell;
  const auto missing = shell.run("lanescope stats -r nvtx_sum -o nowhere/x " + trace());
  CHECK(missing.code == 1);
  CHECK_THAT(missing.messages, contains_text("nowhere/x_nvtx_sum.csv can't be written: No such file or directory."));
  const auto limited = shell.run("ulimit -f 1; trap '' XFSZ; lanescope stats -r nvtx_pushpop_trace -o x " + trace());
  CHECK(limited.code == 1);
  CHECK_THAT(limited.messages, contains_text("can't be written: File too large."));
  CHECK(shell.count_files() == 0);
}

TEST_CASE("names that no file can have are told in a sentence, wherever they are given") {
  const Shell shell;
  // Longer than the system takes, and a link to a link to itself.
  const std::string name = GENERATE(as<std::string>{}, std::string(300, 'x'), "loop/x");
  CAPTURE(name);
  REQUIRE(shell.run("ln -s pool loop; ln -s loop pool").code == 0);
  const std::string command =
      GENERATE_COPY(as<std::string>{}, "export -t json " + trace() + " -o ", "export -t sqlite " + trace() + " -o ",
                    "export -t trace " + trace() + " -o ", "import " + trace() + " -o ", "stats " + trace() + " -o ",
                    "analyze " + trace() + " -o ", "info ", "profile -s none --cpuctxsw none -o ", "profile -s none --cpuctxsw none ./");
  CAPTURE(command);
  const Shell::Ran ran = shell.run("lanescope " + command + name + (command.starts_with("profile") ? " true" : ""));
  CHECK(ran.code != 0);
  CHECK(ran.code < 128);
  CHECK_THAT(ran.messages, contains_text("lanescope: ") && contains_text("."));
}

TEST_CASE("a recording begun in a folder that is gone says so") {
  const Shell shell;
  const Shell::Ran ran = shell.run("mkdir gone; cd gone; rmdir ../gone; lanescope profile -s none --cpuctxsw none -o x true");
  CHECK(ran.code == 1);
  CHECK_THAT(ran.messages, contains_text("lanescope: "));
}

TEST_CASE("a temporary folder that is not there is named") {
  const Shell shell;
  const auto ran = shell.run("TMPDIR=/nowhere lanescope export -o - " + trace());
  CHECK(ran.code == 1);
  CHECK_THAT(ran.messages, contains_text("Set TMPDIR"));
}

TEST_CASE("a signal that ends an export takes what is unfinished along") {
  const Shell shell;
  const std::string signal = GENERATE(as<std::string>{}, "INT", "TERM", "HUP");
  const std::string command = GENERATE(as<std::string>{}, "export -o x.sqlite ", "export -t csv -o x.csv ", "import -o x.trace ");
  CAPTURE(signal, command);
  // As soon as there is something unfinished. What ends in time to be whole may stay.
  shell.run("env --default-signal=INT,HUP lanescope " + command + trace() +  // a shell without jobs ignores them
            " & while kill -0 $! 2>/dev/null && [ -z \"$(ls)\" ]; do :; done; kill -" + signal + " $!; wait $!");
  CHECK(shell.run("ls *.partial").output.empty());
  if (fs::exists(shell.place() / "x.trace")) CHECK(shell.run("lanescope info x.trace").output.find("cut off") == std::string::npos);
}

TEST_CASE("a trace is not written over itself") {
  const Shell shell;
  fs::copy_file(trace(), shell.place() / "x.trace");
  const auto size = fs::file_size(shell.place() / "x.trace");
  for (const char* command :
       {"export -f -t trace --times 9.7s/9.8s x.trace", "export -f -t csv -o x.trace x.trace", "import -f ./x.trace -o x.trace"}) {
    CAPTURE(command);
    const auto ran = shell.run(std::string("lanescope ") + command);
    CHECK(ran.code == 2);
    CHECK_THAT(ran.messages, contains_text("over itself"));
    CHECK(fs::file_size(shell.place() / "x.trace") == size);
  }
}

TEST_CASE("Ctrl+C ends what is made of a recording when that is over") {
  const Shell shell;
  REQUIRE(mkfifo((shell.place() / "x.csv").c_str(), 0600) == 0);  // nobody reads it: the copy waits for ever
  const auto ran = shell.run(
      "env --default-signal=INT lanescope profile -t none -s none --cpuctxsw none -o x --export csv true 2>said & "
      "until grep -q Generated said 2>/dev/null; do kill -0 $! || exit 99; done; sleep 0.2; kill -INT $!; "
      "for i in $(seq 300); do kill -0 $! || break; sleep 0.1; done; kill -KILL $!; wait $!");
  CHECK(ran.code == 128 + SIGINT);
  CHECK(shell.run("lanescope info x.trace").code == 0);
}

TEST_CASE("names that nsys would give a trace are taken for ours") {
  const Shell shell;
  fs::copy_file(trace(), shell.place() / "report1.trace");
  const std::string expected = shell.run("lanescope stats -r cuda_gpu_kern_sum -f csv report1.trace").output;
  for (const char* name : {"report1.nsys-rep", "./report1.qdrep"}) {
    const auto ran = shell.run(std::string("lanescope stats -r cuda_gpu_kern_sum -f csv ") + name);
    CHECK(ran.code == 0);
    CHECK(ran.output == expected);
    CHECK_THAT(ran.messages, contains_text("report1.trace is read"));
  }
  CHECK(shell.run("lanescope export --type sqlite --force-overwrite true --quiet report1.nsys-rep && test -s report1.sqlite").code == 0);
  CHECK(shell.run("lanescope info report1.nsys-rep && lanescope analyze report1.nsys-rep").code == 0);
  CHECK(shell.run("lanescope info report2.nsys-rep").code == 1);
}

TEST_CASE("a program that can't be started is told apart by why") {
  const Shell shell;
  const auto told = [&](const std::string& program) {
    const auto ran = shell.run("lanescope profile -t none " + program);
    CHECK(ran.code == 1);
    return ran.messages;
  };
  std::ofstream(shell.place() / "text") << "text\n";
  std::ofstream(shell.place() / "script") << "#!/nowhere/interpreter\n";
  chmod((shell.place() / "script").c_str(), 0755);
  CHECK_THAT(told("./missing"), contains_text("there is no such program"));
  CHECK_THAT(told("./text"), contains_text("chmod +x ./text"));
  CHECK_THAT(told("./script"), contains_text("interpreter"));
  CHECK_THAT(told(shell.place().string()), contains_text("folder"));
}

TEST_CASE("a launch that could not be asked to start does not begin") {
  const Shell shell;
  const auto ran = shell.run(
      "lanescope launch --session-new one lanescope_program_nvtx_endless >ready & until grep -q ready ready; do :; done\n"
      "lanescope launch --session-new one touch began; echo $?; lanescope shutdown --session one; wait $!");
  CHECK_THAT(ran.output, contains_text("2\n"));
  CHECK_THAT(ran.messages, contains_text("--session-new"));
  CHECK_FALSE(fs::exists(shell.place() / "began"));
}

TEST_CASE("a file that a later capture wrote over is told once") {
  const Shell shell;
  const auto ran = shell.run(
      "lanescope launch --session-new one lanescope_program_nvtx_endless >ready 2>said & until grep -q ready ready; do :; done\n"
      "lanescope start -o x && lanescope stop && lanescope start -f -o x && lanescope stop && lanescope start -o y && lanescope stop\n"
      "lanescope start -f -o y && lanescope cancel; lanescope shutdown; wait $!; cat said");
  const auto times = [&ran](const std::string& name) {
    std::size_t count = 0;
    for (std::size_t at = ran.output.find(name); at != std::string::npos; at = ran.output.find(name, at + 1)) ++count;
    return count;
  };
  CHECK(times("/x.trace") == 1);
  CHECK(times("/y.trace") == 0);  // the second of that name was cancelled
  CHECK_FALSE(fs::exists(shell.place() / "y.trace"));
}

TEST_CASE("of two starts without a session the later one counts; of two with one, cancel asks which") {
  const Shell shell;
  CHECK_THAT(shell.run("lanescope start -o first; lanescope start -o second").messages, contains_text("in place of"));
  CHECK(shell.run("lanescope launch -t nvtx lanescope_program_nvtx_threads && ls *.trace").output.ends_with("second.trace\n"));
  CHECK(shell.run("lanescope start --session-new a && lanescope start --session-new b").code == 0);
  for (const char* command : {"cancel", "stop", "shutdown", "launch true"}) {
    const auto which = shell.run(std::string("lanescope ") + command);
    CHECK(which.code == 2);
    CHECK_THAT(which.messages, contains_text("--session=NAME, one of a, b"));
  }
  CHECK(shell.run("lanescope cancel --session a && lanescope cancel && lanescope sessions list").output.find("Awaited") ==
        std::string::npos);
}

TEST_CASE("sessions lie in XDG_RUNTIME_DIR only where that is the user's own folder") {
  const Shell shell;
  const std::string fallback = "/tmp/lanescope-" + std::to_string(getuid());
  CHECK_THAT(shell.run("XDG_RUNTIME_DIR=/nowhere lanescope status").output, contains_text("in " + fallback));
  if (getuid() == 0) {
    const fs::path others = shell.place() / "others";
    fs::create_directory(others);
    REQUIRE(chown(others.c_str(), 65534, 65534) == 0);
    CHECK_THAT(shell.run("XDG_RUNTIME_DIR=" + others.string() + " lanescope status").output, contains_text("in " + fallback));
    CHECK(fs::is_empty(others));
  }
}

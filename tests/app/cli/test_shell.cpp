// What a shell may do to lanescope: files that are closed, full, missing or of the wrong kind, signals, names that nsys would give.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "support/await.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

using lanescope::test::await;
using lanescope::test::content;
using lanescope::test::data_file;
using lanescope::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

// A folder in which shell commands run, with the programs of this build in PATH, and with separate sessions.
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
  // The folder in which scripts run.
  [[nodiscard]] fs::path place() const {
    fs::create_directory(folder_.path() / "place");
    return folder_.path() / "place";
  }
  [[nodiscard]] std::size_t count_files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(place()), fs::directory_iterator())); }

 private:
  [[nodiscard]] std::string begin() const {
    return "PATH=" + (fs::path(LANESCOPE_BINARY_DIR) / "bin").string() + ":$PATH\nexport XDG_RUNTIME_DIR=" + folder_.path().string() + "\n";
  }
  TemporaryFolder folder_;
};

std::string trace() { return data_file("torch_training_workers0.trace").string(); }

}  // namespace

TEST_CASE("closed standard files stay closed for the program, and what is printed does not go into a trace") {
  const Shell shell;
  const std::string closed = GENERATE(as<std::string>{}, "<&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-");
  CAPTURE(closed);
  const std::string look = "'for i in 0 1 2; do readlink /proc/$PPID/fd/$i; done >ours; echo out; echo error >&2'";
  const int alone = shell.run("sh -c " + look + " " + closed).code;
  CHECK(shell.run("lanescope profile -t none -s none --cpuctxsw none -o x sh -c " + look + " " + closed).code == alone);
  CHECK_THAT(content(shell.place() / "ours"), !contains_text("x.trace"));
  const std::string info = shell.run("lanescope info --json x.trace").output;
  const bool has_output = closed.find(">&-") == std::string::npos;
  CHECK_THAT(info, contains_text(has_output ? "\"stdout_bytes\": 4" : "\"stdout_bytes\": 0"));
}

TEST_CASE("the program of a recording runs again where that is asked for, and never unasked") {
  const Shell shell;
  // The name that the recording was started with.
  std::ofstream(shell.place() / "transpositions") << "#!/bin/sh\necho \"$@\" >ran\n";
  fs::permissions(shell.place() / "transpositions", fs::perms::owner_all);
  const std::string file = data_file("transpositions.trace").string();
  const auto shown = shell.run("lanescope kernels " + file + " </dev/null");
  CHECK(shown.code == 1);
  CHECK_THAT(shown.messages, contains_text("lanescope kernels --rerun " + file));
  CHECK_FALSE(fs::exists(shell.place() / "ran"));
  const auto again = shell.run("lanescope kernels --rerun " + file + " </dev/null");
  CHECK_THAT(again.messages, contains_text("The program runs again") && contains_text(": ./transpositions 100"));
  const bool can_count = shell.run("lanescope-kernel-metrics --check").code == 0;
  CHECK(content(shell.place() / "ran") == (can_count ? "100\n" : ""));  // if nothing can be measured, nothing runs
}

TEST_CASE("profile says that counters of kernels can't be read while the program runs, and once") {
  const Shell shell;
  if (shell.run("lanescope-kernel-metrics --check").code == 0) return;  // there is a GPU
  // The program ends with 5 after it was told.
  const Shell::Ran ran = shell.run(
      "lanescope profile -s none --kernels=counters -o x sh -c 'for i in $(seq 600); do grep -q \"are not read\\|recorded without them\" said && exit 5; sleep "
      "0.1; done' 2>said");
  CHECK(ran.code == 5);
  const std::string said = content(shell.place() / "said"), words = "Counters of kernels can't be read";
  CAPTURE(said);
  CHECK(said.find(words) != std::string::npos);
  CHECK(said.find(words) == said.rfind(words));
}

TEST_CASE("one table goes to the file of the name that is given, where that ends as its format does") {
  const Shell shell;
  const std::string ask = "lanescope query " + trace() + " 'SELECT 1 AS one' -q ";
  CHECK(shell.run(ask + "-o q2.csv -f csv && cat q2.csv").output == "one\n1\n");
  CHECK(shell.run(ask + "-o q.csv").code == 0);  // files are CSV
  CHECK(fs::exists(shell.place() / "q.csv"));
  CHECK_THAT(shell.run(ask + "-o q2.csv").messages, contains_text("q2.csv exists already"));
  CHECK(shell.run(ask + "-o q3.csv -f json").code == 0);  // the name ends like another format's
  CHECK(fs::exists(shell.place() / "q3.csv_query.json"));
}

TEST_CASE("standard output by its path is standard output, and other devices take no tables") {
  const Shell shell;
  const std::string ask = "lanescope stats -r nvtx_sum -f csv " + trace() + " ";
  const auto whole = shell.run(ask + "-o - | cat");
  REQUIRE_THAT(whole.output, contains_text("Range"));
  CHECK(shell.run(ask + "-o /dev/stdout | cat").output == whole.output);
  const auto device = shell.run(ask + "-o /dev/null");
  CHECK(device.code == 2);
  CHECK_THAT(device.messages, contains_text("-o /dev/null is no place for files") && contains_text("-o -"));
}

TEST_CASE("an imported trace has the name that a recording would have") {
  const Shell shell;
  REQUIRE(shell.run("lanescope export -t chrome " + trace() + " -o x.json").code == 0);
  CHECK(shell.run("lanescope import x.json -o b && lanescope import -f x.json -o b && lanescope import x.json -o c.trace").code == 0);
  CHECK(shell.run("ls | sort | tr '\\n' ' '").output == "b.trace c.trace x.json ");
  CHECK(shell.run("lanescope import x.json -o b").code == 1);  // the file exists
  CHECK(shell.run("lanescope import x.json -o - | wc -c").output == shell.run("wc -c < b.trace").output);
}

TEST_CASE("a recorder that waits for what the program left behind says for whom, and how not to") {
  const Shell shell;
  // The process that is left, a shell (dash or bash), runs until the recorder has reported it.
  const auto waited = shell.run(
      "lanescope profile -t nvtx -s none --cpuctxsw none -o x "
      "sh -c 'setsid sh -c \"for i in \\$(seq 600); do grep -q primary said && break; sleep 0.1; done\" & exit 3' 2> said; code=$?; cat said >&2; exit $code");
  CHECK(waited.code == 3);
  CHECK_THAT(waited.messages,
             contains_text("The program has ended. Waiting for what it left behind: [") && contains_text("ash") && contains_text("With --wait=primary"));
  const auto alone = shell.run("lanescope profile -t nvtx -s none --cpuctxsw none --wait=primary -o y sh -c 'setsid sleep 5 & exit 3'");
  CHECK(alone.code == 3);
  CHECK_THAT(alone.messages, !contains_text("Waiting for"));
}

TEST_CASE("what a recorder counts is what info counts") {
  const Shell shell;
  const std::string options = GENERATE(as<std::string>{}, "-t nvtx -s none --cpuctxsw none", "-t nvtx,osrt", "-t nvtx --preset deep");
  const auto recorded = shell.run("lanescope profile -o x " + options + " lanescope_program_nvtx_threads");
  CAPTURE(recorded.messages);
  const std::size_t end = recorded.messages.find(" events in ");
  REQUIRE(end != std::string::npos);
  const std::string number = recorded.messages.substr(recorded.messages.rfind('\n', end) + 1, end - recorded.messages.rfind('\n', end) - 1);
  const std::string info = shell.run("lanescope info x.trace").output;
  CAPTURE(info);
  CHECK_THAT(info, contains_text(", " + number + " events"));
  CHECK((info.find("of processors made of them") != std::string::npos) == (info.find("Processor states") != std::string::npos));
}

TEST_CASE("output that does not arrive is a failure, a reader that has read enough is none") {
  const Shell shell;
  for (const std::string command : {"info ", "info --json ", "stats ", "analyze ", "export -t csv -o - "}) {
    CAPTURE(command);
    const auto full = shell.run("lanescope " + command + trace() + " >/dev/full");
    CHECK(full.code == 1);
    CHECK_THAT(full.messages, contains_text("Standard output can't be written"));
    CHECK(shell.run("lanescope " + command + trace() + " 2>messages | head -n 1 >/dev/null; cat messages >&2").messages.find("written") == std::string::npos);
  }
  CHECK(shell.run("lanescope --help >/dev/full").code == 1);
}

TEST_CASE("a command that is fed a table and has read enough ends nothing, and one that fails is told") {
  const Shell shell;
  const Shell::Ran read = shell.run("lanescope stats -q -f csv -o @'head -n 1' -r cuda_api_trace,cuda_gpu_kern_sum " + trace());
  CHECK(read.code == 0);
  CHECK(std::count(read.output.begin(), read.output.end(), '\n') == 2);  // a heading of each table
  for (const char* command : {"exit 7", "lanescope-none"}) {
    const Shell::Ran failed = shell.run("lanescope stats -q -f csv -o @'" + std::string(command) + "' -r cuda_api_trace " + trace());
    CHECK(failed.code == 1);
    CHECK_THAT(failed.messages, contains_text("The command " + std::string(command) + " failed."));
  }
}

TEST_CASE("what lies in the folder of traces is no part of Lanescope") {
  const Shell shell;
  const fs::path folder = shell.place();
  for (const char* module : {"json.py", "importlib.py", "numpy.py", "multiprocessing.py", "lanescope.py"})
    std::ofstream(folder / module) << "open('ran', 'a').write(__name__)\n";
  fs::copy_file(trace(), folder / "x.trace");
  shell.run("lanescope fleet cuda_gpu_kern_sum --input x.trace; lanescope fleet cuda_gpu_kern_sum --mode pool --workers 2 --input x.trace; lanescope doctor");
  CHECK_FALSE(fs::exists(folder / "ran"));
}

TEST_CASE("behind -- a name is a name") {
  const Shell shell;
  fs::copy_file(trace(), shell.place() / "-f.trace");
  CHECK(shell.run("lanescope info -- -f.trace").code == 0);
  CHECK(shell.run("lanescope stats -q -r cuda_gpu_kern_sum -- -f.trace").code == 0);
  CHECK(shell.run("lanescope info -- -f.trace --json").code == 2);
}

TEST_CASE("tables that find no room leave no file, and say why") {
  const Shell shell;
  const auto missing = shell.run("lanescope stats -r nvtx_sum -o nowhere/x " + trace());
  CHECK(missing.code == 1);
  CHECK_THAT(missing.messages, contains_text("Nothing can be written to nowhere/x: No such file or directory."));
  const auto limited = shell.run("ulimit -f 1; trap '' XFSZ; lanescope stats -r nvtx_pushpop_trace -o x " + trace());
  CHECK(limited.code == 1);
  CHECK_THAT(limited.messages, contains_text("can't be written: File too large."));
  CHECK(shell.count_files() == 0);
}

TEST_CASE("what goes to a standard output that is closed fails") {
  const Shell shell;
  const auto closed = shell.run(GENERATE("lanescope export -t csv -o - ", "lanescope stats -r cuda_gpu_kern_sum ") + trace() + " >&-");
  CHECK(closed.code == 1);
  CHECK_THAT(closed.messages, contains_text("Standard output is closed."));
  CHECK(shell.run("lanescope export -t csv -o - " + trace() + " >/dev/null").code == 0);
}

TEST_CASE("an export that finds no room names what was asked for, in the same sentence whatever it is") {
  const Shell shell;
  const std::string type = GENERATE(as<std::string>{}, "sqlite", "parquet", "parquetdir", "json", "csv", "text");
  const auto full = shell.run("ulimit -f 20; trap '' XFSZ; lanescope export -t " + type + " -o full " + trace());
  CAPTURE(type, full.messages);
  CHECK(full.code == 1);
  CHECK_THAT(full.messages, contains_text("full") && contains_text(" can't be written: ") &&
                                contains_text(". Free some space, or give another place with -o.") && !contains_text(".tables-"));
  CHECK(shell.count_files() == 0);
}

TEST_CASE("names that no file can have are told in a sentence, wherever they are given") {
  const Shell shell;
  // A name that is too long for the system, and a link that leads to itself.
  const std::string name = GENERATE(as<std::string>{}, std::string(300, 'x'), "loop/x");
  CAPTURE(name);
  REQUIRE(shell.run("ln -s pool loop; ln -s loop pool").code == 0);
  const std::string command =
      GENERATE_COPY(as<std::string>{}, "export -t json " + trace() + " -o ", "export -t sqlite " + trace() + " -o ", "export -t trace " + trace() + " -o ",
                    "import " + trace() + " -o ", "stats " + trace() + " -o ", "analyze " + trace() + " -o ", "info ", "profile -s none --cpuctxsw none -o ",
                    "profile -s none --cpuctxsw none ./");
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
  // Sends the signal as soon as there is something unfinished. A command that completes in time may leave its file.
  shell.run("env --default-signal=INT,HUP lanescope " + command + trace() +  // a shell without job control ignores these signals
            " & while kill -0 $! 2>/dev/null && [ -z \"$(ls)\" ]; do :; done; kill -" + signal + " $!; wait $!");
  CHECK(shell.run("ls *.partial").output.empty());
  if (fs::exists(shell.place() / "x.trace")) CHECK(shell.run("lanescope info x.trace").output.find("cut off") == std::string::npos);
}

TEST_CASE("a pipe as input that nobody writes is refused, by every command") {
  const Shell shell;
  for (const std::string command :
       {"info", "stats", "analyze", "export -t trace -o out.trace", "export -t csv", "export -t sqlite -o out.sqlite", "import -o out.trace"}) {
    INFO(command);
    const auto result = shell.run("[ -p in.trace ] || mkfifo in.trace; timeout 300 lanescope " + command + " in.trace");
    CHECK(result.code == 1);
    CHECK_THAT(result.messages, contains_text("is no file but a pipe"));
  }
}

TEST_CASE("a pipe as output that nobody reads is refused, and one that is read gets all") {
  const Shell shell;
  const auto unread = shell.run("mkfifo pipe; timeout 300 lanescope export -t csv -o pipe " + trace());
  CHECK(unread.code == 1);
  CHECK_THAT(unread.messages, contains_text("pipe can't be written: nobody reads from it."));
  const auto recorded = shell.run("mkfifo x.trace; timeout 300 lanescope profile -f -s none --cpuctxsw none -o x true");
  CHECK(recorded.code == 1);
  CHECK_THAT(recorded.messages, contains_text("x.trace is not a file"));
  const auto read = shell.run("lanescope export -t csv -o x.csv " + trace() + "; cat pipe >copy & timeout 300 lanescope export -t csv -o pipe " + trace() +
                              "; wait; cmp x.csv copy");
  CHECK(read.code == 0);
}

TEST_CASE("nothing is written through a link or into a pipe of another user") {
  if (geteuid() != 0) {
    WARN("Only root can give something to somebody else: not tested.");
    return;
  }
  const Shell shell;
  const std::string command = GENERATE(as<std::string>{}, "export -q -t json -o x ", "export -q -t chrome -o x ", "export -q -t csv -o x ",
                                       "export -q -t text -o x ", "export -q -t arrow -o x ", "report -o x ", "stats -q --force-overwrite -r nvtx_sum -o x ",
                                       "profile -s none --cpuctxsw none --export=json -f false -o y true ");
  const std::string name = command.starts_with("stats") ? "x_nvtx_sum.csv" : command.starts_with("profile") ? "y.json" : "x";
  CAPTURE(command);
  const std::string run = "; timeout 300 lanescope " + command + trace() + " && exit 9; kill $!; wait; cat stolen";
  const auto linked = shell.run("mkfifo victim; ln -s victim " + name + "; chown -h 65534 " + name + "; cat victim >stolen & :" + run);
  CHECK(linked.code == 0);
  CHECK(linked.output.find('{') == std::string::npos);
  CHECK_THAT(linked.messages, contains_text(name + " is a link of another user"));
  const auto piped = shell.run("rm -f " + name + " y.trace; mkfifo " + name + "; chown 65534 " + name + "; cat " + name + " >stolen & :" + run);
  CHECK(piped.code == 0);
  CHECK(piped.output.find('{') == std::string::npos);
  CHECK_THAT(piped.messages, contains_text(name + " is a pipe of another user"));
}

TEST_CASE("what is made from a trace that nobody else may read, nobody else may read") {
  const Shell shell;
  const auto ran = shell.run("umask 022; cp " + trace() +
                             " x.trace; chmod 600 x.trace; lanescope export -q -t json x.trace; lanescope export -q -t sqlite x.trace; "
                             "lanescope export -q -t trace -o y.trace x.trace; lanescope stats -q -r nvtx_sum -o z x.trace; "
                             "chmod 644 x.trace; lanescope export -q -t csv x.trace; stat -c '%a %n' *");
  CHECK(ran.code == 0);
  CHECK(ran.output == "644 x.csv\n600 x.json\n600 x.sqlite\n644 x.trace\n600 y.trace\n600 z_nvtx_sum.csv\n");
}

TEST_CASE("links beside an output are not followed") {
  const Shell shell;
  const auto ran = shell.run(
      "echo precious >victim; for end in csv json sqlite trace; do ln -s victim x.$end.partial; done; for type in csv json "
      "sqlite trace; do lanescope export -q -t $type -o x.$type " +
      trace() + " || exit; done; cat victim");
  CHECK(ran.code == 0);
  CHECK(ran.output == "precious\n");
}

TEST_CASE("recordings that write over one file at the same time each get a file of their own") {
  const Shell shell;
  // Like mpirun, starts each with the same command. They wait until all have begun.
  const auto ran = shell.run(
      "lanescope profile -f -s none --cpuctxsw none -o x true 2>/dev/null; for i in 1 2 3; do lanescope profile -f -s none --cpuctxsw none "
      "-o x sh -c \"echo rank $i; while ! [ -e go ]; do sleep 0.01; done\" >out$i 2>log$i & done; while [ $(cat out* | wc -l) -lt 3 ]; do sleep "
      "0.01; done; touch go; wait; for file in *.trace; do lanescope info $file | grep -c cut; done; ls *.trace; cat log*");
  CHECK(ran.output.starts_with("0\n0\n0\n"));
  CHECK_THAT(ran.output, contains_text("x.1.trace\nx.2.trace\nx.trace\n"));
  CHECK_THAT(ran.output, contains_text("is being written by another recording; this one goes to "));
}

TEST_CASE("where the file that -f may replace is being written, no recording of another name is replaced") {
  const Shell shell;
  const std::string profile = "lanescope profile -s none --cpuctxsw none ";
  const auto ran = shell.run(
      "for kept in x.1 x.3 %%n; do " + profile + "-o $kept true || exit; done; cp x.1.trace kept1; cp x.3.trace kept3; " + profile +
      "-f -o x sh -c 'echo begun; while ! [ -e go ]; do sleep 0.01; done' >out & first=$!; until [ -s out ]; do kill -0 $first || exit 99; sleep 0.01; done; " +
      profile + "-f -o x true; " + profile + "-f -o x true; " + profile +
      "-f -o %%n true; touch go; wait; cmp x.1.trace kept1; "
      "cmp x.3.trace kept3; ls *.trace");
  CHECK(ran.output == "%n.trace\nx.1.trace\nx.2.trace\nx.3.trace\nx.4.trace\nx.trace\n");
}

TEST_CASE("nothing is made of a recording that has the name of an earlier one by now") {
  const Shell shell;
  REQUIRE(mkfifo((shell.place() / "x.csv").c_str(), 0600) == 0);  // the first copy waits for a reader
  const auto ran = shell.run(
      "record='lanescope profile -t none -s none --cpuctxsw none -o x'; $record --export csv,json --stats -- true 2>said & first=$!; "
      "until grep -q Generated said 2>/dev/null; do kill -0 $first || exit 99; sleep 0.01; done; $record -f -- true; "
      "cat x.csv >/dev/null & reader=$!; wait $first; echo $?; kill $reader; ls x.json; cat said");
  CHECK(ran.output.starts_with("1\n"));
  CHECK_THAT(ran.output, contains_text("x.trace was replaced by another recording meanwhile"));
  CHECK_FALSE(fs::exists(shell.place() / "x.json"));
}

TEST_CASE("a trace is not written over itself") {
  const Shell shell;
  fs::copy_file(trace(), shell.place() / "x.trace");
  const auto size = fs::file_size(shell.place() / "x.trace");
  for (const char* command : {"export -f -t trace --times 9.7s/9.8s x.trace", "export -f -t csv -o x.trace x.trace", "import -f ./x.trace -o x.trace"}) {
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
      "until grep -q Generated said 2>/dev/null; do kill -0 $! || exit 99; done; "
      "for i in $(seq 600); do kill -INT $! || break; sleep 0.1; done; kill -KILL $!; wait $!");
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
  CHECK(times("/y.trace") == 1);  // the second of that name was cancelled, and the first one is back
  CHECK(fs::exists(shell.place() / "y.trace"));
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
  CHECK(shell.run("lanescope cancel --session a && lanescope cancel && lanescope sessions list").output.find("Awaited") == std::string::npos);
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

TEST_CASE("help of reports, rules and formats is asked for with or without a name, and is no failure") {
  const Shell shell;
  for (const char* asked : {"stats --help-reports", "stats --help-reports ALL", "stats --help-reports cuda_api_sum", "analyze --help-rules",
                            "analyze --help-rules ALL", "analyze --help-rules gpu_bubbles", "stats --help-formats", "stats -q --help-reports"}) {
    INFO(asked);
    const auto ran = shell.run(std::string("lanescope ") + asked);
    CHECK(ran.code == 0);
    CHECK_FALSE(ran.output.empty());
    CHECK(ran.messages.empty());
  }
  CHECK(shell.run("lanescope stats --help-reports no_such_report").code == 2);
  CHECK_THAT(shell.run("lanescope stats -r").messages, contains_text("-r needs a value"));
}

TEST_CASE("names in a trace can't send commands to the terminal, whatever prints them") {
  const Shell shell;
  // Clears the screen, sets the window's title, in seven and in eight bits.
  const std::string name = "\\u001b[2J\\u001b]0;mine\\u0007\\u009b31m";
  std::ofstream(shell.place() / "x.json") << R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":")" << name << R"("}},)"
                                          << R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":")" << name << "\"}}";
  {
    std::ofstream events(shell.place() / "x.json", std::ios::app);
    for (int i = 0; i < 9; ++i) {
      const auto at = [i](int t) { return std::to_string(1000 * i + t); };
      events << R"(,{"ph":"X","cat":"user_annotation","name":")" << name << R"(","pid":1,"tid":1,"ts":)" << at(0) << R"(,"dur":900})"
             << R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" << at(500) << R"(,"dur":5,"args":{"correlation":)" << i + 1
             << "}}"
             << R"(,{"ph":"X","cat":"kernel","name":")" << name << R"(","pid":0,"tid":7,"ts":)" << at(510)
             << R"(,"dur":100,"args":{"device":0,"stream":7,"correlation":)" << i + 1 << "}}";
    }
    events << "]}";
  }
  REQUIRE(shell.run("lanescope import x.json -o x.trace").code == 0);
  for (const char* command :
       {"stats x.trace", "stats -f table x.trace", "stats -f csv x.trace", "stats -f tsv x.trace", "stats -r nvtx_pushpop_trace,cuda_gpu_trace -f json x.trace",
        "analyze x.trace", "analyze -r all x.trace", "analyze -r all -f csv x.trace", "diff --all x.trace x.trace", "info x.trace", "info --json x.trace",
        "export -t csv -o - x.trace", "export -t text -o - x.trace", "export -t json -o - x.trace", "info \"$(printf 'no\\033[2Jfile')\""}) {
    INFO(command);
    const auto ran = shell.run(std::string("lanescope ") + command);
    for (const std::string& text : {ran.output, ran.messages}) {
      CHECK(text.find_first_of("\x1b\x07") == std::string::npos);
      if (std::string(command).find("json") == std::string::npos) CHECK(text.find("\xc2\x9b") == std::string::npos);
    }
    CHECK_THAT(ran.output + ran.messages, contains_text("\\u001b[2J"));
  }
}

// The parts of the recorder that can be tested without a running program.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>

#include "code/modules.h"
#include "code/perf_map.h"
#include "collector/attach/memory_map.h"
#include "collector/cpu/kernel_events.h"
#include "events/system_call_names.h"
#include "events/tracepoint.h"
#include "observation/lost_records.h"
#include "observation/running_times.h"
#include "observation/thread_states.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::cpu;

namespace {

struct Collected {
  std::vector<StateInterval> intervals;
  ThreadStates states{[this](const StateInterval& interval) { intervals.push_back(interval); }};
};

}  // namespace

TEST_CASE("a thread's switches become what it did between them") {
  Collected c;
  c.states.start(7, 100);
  c.states.switch_in(7, 110, 3);
  c.states.switch_out(7, 150, 3, Leaving::kPreempted);
  c.states.switch_in(7, 160, 1);
  c.states.switch_out(7, 170, 1, Leaving::kWaiting);
  c.states.wake(7, 190, 8);
  c.states.switch_in(7, 200, 0);
  c.states.end(7, 230);
  const std::vector<StateInterval> expected{{7, 100, 110, proto::THREAD_RUNNABLE, 0},   {7, 110, 150, proto::THREAD_RUNNING, 4},
                                            {7, 150, 160, proto::THREAD_RUNNABLE, 0},   {7, 160, 170, proto::THREAD_RUNNING, 2},
                                            {7, 170, 190, proto::THREAD_BLOCKED, 0, 8}, {7, 190, 200, proto::THREAD_RUNNABLE, 0},
                                            {7, 200, 230, proto::THREAD_RUNNING, 1}};
  CHECK(c.intervals == expected);
}

TEST_CASE("a thread that is woken while it leaves its processor waits for the next one, if no other thread wakes it") {
  Collected c;
  c.states.switch_in(7, 100, 0);
  c.states.wake(7, 150, 8);
  c.states.switch_out(7, 151, 0, Leaving::kWaiting);
  c.states.switch_in(7, 180, 0);
  c.states.wake(7, 190, 8);  // it did not leave its processor for that
  c.states.switch_out(7, 200, 0, Leaving::kWaiting);
  c.states.wake(7, 250, 9);
  c.states.switch_in(7, 260, 0);
  const std::vector<StateInterval> expected{{7, 100, 151, proto::THREAD_RUNNING, 1},
                                            {7, 151, 180, proto::THREAD_RUNNABLE, 0},
                                            {7, 180, 200, proto::THREAD_RUNNING, 1},
                                            {7, 200, 250, proto::THREAD_BLOCKED, 0, 9},
                                            {7, 250, 260, proto::THREAD_RUNNABLE, 0}};
  CHECK(c.intervals == expected);
}

TEST_CASE("what a thread did before its first switch follows from that switch") {
  Collected c;
  c.states.observe(1, 100, {proto::THREAD_BLOCKED, 0});
  c.states.switch_in(1, 150, 0);  // so it was on no processor until then
  c.states.observe(2, 100, {proto::THREAD_BLOCKED, 0});
  c.states.switch_out(2, 160, 5, Leaving::kWaiting);  // so it was on one
  c.states.observe(3, 100, {proto::THREAD_BLOCKED, 0});
  c.states.observe(4, 100, {proto::THREAD_RUNNING, 2});
  c.intervals.shrink_to_fit();
  REQUIRE(c.intervals.size() == 2);
  CHECK(c.intervals[0] == StateInterval{1, 100, 150, proto::THREAD_BLOCKED, 0});
  CHECK(c.intervals[1] == StateInterval{2, 100, 160, proto::THREAD_RUNNING, 6});
  c.intervals.clear();
  c.states.end_all(300);
  std::sort(c.intervals.begin(), c.intervals.end(), [](const auto& a, const auto& b) { return a.thread < b.thread; });
  const std::vector<StateInterval> expected{{1, 150, 300, proto::THREAD_RUNNING, 1},
                                            {2, 160, 300, proto::THREAD_BLOCKED, 0},
                                            {3, 100, 300, proto::THREAD_BLOCKED, 0},
                                            {4, 100, 300, proto::THREAD_RUNNING, 2}};
  CHECK(c.intervals == expected);
}

TEST_CASE("nothing is said about times of which records were lost") {
  Collected c;
  c.states.start(1, 0);
  c.states.switch_in(1, 10, 0);
  c.states.forget(50, 90);
  c.states.switch_in(1, 120, 0);
  c.states.switch_out(1, 130, 0, Leaving::kWaiting);
  const std::vector<StateInterval> expected{
      {1, 0, 10, proto::THREAD_RUNNABLE, 0}, {1, 10, 50, proto::THREAD_RUNNING, 1}, {1, 120, 130, proto::THREAD_RUNNING, 1}};
  CHECK(c.intervals == expected);
}

TEST_CASE("records that contradict each other leave a hole, not a guess") {
  Collected c;
  c.states.start(1, 0);
  c.states.switch_in(1, 10, 0);
  c.states.switch_in(1, 20, 1);  // the switch out was lost
  c.states.switch_out(1, 30, 1, Leaving::kWaiting);
  c.states.switch_out(1, 40, 1, Leaving::kWaiting);  // the switch in was lost
  const std::vector<StateInterval> expected{{1, 0, 10, proto::THREAD_RUNNABLE, 0}, {1, 20, 30, proto::THREAD_RUNNING, 2}};
  CHECK(c.intervals == expected);
}

TEST_CASE("whether a thread ran at a time is known from its switches, and supposed where there were none") {
  RunningTimes times;
  CHECK(times.ran_at(1, 5));
  times.switch_out(1, 10);
  times.switch_in(1, 20);
  times.switch_out(1, 30);
  CHECK(times.ran_at(1, 9));
  CHECK_FALSE(times.ran_at(1, 10));
  CHECK_FALSE(times.ran_at(1, 19));
  CHECK(times.ran_at(1, 20));
  CHECK(times.ran_at(1, 29));
  CHECK_FALSE(times.ran_at(1, 1'000));
  times.switch_in(2, 10);
  CHECK_FALSE(times.ran_at(2, 9));
  times.forget(2);
  CHECK(times.ran_at(2, 9));
}

namespace {

// In the layout of tracefs.
constexpr const char* kFormat =
    "name: block_rq_issue\nID: 2104\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:long delta;\toffset:16;\tsize:8;\tsigned:1;\n"
    "\tfield:unsigned long args[6];\toffset:24;\tsize:48;\tsigned:0;\n"
    "\tfield:char rwbs[10];\toffset:72;\tsize:10;\tsigned:0;\n"
    "\tfield:__data_loc char[] cmd;\toffset:84;\tsize:4;\tsigned:0;\n"
    "\nprint fmt: \"%d field:int no; offset:1;\", REC->dev\n";

void put(std::string& data, std::size_t at, std::string_view bytes) { data.replace(at, bytes.size(), bytes); }

}  // namespace

TEST_CASE("the data of a tracepoint is read as its format says") {
  Tracepoint point{"block", "block_rq_issue", 2104, tracepoint_fields(kFormat)};
  using Kind = TracepointField::Kind;
  CHECK(point.fields == std::vector<TracepointField>{{"dev", 8, 4, Kind::kInteger, false},
                                                     {"delta", 16, 8, Kind::kInteger, true},
                                                     {"rwbs", 72, 10, Kind::kText, false},
                                                     {"cmd", 84, 4, Kind::kTextElsewhere, false}});
  std::string data(96, '\0');
  put(data, 8, "\xff\xff\xff\xff");
  put(data, 16, "\xfe\xff\xff\xff\xff\xff\xff\xff");
  put(data, 72, "W\"\\\n");
  put(data, 84, std::string("\x58\0\x05\0", 4));  // 5 bytes, starting at 88
  put(data, 88, "flush");
  const auto values = [&](std::size_t size) { return values_as_json(point, std::as_bytes(std::span(data)).first(size)); };
  CHECK(values(96) == R"({"dev":4294967295,"delta":-2,"rwbs":"W\"\\\u000a","cmd":"flush"})");
  CHECK(values(90) == R"({"dev":4294967295,"delta":-2,"rwbs":"W\"\\\u000a","cmd":"fl"})");  // cut short
  CHECK(values(20) == R"({"dev":4294967295,"delta":0,"rwbs":"","cmd":""})");
  CHECK(values(0) == R"({"dev":0,"delta":0,"rwbs":"","cmd":""})");
  CHECK(tracepoint_fields("").empty());
  CHECK(tracepoint_fields("field:").empty());
}

TEST_CASE("records of a process that nobody knew are counted, and none of one whose end is known") {
  LostRecords lost;
  CHECK(lost.take_sentences().empty());
  CHECK(lost.add_of_unknown(7));
  lost.process_ended(7);
  CHECK_FALSE(lost.add_of_unknown(7));
  CHECK(lost.add_of_unknown(8));
  lost.process_began(7);  // another one has the number
  CHECK(lost.add_of_unknown(7));
  lost.add(4);
  lost.add(1);
  lost.add_calls(2);
  const std::vector<std::string> sentences = lost.take_sentences();
  REQUIRE(sentences.size() == 3);
  CHECK(sentences[0].starts_with("5 records of threads were lost"));
  CHECK(sentences[1].starts_with("2 system calls are missing"));
  CHECK(sentences[2].starts_with("3 records are missing of processes that had ended"));
  CHECK(lost.take_sentences().empty());
}

TEST_CASE("records that were lost at the end of a buffer are counted once, before or after the kernel tells them") {
  LostRecords lost;
  CHECK(lost.add_told(3) == 3);
  CHECK(lost.add_up_to(3) == 0);
  CHECK(lost.add_up_to(10) == 7);  // no record came behind the last seven
  CHECK(lost.add_told(5) == 0);    // five of these, in one buffer
  CHECK(lost.add_told(4) == 2);    // the other two, and two more
  CHECK(lost.add_up_to(12) == 0);
  CHECK(lost.take_sentences().front().starts_with("12 records of threads were lost"));
}

TEST_CASE("system calls have the names of the kernel's headers") {
  CHECK(system_call_name(SYS_read) == "read");
  CHECK(system_call_name(SYS_clone3) == "clone3");
  CHECK(system_call_name(SYS_exit_group) == "exit_group");
  CHECK(system_call_name(99'999) == "system call 99999");
  CHECK(system_call_name(-1) == "system call -1");
  const std::vector<std::string> names = system_call_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const int number : {SYS_read, SYS_clone3, SYS_exit_group}) CHECK(std::binary_search(names.begin(), names.end(), system_call_name(number)));
}

TEST_CASE("the executable mappings of a process are those of its map that may be executed, with the files' numbers") {
  const std::vector<attach::Mapping> all = attach::read_memory_map(getpid()).value();
  const std::vector<attach::Mapping> executable = attach::read_memory_map(getpid(), attach::Mappings::kExecutable).value();
  CHECK(executable.size() == static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const attach::Mapping& each) { return each.executable; })));
  struct stat program {};
  REQUIRE(stat("/proc/self/exe", &program) == 0);
  const auto ours = reinterpret_cast<std::uint64_t>(&attach::is_loader);
  const auto place = std::find_if(executable.begin(), executable.end(), [&](const attach::Mapping& each) { return each.contains(ours); });
  REQUIRE(place != executable.end());
  CHECK(place->inode == program.st_ino);
  CHECK(place->path == std::filesystem::read_symlink("/proc/self/exe"));
}

TEST_CASE("a mapping covers what was there before, and leaves the rest") {
  AddressSpace space;
  Module a;
  Module b;
  a.segments = {{0, 0x10000, 0x400000}};
  b.segments = {{0, 0x10000, 0}};
  space.map(0x1000, 0x3000, 0x0, &a);
  space.map(0x2000, 0x1000, 0x5000, &b);
  CHECK(space.find(0xfff).module == nullptr);
  CHECK(space.find(0x1000).module == &a);
  CHECK(space.find(0x1010).address == 0x400010);
  CHECK(space.find(0x2004).module == &b);
  CHECK(space.find(0x2004).address == 0x5004);
  CHECK(space.find(0x3000).module == &a);
  CHECK(space.find(0x3000).address == 0x402000);
  CHECK(space.find(0x4000).module == nullptr);
}

TEST_CASE("an ELF file says where its code belongs, and what its build id is") {
  const ElfFacts facts = read_elf_facts(test::program("lanescope_program_cpu_work_stripped").string());
  CHECK(facts.build_id == "1a2e5c09e00000000000000000000000000000c0");
  CHECK(facts.segments.size() >= 2);
  CHECK(read_elf_facts("/proc/self/status").segments.empty());
}

TEST_CASE("a perf map is taken in as it grows, and its last word counts") {
  const pid_t nobody = 0x70000000 + getpid();  // beyond the largest pid
  const std::string path = "/tmp/perf-" + std::to_string(nobody) + ".map";
  std::ofstream file(path);
  file << "1000 20 first\n0x1020 0x10 with blanks in it\n1040 " << std::flush;
  PerfMap map(nobody, std::make_shared<PerfMapBudget>());
  map.refresh();
  CHECK(map.find(0x1000) == "first");
  CHECK(map.find(0x101f) == "first");
  CHECK(map.find(0x1025) == "with blanks in it");
  CHECK(map.find(0x1030).empty());
  CHECK(map.find(0x1040).empty());
  file << "10 late\n1000 8 again\n" << std::flush;
  map.refresh();
  CHECK(map.find(0x1040) == "late");
  CHECK(map.find(0x1004) == "again");
  CHECK(map.find(0x1010).empty());
  std::filesystem::remove(path);
}

TEST_CASE("a perf map takes no more than its budget, and gives it back") {
  const pid_t nobody = 0x71000000 + getpid();
  const std::string path = "/tmp/perf-" + std::to_string(nobody) + ".map";
  const auto budget = std::make_shared<PerfMapBudget>();
  budget->left = 100'000;
  {
    std::ofstream file(path);
    for (int i = 1; i <= 10'000; ++i) file << std::hex << i * 0x1000 << " 100 " << std::string(2'000, 'n') << '\n';
    file << "ffffffffffff0000 ffffffffffffffff covers all\n" << std::string(3 << 20, 'x');  // no end of a line
  }
  {
    PerfMap map(nobody, budget);
    map.refresh();
    CHECK(map.find(0x1000) == std::string(1'024, 'n'));
    CHECK(map.find(0x1000 * 9'000).empty());
    CHECK(map.is_cut());
    CHECK(budget->left < 2'000);
  }
  CHECK(budget->left == 100'000);
  std::filesystem::remove(path);
}

TEST_CASE("a perf map that is a link, a pipe or somebody else's counts for nothing") {
  const pid_t nobody = 0x72000000 + getpid();
  const test::TemporaryFolder folder;
  const std::string path = "/tmp/perf-" + std::to_string(nobody) + ".map";
  const std::string text = "1000 20 name\n";
  const std::string kind = GENERATE("link", "pipe", "other user", "own");
  CAPTURE(kind);
  std::filesystem::remove(path);
  std::ofstream(folder.path() / "map") << text;
  if (kind == "link") std::filesystem::create_symlink(folder.path() / "map", path);
  if (kind == "pipe") REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  if (kind == "other user" || kind == "own") std::ofstream(path) << text;
  const bool is_possible = kind != "other user" || chown(path.c_str(), 65534, 65534) == 0;  // takes root
  PerfMap map(nobody, std::make_shared<PerfMapBudget>());
  map.refresh();
  if (is_possible) CHECK(map.find(0x1000) == (kind == "own" ? "name" : ""));
  std::filesystem::remove(path);
}

TEST_CASE("a pipe in the place of a mapped file is no file, and holds nobody") {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "lib.so").string();
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  ModuleTable modules;
  const Module* module = modules.find(path, 0, getpid());
  CHECK(module->segments.empty());
  CHECK_FALSE(module->open());
}

TEST_CASE("a file that another takes the place of is not taken for it") {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "program";
  std::filesystem::copy_file(test::program("lanescope_program_cpu_work"), path);
  ModuleTable modules;
  const Module* module = modules.find(path.string(), 0, getpid());
  REQUIRE(module->open());
  std::filesystem::rename(path, folder.path() / "moved");
  std::filesystem::copy_file(test::program("lanescope_program_cpu_work_stripped"), path);
  CHECK_FALSE(module->open());
}

TEST_CASE("names of Python functions in a perf map are told apart") {
  const auto python = python_name("py::Loader.next:/srv/a:b/train.py");
  REQUIRE(python);
  CHECK(python->function == "Loader.next");
  CHECK(python->file == "/srv/a:b/train.py");
  CHECK(!python_name("Builtin:ArrayPush"));
}

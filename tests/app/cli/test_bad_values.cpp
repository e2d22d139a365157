// Values that no option accepts: each is refused in one sentence that names the option, with exit code 2, before anything runs.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>

#include "checks.h"
#include "collector/session/kernel_counters.h"
#include "command.h"
#include "model/export/trace_file_export.h"
#include "model/trace/kernel_records.h"
#include "model/trace/trace_builder.h"
#include "output/kernel_tables.h"
#include "ran_command.h"
#include "session/kernel_run.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::cli;
using test::Ran;
using test::run_command;

namespace {

template <typename Work>
std::string errors_of(Work work) {
  const test::Printed messages(std::cerr);
  work();
  return messages.text();
}

struct Case {
  const char* argument;
  const char* words;  // of the answer
};
const std::vector<Case> kCases{
    {"--trace=foo", "\"foo\" is none of cuda, nvtx"},
    {"--trace=", "--trace needs a value"},
    {"--trace=cudaa", "Did you mean cuda?"},
    {"--output=x%z", "%z"},
    {"--output=-", "- names no file"},
    {"--output=-x", "\"-x\" looks like an option; for a file of this name write ./-x"},
    {"--output=x%q{RANK", "that is not one of %p"},
    {"--label=run", "\"run\" is no KEY=VALUE"},
    {"--label==x", "is no KEY=VALUE"},
    {"--force-overwrite=maybe", "--force-overwrite takes true or false, not \"maybe\"."},
    {"--delay=-1", "--delay: \"-1\" is no number of seconds"},
    {"--delay=soon", "--delay: \"soon\""},
    {"--delay=1e400", "--delay"},
    {"--delay=nan", "--delay"},
    {"--duration=0", "--duration: \"0\""},
    {"--duration=1s", "--duration: \"1s\""},
    {"--kill=foo", "--kill takes none, sigterm"},
    {"--kill=99", "--kill takes"},
    {"--stop-on-exit=maybe", "--stop-on-exit takes true or false"},
    {"--stop-on-exit=false", "requires --duration"},
    {"--wait=none", "--wait: \"none\" is none of primary, all"},
    {"--syscall=true", "--syscall: \"true\" is none of process-tree, system-wide, none"},  // a value that no help shows
    {"--capture-range=foo", "--capture-range takes none, cudaProfilerApi or nvtx"},
    {"--capture-range=nvtx", "--nvtx-capture"},
    {"--nvtx-capture=x", "--capture-range=nvtx"},
    {"--capture-range-end=foo", "--capture-range-end takes"},
    {"--capture-range-end=repeat:0", "--capture-range-end takes"},
    {"--stop-on-range-end=foo", "--stop-on-range-end takes true or false"},
    {"--start-later=foo", "--start-later takes true or false"},
    {"--nvtx-domain-include=", "--nvtx-domain-include needs a value"},
    {"--nvtx-domain-exclude=", "--nvtx-domain-exclude needs a value"},
    {"--cuda-graph-trace=foo", "neither node nor graph"},
    {"--cuda-memory-usage=foo", "--cuda-memory-usage takes true or false"},
    {"--cuda-um-cpu-page-faults=foo", "--cuda-um-cpu-page-faults takes"},
    {"--cuda-um-gpu-page-faults=foo", "--cuda-um-gpu-page-faults takes"},
    {"--cuda-event-trace=foo", "--cuda-event-trace takes"},
    {"--cuda-trace-all-apis=foo", "--cuda-trace-all-apis takes"},
    {"--cuda-flush-interval=-1", "--cuda-flush-interval: \"-1\" is no whole number"},
    {"--cuda-flush-interval=1s", "--cuda-flush-interval"},
    {"--record-memory=0", "--record-memory: \"0\" is no whole number from 1 to 65536"},
    {"--cudabacktrace=foo", "--cudabacktrace takes all"},
    {"--cudabacktrace=all:x", "no number of nanoseconds"},
    {"--env-var=foo", "--env-var needs NAME=VALUE"},
    {"--env-var==x", "--env-var needs NAME=VALUE"},
    {"--inherit-environment=foo", "--inherit-environment takes"},
    {"--show-output=foo", "--show-output takes"},
    {"--stats=foo", "--stats takes"},
    {"--export=foo", "\"foo\" is none of none, sqlite"},
    {"--export=hdf5", "\"hdf5\" is none of none, sqlite"},
    {"--export=trace", "\"trace\" is none of none, sqlite"},
    {"--run-as=lanescope-nobody", "lanescope-nobody"},
    {"--command-file=/nowhere/options", "can't be read"},
    {"--command-file=/proc/self/exe", "is no text"},
    {"--command-file=/dev/zero", "is no text"},
    {"--session-new=a/b", "\"a/b\" is no name of a session"},
    {"--session-new=a\nb", "is no name of a session"},
    {"--session-new=a\x1b[31m", "is no name of a session"},
    {"--preset=foo", "\"foo\" is none of light, default, deep"},
    {"--max-file-size=foo", "\"foo\" is no size such as 500M"},
    {"--max-file-size=-1", "--max-file-size"},
    {"--max-file-size=0", "--max-file-size"},
    {"--max-file-size=10X", "--max-file-size"},
    {"--ring=0", "--ring: \"0\" is no number of seconds"},
    {"--sample=foo", "--sample: \"foo\" is none of process-tree, cpu, system-wide, none"},
    {"--cpuctxsw=foo", "--cpuctxsw: \"foo\" is none of"},
    {"--backtrace=foo", "--backtrace: \"foo\" is none of"},
    {"--sampling-frequency=0", "--sampling-frequency: \"0\" is no whole number from 1 to 10000"},
    {"--python-sampling=foo", "--python-sampling takes"},
    {"--python-backtrace=foo", "--python-backtrace: \"foo\" is none of"},
    {"--osrt-threshold=-1", "--osrt-threshold"},
    {"--osrt-backtrace-threshold=x", "--osrt-backtrace-threshold takes"},
    {"--gpu-metrics-devices=foo", "--gpu-metrics-devices"},
    {"--gpu-metrics-frequency=1", "--gpu-metrics-frequency"},
    {"--gpu-metrics-set=foo", "--gpu-metrics-set"},
    {"--pytorch=foo", "\"foo\" is none of autograd-nvtx"},
    {"--mpi-impl=foo", "--mpi-impl: \"foo\" is none of"},
    {"--arm=foo", "--arm takes"},
    {"--nonsense", "Unknown option --nonsense."},
    {"--cuda-memory=true", "Did you mean --cuda-memory-usage?"},
    {"--out=x", "Did you mean --output?"},
    {"--gpu-metrics=all", "Did you mean --gpu-metrics-devices?"},
};

}  // namespace

TEST_CASE("a value that an option does not take is answered with one sentence that names it, and exit code 2") {
  for (const Case& each : kCases) {
    CAPTURE(each.argument);
    const Ran told = run_command({"profile", each.argument, "true"});
    CHECK(told.code == kUsage);
    CHECK_THAT(told.messages, contains_text(each.words));
    CHECK(std::count(told.messages.begin(), told.messages.end(), '\n') == 1);
    CHECK(told.messages.size() < 250);
  }
}

TEST_CASE("an option at the end lacks its value") {
  for (const char* option : {"-t", "--trace", "-o", "--duration", "-e", "--kill"}) {
    CAPTURE(option);
    const Ran told = run_command({"profile", option});
    CHECK(told.code == kUsage);
    CHECK_THAT(told.messages, contains_text(option));
  }
}

TEST_CASE("an option whose variable was not set lacks its value, and one that needs another is refused without it") {
  for (const Arguments& arguments : std::vector<Arguments>{{"profile", "--on", "", "true"},
                                                           {"attach", "--on", "", "1"},
                                                           {"profile", "-o", "", "true"},
                                                           {"profile", "--remote-folder", "/tmp", "true"},
                                                           {"attach", "--remote-lanescope", "x", "1"},
                                                           {"fetch", "--list", "x.trace"},
                                                           {"fetch", "--list", "--recording", "x"}}) {
    CAPTURE(arguments);
    const Ran told = run_command(arguments);
    CHECK(told.code == kUsage);
    CHECK(std::count(told.messages.begin(), told.messages.end(), '\n') == 1);
  }
}

TEST_CASE("attach and start refuse the same values, and a process that is no number") {
  for (const Arguments& arguments : std::vector<Arguments>{{"attach", "python"},
                                                           {"attach", "0"},
                                                           {"attach", "1", "-d", "soon"},
                                                           {"attach", "1", "--max-file-size=-1"},
                                                           {"attach", "1", "--python-sampling=foo"},
                                                           {"start", "-d", "0"},
                                                           {"start", "-x=foo"},
                                                           {"start", "--stats=foo"},
                                                           {"start", "--gpu-metrics-devices=foo"}}) {
    CAPTURE(arguments);
    const Ran told = run_command(arguments);
    CHECK(told.code == kUsage);
    CHECK(std::count(told.messages.begin(), told.messages.end(), '\n') == 1);
  }
}

TEST_CASE("what exports and reports of nsys take and ours do not is named, with what to do") {
  const std::vector<std::pair<Arguments, const char*>> cases{
      {{"export", "-t", "hdf"}, "take sqlite, or csv"},
      {{"export", "--type=arrowdir"}, "parquetdir"},
      {{"export", "--type=jsonlines"}, "jq -c"},
      {{"export", "-t", "info"}, "lanescope info"},
      {{"export", "-t", "sqlit"}, "Did you mean sqlite?"},
      {{"export", "--include-blobs=true"}, "JSON"},
      {{"export", "--dynamic-tables=all"}, "NVTX_EVENTS.jsonText"},
      {{"export", "--append=true"}, "read together"},
      {{"export", "--ts-normalize=true"}, "lanescope info"},
      {{"export", "--ts-shift=5"}, "lanescope-ui"},
      {{"export", "--separate-strings=true"}, "in the events"},
      {{"stats", "-f", "column:nohdr"}, "nothing behind a colon"},
      {{"stats", "-f", "hdoc"}, "column, table, csv, tsv, json"},
      {{"stats", "--report-dir=x"}, "--help-reports"},
      {{"stats", "--sqlite=x.sqlite"}, "name it alone"},
      {{"analyze", "--rule-dir=x"}, "--help-rules"},
      {{"attach", "--pid=4711"}, "lanescope attach PID"},
  };
  for (const auto& [arguments, words] : cases) {
    Arguments whole = arguments;
    whole.push_back(whole.front() == "attach" ? "1" : "x.trace");
    CAPTURE(whole);
    const Ran told = run_command(whole);
    CHECK(told.code == kUsage);
    CHECK_THAT(told.messages, contains_text(words));
    CHECK(std::count(told.messages.begin(), told.messages.end(), '\n') == 1);
  }
}

TEST_CASE("sizes are numbers of bytes, with powers of 1024") {
  const auto bytes = [](std::string text) { return size_in_bytes()(text).empty() ? text : "refused"; };
  CHECK(bytes("500") == "500");
  CHECK(bytes("500B") == "500");
  CHECK(bytes("4K") == "4096");
  CHECK(bytes("4k") == "4096");
  CHECK(bytes("1.5M") == "1572864");
  CHECK(bytes("2GiB") == "2147483648");
  CHECK(bytes("2gb") == "2147483648");
  CHECK(bytes("1T") == "1099511627776");
  for (const char* wrong : {"", "M", "-1", "0", "1X", "1MM", "nan", "inf", "1e30"}) CHECK(bytes(wrong) == "refused");
}

TEST_CASE("kernels says of a file without counters what of it could not be read") {
  const test::TemporaryFolder folder;
  std::ifstream file(test::data_file("kernel_counters.trace"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto told = [&](const std::string& bytes) {
    const std::filesystem::path path = folder.path() / "part.trace";
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const Ran answered = run_command({"kernels", path.string()});
    CHECK(answered.code == 1);
    return answered.messages;
  };
  // The frame of counters comes after the events.
  CHECK_THAT(told(whole.substr(0, whole.size() / 2)), contains_text("there are no counters of kernels in it. The recording was cut off"));
  std::string flipped = whole;
  flipped[7000] = static_cast<char>(~flipped[7000]);
  CHECK_THAT(told(flipped), contains_text("there are no counters of kernels in it. 1 frame is damaged and skipped, the first at byte 3325."));
}

TEST_CASE("kernels names lines of source by counts of another recording") {
  const test::TemporaryFolder folder;
  const std::string counters = test::data_file("kernel_counters.trace").string(), counts = test::data_file("zoo_counts.trace").string();
  const Ran told = run_command({"kernels", "-q", "-f", "csv", "-o", (folder.path() / "both").string(), counters, counts});
  CAPTURE(told.messages);
  CHECK(told.code == 0);
  std::ifstream file(folder.path() / "both_kernels.csv");
  std::map<std::string, std::string> lines;  // for each kernel, the line of its first cause
  for (std::string row; std::getline(file, row);)
    for (const char* kernel : {"transpose_naive", "transpose_shared", "spill", "fp64"})
      if (row.find(kernel) != std::string::npos) lines.try_emplace(kernel, row.substr(row.rfind(',') + 1));
  CHECK(lines ==
        std::map<std::string, std::string>{{"transpose_naive", "zoo.cu:6"}, {"transpose_shared", "zoo.cu:7"}, {"spill", "zoo.cu:14"}, {"fp64", "zoo.cu:15"}});
  CHECK_THAT(run_command({"kernels", "--page=source", counters, counts}).messages, contains_text("name one file"));
}

namespace {

// Null, with a warning, if there is no lanescope-kernel-metrics, as without CUPTI.
std::unique_ptr<session::KernelCounters> started_counters(const session::KernelCounterSettings& settings) {
  auto counters = session::KernelCounters::start(settings);
  if (counters) return std::move(*counters);
  CHECK_THAT(counters.error().text, contains_text("Install Lanescope whole"));
  WARN("There is no lanescope-kernel-metrics here: not tested.");
  return nullptr;
}

}  // namespace

// The program writes what an agent writes when it begins to measure a launch, and then waits, like one whose kernel waits for another.
TEST_CASE("kernels ends a program whose kernel does not come to an end while it is measured, and names it") {
  const test::TemporaryFolder folder;
  const std::string record = "printf 'LCK4\\0\\0\\0\\0\\051\\0\\0\\0\\0\\0\\0\\0\\007\\0\\0\\0\\0\\0\\0\\0\\011\\0\\0\\0\\0\\0\\0\\0_Z4spinPi'";
  session::KernelCounterSettings settings;
  settings.patience = std::chrono::milliseconds(300);
  const auto counters = started_counters(settings);
  if (!counters) return;
  const std::string told = errors_of([&] {
    const auto measured = record_kernels({{"sh", "-c", record + " > \"$LANESCOPE_KERNEL_COUNTERS/records/1\"; exec sleep 100"}, {}}, *counters, settings,
                                         folder.path() / "kept.trace");
    REQUIRE(measured);
  });
  CHECK_THAT(told, contains_text("The kernel spin(int*) did not come to an end within 0.3 s while it was measured"));
  CHECK(std::filesystem::exists(folder.path() / "kept.trace"));
}

TEST_CASE("kernels ends as its program did, also where nothing could be measured") {
  const test::TemporaryFolder folder;
  const session::KernelCounterSettings settings;
  const auto counters = started_counters(settings);
  if (!counters) return;
  const std::filesystem::path removed = folder.path() / "removed.trace";
  const std::string told = errors_of([&] {
    const auto lost = record_kernels({{"sh", "-c", "rm " + removed.string() + "; exit 7"}, {}}, *counters, settings, removed);
    REQUIRE(lost);
    CHECK(lost->code == 7);
    CHECK(lost->failure);
  });
  CHECK_THAT(told, contains_text(removed.string() + " was removed while it was recorded"));
  const auto measured = record_kernels({{"sh", "-c", "exit 7"}, {}}, *counters, settings, folder.path() / "kept.trace");
  REQUIRE(measured);
  CHECK(measured->code == 7);
  const Result<MeasuredProgram> counted = record_instruction_counts({{"sh", "-c", "exit 7"}, {}}, settings, folder.path() / "counts.trace");
  REQUIRE(counted);
  CHECK(counted->code == 7);
  REQUIRE(counted->failure);
  CHECK_THAT(counted->failure->text, contains_text("the program launched none on a GPU"));
}

TEST_CASE("kernels runs no program that could not be measured") {
  if (session::check_counters_can_be_read()) return;  // there is a GPU
  const test::TemporaryFolder folder;
  const std::string ran = (folder.path() / "ran").string(), kept = (folder.path() / "kept.trace").string();
  for (const Arguments& options : {Arguments{}, Arguments{"--set=source"}, Arguments{"--launches=sample"}, Arguments{"--replay-mode=range"}}) {
    Arguments all{"kernels", "--save", kept};
    all.insert(all.end(), options.begin(), options.end());
    for (const std::string& word : {std::string("--"), std::string("touch"), ran}) all.push_back(word);
    const Ran told = run_command(all);
    CAPTURE(told.messages);
    CHECK(told.code == 1);
    CHECK_THAT(told.messages, contains_text("Counters of kernels can't be read: "));
    CHECK_FALSE(std::filesystem::exists(ran));
    CHECK_FALSE(std::filesystem::exists(kept));
  }
  const Ran nowhere = run_command({"kernels", "--save", "/nowhere/x.trace", "--", "touch", ran});
  CHECK(nowhere.code == 1);
  CHECK_FALSE(std::filesystem::exists(ran));
}

TEST_CASE("kernels refuses what makes no sense before anything runs, and keeps the file that is there") {
  const test::TemporaryFolder folder;
  const std::filesystem::path there = folder.path() / "there.trace", ran = folder.path() / "ran";
  std::ofstream(there) << "mine";
  const std::vector<std::string> program{"--", "touch", ran.string()};
  constexpr int kAnyCode = -1;  // of any failure
  const auto refused = [&](Arguments arguments, bool runs, int code, const char* words) {
    if (runs) arguments.insert(arguments.end(), program.begin(), program.end());
    const Ran answered = run_command(arguments);
    CAPTURE(answered.messages);
    CHECK((code == kAnyCode ? answered.code == 1 || answered.code == 2 : answered.code == code));
    CHECK(answered.messages.find(words) != std::string::npos);
  };
  refused({"kernels", "--save=" + there.string()}, true, 1, "exists already");
  refused({"kernels", "--kernel-name=regex:("}, true, 2, "is no extended regular expression");
  for (const char* option : {"--section=SpeedOfLight", "--metrics=a", "--replay-mode=spread"})
    refused({"kernels", "--set=source", option}, true, 2, "--set source counts instructions");
  for (const char* time : {"--timeout=-1", "--timeout=1e9", "--timeout=nan"}) refused({"kernels", time}, true, 2, "--timeout takes seconds");
  refused({"kernels", "--launches=some"}, true, 2, "--launches is all or sample, not some");
  for (const char* option : {"--launch-skip=1", "--launch-count=1", "--set=source"})
    refused({"kernels", "--launches=sample", option}, true, 2, "--launches sample");
  refused({"kernels", "--metrics=sm__that_no_gpu_has.sum"}, true, kAnyCode, "");  // may fail here because there is no GPU
  refused({"kernels", "--nvtx-include=step", "--set=source"}, true, 2, "--nvtx-include is for counters");
  for (const char* nothing : {"--nvtx-include=/", "--nvtx-include=loader@"}) refused({"kernels", nothing}, true, 2, "names no range");
  refused({"attach", "--kernels=counters", "1"}, false, 2, "There is --kernels=pc");
  refused({"profile", "--kernels=counters:set=source"}, true, 2, "lanescope kernels --set source");
  refused({"kernels", "--page=source", test::data_file("kernel_counters.trace").string()}, false, 1, "there are no counts of instructions in it");
  refused({"kernels", test::data_file("transpositions.trace").string()}, false, 1, "lanescope kernels --rerun ");
  refused({"kernels", test::data_file("transpositions.trace").string()}, false, 1,
          "--kernels=counters ./transpositions 100");  // its own command
  refused({"kernels", "--page=source", "--source-folders=" + ran.string(), test::data_file("transpositions.trace").string()}, false, 2, "there is no folder");
  for (const char* option : {"--replay-mode=range", "--replay-mode=app-range"})
    refused({"kernels", option, "--kernel-name=saxpy"}, true, 2, "counts all kernels of a range together");
  refused({"kernels", "--set=source", "--replay-mode=application"}, true, 2, "--set source counts instructions");
  const std::string counters = test::data_file("kernel_counters.trace").string();
  refused({"kernels", "--section=SpeedOfLight,Nonsense", counters}, false, 2, "No section Nonsense has values");
  refused({"kernels", "--section=SourceCounters"}, true, 2, "There is no section SourceCounters that can be measured");
  refused({"kernels", "--page=raw", "--section=SpeedOfLight", counters}, false, 2, "--section is for --page details");
  refused({"kernels", "--source-folders=/tmp", counters}, false, 2, "--source-folders is for --page source");
  const std::pair<const char*, const char*> windows[] = {{"pc:window=1s,every=1s", "every 1200 ms at most"},
                                                         {"pc:every=100ms", "every 230 ms at most"},
                                                         {"pc:window=soon", "a window is a time"},
                                                         {"pc:every=0", "is a time"}};
  for (const auto& [wrong, words] : windows) refused({"profile", std::string("--kernels=") + wrong}, true, 2, words);
  refused({"kernels", "--chip=GH100"}, true, 2, "--chip is for --query-metrics");
  for (const char* option : {"--set=basic", "--metrics=a", "--launches=sample", "--nvtx-include=a", "--replay-mode=spread", "--save=x.trace"})
    refused({"kernels", there.string(), option}, false, 2, "is for a program that is measured");
  refused({"profile", "--kernels=counters", "--gpu-metrics-devices=all"}, true, 2, "one can have at a time");
  CHECK(std::filesystem::file_size(there) == 4);
  CHECK_FALSE(std::filesystem::exists(ran));
}

TEST_CASE("kernels says what a file lacks that has no counters of kernels, or no lines of code") {
  const test::TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  const auto told = [](const Arguments& arguments, int code) {
    const Ran ran = run_command(arguments);
    CHECK(ran.code == code);
    return ran.messages;
  };
  // Of another tool, without counters.
  told({"export", "-q", "-t", "sqlite", "-o", at("streams.sqlite"), test::data_file("cuda_streams.trace").string()}, 0);
  CHECK_THAT(told({"kernels", at("streams.sqlite")}, 1), contains_text("there are no counters of kernels in it"));
  // Nsight Compute's, with labels in place of the names of metrics.
  std::ofstream(at("labels.csv"))
      << "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Duration\"\n\"\",\"\",\"\",\"\",\"us\"\n\"0\",\"1\",\"zoo\",\"saxpy\",\"7\"\n";
  CHECK_THAT(told({"kernels", at("labels.csv")}, 1), contains_text("--print-metric-name name"));
  // Nsight Compute's, of a set that says nothing of what bounds a kernel.
  std::ofstream(at("few.csv"))
      << "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"launch__waves\"\n\"\",\"\",\"\",\"\",\"\"\n\"0\",\"1\",\"zoo\",\"saxpy\",\"7\"\n";
  CHECK_THAT(run_command({"kernels", at("few.csv")}).output, contains_text("Its time was not measured, nor was what bounds it\n"));
  // Samples of code that has no lines.
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const NameId name = builder.intern("square");
  PcSampleWindow window;
  window.process = process;
  window.gpu = builder.gpu_of_device(process, 0);
  window.time = {0, 1'000};
  window.samples = {{builder.gpu_function({process, 7, 0, name, name}), builder.stall_reason("wait"), 16, 3, 0}};
  builder.add(std::move(window));
  REQUIRE(export_trace_file(*builder.snapshot(), at("no_lines.trace"), Overwrite::kRefuse));
  CHECK_THAT(told({"kernels", "--page=source", at("no_lines.trace")}, 0), contains_text("No line is known of kernel square: compile with nvcc -lineinfo."));
}

TEST_CASE("kernels takes what is typed for ncu, or says what to type") {
  const test::TemporaryFolder folder;
  const std::string counters = test::data_file("kernel_counters.trace").string(), ran = (folder.path() / "ran").string();
  const std::string table = (folder.path() / "table").string();
  CHECK(run_command({"kernels", "--nvtx", "--target-processes", "all", "--graph-profiling=node", "-q", "-f", "-o", table, "--import", counters}).code == 0);
  CHECK(run_command({"kernels", "-q", "-f", "-o", table, counters}).code == 0);  // overwrites the file
  const Ran program = run_command({"kernels", "--set", "full", "python", "train.py", "--size"});
  CHECK(program.code == kUsage);
  const Ran bare = run_command({"kernels", "--set", "full", "python", "train.py"});
  CHECK(bare.code == kUsage);
  CHECK_THAT(bare.messages, contains_text("lanescope kernels ... -- python train.py"));
  const Ran nowhere = run_command({"kernels", "-o", "/nowhere/x", "--", "touch", ran});
  CHECK(nowhere.code == 1);
  CHECK_THAT(nowhere.messages, contains_text("Nothing can be written to /nowhere/x: No such file or directory."));
  CHECK_FALSE(std::filesystem::exists(ran));
  CHECK_THAT(run_command({"kernels", "-o", table, "--", "true"}).messages, contains_text("--save FILE.trace"));
}

TEST_CASE("kernels shows of a file the kernels that are chosen as ncu spells it") {
  const test::TemporaryFolder folder;
  const std::string counters = test::data_file("kernel_counters.trace").string();
  int number = 0;
  // The first column of the rows of values, each value once, in order.
  const auto kernels_of = [&](std::vector<std::string> options) {
    const std::string base = (folder.path() / std::to_string(++number)).string();
    Arguments all{"kernels", "-q", "-f", "csv", "-o", base, "--page", "raw", counters};
    all.insert(all.end(), options.begin(), options.end());
    const Ran told = run_command(all);
    CAPTURE(told.messages);
    CHECK(told.code == 0);
    std::ifstream file(base + "_values.csv");
    std::vector<std::string> names;
    for (std::string row; std::getline(file, row);) {
      const std::string rest = row.substr(row.find(',') + 1), name = row.substr(0, row.find(',')) + " " + rest.substr(0, rest.find_first_of("(,"));
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    names.erase(names.begin());  // the titles
    return names;
  };
  const std::vector<std::string> all = kernels_of({});
  REQUIRE(all.size() > 3);
  std::vector<std::string> with_transpose;
  for (const std::string& name : all)
    if (name.find("transpose_") != std::string::npos) with_transpose.push_back(name.substr(name.find("transpose_")));
  REQUIRE(with_transpose.size() >= 2);
  const auto names = [](const std::vector<std::string>& rows) {
    std::vector<std::string> only;
    for (const std::string& row : rows) only.push_back(row.substr(row.find("transpose_")));
    return only;
  };
  CHECK(names(kernels_of({"-k", "regex:^transpose_"})) == with_transpose);
  CHECK(kernels_of({"-k", "transpose_naive"}).size() == static_cast<std::size_t>(std::count(with_transpose.begin(), with_transpose.end(), "transpose_naive")));
  CHECK(names(kernels_of({"-k", "regex:^transpose_", "-s", "1", "-c", "1"})) == std::vector{with_transpose[1]});
  CHECK(names(kernels_of({"--kernel-id", "::transpose_naive:1"})) == std::vector<std::string>{"transpose_naive"});
  CHECK(kernels_of({"--devices", "0,3"}) == all);
  // Each with the number that it has among all.
  for (const std::string& row : kernels_of({"-k", "regex:^transpose_", "-s", "1"})) CHECK(std::find(all.begin(), all.end(), row) != all.end());
  for (const auto& [options, code, words] :
       std::vector<std::tuple<Arguments, int, const char*>>{{{"--devices", "7"}, 1, "is among those that were chosen"},
                                                            {{"-k", "no_such_kernel"}, 1, "is among those that were chosen"},
                                                            {{"--devices", "all"}, 2, "--devices takes numbers of GPUs"},
                                                            {{"--kernel-id", "saxpy"}, 2, "is not CONTEXT:STREAM:"},
                                                            {{"--kernel-id", "1:7:saxpy:"}, 2, "--nvtx-include"},
                                                            {{"--kernel-id", "::saxpy:0"}, 2, "from 1"},
                                                            {{"--kernel-id", "::regex:a:1"}, 2, "--launch-skip"},
                                                            {{"--kernel-id", "::saxpy:1", "-k", "saxpy"}, 2, "both say which launches are meant"},
                                                            {{"--call-stack"}, 2, "--cudabacktrace=kernel"},
                                                            {{"--print-summary", "per-gpu"}, 2, "--devices N"},
                                                            {{"-k", "a", "--page", "source"}, 2, "--page source is of all kernels"}}) {
    Arguments asked{"kernels", counters};
    asked.insert(asked.end(), options.begin(), options.end());
    const Ran told = run_command(asked);
    CAPTURE(options, told.messages);
    CHECK(told.code == code);
    CHECK_THAT(told.messages, contains_text(words));
  }
  CHECK_THAT(run_command({"kernels", "--devices", "0", "--", "true"}).messages, contains_text("CUDA_VISIBLE_DEVICES=0"));
  CHECK_THAT(run_command({"kernels", "--app-range", "-k", "a", "--", "true"}).messages,
             contains_text("--replay-mode app-range counts all kernels of a range together"));
}

TEST_CASE("kernels prints a summary by kernel, and to a log file") {
  const test::TemporaryFolder folder;
  const std::string counters = test::data_file("kernel_counters.trace").string(), log = (folder.path() / "log").string();
  const Ran told = run_command({"kernels", "--csv", "--print-summary", "per-kernel", "--log-file", log, counters});
  CAPTURE(told.messages);
  CHECK(told.code == 0);
  CHECK(told.messages.empty());
  std::ifstream file(log);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find("Kernel,Metric,Unit,Launches,Minimum,Maximum,Average") != std::string::npos);
  CHECK_THAT(run_command({"kernels", "--log-file", log, counters}).messages, contains_text("exists already"));
  CHECK(run_command({"kernels", "--log-file", log, "-f", "csv", "--force-overwrite", "/nowhere.trace"}).code == 1);
  std::ifstream again(log);
  CHECK_THAT((std::string{std::istreambuf_iterator<char>(again), {}}), contains_text("nowhere.trace"));  // messages are logged, too
  CHECK_THAT(run_command({"kernels", "--log-file", "/nowhere/log", counters}).messages, contains_text("/nowhere/log"));
}

TEST_CASE("the log of kernels is no file that the command reads or keeps, and as private as what it is of") {
  const test::TemporaryFolder folder;
  const std::filesystem::path recording = folder.path() / "own.trace", log = folder.path() / "log";
  std::filesystem::copy(test::data_file("kernel_counters.trace"), recording);
  std::filesystem::permissions(recording, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(recording, folder.path() / "link");
  const auto size = std::filesystem::file_size(recording);
  for (const char* name : {"own.trace", "link", "./own.trace"}) {
    const Ran told = run_command({"kernels", "--force-overwrite", "--log-file", (folder.path() / name).string(), recording.string()});
    CAPTURE(name, told.messages);
    CHECK(told.code == 2);
    CHECK_THAT(told.messages, contains_text("is a file of this command already"));
    CHECK(std::filesystem::file_size(recording) == size);
  }
  const std::string kept = (folder.path() / "kept.trace").string();
  CHECK(run_command({"kernels", "--save", kept, "--log-file", kept, "--", "true"}).code == 2);
  CHECK_FALSE(std::filesystem::exists(kept));

  const auto umask_before = umask(022);  // the command sets its own umask, which would make the file private anyway
  CHECK(run_command({"kernels", "--log-file", log.string(), recording.string()}).code == 0);
  umask(umask_before);
  CHECK((std::filesystem::status(log).permissions() & std::filesystem::perms(0077)) == std::filesystem::perms::none);
  CHECK(run_command({"kernels", "--log-file", "/dev/null", recording.string()}).code == 0);
}

TEST_CASE("the summary of a kernel is of all its launches that were measured") {
  kernels::KernelMetrics metrics({{"gpu__time_duration.sum", "ns"}, {"other", "%"}});
  const auto add = [&](const char* name, double time, double other) {
    kernels::ProfiledKernel kernel;
    kernel.name = name;
    kernel.values = {time, other};
    metrics.add(kernel);
  };
  add("a", 10, 1);
  add("b", 5, std::nan(""));
  add("a", 30, std::nan(""));
  const stats::Table table = summary_table({std::move(metrics), {}, {}});
  REQUIRE(table.row_count() == 3);
  const auto row = [&](std::size_t number) {
    std::string text;
    for (const stats::Column& column : table.columns())
      text += std::holds_alternative<stats::Texts>(column.values) ? std::string(table.text(column.text(number))) + " "
                                                                  : std::to_string(std::get<stats::Integers>(column.values)[number]) + " ";
    return text;
  };
  CHECK(row(0) == "a gpu__time_duration.sum ns 2 10 30 20 ");
  CHECK(row(1) == "a other % 1 1 1 1 ");
  CHECK(row(2) == "b gpu__time_duration.sum ns 1 5 5 5 ");
}

TEST_CASE("kernels prints lines of source beside what was sampled at them, from the folder that is named") {
  const test::TemporaryFolder folder;
  const Ran answered = run_command({"kernels", "--page=source", "--source-folders", test::data_file("../programs/gpu").string(), "-f", "csv", "-o",
                                    (folder.path() / "lines").string(), test::data_file("transpositions.trace").string()});
  CAPTURE(answered.messages);
  REQUIRE(answered.code == 0);
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::ifstream stream(file.path());
    text.append(std::istreambuf_iterator<char>(stream), {});
  }
  CHECK(text.find("out[place(column, row + i, kRows)] =") != std::string::npos);
}

TEST_CASE("kernels takes a section, and the file behind it") {
  const test::TemporaryFolder folder;
  const Ran answered = run_command({"kernels", "--section", "SpeedOfLight,Occupancy", "-f", "csv", "-o", (folder.path() / "values").string(),
                                    test::data_file("kernel_counters.trace").string()});
  CAPTURE(answered.messages);
  REQUIRE(answered.code == 0);
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::ifstream stream(file.path());
    text.append(std::istreambuf_iterator<char>(stream), {});
  }
  CHECK(text.find("Memory throughput") != std::string::npos);
  CHECK(text.find("Achieved") != std::string::npos);
  CHECK(text.find("long_scoreboard") == std::string::npos);
}

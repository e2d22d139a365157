// lanescope-kernel-metrics: makes the plan of what a recording counts of kernels, and computes values from what was counted.
//
// It is a process of its own because it loads the driver's libraries, which a session should not load, and NVIDIA's library of metrics, which the
// recorded program should not load.
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "gpu_metrics/frame_output.h"
#include "kernel_metrics/evaluation.h"
#include "kernel_metrics/host_library.h"
#include "kernel_metrics/plan.h"
#include "kernel_metrics/program.h"
#include "model/file/frame_codec.h"

namespace {

using namespace lanescope;
using namespace lanescope::kernel_metrics;

constexpr const char* kAlways[] = {"gpu__time_duration.sum"};

struct Options {
  std::string folder;
  std::vector<std::string> metrics;
  std::string file;  // of metrics, one a line; those that the chip lacks are left out, while unknown --metrics are an error
  std::string chip;
  std::string replay = "kernel";
  std::vector<std::string> kinds;
  channel::LaunchChoice choice{};
  std::string kernel;
  double budget = 0;
  bool sampled = false;
  bool instructions = false;
};

// Selects what to hand over from a run that counted for another recording, and how to label it.
struct StandsFor {
  std::uint32_t process = 0;      // instance number; 0: the run is the recording itself
  std::uint32_t correlation = 0;  // of the launch in the other recording
  std::vector<std::uint64_t> known_code;
};

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text.c_str());
  return error.kind == ErrorKind::kUsage ? 2 : 1;
}

// Loads for the chip that was named, or for the machine's chips.
Result<MachineLibrary> load_for(const Options& options) {
  if (options.chip.empty()) return load_for_machine(MetricQuestions::kFollow);
  const auto loaded = load_host_library();
  if (!loaded) return loaded.error();
  return MachineLibrary{*loaded, {options.chip}};
}

// Notes which metrics of a set are not counted, for the user who asked for the set. Returns false if the note could not be written.
bool write_note(const std::string& folder, const std::string& chip, const std::string& replay, std::span<const std::string> left_out) {
  std::ofstream note(std::filesystem::path(folder) / channel::kCounterNoteFile, std::ios::app);
  note << left_out.size() << " metrics of the set take several passes each on the chip " << chip << ", and " << replay
       << " gives each launch one: they are not counted (" << left_out.front() << (left_out.size() > 1 ? ", ..." : "")
       << "). All of them: --replay-mode kernel\n";
  note.close();
  return static_cast<bool>(note);
}

Result<void> plan(Options& options) {
  std::vector<std::string> wishes;
  std::ifstream file(options.file);
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) wishes.push_back(line);
  options.choice.name_rule = channel::KernelNameRule::kAll;
  std::string name = options.kernel;
  if (name.starts_with("regex:")) {
    options.choice.name_rule = channel::KernelNameRule::kPattern;
    name.erase(0, 6);
  } else if (!name.empty()) {
    options.choice.name_rule = channel::KernelNameRule::kExact;
  }
  if (name.size() >= sizeof(options.choice.name)) return Error{"The name of the kernel is too long.", ErrorKind::kUsage};
  std::strncpy(options.choice.name, name.c_str(), sizeof(options.choice.name) - 1);
  if (options.kinds.size() > channel::kMostChosenKinds) return Error{"There are too many --launch-kind.", ErrorKind::kUsage};
  for (const std::string& kind : options.kinds) {
    channel::ChosenKind& chosen = options.choice.chosen[options.choice.kinds++];
    char* end = nullptr;
    chosen.kind = std::strtoull(kind.c_str(), &end, 10);
    if (*end == ':') chosen.second = std::strtoull(end + 1, &end, 10);
    if (*end != '\0' || chosen.kind == 0) return Error{"--launch-kind takes KIND:SECOND, two numbers.", ErrorKind::kUsage};
  }
  options.choice.is_sampled = options.sampled ? 1 : 0;
  options.choice.budget = static_cast<std::uint64_t>(options.budget * 1e9);
  const Error not_written{"The plan of the counters can't be written to " + options.folder + "."};
  if (options.instructions) {
    if (!PlanWriter(wishes, options.choice).write(options.folder)) return not_written;
    return {};
  }
  const auto say_that_machine_counts = [] {
    std::putchar(channel::kMachineCounts);
    std::fflush(stdout);
  };
  if (options.chip.empty() && looks_able_to_count()) say_that_machine_counts();
  const auto machine = load_for(options);
  if (!machine) return machine.error();
  say_that_machine_counts();
  const gpu_metrics::CuptiFunctions& cupti = *machine->cupti;
  const bool spreads = options.replay != "kernel";  // over launches or runs
  PlanWriter writer(options.replay == "spread"        ? channel::CounterReplay::kSpread
                    : options.replay == "application" ? channel::CounterReplay::kApplication
                    : options.replay == "range"       ? channel::CounterReplay::kRange
                                                      : channel::CounterReplay::kKernel,
                    options.choice);
  for (const std::string& chip : machine->chips) {
    for (const std::string& metric : options.metrics)
      if (passes_of(cupti, chip, std::span(&metric, 1)) == 0)
        return Error{"The chip " + chip + " has no metric " + metric + ", or it can't be counted here. All: lanescope kernels --query-metrics",
                     ErrorKind::kUsage};
    const std::vector<std::string> always(std::begin(kAlways), std::end(kAlways));
    const auto with_others = [&](std::vector<std::string> metrics) {
      for (const std::vector<std::string>& others : {options.metrics, always})
        for (const std::string& metric : others)
          if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
      return metrics;
    };
    std::vector<std::string> metrics = with_others(wishes);
    if (const gpu_metrics::MetricProgram all = program_of(cupti, chip, metrics); all.passes() == 1 || (all.passes() > 0 && !spreads)) {
      writer.add(all, chip, metrics);
      continue;
    }
    metrics = with_others(known_metrics(cupti, chip, wishes));  // the chip may lack some
    if (const gpu_metrics::MetricProgram known = program_of(cupti, chip, metrics); !spreads || known.passes() == 1) {
      writer.add(known, chip, metrics);
      continue;
    }
    // For ranges, groups_of_runs() is not used: instructions of kernels in CUDA graphs would not be counted, and nobody would notice.
    const OnePassGroups one_pass =
        options.replay == "application" ? groups_of_runs(cupti, chip, always, metrics) : groups_of_one_pass(cupti, chip, always, metrics);
    for (const std::string& metric : options.metrics)
      if (std::find(one_pass.left_out.begin(), one_pass.left_out.end(), metric) != one_pass.left_out.end())
        return Error{metric + " takes several passes on the chip " + chip + ", and " + options.replay + " gives each launch one: take --replay-mode kernel.",
                     ErrorKind::kUsage};
    for (const std::vector<std::string>& group : one_pass.groups) writer.add(cupti, chip, group);
    if (!one_pass.left_out.empty() && !write_note(options.folder, chip, options.replay, one_pass.left_out)) return not_written;
  }
  if (!writer.write(options.folder)) return not_written;
  return {};
}

// Files that a program left are read with its user's rights. So the program gains nothing more than these by what it writes.
Result<void> become(uid_t user) {
  if (user == geteuid()) return {};
  const struct passwd* const entry = getpwuid(user);
  const gid_t group = entry != nullptr ? entry->pw_gid : static_cast<gid_t>(user);
  if (setgroups(0, nullptr) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0)
    return Error{"The counters of another user's program could not be read with that user's rights."};
  return {};
}

Result<void> put(std::uint16_t type, std::uint32_t process, const google::protobuf::MessageLite& message, std::uint32_t events) {
  FrameHeader header{};
  header.type = type;
  header.source = proto::SOURCE_KERNEL_METRICS;
  header.process = process;
  header.event_count = events;
  std::vector<std::byte> frame;
  append_frame(header, message.SerializeAsString(), frame);
  for (std::size_t at = 0; at < frame.size();) {
    const ssize_t written = write(STDOUT_FILENO, frame.data() + at, frame.size() - at);
    if (written < 0 && errno != EINTR) return Error{"The values of the counters could not be handed over."};
    if (written > 0) at += static_cast<std::size_t>(written);
  }
  return {};
}

// The folders of records: that of the first run, then those of further runs.
std::vector<std::filesystem::path> record_folders(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  std::error_code failure;
  for (std::filesystem::path earlier = folder / (channel::kEarlierRunFolder + std::to_string(0)); std::filesystem::is_directory(earlier, failure);
       earlier = folder / (channel::kEarlierRunFolder + std::to_string(folders.size())))
    folders.push_back(earlier);
  folders.push_back(folder / channel::kCounterRecordFolder);
  return folders;
}

// Waits until the plan exists, planning has failed, or standard input has something to read.
void await_plan(const std::filesystem::path& folder) {
  constexpr int kLook = 20;  // ms
  pollfd input{STDIN_FILENO, POLLIN, 0};
  std::error_code ignored;
  while (!std::filesystem::exists(folder / channel::kCounterPlanFile, ignored) && !std::filesystem::exists(folder / channel::kCounterFailureFile, ignored) &&
         poll(&input, 1, kLook) == 0) {
  }
}

// Returns true if a byte arrives, false at the end of standard input.
bool await_word() {
  char word = 0;
  ssize_t count = 0;
  do count = read(STDIN_FILENO, &word, 1);
  while (count < 0 && errno == EINTR);
  return count == 1;
}

// Writes frames of each process, with its number in their headers. With kAtWord, slow preparations are done before the word arrives; if it never
// arrives, nothing is printed.
enum class Begin { kAtOnce, kAtWord };
Result<void> evaluate(const std::string& folder, uid_t user, const StandsFor& other, Begin begin) {
  std::optional<Result<const gpu_metrics::CuptiFunctions*>> library;
  if (begin == Begin::kAtWord) {  // of counts of the hardware
    library = load_host_library();
    if (*library) load_metric_library(***library);
    await_plan(folder);
  }
  Result<ReadPlan> plan = read_plan(folder);
  const bool is_counted = plan && plan->kind == channel::CounterKind::kHardware;
  if (is_counted && !library) library = load_host_library();
  const gpu_metrics::CuptiFunctions* const cupti = is_counted && *library ? **library : nullptr;
  Evaluation evaluation(cupti, plan ? std::move(*plan) : ReadPlan{});
  if (cupti != nullptr && !evaluation.prepare()) {
    initialize_profiler(*cupti);  // some version of CUPTI may ask for it
    static_cast<void>(evaluation.prepare());
  }
  if (begin == Begin::kAtWord && !await_word()) return {};
  if (!plan) return plan.error();
  if (is_counted && !*library) return library->error();
  if (const Result<void> became = become(user); !became) return became.error();
  std::error_code failure;
  const std::vector<std::filesystem::path> runs = record_folders(folder);
  for (const auto& entry : std::filesystem::directory_iterator(runs.front(), failure)) {
    const std::string name = entry.path().filename().string();
    std::uint32_t process = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    if (other.process != 0 && process != other.process) continue;
    std::vector<std::filesystem::path> further;
    for (std::size_t run = 1; run < runs.size(); ++run) further.push_back(runs[run] / name);
    Evaluated result = evaluation.evaluate(entry.path(), further);
    std::erase_if(result.code, [&other](const proto::CodeObject& code) {
      return std::find(other.known_code.begin(), other.known_code.end(), code.crc()) != other.known_code.end();
    });
    if (other.process != 0)
      for (proto::InstructionCounts& counts : result.instructions) counts.set_correlation(other.correlation);
    for (const proto::EventChunk& kernels : result.kernels)
      if (auto done = put(proto::FRAME_EVENTS, process, kernels, static_cast<std::uint32_t>(kernels.kernels().duration_size())); !done) return done;
    for (const proto::CodeObject& code : result.code)
      if (auto done = put(proto::FRAME_CODE_OBJECT, process, code, 0); !done) return done;
    for (const proto::InstructionCounts& counts : result.instructions)
      if (auto done = put(proto::FRAME_INSTRUCTION_COUNTS, process, counts, 0); !done) return done;
    for (const proto::KernelMetrics& metrics : result.metrics)
      if (auto done = put(proto::FRAME_KERNEL_METRICS, process, metrics, 0); !done) return done;
  }
  return {};
}

Result<void> query(const Options& options) {
  const auto machine = load_for(options);
  if (!machine) return machine.error();
  for (const std::string& chip : machine->chips) {
    const auto names = metric_names(*machine->cupti, chip);
    if (!names) return names.error();
    std::printf("Metrics of the chip %s: %zu. Behind a counter's name .sum, .avg, .min or .max follows.\n", chip.c_str(), names->size());
    for (const std::string& name : *names) std::printf("%s\n", name.c_str());
  }
  return {};
}

Result<void> check_machine() {
  const auto machine = load_for_machine(MetricQuestions::kNone);
  return machine ? Result<void>() : machine.error();
}

// The file is readable also by programs that run as another user, whatever the umask is. If there is no room for the sentence, the file exists and is
// empty.
void write_failure(const std::string& folder, const std::string& sentence) {
  using std::filesystem::perms;
  const std::filesystem::path place = std::filesystem::path(folder) / channel::kCounterFailureFile;
  std::ofstream(place) << sentence;
  std::error_code ignored;
  std::filesystem::permissions(place, perms::owner_read | perms::owner_write | perms::others_read, ignored);
}

// Plans in a child process: programs wait for the plan, and must be told that there will be none if a library of the driver crashes.
Result<void> plan_apart(Options& options) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the session kills us if it no longer waits for the plan
    const Result<void> done = plan(options);
    if (!done) write_failure(options.folder, done.error().text);
    _exit(done ? 0 : fail(done.error()));
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && WIFEXITED(status)) std::exit(WEXITSTATUS(status));
  const Error fault{"Counters of kernels can't be read: NVIDIA's library of metrics faulted when it was asked what to count."};
  write_failure(options.folder, fault.text);
  return fault;
}

}  // namespace

int lanescope::kernel_metrics::program(int count, char** arguments) {
  for (const char* injection : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) unsetenv(injection);
  std::signal(SIGPIPE, SIG_IGN);  // messages are also written for the programs, so a closed pipe must not end this process
  CLI::App app("Plans and evaluates counters of kernels, for lanescope.", "lanescope-kernel-metrics");
  Options options;
  bool queries = false, checks = false;
  bool waits_for_word = false;
  std::string evaluated;
  uid_t user = geteuid();
  StandsFor other;
  app.add_option("--plan", options.folder, "Writes the plan into this folder");
  app.add_option("--evaluate", evaluated, "Writes frames of what was counted, from this folder");
  app.add_flag("--at-word", waits_for_word, "Evaluates once a byte comes on standard input");
  app.add_option("--user", user, "Evaluates with this user's rights");
  app.add_option("--process", other.process, "Of this process alone (instance number), as counts of a launch of another recording");
  app.add_option("--correlation", other.correlation, "Of that launch");
  app.add_option("--known-code", other.known_code, "Number of code that is left out");
  app.add_flag("--check", checks, "Says nothing where counters can be read on this machine");
  app.add_flag("--query-metrics", queries, "Says which metrics a chip has");
  app.add_option("--metrics", options.metrics, "Names of metrics")->delimiter(',');
  app.add_option("--metric-file", options.file, "A file that names one metric a line");
  app.add_option("--chip", options.chip, "As NVIDIA's libraries call it, without asking the driver");
  app.add_option("--replay-mode", options.replay, "kernel, spread, application or range")->check(CLI::IsMember({"kernel", "spread", "application", "range"}));
  app.add_option("--kernel-name", options.kernel, "Name, or regex:PATTERN");
  app.add_option("--launch-kind", options.kinds, "KIND:SECOND, a kernel and shape as collector/channel/kernel_counters.h numbers them");
  app.add_option("--launch-skip", options.choice.skip, "Launches");
  app.add_option("--launch-count", options.choice.count, "Launches; 0: all. Those that take sets in turn count as one");
  app.add_flag("--instructions", options.instructions, "Counts at each instruction instead of the hardware's: no library is asked");
  app.add_flag("--sampled", options.sampled, "Of each kernel and shape the first launch and the tenth");
  app.add_option("--budget", options.budget, "Seconds of each process; 0: without end");
  CLI11_PARSE(app, count, arguments);
  const Result<void> done = checks               ? check_machine()
                            : queries            ? query(options)
                            : !evaluated.empty() ? evaluate(evaluated, user, other, waits_for_word ? Begin::kAtWord : Begin::kAtOnce)
                                                 : plan_apart(options);
  if (done && !evaluated.empty()) _exit(0);  // the session waits for this end, and NVIDIA's libraries would take their time to clean up
  return done ? 0 : fail(done.error());
}

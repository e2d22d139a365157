#include "collector/session/kernel_counters.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "collector/channel/kernel_counters.h"
#include "file_descriptor.h"
#include "lanescope/kernel_metrics.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"
#include "outside/own_program.h"
#include "processes/proc.h"

namespace lanescope::session {
namespace {

constexpr const char* kMetricFile = "metrics";

const char* mode_name(KernelReplay replay) {
  switch (replay) {
    case KernelReplay::kKernel:
      return "kernel";
    case KernelReplay::kSpread:
      return "spread";
    case KernelReplay::kApplication:
      return "application";
    case KernelReplay::kRange:
      return "range";
  }
  return "kernel";
}

// True if the program runs again for each pass.
bool takes_runs(KernelReplay replay) { return replay == KernelReplay::kApplication || replay == KernelReplay::kRange; }

struct Started {
  pid_t pid = 0;
  FileDescriptor output;
};

enum class Errors { kRead, kOurs };  // kRead: captures what it prints to standard error; kOurs: it goes to ours

// `input`: its standard input, for kOurs; not valid if it reads nothing.
Result<Started> start_program(const std::vector<std::string>& question, Errors errors, const FileDescriptor& input = {}) {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "lanescope-kernel-metrics";
  if (!std::filesystem::exists(program, ignored))
    return Error{"Counters of kernels can't be read: " + program.string() + " is not there. Install Lanescope whole."};
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), question.begin(), question.end());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{"Counters of kernels can't be read: no pipe could be made."};
  FileDescriptor answer(ends[0]), its_output(ends[1]);
  const pid_t pid = errors == Errors::kRead ? start_own_program(words, {{its_output.get(), STDOUT_FILENO}, {its_output.get(), STDERR_FILENO}})
                    : input.valid()         ? start_own_program(words, {{its_output.get(), STDOUT_FILENO}, {input.get(), STDIN_FILENO}})
                                            : start_own_program(words, {{its_output.get(), STDOUT_FILENO}});
  if (pid < 0) return Error{"Counters of kernels can't be read: " + program.string() + " could not be started (" + std::strerror(-pid) + ")."};
  return Started{pid, std::move(answer)};
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Waits for a process that should end by then, else ends it. Returns its status.
int end(pid_t pid, std::chrono::seconds patience = std::chrono::seconds(2)) {
  constexpr useconds_t kLook = 1'000;
  for (const auto give_up = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < give_up; usleep(kLook)) {
    int status = 0;
    if (const pid_t ended = waitpid(pid, &status, WNOHANG); ended != 0 && !(ended < 0 && errno == EINTR)) return status;
  }
  kill(pid, SIGKILL);
  return wait_for(pid);
}

struct Answer {
  std::vector<std::byte> bytes;
  bool has_ended = true;
};

// Reads until the end, and stops after the patience without a byte: a library of NVIDIA's may hang, or another user may stop what runs as that user.
Answer read_all(const FileDescriptor& source, std::chrono::milliseconds patience) {
  Answer answer;
  std::byte piece[65536];
  while (true) {
    pollfd readable{source.get(), POLLIN, 0};
    const int ready = poll(&readable, 1, static_cast<int>(patience.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) answer.has_ended = false;
    if (ready <= 0) return answer;
    const ssize_t count = read(source.get(), piece, sizeof(piece));
    if (count == 0 || (count < 0 && errno != EINTR)) return answer;
    if (count > 0) answer.bytes.insert(answer.bytes.end(), piece, piece + count);
  }
}

std::string text_of(const std::vector<std::byte>& bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// What is reported to the user about the counting, besides the values.
class Account {
 public:
  explicit Account(const KernelCounterSettings& settings) : counting_(settings.counting), replay_(settings.replay) {}

  void add(const FrameView& frame) {
    if (frame.header.type == proto::FRAME_KERNEL_METRICS) parse<proto::KernelMetrics>(frame);
    if (frame.header.type == proto::FRAME_INSTRUCTION_COUNTS) parse<proto::InstructionCounts>(frame);
    if (frame.header.type == proto::FRAME_CODE_OBJECT) parse<proto::CodeObject>(frame);
  }
  [[nodiscard]] AppendedCounters appended() const {
    AppendedCounters all{{}, launches_.size(), {}, {code_.begin(), code_.end()}};
    const char* const what = counting_ == KernelCounting::kInstructions ? "Launches of which instructions were counted: "
                             : replay_ == KernelReplay::kRange          ? "Ranges of which counters were read: "
                                                                        : "Launches of which counters were read: ";
    all.sentences = {what + std::to_string(launches_.size()) + "."};
    for (const auto& [kernel, reason] : left_out_) all.left_out.push_back({kernel, reason});
    return all;
  }

 private:
  template <typename Message>
  void parse(const FrameView& frame) {
    const Result<std::string> payload = open_frame(frame);
    if (Message message; payload && message.ParseFromString(*payload)) add(frame.header.process, message);
  }
  void add(std::uint32_t process, const proto::KernelMetrics& metrics) {
    for (const proto::MeasuredLaunch& launch : metrics.launches()) launches_.emplace(process, launch.correlation());
    for (const proto::KernelLeftOut& left_out : metrics.left_out()) left_out_.emplace(left_out.kernel(), left_out.reason());
  }
  void add(std::uint32_t process, const proto::InstructionCounts& counts) { launches_.emplace(process, counts.correlation()); }
  void add(std::uint32_t, const proto::CodeObject& code) { code_.insert(code.crc()); }

  KernelCounting counting_;
  KernelReplay replay_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> launches_;  // process, correlation
  std::set<std::uint64_t> code_;
  std::set<std::pair<std::string, std::string>> left_out_;
};

}  // namespace

struct KernelCounters::Evaluator {
  Started program;
  FileDescriptor word;  // a byte written there starts the evaluation, closing it ends the evaluation

  ~Evaluator() {
    word.reset();
    if (program.pid != 0) end(program.pid);
  }
};

KernelCounters::KernelCounters(std::filesystem::path folder, KernelCounterSettings settings, std::optional<uid_t> user)
    : folder_(std::move(folder)), settings_(std::move(settings)), user_(user) {}

Result<std::string> ask_kernel_metrics(const std::vector<std::string>& question) {
  Result<Started> program = start_program(question, Errors::kRead);
  if (!program) return program.error();
  constexpr std::chrono::seconds kPatience{60};
  const Answer answer = read_all(program->output, kPatience);
  if (!answer.has_ended) {
    kill(program->pid, SIGKILL);
    wait_for_in_background(program->pid);  // in a hanging driver, it ends when the driver continues
    return Error{"lanescope-kernel-metrics has not answered in " + std::to_string(kPatience.count()) +
                 " s. The driver may hang: see whether nvidia-smi answers."};
  }
  std::string text = text_of(answer.bytes);
  const int status = end(program->pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  return Error{text.empty() ? "lanescope-kernel-metrics ended without an answer." : text,
               WIFEXITED(status) && WEXITSTATUS(status) == 2 ? ErrorKind::kUsage : ErrorKind::kFailure};
}

Result<void> check_counters_can_be_read() {
  const Result<std::string> answer = ask_kernel_metrics({"--check"});
  return answer ? Result<void>() : answer.error();
}

Result<std::unique_ptr<KernelCounters>> KernelCounters::start(const KernelCounterSettings& settings, std::optional<uid_t> user) {
  const char* parent = std::getenv("TMPDIR");
  std::string pattern = std::string(parent != nullptr && *parent == '/' && !user ? parent : "/tmp") + "/lanescope-kernels-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) return Error{"Counters of kernels can't be read: no folder could be made at " + pattern + "."};
  std::unique_ptr<KernelCounters> counters(new KernelCounters(pattern, settings, user));
  if (const Result<void> made = counters->make_folders(); !made) return made.error();
  std::ofstream metrics(counters->folder_ / kMetricFile);
  for (const std::string& metric : settings.metrics) metrics << metric << '\n';
  metrics.close();
  if (!metrics) return Error{"Counters of kernels can't be read: nothing can be written to " + pattern + ". Is the disk full?"};
  std::vector<std::string> question{"--plan=" + pattern,
                                    "--metric-file=" + (counters->folder_ / kMetricFile).string(),
                                    std::string("--replay-mode=") + mode_name(settings.replay),
                                    "--launch-skip=" + std::to_string(settings.skip),
                                    "--launch-count=" + std::to_string(settings.count),
                                    "--budget=" + std::to_string(std::chrono::duration<double>(settings.budget).count())};
  for (const channel::ChosenKind& each : settings.kinds) question.push_back("--launch-kind=" + std::to_string(each.kind) + ":" + std::to_string(each.second));
  for (const std::string& metric : settings.required_metrics) question.push_back("--metrics=" + metric);
  if (!settings.kernel.empty()) question.push_back("--kernel-name=" + settings.kernel);
  if (settings.counting == KernelCounting::kInstructions) {
    question.emplace_back("--instructions");
    if (const Result<void> made = counters->leave_word(channel::kCounterCodeFile); !made) return made.error();
  }
  if (settings.replay == KernelReplay::kRange)
    if (const Result<void> made = counters->leave_word(channel::kCounterRangesFile); !made) return made.error();
  if (settings.launches == LaunchesMeasured::kSample) question.emplace_back("--sampled");
  Result<Started> planner = start_program(question, Errors::kRead);
  if (!planner) return planner.error();
  counters->planner_ = planner->pid;
  counters->planner_output_ = std::move(planner->output);
  if (settings.counting == KernelCounting::kHardware) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
      FileDescriptor ours(ends[0]), theirs(ends[1]);
      std::vector<std::string> evaluation = counters->evaluation();
      evaluation.emplace_back("--at-word");
      if (Result<Started> evaluator = start_program(evaluation, Errors::kOurs, theirs))
        counters->evaluator_.reset(new Evaluator{std::move(*evaluator), std::move(ours)});
    }
  }
  if (!settings.required_metrics.empty())
    if (const Result<void> known = counters->await_plan(); !known) return known.error();
  return counters;
}

Result<void> KernelCounters::await_machine() {
  constexpr int kMachinePatience = 60'000;  // ms
  pollfd answer{planner_output_.get(), POLLIN, 0};
  int ready = 0;
  do ready = poll(&answer, 1, kMachinePatience);
  while (ready < 0 && errno == EINTR);
  char said = 0;
  if (ready == 1 && read(planner_output_.get(), &said, 1) == 1 && said == channel::kMachineCounts) return {};
  if (ready == 0 && planner_ != 0) kill(planner_, SIGKILL);
  return await_plan();
}

Result<void> KernelCounters::await_plan() {
  constexpr std::chrono::seconds kPlanPatience{60};
  const int status = planner_ != 0 ? end(std::exchange(planner_, 0), kPlanPatience) : 0;
  if (std::ifstream failure(folder_ / channel::kCounterFailureFile); failure) {
    const std::string sentence{std::istreambuf_iterator<char>(failure), {}};
    if (sentence.empty()) return Error{"Counters of kernels were not read: there is no room in " + folder_.string() + " to say what to count."};
    return Error{sentence, WIFEXITED(status) && WEXITSTATUS(status) == 2 ? ErrorKind::kUsage : ErrorKind::kFailure};
  }
  std::error_code ignored;
  if (!std::filesystem::exists(folder_ / channel::kCounterPlanFile, ignored))
    return Error{"Counters of kernels were not read: NVIDIA's libraries did not say what to count."};
  return {};
}

// The program's user may pass through our folder to that of records, but change nothing else there: what we write is where that user can't place a link.
Result<void> KernelCounters::make_folders() const {
  constexpr gid_t kSameGroup = static_cast<gid_t>(-1);
  constexpr mode_t kOwners = 0700, kPassedThrough = 0711;
  const std::filesystem::path records = folder_ / channel::kCounterRecordFolder;
  if (mkdir(records.c_str(), kOwners) != 0) return Error{"Counters of kernels can't be read: no folder could be made in " + folder_.string() + "."};
  if (user_ && (lchown(records.c_str(), *user_, kSameGroup) != 0 || chmod(folder_.c_str(), kPassedThrough) != 0))
    return Error{"Counters of kernels can't be read: the folder " + records.string() + " could not be given to the program's user."};
  return {};
}

// Exists before the program starts.
Result<void> KernelCounters::leave_word(const char* name) const {
  const std::filesystem::path place = folder_ / name;
  const int file = open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0 || fchmod(file, 0644) != 0 || close(file) != 0)
    return Error{"Counters of kernels can't be read: nothing can be written to " + folder_.string() + "."};
  return {};
}

KernelCounters::~KernelCounters() {
  if (planner_ != 0) {
    kill(planner_, SIGTERM);
    wait_for(planner_);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::pair<std::string, std::string>> KernelCounters::variables() const {
  std::vector<std::pair<std::string, std::string>> all{{channel::kKernelCountersVariable, folder_.string()}};
  if (!settings_.range.empty()) all.emplace_back(channel::kKernelRangeVariable, settings_.range);
  if (takes_runs(settings_.replay)) all.emplace_back(channel::kKernelRunVariable, std::to_string(run_));
  return all;
}

Result<std::size_t> KernelCounters::runs() {
  if (!takes_runs(settings_.replay)) return std::size_t{1};
  if (const Result<void> known = await_plan(); !known) return known.error();
  std::ifstream file(folder_ / channel::kCounterPlanFile, std::ios::binary);
  channel::CounterPlan plan{};
  file.read(reinterpret_cast<char*>(&plan), sizeof(plan));
  std::map<std::string, std::size_t> sets;  // by chip
  for (std::uint32_t i = 0; file && i < plan.sets; ++i) {
    channel::CounterSet set{};
    if (!file.read(reinterpret_cast<char*>(&set), sizeof(set))) break;
    ++sets[std::string(set.chip, strnlen(set.chip, sizeof(set.chip)))];
    file.seekg(static_cast<std::streamoff>((set.config_bytes + set.name_bytes + 7) / 8 * 8), std::ios::cur);
  }
  std::size_t most = 1;
  for (const auto& [chip, count] : sets) most = std::max(most, count);
  return most;
}

Result<void> KernelCounters::begin_next_run() {
  const std::filesystem::path records = folder_ / channel::kCounterRecordFolder;
  std::error_code failure;
  std::filesystem::rename(records, folder_ / (channel::kEarlierRunFolder + std::to_string(run_)), failure);
  if (failure) return Error{"Counters of kernels can't be read: " + records.string() + " can't be moved (" + failure.message() + ")."};
  ++run_;
  measuring_.forget();
  return make_folders();
}

std::optional<std::string> KernelCounters::find_stuck(std::span<const std::uint32_t> running) {
  if (settings_.patience.count() == 0) return std::nullopt;
  return measuring_.look(folder_ / channel::kCounterRecordFolder, running, settings_.patience, MeasuringWatch::Clock::now());
}

std::vector<std::string> KernelCounters::evaluation() const {
  std::vector<std::string> question{"--evaluate=" + folder_.string()};
  if (user_) question.push_back("--user=" + std::to_string(*user_));
  if (settings_.process != 0) {
    question.push_back("--process=" + std::to_string(settings_.process));
    question.push_back("--correlation=" + std::to_string(settings_.correlation));
  }
  for (const std::uint64_t crc : settings_.known_code) question.push_back("--known-code=" + std::to_string(crc));
  return question;
}

Result<AppendedCounters> KernelCounters::append_to(const std::filesystem::path& file, const std::optional<FileIdentity>& meant) {
  if (const Result<void> known = await_plan(); !known) return known.error();
  const std::unique_ptr<Evaluator> ready = std::exchange(evaluator_, nullptr);
  Started evaluator;
  if (ready && send(ready->word.get(), "", 1, MSG_NOSIGNAL) == 1) {
    evaluator = std::exchange(ready->program, Started());
  } else {
    Result<Started> started = start_program(evaluation(), Errors::kOurs);
    if (!started) return started.error();
    evaluator = std::move(*started);
  }
  constexpr std::chrono::minutes kPatience{10};  // some passes of many launches take minutes to evaluate
  const std::vector<std::byte> frames = read_all(evaluator.output, kPatience).bytes;
  const int status = end(evaluator.pid);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return Error{"Counters of kernels could not be evaluated: lanescope-kernel-metrics failed."};
  Account account(settings_);
  std::size_t sound = 0;  // bytes
  for (std::span<const std::byte> rest(frames); rest.size() >= sizeof(FrameHeader); rest = std::span(frames).subspan(sound)) {
    FrameView frame;
    std::memcpy(&frame.header, rest.data(), sizeof(FrameHeader));
    if (frame.header.stored_size > rest.size() - sizeof(FrameHeader)) break;
    frame.stored = rest.subspan(sizeof(FrameHeader), frame.header.stored_size);
    if (!frame_is_sound(frame)) break;
    sound += sizeof(FrameHeader) + frame.stored.size();
    account.add(frame);
  }
  AppendedCounters appended = account.appended();
  std::ifstream notes(folder_ / channel::kCounterNoteFile);
  for (std::string note; std::getline(notes, note);) appended.sentences.push_back(std::move(note));
  if (sound == 0) return appended;
  Result<TraceFileWriter> writer = TraceFileWriter::reopen(file, meant);
  if (!writer) return writer.error();
  if (const Result<void> written = writer->append(std::span(frames).first(sound)); !written) return written.error();
  if (const Result<void> finished = writer->finish(); !finished) return finished.error();
  return appended;
}

}  // namespace lanescope::session

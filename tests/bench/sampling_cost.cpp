// The cost of samples of a thread at 1 kHz for that thread, against the least cost that the kernel allows. Use: sampling_cost [ROUNDS] [PERF]
//
// One thread works without end in calls 20 deep and notes how long each piece of its work took. Meanwhile each way of sampling it is switched on and off in
// windows of 150 ms, in the order off on on off, all ways in turn. The value of a window is the mean of the middle half of its pieces, so that other events on
// the machine matter little; the value of a way is the median of on against off over all pairs of neighbours, with an interval that holds 95 % of such medians
// (bootstrap).
//   timer     a performance event of 1,000 Hz without records: only the interrupt
//   floor     the same with the smallest record, to a buffer that nobody reads
//   as perf   what perf record -F 1000 -g asks the kernel for, read and discarded
//   perf      the program itself, if PERF names it
//   ours ...  the recorder, in several ways
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "collector/channel/clock.h"
#include "collector/cpu/access.h"
#include "collector/cpu/recorder.h"

namespace {

using namespace lanescope;
using namespace std::chrono_literals;
using channel::monotonic_now;

constexpr auto kWindow = 150ms;
constexpr std::size_t kPieces = 1u << 20;  // room for pieces of work, of 3 ms each

struct Piece {
  std::int64_t begin;      // CLOCK_MONOTONIC ns
  std::int64_t duration;   // by that clock
  std::int64_t processor;  // processor time of the thread
};
struct Log {
  std::atomic<std::size_t> count;
  Piece pieces[kPieces];
};

volatile std::uint64_t sink = 0;

__attribute__((noinline)) void work(int depth, int count) {
  if (depth > 0) {
    work(depth - 1, count);
  } else {
    for (int i = 0; i < count; ++i) sink = sink + static_cast<std::uint64_t>(i);
  }
  sink = sink + 1;
}

std::int64_t processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

[[noreturn]] void work_for_ever(Log& log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int count = 100'000;
  for (const std::int64_t begin = monotonic_now(); monotonic_now() - begin < 200'000'000;) work(20, count);
  const std::int64_t before = processor_time();
  work(20, count);
  count = static_cast<int>(3e6 / static_cast<double>(std::max<std::int64_t>(processor_time() - before, 1)) * count);
  while (log.count < kPieces) {
    const std::int64_t begin = monotonic_now();
    const std::int64_t processor = processor_time();
    work(20, count);
    log.pieces[log.count] = {begin, monotonic_now() - begin, processor_time() - processor};
    log.count.fetch_add(1, std::memory_order_release);
  }
  _exit(0);
}

struct Way {
  std::string name;
  std::function<void(bool on)> turn;
  std::function<void()> empty = [] {};  // what it has collected
  std::vector<double> by_clock{};
  std::vector<double> by_processor{};
};

// ---- Ways ------------------------------------------------------------------------------------------------------------------------

perf_event_attr timer(std::uint64_t sample_type) {
  perf_event_attr event{};
  event.size = sizeof(event);
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_CPU_CLOCK;
  event.freq = 1;
  event.sample_freq = 1000;
  event.sample_type = sample_type;
  event.exclude_kernel = geteuid() == 0 ? 0 : 1;
  event.disabled = 1;
  event.inherit = 1;
  event.watermark = 1;
  event.wakeup_watermark = 256u << 10;
  return event;
}

int open_event(perf_event_attr event, pid_t thread, int processor) {
  const auto descriptor = static_cast<int>(syscall(SYS_perf_event_open, &event, thread, processor, -1, PERF_FLAG_FD_CLOEXEC));
  if (descriptor < 0) std::perror("perf_event_open");
  return descriptor;
}

void turn_events(const std::vector<int>& events, bool on) {
  for (const int event : events) ioctl(event, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

constexpr std::size_t kBuffer = 512u << 10;

perf_event_mmap_page* map_buffer(int event) {
  void* at = mmap(nullptr, kBuffer + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  return at == MAP_FAILED ? nullptr : static_cast<perf_event_mmap_page*>(at);
}

Way timer_way(pid_t thread) {
  const int event = open_event(timer(0), thread, -1);
  return {"timer", [event](bool on) { turn_events({event}, on); }};
}

// The kernel has no buffers for inherited events on all processors.
Way floor_way(pid_t thread) {
  perf_event_attr event = timer(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
  event.inherit = 0;
  const int descriptor = open_event(event, thread, -1);
  map_buffer(descriptor);
  return {"floor", [descriptor](bool on) { turn_events({descriptor}, on); }};
}

Way as_perf(pid_t thread, int processors) {
  perf_event_attr event = timer(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER);
  event.mmap = event.mmap2 = event.comm = event.comm_exec = event.task = event.sample_id_all = 1;
  std::vector<int> events;
  auto buffers = std::make_shared<std::vector<perf_event_mmap_page*>>();
  for (int processor = 0; processor < processors; ++processor) {
    events.push_back(open_event(event, thread, processor));
    buffers->push_back(map_buffer(events.back()));
  }
  return {"as perf", [events](bool on) { turn_events(events, on); },
          [buffers] {
            for (perf_event_mmap_page* each : *buffers) {
              if (each == nullptr) continue;
              const std::uint64_t head = std::atomic_ref(each->data_head).load(std::memory_order_acquire);
              std::atomic_ref(each->data_tail).store(head, std::memory_order_release);
            }
          }};
}

Way perf_itself(const std::string& program, pid_t thread) {
  int control[2];
  int answers[2];
  if (pipe(control) != 0 || pipe(answers) != 0) std::abort();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const std::string descriptors = "--control=fd:" + std::to_string(control[0]) + "," + std::to_string(answers[1]);
    const std::string number = std::to_string(thread);
    execlp(program.c_str(), program.c_str(), "record", "-q", "-e", "cpu-clock", "-F", "1000", "-g", "-D", "-1", descriptors.c_str(), "-o", "/dev/null", "-p",
           number.c_str(), nullptr);
    std::_Exit(1);
  }
  return {"perf", [control = control[1], answers = answers[0]](bool on) {
            const std::string word = on ? "enable\n" : "disable\n";
            if (write(control, word.data(), word.size()) < 0) std::perror("perf");
            char answer[16];
            if (read(answers, answer, sizeof(answer)) <= 0) std::perror("perf");
          }};
}

class Nobody final : public cpu::Listener {
 public:
  void process_began(const cpu::SeenProcess&) override {}
  void process_ended(cpu::ProcessKey, std::int64_t) override {}
  void process_forgotten(cpu::ProcessKey) override {}
  void thread_named(cpu::ProcessKey, std::uint32_t, const std::string&) override {}
  void described(cpu::ProcessKey, const proto::Resources&) override {}
  void recorded(cpu::ProcessKey, const proto::EventChunk&, std::uint32_t events) override { taken += events; }
  void named(cpu::ProcessKey, const proto::Symbols&) override {}
  void counted(cpu::ProcessKey, const proto::Counters&) override {}
  void noted(const proto::Diagnostic&) override {}
  std::uint64_t taken = 0;
};

Way ours(const std::string& name, pid_t thread, const cpu::CpuSettings& settings) {
  auto recorder = cpu::Recorder::attach(thread, settings, cpu::Start::kWhenTold, 100ms);
  if (!recorder) {
    std::fprintf(stderr, "%s\n", recorder.error().text.c_str());
    std::exit(1);
  }
  auto kept = std::make_shared<std::unique_ptr<cpu::Recorder>>(std::move(*recorder));
  return {name,
          [kept](bool on) {
            Nobody nobody;
            on ? (*kept)->begin_part() : (*kept)->finish_part(nobody);
          },
          [kept] {
            Nobody nobody;
            (*kept)->drain(nobody);
          }};
}

// ---- Figures ---------------------------------------------------------------------------------------------------------------------

double middle(std::vector<double> values) {
  if (values.size() < 8) return 0;
  std::sort(values.begin(), values.end());
  double sum = 0;
  const std::size_t from = values.size() / 4;
  const std::size_t until = values.size() - from;
  for (std::size_t i = from; i < until; ++i) sum += values[i];
  return sum / static_cast<double>(until - from);
}

struct Window {
  double clock = 0;
  double processor = 0;
};

Window window(const Log& log, std::size_t& next) {
  const std::int64_t begin = monotonic_now();
  std::this_thread::sleep_for(kWindow);
  const std::int64_t end = monotonic_now();
  std::vector<double> clock;
  std::vector<double> processor;
  for (const std::size_t count = log.count.load(std::memory_order_acquire); next < count; ++next) {
    const Piece& piece = log.pieces[next];
    if (piece.begin < begin || piece.begin + piece.duration > end) continue;
    clock.push_back(static_cast<double>(piece.duration));
    processor.push_back(static_cast<double>(piece.processor));
  }
  return {middle(clock), middle(processor)};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::string with_interval(const std::vector<double>& ratios) {
  if (ratios.empty()) return "none";
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> pick(0, ratios.size() - 1);
  std::vector<double> medians;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> again(ratios.size());
    for (double& each : again) each = ratios[pick(random)];
    medians.push_back(median(again));
  }
  std::sort(medians.begin(), medians.end());
  char text[80];
  std::snprintf(text, sizeof(text), "%+7.3f %%  [%+7.3f, %+7.3f]", 100 * (median(ratios) - 1), 100 * (medians[50] - 1), 100 * (medians[1949] - 1));
  return text;
}

void keep_off(int processor, int processors) {
  cpu_set_t others;
  CPU_ZERO(&others);
  for (int i = 0; i < processors; ++i)
    if (i != processor) CPU_SET(static_cast<unsigned>(i), &others);
  sched_setaffinity(0, sizeof(others), &others);
}

void measure(Way& way, const Log& log, std::size_t& next) {
  Window figures[4];
  for (int i = 0; i < 4; ++i) {
    const bool on = i == 1 || i == 2;
    way.turn(on);
    figures[i] = window(log, next);
    way.empty();
  }
  for (const auto& [on, off] : {std::pair{1, 0}, std::pair{2, 3}}) {
    if (figures[off].clock <= 0 || figures[on].clock <= 0) continue;
    way.by_clock.push_back(figures[on].clock / figures[off].clock);
    way.by_processor.push_back(figures[on].processor / figures[off].processor);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 30;
  const cpu::Access access = cpu::probe_access();
  if (!access.own_processes) {
    std::fprintf(stderr, "Threads can't be observed here: %s.\n", access.reason.c_str());
    return 1;
  }
  void* shared = mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  Log& log = *static_cast<Log*>(shared);
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  const int last = processors - 1;
  const pid_t worker = fork();
  if (worker == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(last), &one);
    sched_setaffinity(0, sizeof(one), &one);
    work_for_ever(log);
  }
  if (processors > 1) keep_off(last, processors);
  std::this_thread::sleep_for(500ms);

  using cpu::CallChains;
  using cpu::Scope;
  constexpr Scope kTree = Scope::kProcessTree;
  std::vector<Way> ways;
  ways.push_back(timer_way(worker));
  ways.push_back(floor_way(worker));
  ways.push_back(as_perf(worker, processors));
  if (count > 2) ways.push_back(perf_itself(arguments[2], worker));
  ways.push_back(ours("ours, -b none", worker, {Scope::kNone, kTree, CallChains::kNone, 1000}));
  ways.push_back(ours("ours, -b fp", worker, {Scope::kNone, kTree, CallChains::kFramePointers, 1000}));
  ways.push_back(ours("ours, -b fp and thread states", worker, {kTree, kTree, CallChains::kFramePointers, 1000}));
  ways.push_back(ours("ours, -b dwarf and thread states", worker, {kTree, kTree, CallChains::kDwarf, 1000}));
  std::this_thread::sleep_for(500ms);

  std::size_t next = log.count;
  for (int round = 0; round < rounds; ++round)
    for (Way& way : ways) measure(way, log, next);
  kill(worker, SIGKILL);
  std::printf("1,000 samples a second of a thread that is always busy: %d rounds, %zu pairs each, %.1f ms a piece\n", rounds, ways.front().by_clock.size(),
              static_cast<double>(log.pieces[next - 1].duration) / 1e6);
  std::printf("%-34s %-32s %s\n", "", "by the clock", "by the thread's processor time");
  for (const Way& way : ways) std::printf("%-34s %-32s %s\n", way.name.c_str(), with_interval(way.by_clock).c_str(), with_interval(way.by_processor).c_str());
  ways.clear();
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

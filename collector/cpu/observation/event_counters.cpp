#include "event_counters.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "collector/channel/clock.h"
#include "events/event_set.h"

namespace lanescope::cpu {
namespace {

constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) { return which | operation << 8 | result << 16; }
constexpr std::uint64_t kLoads = PERF_COUNT_HW_CACHE_OP_READ, kStores = PERF_COUNT_HW_CACHE_OP_WRITE;
constexpr std::uint64_t kAll = PERF_COUNT_HW_CACHE_RESULT_ACCESS, kMisses = PERF_COUNT_HW_CACHE_RESULT_MISS;

constexpr std::array kEvents{
    CountedEvent{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, "Clocks of the processor while it ran the programs."},
    CountedEvent{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false, "The same by a clock of constant speed."},
    CountedEvent{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false, "Instructions that were retired."},
    CountedEvent{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false, "Branches that were retired."},
    CountedEvent{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false, "Branches that were guessed wrong."},
    CountedEvent{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false, "Uses of the last cache."},
    CountedEvent{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false, "Uses of the last cache that went on to memory."},
    CountedEvent{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false, "Clocks of the bus."},
    CountedEvent{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false, "Clocks without an instruction to begin."},
    CountedEvent{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false, "Clocks in which none could end."},
    CountedEvent{"L1-dcache-loads", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, kLoads, kAll), false, "Loads of data."},
    CountedEvent{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, kLoads, kMisses), false, "Loads that the first cache lacked."},
    CountedEvent{"L1-dcache-stores", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, kStores, kAll), false, "Stores of data."},
    CountedEvent{"L1-icache-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1I, kLoads, kMisses), false, "Code that the first cache lacked."},
    CountedEvent{"LLC-loads", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_LL, kLoads, kAll), false, "Loads from the last cache."},
    CountedEvent{"LLC-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_LL, kLoads, kMisses), false, "Loads that the last cache lacked."},
    CountedEvent{"dTLB-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_DTLB, kLoads, kMisses), false, "Loads whose page was to be looked up."},
    CountedEvent{"iTLB-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_ITLB, kLoads, kMisses), false, "Code whose page was to be looked up."},
    CountedEvent{"node-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_NODE, kLoads, kMisses), false, "Loads from memory of other sockets."},
    CountedEvent{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, "Pages that the kernel had to bring in or make."},
    CountedEvent{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false, "Of these, without reading a disk."},
    CountedEvent{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, "Of these, by reading a disk."},
    CountedEvent{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false, "Unaligned uses that the kernel had to mend."},
    CountedEvent{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true, "Threads that gave their processor up."},
    CountedEvent{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true, "Threads that went to another processor."},
};

perf_event_attr counting(const CountedEvent& event, KernelCode kernel_code) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.exclude_kernel = kernel_code == KernelCode::kLeftOut ? 1 : 0;
  attributes.exclude_hv = 1;
  attributes.disabled = 1;
  return attributes;
}

// The count of an event. If the event had to share the processor's counters with others, the count is scaled up to the whole time.
double total(int descriptor) {
  struct {
    std::uint64_t value, enabled, running;
  } counted{};
  if (::read(descriptor, &counted, sizeof(counted)) != sizeof(counted) || counted.running == 0) return 0;
  return static_cast<double>(counted.value) * (static_cast<double>(counted.enabled) / static_cast<double>(counted.running));
}

std::string refusal(const CountedEvent& event, int error) {
  const std::string begin = "Not counted: " + std::string(event.name) + ". ";
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == EINVAL)
    return begin + "This machine lends no such counter of its processors, as virtual machines do not.";
  if (error == EACCES || error == EPERM) return begin + "The kernel does not permit it. Change it: sudo sysctl kernel.perf_event_paranoid=1";
  if (error == EMFILE || error == ENFILE) return begin + "This user may open too few files. Change it: ulimit -n 65536";
  return begin + "The kernel refuses it (" + std::strerror(error) + ").";
}

}  // namespace

std::span<const CountedEvent> counted_events() noexcept { return kEvents; }

std::optional<CountedEvent> find_counted_event(std::string_view name) noexcept {
  for (const CountedEvent& event : kEvents)
    if (event.name == name) return event;
  if (!name.starts_with('r')) return std::nullopt;
  CountedEvent raw{name, PERF_TYPE_RAW, 0, false, "An event of the processor's manual."};
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), raw.config, 16);
  return error == std::errc{} && end == name.data() + name.size() ? std::optional(raw) : std::nullopt;
}

bool can_be_counted(const CountedEvent& event) {
  return open_event(counting(event, event.in_kernel ? KernelCode::kIncluded : KernelCode::kLeftOut), 0, -1).valid();
}

EventCounters::EventCounters(const std::vector<std::string>& events, Of of, std::span<const pid_t> threads, Begin begin, KernelCode kernel_code, Outbox& outbox,
                             std::vector<std::string>& lacks)
    : outbox_(outbox) {
  std::vector<proto::Counter> described;
  for (const std::string& name : events) {
    const std::optional<CountedEvent> event = find_counted_event(name);
    if (!event) {
      lacks.push_back("Not counted: " + name + ". There is no event of this name. See: lanescope profile --cpu-core-events=help");
      continue;
    }
    perf_event_attr attributes = counting(*event, event->in_kernel ? KernelCode::kIncluded : kernel_code);
    attributes.inherit = of == Of::kThreads ? 1 : 0;
    attributes.enable_on_exec = begin == Begin::kOnExec ? 1 : 0;
    Counted counted;
    int failure = 0;
    const auto open = [&](pid_t thread, int processor) {
      FileDescriptor descriptor = open_event(attributes, thread, processor);
      if (descriptor.valid())
        counted.descriptors.push_back(std::move(descriptor));
      else
        failure = errno;
    };
    if (of == Of::kMachine)
      for (const int processor : online_processors()) open(-1, processor);
    else
      for (const pid_t thread : threads) open(thread, -1);
    if (counted.descriptors.empty()) {
      if (failure != 0) lacks.push_back(refusal(*event, failure));
      continue;
    }
    proto::Counter& counter = described.emplace_back();
    counter.set_name(name);
    counter.set_group(of == Of::kMachine ? "Events of all processors" : "Events of the programs");
    counter.set_unit("/s");
    counter.set_resolution(1);
    counter.set_source_name(name);
    counter.set_description(std::string(event->description));
    counted_.push_back(std::move(counted));
  }
  if (!described.empty()) stream_ = counters::CounterStream(*this, std::move(described));
  recording_ = begin == Begin::kOnExec;
  read_at_ = channel::monotonic_now();
}

void EventCounters::write(proto::FrameType type, const google::protobuf::MessageLite& message) {
  if (type == proto::FRAME_RESOURCES) {
    DescribedThings described{kWholeRecording, {}};
    described.resources.CheckTypeAndMergeFrom(message);
    outbox_.put(std::move(described));
  } else if (type == proto::FRAME_EVENTS) {
    PackedEvents packed{kWholeRecording, {}, 0};
    packed.chunk.CheckTypeAndMergeFrom(message);
    packed.events = static_cast<std::uint32_t>(packed.chunk.counter_samples().time_delta_size());
    outbox_.put(std::move(packed));
  }
}

void EventCounters::ask_all(unsigned long request) {
  for (const Counted& counted : counted_)
    for (const FileDescriptor& descriptor : counted.descriptors) ioctl(descriptor.get(), request, 0);
}

void EventCounters::start(std::int64_t now) {
  if (std::exchange(recording_, true)) return;
  ask_all(PERF_EVENT_IOC_ENABLE);
  read_at_ = now;
}

void EventCounters::take(std::int64_t now) {
  if (!recording_ || !stream_ || now <= read_at_) return;
  std::vector<std::int64_t> values;
  for (Counted& counted : counted_) {
    double sum = 0;
    for (const FileDescriptor& descriptor : counted.descriptors) sum += total(descriptor.get());
    const double added = std::max(sum - std::exchange(counted.total, sum), 0.0);
    constexpr double kMostPerSecond = 9e18;
    values.push_back(std::llround(std::min(added * 1e9 / static_cast<double>(now - read_at_), kMostPerSecond)));
  }
  stream_->add(read_at_, now, values);
  read_at_ = now;
}

void EventCounters::read(std::int64_t now) {
  if (now - read_at_ >= kPeriod) take(now);
}

void EventCounters::finish(std::int64_t now) {
  take(now);
  recording_ = false;
  ask_all(PERF_EVENT_IOC_DISABLE);
  flush();
}

void EventCounters::flush() {
  if (stream_) stream_->flush();
}

}  // namespace lanescope::cpu

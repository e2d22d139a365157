// Records of the kernel's performance events, as the kernel has them in memory: with any type, length and content. An input becomes records of processes that
// do not exist. The first byte says how calls are followed, and if code is named as well, which starts a process and takes a hundred times as long.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_target.h"
#include "observation/observation.h"

using namespace lanescope;
using namespace lanescope::cpu;

namespace {

constexpr std::size_t kBufferBytes = 128 << 10;
constexpr std::uint32_t kFirstPid = 5'000'001;  // the kernel assigns none above 4,194,304
constexpr std::uint32_t kPids = 3;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// The memory of one processor's records.
class Buffer {
 public:
  Buffer() : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    const std::size_t bytes = kBufferBytes + page_bytes();
    if (ftruncate(file_, static_cast<off_t>(bytes)) != 0) std::abort();
    void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapping == MAP_FAILED) std::abort();
    control_ = static_cast<perf_event_mmap_page*>(mapping);
    records_ = static_cast<std::byte*>(mapping) + page_bytes();
  }
  [[nodiscard]] int file() const { return file_; }
  void clear() { control_->data_head = control_->data_tail = 0; }
  // Returns false if there is no room.
  bool add(std::uint32_t type, std::uint16_t misc, std::string body) {
    body.resize((body.size() + 7) / 8 * 8);
    const std::size_t size = sizeof(perf_event_header) + body.size();
    if (size > 0xffff || control_->data_head + size > kBufferBytes) return false;
    const perf_event_header header{type, misc, static_cast<std::uint16_t>(size)};
    std::memcpy(records_ + control_->data_head, &header, sizeof(header));
    std::memcpy(records_ + control_->data_head + sizeof(header), body.data(), body.size());
    control_->data_head += size;
    return true;
  }

 private:
  int file_;
  perf_event_mmap_page* control_ = nullptr;
  std::byte* records_ = nullptr;
};

// One record of an input, before its content.
struct Step {
  std::uint8_t type;
  std::uint8_t event;
  std::uint16_t misc;
  std::uint8_t pid, tid, other, processor;
  std::uint32_t time;
  std::uint16_t size;
};

template <typename Value>
void append(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// A kernel's description of its tracepoints; one of these has text in two ways.
TracedPoints traced_points() {
  const auto number = [](const char* name, std::uint32_t offset) { return TracepointField{name, offset, 8, TracepointField::Kind::kInteger, true}; };
  const TracepointField text{"comm", 8, 16, TracepointField::Kind::kText, false};
  const TracepointField elsewhere{"cmd", 24, 4, TracepointField::Kind::kTextElsewhere, false};
  return {{EventKind::kSystemCallBegins, {"raw_syscalls", "sys_enter", 1, {number("id", 8)}}},
          {EventKind::kSystemCallEnds, {"raw_syscalls", "sys_exit", 2, {number("id", 8), number("ret", 16)}}},
          {EventKind::kTracepoints, {"block", "block_rq_issue", 3, {text, elsewhere, number("sector", 28)}}}};
}

bool add(Buffer& buffer, const Step& step, std::string_view content) {
  constexpr std::uint32_t kTypes[] = {PERF_RECORD_SAMPLE, PERF_RECORD_MMAP2, PERF_RECORD_FORK,   PERF_RECORD_EXIT,
                                      PERF_RECORD_COMM,   PERF_RECORD_LOST,  PERF_RECORD_SWITCH, PERF_RECORD_THROTTLE};
  const std::uint32_t type = kTypes[step.type % std::size(kTypes)];
  const std::uint32_t pid = kFirstPid + step.pid % kPids, tid = kFirstPid + step.tid % kPids, other = kFirstPid + step.other % kPids;
  RecordIdentity who{pid, tid, step.time, step.processor, 0, step.event % 8u};
  std::string body;
  if (type == PERF_RECORD_SAMPLE) {
    append(body, who.event);
    if (who.event == 2) append(body, std::uint64_t{0x1000} + step.other);
    append(body, pid);
    append(body, tid);
    append(body, who.time);
    append(body, std::uint64_t{step.processor});
    return buffer.add(type, step.misc, body.append(content));
  }
  if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT) {
    append(body, pid);
    append(body, other);
  }
  if (type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM) append(body, pid);
  if (type != PERF_RECORD_LOST) append(body, tid);
  body.append(content);
  body.resize((body.size() + 7) / 8 * 8);
  append(body, who);
  return buffer.add(type, step.misc, std::move(body));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static Buffer buffer;
  buffer.clear();
  CpuSettings settings;
  settings.samples = settings.thread_states = data[0] % 16 < 8 ? Scope::kProcessTree : Scope::kSystemWide;
  settings.call_chains = static_cast<CallChains>(data[0] % 4);
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (input.size() >= sizeof(Step)) {
    Step step;
    std::memcpy(&step, input.data(), sizeof(step));
    input.remove_prefix(sizeof(step));
    const std::string_view content = input.substr(0, step.size);
    input.remove_prefix(content.size());
    if (!add(buffer, step, content)) break;
  }
  Result<EventSet> events = EventSet::of_file(buffer.file(), kBufferBytes, settings,
                                              {{1, EventKind::kSwitches},
                                               {2, EventKind::kSamples},
                                               {3, EventKind::kWakeups},
                                               {5, {EventKind::kSystemCallBegins, 0}},
                                               {6, {EventKind::kSystemCallEnds, 1}},
                                               {7, {EventKind::kTracepoints, 2}}},
                                              traced_points());
  if (!events) std::abort();
  Outbox outbox;
  Observation observation(std::move(*events), settings, outbox);
  observation.begin_with_waiting(static_cast<pid_t>(kFirstPid));
  observation.read();
  observation.flush();
  observation.finish_part();
  constexpr std::uint8_t kNamesCode = 0xf0;
  const std::atomic<bool> stop = false;
  if (data[0] >= kNamesCode) observation.name_code(stop);
  (void)outbox.take();
  return 0;
}

std::vector<std::string> valid_inputs() {
  const auto record = [](std::uint8_t type, std::uint8_t event, std::uint16_t misc, std::uint32_t time, const std::string& content, std::uint8_t other = 0) {
    const Step step{type, event, misc, 0, 0, other, 0, time, static_cast<std::uint16_t>(content.size())};
    std::string bytes;
    append(bytes, step);
    return bytes + content;
  };
  std::string mapping;
  append(mapping, std::uint64_t{0});        // start
  append(mapping, std::uint64_t{1} << 32);  // length
  append(mapping, std::uint64_t{0});        // offset
  mapping += std::string(8, '\0');          // device
  append(mapping, std::uint64_t{7});        // inode
  mapping += std::string(16, '\0') + LANESCOPE_FUZZ_ELF;
  mapping += '\0';
  std::string chain;
  append(chain, std::uint64_t{4});
  for (const std::uint64_t address : {static_cast<std::uint64_t>(PERF_CONTEXT_USER), std::uint64_t{0x1000}, std::uint64_t{0x1010}, std::uint64_t{0x1020}})
    append(chain, address);
  std::string stack;
  append(stack, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  for (std::uint64_t i = 0; i < kRegisterCount; ++i) append(stack, std::uint64_t{0x1000} + i);
  append(stack, std::uint64_t{64});
  stack += std::string(64, '\x10');
  append(stack, std::uint64_t{64});
  std::string call;
  append(call, std::uint32_t{28});  // bytes of data
  call += std::string(8, '\0');
  append(call, std::uint64_t{0});   // id
  append(call, std::uint64_t{17});  // result
  call += std::string(4, '\0');
  std::string event;
  append(event, std::uint32_t{44});
  event += std::string(8, '\0') + std::string("disk\"\0", 6) + std::string(10, '\0');
  append(event, std::uint32_t{4} << 16 | 36);  // position of the other text
  append(event, std::uint64_t{99});
  event += std::string("read\0\0\0\0", 8);
  const std::string program = record(4, 0, PERF_RECORD_MISC_COMM_EXEC, 10, "program") + record(1, 0, 0, 20, mapping) + record(2, 0, 0, 30, "", 1) +
                              record(6, 1, 0, 40, "") + record(6, 1, PERF_RECORD_MISC_SWITCH_OUT, 50, "") + record(3, 0, 0, 1'000, "");
  return {'\1' + program + record(0, 2, PERF_RECORD_MISC_USER, 60, chain),
          '\2' + program + record(0, 2, PERF_RECORD_MISC_USER, 60, stack),
          '\3' + program + record(0, 2, PERF_RECORD_MISC_USER, 60, chain),
          '\xf1' + program + record(0, 2, PERF_RECORD_MISC_USER, 60, chain),
          '\0' + program + record(0, 5, 0, 60, call) + record(0, 6, 0, 65, call) + record(0, 7, 0, 66, event) + record(0, 5, 0, 67, call),
          '\0' + program + record(5, 0, 0, 70, std::string(16, '\1'))};
}

// Shows a program's use of OpenMP as NVTX ranges of the domain "OpenMP": parallel regions, each thread's part of them, loops and sections, explicit tasks, and
// waits for other threads (barriers, taskwait, locks and critical sections).
//
// A runtime with OMPT (LLVM's, Intel's, NVIDIA's; not GCC's) finds ompt_start_tool here through OMP_TOOL_LIBRARIES. It calls the registered functions on the
// thread that they describe. So ranges nest as the runtime's events do, and a range that a thread never ends ends with the thread.
#include <cstdint>

#include <nvtx3/nvToolsExt.h>

#include "agent/openmp/ompt.h"

namespace lanescope::agent::openmp {
namespace {

enum class Kind : std::uint32_t { kRegion = 1, kWork, kTask, kWait };  // categories

// The names of the ranges.
enum Name : int {
  kParallelRegion,
  kPartOfRegion,
  kLoop,
  kSections,
  kSingle,
  kSingleOfOther,
  kWorkshare,
  kDistribute,
  kTaskloop,
  kScope,
  kOtherWork,
  kTask,
  kBarrier,
  kImplicitBarrier,
  kTaskwait,
  kTaskgroup,
  kReduction,
  kLock,
  kCritical,
  kAtomic,
  kOrdered,
  kOtherMutex,
  kNames
};
constexpr const char* kTexts[kNames] = {"parallel region",
                                        "implicit task",
                                        "loop",
                                        "sections",
                                        "single",
                                        "single (of another)",
                                        "workshare",
                                        "distribute",
                                        "taskloop",
                                        "scope",
                                        "work",
                                        "task",
                                        "barrier",
                                        "implicit barrier",
                                        "taskwait",
                                        "taskgroup",
                                        "reduction",
                                        "wait for lock",
                                        "wait for critical",
                                        "wait for atomic",
                                        "wait for ordered",
                                        "wait for mutex"};

// Set once, before the runtime calls anything.
nvtxDomainHandle_t domain = nullptr;
nvtxStringHandle_t texts[kNames] = {};

// The progress of an explicit task or of a part of a region, kept in the word that the runtime stores with it for us.
constexpr std::uint64_t kCreated = 1;
constexpr std::uint64_t kBegun = 2;

void push(Name name, Kind kind, std::uint64_t count = 0) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = static_cast<std::uint32_t>(kind);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = texts[name];
  if (count != 0) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    attributes.payload.ullValue = count;
  }
  nvtxDomainRangePushEx(domain, &attributes);
}
void pop() noexcept { nvtxDomainRangePop(domain); }

void begin_or_end(Endpoint endpoint, Name name, Kind kind, std::uint64_t count = 0) noexcept {
  if (endpoint != Endpoint::kEnd) push(name, kind, count);
  if (endpoint != Endpoint::kBegin) pop();
}

void parallel_begin(ompt_data_t*, const void*, ompt_data_t*, unsigned threads, int, const void*) { push(kParallelRegion, Kind::kRegion, threads); }
void parallel_end(ompt_data_t*, ompt_data_t*, int, const void*) { pop(); }

// The initial task is the program itself.
void implicit_task(int endpoint, ompt_data_t*, ompt_data_t* task, unsigned threads, unsigned, int flags) {
  if (static_cast<Endpoint>(endpoint) == Endpoint::kBegin && (flags & kIsImplicit) != 0) {
    task->value = kBegun;
    push(kPartOfRegion, Kind::kRegion, threads);
  } else if (static_cast<Endpoint>(endpoint) == Endpoint::kEnd && task != nullptr && task->value == kBegun) {
    task->value = 0;
    pop();
  }
}

void task_create(ompt_data_t*, const void*, ompt_data_t* task, int flags, int, const void*) {
  if (task != nullptr) task->value = (flags & kIsExplicit) != 0 ? kCreated : 0;
}

// A task that a thread leaves before its end stays open below the next one. So the tasks of one thread nest, as long as they stay on it.
void task_schedule(ompt_data_t* before, int why, ompt_data_t* next) {
  const Turn turn = static_cast<Turn>(why);
  const bool has_ended = turn == Turn::kComplete || turn == Turn::kCancel || turn == Turn::kDetach;
  if (has_ended && before != nullptr && before->value == kBegun) {
    before->value = 0;
    pop();
  }
  if (next == nullptr || next->value != kCreated) return;
  next->value = kBegun;
  push(kTask, Kind::kTask);
}

Name name_of_work(int kind) noexcept {
  constexpr Name kNamed[] = {kOtherWork, kLoop, kSections, kSingle, kSingleOfOther, kWorkshare, kDistribute, kTaskloop, kScope};
  const bool is_loop = kind >= 10 && kind <= 12;  // static, dynamic, guided: since 5.2
  return is_loop ? kLoop : kind >= 1 && kind <= 8 ? kNamed[kind] : kOtherWork;
}

void work(int kind, int endpoint, ompt_data_t*, ompt_data_t*, std::uint64_t count, const void*) {
  begin_or_end(static_cast<Endpoint>(endpoint), name_of_work(kind), Kind::kWork, count);
}

Name name_of_wait(int kind) noexcept {
  constexpr Name kNamed[] = {kBarrier,   kBarrier,   kImplicitBarrier, kBarrier,         kBarrier, kTaskwait,
                             kTaskgroup, kReduction, kImplicitBarrier, kImplicitBarrier, kBarrier};
  return kind >= 1 && kind <= 10 ? kNamed[kind] : kBarrier;
}

void sync_region(int kind, int endpoint, ompt_data_t*, ompt_data_t*, const void*) {
  begin_or_end(static_cast<Endpoint>(endpoint), name_of_wait(kind), Kind::kWait);
}

bool only_tries(int kind) noexcept { return kind == 2 || kind == 4; }  // omp_test_lock may return without the lock

Name name_of_mutex(int kind) noexcept {
  constexpr Name kNamed[] = {kOtherMutex, kLock, kLock, kLock, kLock, kCritical, kAtomic, kOrdered};
  return kind >= 1 && kind <= 7 ? kNamed[kind] : kOtherMutex;
}

void mutex_acquire(int kind, unsigned, unsigned, std::uint64_t, const void*) {
  if (!only_tries(kind)) push(name_of_mutex(kind), Kind::kWait);
}
void mutex_acquired(int kind, std::uint64_t, const void*) {
  if (!only_tries(kind)) pop();
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set_callback = reinterpret_cast<int (*)(int event, ompt_interface_fn_t callback)>(lookup("ompt_set_callback"));
  if (set_callback == nullptr) return 0;  // the runtime then calls nothing
  domain = nvtxDomainCreateA("OpenMP");
  if (domain == nullptr) return 0;  // nobody records
  const char* const kinds[] = {"region", "work", "task", "wait"};
  for (std::uint32_t kind = 0; kind < 4; ++kind) nvtxDomainNameCategoryA(domain, kind + 1, kinds[kind]);
  for (int name = 0; name < kNames; ++name) texts[name] = nvtxDomainRegisterStringA(domain, kTexts[name]);
  const auto set = [set_callback](Event event, auto* callback) { set_callback(event, reinterpret_cast<ompt_interface_fn_t>(callback)); };
  set(kParallelBegin, parallel_begin);
  set(kParallelEnd, parallel_end);
  set(kImplicitTask, implicit_task);
  set(kTaskCreate, task_create);
  set(kTaskSchedule, task_schedule);
  set(kWork, work);
  set(kSyncRegion, sync_region);
  set(kMutexAcquire, mutex_acquire);
  set(kMutexAcquired, mutex_acquired);
  return 1;
}

void finalize(ompt_data_t*) {}

}  // namespace
}  // namespace lanescope::agent::openmp

extern "C" __attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned, const char*) {
  static ompt_start_tool_result_t result{lanescope::agent::openmp::initialize, lanescope::agent::openmp::finalize, {}};
  return &result;
}

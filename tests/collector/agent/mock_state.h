// The parts of the mock: its state, its records (mock_records.cpp), what programs ask of it (mock_work.cpp) and what CUPTI's callers do (mock_cupti.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>

#include <cupti.h>

#include "mock_cupti.h"

namespace lanescope::test::mock_cupti {

// Used by threads of the program and of the tracer at the same time.
struct Mock {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t dropped = 0;
  std::set<int> kinds;
  bool subscribed = false;
  CUpti_CallbackFunc callback = nullptr;
  std::set<CUpti_CallbackId> driver_callbacks;
  std::set<CUpti_CallbackId> runtime_callbacks;
  std::set<CUpti_CallbackId> resource_callbacks;
  bool initialized = false;
  std::set<int> unified_memory;  // kinds of its counters
  bool event_timestamps = false;
  bool has_unfinished = false;
  std::atomic<bool> faults = false;
  bool has_graph = false;               // a graph was launched, and did not come back
  std::uint64_t long_kernel_start = 0;  // 0: it does not run, or was delivered
};
Mock& mock();

// Read the environment.
int number_in(const char* variable, int otherwise);
bool says(const char* variable, const char* what);
CUptiResult answer(const char* what);
void fault_if(const char* when);

// The functions below that take a Mock require the lock.
void give_back(Mock& m);

template <typename Record>
void deliver(Mock& m, CUpti_ActivityKind kind, Record record) {
  if (m.kinds.count(kind) == 0) return;
  record.kind = kind;
  if (m.buffer != nullptr && m.used + sizeof(record) > m.size) give_back(m);
  if (m.buffer == nullptr) {
    std::size_t maximum = 0;
    m.used = 0;
    m.request(&m.buffer, &m.size, &maximum);
    if (m.buffer == nullptr) {
      ++m.dropped;
      return;
    }
  }
  std::memcpy(m.buffer + m.used, &record, sizeof(record));
  m.used += sizeof(record);
}

std::uint64_t realtime_now();
CUpti_ActivityKernel10 kernel(std::uint64_t i, std::uint64_t start, std::uint64_t end);
void deliver_resources(Mock& m);
void deliver_step(Mock& m, std::uint64_t i, std::uint64_t start);
void deliver_long_kernel(Mock& m, std::uint64_t start, std::uint64_t end);
void deliver_unfinished_kernel(Mock& m);
void deliver_graph(Mock& m);
void deliver_usage(Mock& m, CUpti_ActivityMemoryOperationType operation, std::uint64_t address, std::uint64_t time);
void deliver_pool(Mock& m, std::uint64_t time);
void deliver_unified(Mock& m, CUpti_ActivityUnifiedMemoryCounterKind kind, std::uint64_t value, std::uint64_t time);
void deliver_event(Mock& m, std::uint64_t time);

CUcontext sampled_context();
CUcontext other_context();

}  // namespace lanescope::test::mock_cupti

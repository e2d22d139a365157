#include "mock_state.h"

#include <cstdlib>

namespace lanescope::test::mock_cupti {
namespace {

// Uses the stack in steps that do not jump over the page below it.
__attribute__((noinline)) int without_end(volatile int* outer) {
  volatile int here[64] = {*outer};
  return here[0] < 0 ? 0 : without_end(here) + here[1];
}

}  // namespace

Mock& mock() {
  static Mock* instance = new Mock;
  return *instance;
}

int number_in(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

bool says(const char* variable, const char* what) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, what) == 0;
}

CUptiResult answer(const char* what) { return says("MOCK_CUPTI_REFUSES", what) ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_SUCCESS; }

void fault_if(const char* when) {
  if (!says("MOCK_CUPTI_FAULTS", when)) return;
  mock().faults = true;
  volatile int begin = 0;
  if (says("MOCK_CUPTI_FAULTS_BY", "stack")) std::exit(without_end(&begin));
  if (says("MOCK_CUPTI_FAULTS_BY", "abort")) std::abort();
  if (says("MOCK_CUPTI_FAULTS_BY", "trap")) __builtin_trap();
  *reinterpret_cast<volatile int*>(kNowhere) = 1;
}

void give_back(Mock& m) {
  if (m.buffer == nullptr) return;
  std::uint8_t* buffer = m.buffer;
  m.buffer = nullptr;
  m.complete(nullptr, 0, buffer, m.size, m.used);
}

CUcontext sampled_context() { return static_cast<CUcontext>(const_cast<void*>(kContextHandle)); }
CUcontext other_context() { return reinterpret_cast<CUcontext>(reinterpret_cast<std::uintptr_t>(kContextHandle) + 64); }

}  // namespace lanescope::test::mock_cupti

// What is needed of the profiling interface of OpenACC 2.6 (https://www.openacc.org/specification, chapter 5), whose binary form the specification
// fixes. Compilers that bring its header are not needed.
#pragma once

#include <cstddef>

namespace lanescope::agent::openacc {

// Each but the first few is the begin of something; what follows it by one is its end.
enum Event : int {
  kDeviceInitBegin = 1,
  kDeviceShutdownBegin = 3,
  kEnterDataBegin = 10,
  kExitDataBegin = 12,
  kUpdateBegin = 14,
  kComputeConstructBegin = 16,
  kLaunchBegin = 18,
  kUploadBegin = 20,
  kDownloadBegin = 22,
  kWaitBegin = 24,
};

enum class Construct : int { kParallel = 0, kKernels = 1, kSerial = 16 };  // among others

struct ProfileInfo {
  Event event;
  int valid_bytes;  // of this structure: a runtime may know less than it has room for
  int version;
  int device_type;
  int device_number;
  int thread;
  std::ptrdiff_t async;
  std::ptrdiff_t async_queue;
  const char* source_file;  // null: not known
  const char* function;
  int line;  // 0 or less: not known
  int end_line;
  int function_line;
  int function_end_line;
};

struct EventInfo {
  Event event;
  int valid_bytes;
  Construct construct;  // what the event is a part of
  int is_implicit;
  void* of_tool;
  const char* name;   // of the kernel that is launched, or the variable that is copied; null: not known. Other events have none.
  std::size_t bytes;  // that are copied; of launches, the number of gangs
};

struct ApiInfo;

using Callback = void (*)(ProfileInfo*, EventInfo*, ApiInfo*);
enum class Registration : int { kAlways = 0 };
using Register = void (*)(Event event, Callback callback, Registration how);
using LookUp = void (*(*)(const char* name))();

}  // namespace lanescope::agent::openacc

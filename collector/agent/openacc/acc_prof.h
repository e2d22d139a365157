// The used part of the profiling interface of OpenACC 2.6 (https://www.openacc.org/specification, chapter 5), whose binary form the specification fixes. No
// compiler's header is needed.
#pragma once

#include <cstddef>

namespace lanescope::agent::openacc {

// Each, except the first few, is the begin of something; the next number is its end.
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
  int valid_bytes;  // number of bytes of this structure that the runtime has filled
  int version;
  int device_type;
  int device_number;
  int thread;
  std::ptrdiff_t async;
  std::ptrdiff_t async_queue;
  const char* source_file;  // null: unknown
  const char* function;
  int line;  // 0 or less: unknown
  int end_line;
  int function_line;
  int function_end_line;
};

struct EventInfo {
  Event event;
  int valid_bytes;
  Construct construct;  // the construct that the event is part of
  int is_implicit;
  void* of_tool;
  const char* name;   // of the launched kernel, or of the copied variable; null: unknown. Other events have none.
  std::size_t bytes;  // bytes copied; for launches, the number of gangs
};

struct ApiInfo;

using Callback = void (*)(ProfileInfo*, EventInfo*, ApiInfo*);
enum class Registration : int { kAlways = 0 };
using Register = void (*)(Event event, Callback callback, Registration how);
using LookUp = void (*(*)(const char* name))();

}  // namespace lanescope::agent::openacc

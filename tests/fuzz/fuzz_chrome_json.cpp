// Any bytes as a Chrome trace; what is read is exported again in every text format.
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_target.h"
#include "model/export/text_export.h"
#include "model/import/chrome_json.h"

using namespace lanescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0 || write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto trace = import_chrome_json("/proc/self/fd/" + std::to_string(descriptor));
  close(descriptor);
  if (!trace) return 0;
  const auto ignore = [](std::string_view) { return true; };
  if (!export_chrome_json(**trace, ignore) || !export_json(**trace, ignore) || !export_csv(*trace, ignore)) std::abort();
  return 0;
}

std::vector<std::string> valid_inputs() {
  return {
      R"json({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "numSms": 132}], "baseTimeNanoseconds": 1711964646000000000,
"traceEvents": [
{"name": "process_name", "ph": "M", "ts": 1.5, "pid": 9, "tid": 0, "args": {"name": "python \u00e9\ud83d\ude00"}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 100.25, "dur": 4.5, "args": {"correlation": 17}},
{"ph": "X", "cat": "kernel", "name": "void axpy<float>(float*, int)", "pid": 0, "tid": 7, "ts": 110.001, "dur": 3.1, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 17, "registers per thread": 32, "shared memory": 2112, "grid": [564, 2, 1], "block": [128, 1, 4]}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 120, "dur": 2, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 18, "bytes": 4096}},
{"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": -1, "ts": 130, "dur": 2, "args": {"stream": -1, "correlation": 4, "device": 0, "context": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": "9", "ts": 90, "dur": 50},
{"ph": "i", "s": "t", "name": "[memory]", "pid": 9, "tid": 9, "ts": 95, "args": {"Bytes": -4}},
{"ph": "f", "id": 17, "pid": 0, "tid": 7, "ts": 110.001, "cat": "ac2g", "name": "ac2g", "bp": "e"}
], "traceName": "x"})json",
      R"([{"ph":"B","name":"outer","pid":1,"tid":1,"ts":10,"cat":"net"},{"ph":"B","name":"inner","pid":1,"tid":1,"ts":20},{"ph":"E","pid":1,"tid":1,"ts":30},
{"ph":"b","cat":"io","id":"0x1","name":"read","pid":1,"tid":1,"ts":10},{"ph":"e","cat":"io","id":"0x1","pid":1,"tid":2,"ts":20},{"ph":"X","name":"e","pid":"word","tid":"main","ts":1e3,"dur":"7"}])"};
}

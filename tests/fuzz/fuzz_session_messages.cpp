// Requests to a session and its answers, which anything may have written to its socket. The first byte selects how it is read: the options of a start, or
// numbers and texts.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "fuzz_target.h"
#include "options/launch_options.h"
#include "options/start_options.h"
#include "session/message_values.h"

using namespace lanescope;
using namespace lanescope::cli;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const nlohmann::json message = nlohmann::json::parse(data + 1, data + size, nullptr, false);
  if (data[0] % 2 == 0) {
    if (!message.is_object()) return 0;  // the session answers that it did not understand
    StartOptions options;
    const Result<session::CaptureRequest> request = read_start(message, options);
    if (!request && request.error().text.empty()) std::abort();
    return 0;
  }
  for (const char* name : {"pid", "signal", "seconds", "file"}) {
    constexpr std::int64_t kMost = 1'000;
    if (const Result<std::int64_t> number = whole_number_in(message, name, 0, kMost); number && (*number < 0 || *number > kMost)) std::abort();
    if (const Result<int> signal = signal_in(message, name); signal && *signal < 0) std::abort();
    if (const Result<std::int64_t> seconds = whole_seconds_in(message, name); seconds && *seconds < 0) std::abort();
    (void)text_in(message, name);
  }
  return 0;
}

std::vector<std::string> valid_inputs() {
  const auto start = [](const Arguments& arguments) {
    return '\0' + nlohmann::json{{"command", "start"}, {"arguments", arguments}, {"folder", "/tmp"}}.dump();
  };
  return {start({"-o", "busy%n", "--duration=1.5", "-f", "--sample=process-tree", "--stop-on-exit=false"}),
          start({"-c", "nvtx", "--nvtx-capture=step@training", "--capture-range-end=repeat:3", "--export=sqlite,json", "--stats=true"}),
          start({"--gpu-metrics-devices=none", "--cpuctxsw=process-tree", "--sampling-frequency=1000", "--session=a", "--nic-metrics=true"}),
          R"(1{"pid": 4711, "signal": 15, "seconds": 12.75, "file": "/tmp/run.trace", "identity": [1, 2, -3], "exports": ["sqlite"]})"};
}

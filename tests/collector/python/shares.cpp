#include "shares.h"

#include <algorithm>
#include <cmath>

#include "model/trace/load.h"
#include "support/paths.h"

namespace lanescope::test {

cpu::CpuSettings python_sampling(cpu::CallChains chains) {
  cpu::CpuSettings settings;
  settings.samples = cpu::Scope::kProcessTree;
  settings.call_chains = chains;
  settings.python_names = true;
  return settings;
}

std::shared_ptr<const Trace> record_attached(const RunningTarget& target, const std::string& seconds, cpu::CallChains chains) {
  const TemporaryFolder folder;
  session::AttachRequest request;
  request.pid = target.pid();
  request.settings.trace_cuda = false;
  request.settings.cpu = python_sampling(chains);
  request.output = (folder.path() / "x").string();
  request.agent = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib/liblanescope-agent.so";
  auto recording = session::Recording::attach(std::move(request));
  INFO((recording ? "" : recording.error().text));
  REQUIRE(recording);
  target.send(seconds + "\n");
  REQUIRE(target.read_line() == "done");
  (*recording)->stop();
  REQUIRE((*recording)->wait_for(std::chrono::minutes(10)));
  const auto trace = load_trace((*recording)->path());
  REQUIRE(trace);
  return *trace;
}

std::vector<Chain> samples_of_worker(const Trace& trace) {
  std::vector<Chain> most;
  for (ProcessId process = 0; process < trace.processes().size(); ++process)
    if (std::vector<Chain> samples = samples_of_process(trace, process); samples.size() > most.size()) most = std::move(samples);
  return most;
}

void check_share(const std::vector<Chain>& chains) {
  constexpr std::size_t kNamed = 100;  // of a thousand; nearly all, unless all processors are busy
  constexpr double kSamplesOfReading = 8;
  constexpr double kShare = 0.6;
  const std::size_t sixty = count_with(chains, "sixty");
  const std::size_t both = sixty + count_with(chains, "forty");
  REQUIRE(both > kNamed);
  const double deviation = std::sqrt(kShare * (1 - kShare) * kSamplesOfReading / static_cast<double>(both));
  CHECK(std::abs(static_cast<double>(sixty) / static_cast<double>(both) - kShare) < 4 * deviation);
}

bool has_in_order(const Chain& chain, const std::vector<std::string>& functions) {
  auto at = chain.begin();
  for (const std::string& function : functions) {
    at = std::find_if(at, chain.end(), [&](const std::string& name) { return is_called(name, function); });
    if (at == chain.end()) return false;
    ++at;
  }
  return true;
}

}  // namespace lanescope::test

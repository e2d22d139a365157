#include "shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

namespace {

// The standard deviation of the share of sixty() among samples in the order of time. Neighbours are not independent: if all processors are busy, many samples
// use one reading. So it is estimated from how much parts of the recording differ.
double deviation_of_share(const std::vector<Chain>& chains) {
  constexpr std::size_t kParts = 20;
  constexpr double kSamplesOfReading = 4;  // at least, even if parts happen to be alike
  std::vector<double> in_sixty;
  for (const Chain& chain : chains)
    if (has(chain, "sixty") || has(chain, "forty")) in_sixty.push_back(has(chain, "sixty") ? 1 : 0);
  const auto all = static_cast<double>(in_sixty.size());
  const double mean = std::accumulate(in_sixty.begin(), in_sixty.end(), 0.0) / all;
  double squares = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto begin = in_sixty.begin() + static_cast<std::ptrdiff_t>(part * in_sixty.size() / kParts);
    const auto end = in_sixty.begin() + static_cast<std::ptrdiff_t>((part + 1) * in_sixty.size() / kParts);
    const double difference = std::accumulate(begin, end, 0.0) - mean * static_cast<double>(end - begin);
    squares += difference * difference;
  }
  const double by_parts = std::sqrt(squares * kParts / (kParts - 1)) / all;
  return std::max(by_parts, std::sqrt(mean * (1 - mean) * kSamplesOfReading / all));
}

}  // namespace

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
  constexpr std::size_t kNamed = 100;  // out of a thousand; nearly all, unless all processors are busy
  constexpr double kShare = 0.6;
  const std::size_t sixty = count_with(chains, "sixty");
  const std::size_t both = sixty + count_with(chains, "forty");
  REQUIRE(both > kNamed);
  CHECK(std::abs(static_cast<double>(sixty) / static_cast<double>(both) - kShare) < 4 * deviation_of_share(chains));
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

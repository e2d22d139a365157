// The agent's own sources in a program (agent_inside.cpp), which a sanitizer watches if the build has one.
#include <algorithm>
#include <set>

#include "agent_inside_facts.h"
#include "support/catch.h"
#include "test_host.h"

using namespace lanescope;
using namespace lanescope::test;
using channel::RecordType;

namespace {

std::size_t count(const HostedProcess& process, RecordType type, std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(process.records.begin(), process.records.end(), [&](const ReadRecord& each) { return each.record.type == type && each.text == text; }));
}

}  // namespace

TEST_CASE("threads, names, bursts, forks and signals at once: every event of a program with the agent in it arrives") {
  namespace facts = agent_inside;
  TestHost host;
  host.configure = [](channel::Settings& settings) {
    settings.recording = 1;
    settings.trace_nvtx = 1;
    settings.trace_os_runtime = 1;
  };
#if defined(__SANITIZE_THREAD__)
  host.reads = false;  // memory that another process has given back looks as if two threads used it at once
#endif
  REQUIRE(host.run({program("agent_inside").string()}) == 0);
  host.reads = true;
  host.serve();
  REQUIRE(host.processes.size() == 1 + facts::kChildren);
  const HostedProcess& parent = *host.processes[0];
  constexpr std::size_t kThreads = facts::kChurners * facts::kThreads;
  CHECK(count(parent, RecordType::kRangePush, "short") == kThreads * facts::kRanges);
  CHECK(count(parent, RecordType::kOsRuntimeCall, "read") == kThreads * facts::kRanges);
  CHECK(count(parent, RecordType::kMark, "mark 0") == kThreads);
  CHECK(count(parent, RecordType::kRangePush, "burst") == facts::kBursts * facts::kBurst);
#if !defined(__SANITIZE_THREAD__)
  CHECK(count(parent, RecordType::kRangePush, "handler") == facts::kSignals);
#endif
  std::size_t pushes = 0;
  std::size_t pops = 0;
  for (const ReadRecord& each : parent.records) {
    pushes += each.record.type == RecordType::kRangePush ? 1 : 0;
    pops += each.record.type == RecordType::kRangePop ? 1 : 0;
  }
  CHECK(pushes == pops);
  CHECK(parent.memory.header().status.ringless_dropped == 0);
  std::set<std::string> domains;
  for (const ReadRecord& each : parent.metadata)
    if (each.record.type == RecordType::kDomainCreate) CHECK(domains.insert(each.text).second);  // reported once
  CHECK(domains.size() == 6);
  for (std::size_t i = 1; i < host.processes.size(); ++i) CHECK(count(*host.processes[i], RecordType::kRangePush, "child") == facts::kRangesOfChild);
}

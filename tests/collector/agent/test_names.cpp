// Names that the agent keeps, for as many objects as a program likes, which come and go.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include <fcntl.h>

#include "agent/nvtx/kept_names.h"
#include "support/catch.h"
#include "test_host.h"

using namespace lanescope;
using namespace lanescope::test;
using channel::RecordType;

namespace {

struct Named {
  std::vector<ReadRecord> metadata;
  ReadRecord last;
  long milliseconds = 0;  // of processor time
};

Named name(const std::string& what, int count) {
  TestHost host;
  int output[2];
  REQUIRE(pipe2(output, O_CLOEXEC) == 0);
  host.standard_output = output[1];
  REQUIRE(host.run({program("lanescope_program_nvtx_names").string(), what, std::to_string(count)}) == 0);
  close(output[1]);
  char text[32] = {};
  REQUIRE(read(output[0], text, sizeof(text) - 1) > 0);
  close(output[0]);
  const HostedProcess& process = *host.processes.at(0);
  REQUIRE_FALSE(process.records.empty());
  return {process.metadata, process.records.back(), std::atol(text)};
}

std::size_t count_of(const std::vector<ReadRecord>& records, RecordType type) {
  return static_cast<std::size_t>(std::count_if(records.begin(), records.end(), [&](const ReadRecord& each) { return each.record.type == type; }));
}

}  // namespace

TEST_CASE("three hundred thousand names are told, each once, in time that grows with their number alone") {
  constexpr int kMany = 300'000;
  const auto [what, type] = GENERATE(table<std::string, RecordType>(
      {{"threads", RecordType::kThreadName}, {"categories", RecordType::kCategoryName}, {"domains", RecordType::kDomainCreate}}));
  CAPTURE(what);
  const Named named = name(what, kMany);
  CHECK(count_of(named.metadata, type) == kMany);
  CHECK(named.metadata.back().text == "the name of number " + std::to_string(kMany - 1));
  if (what == "domains") CHECK(named.last.record.domain == named.metadata.back().record.domain);
  // Less than a microsecond per name; if each name were compared with all before, it would take more than a minute.
  CHECK(named.milliseconds < 10'000);
}

TEST_CASE("a string that is registered again and again takes room once") {
  const Named named = name("the-same", 3'000'000);
  CHECK(named.last.text == "a step");
  CHECK(count_of(named.metadata, RecordType::kDiagnostic) == 0);
}

TEST_CASE("where there is no room for more strings, events say so, and the user is told once") {
  const Named named = name("strings", 2'000'000);
  CHECK(named.last.text == "(registered string without room)");
  CHECK(count_of(named.metadata, RecordType::kDiagnostic) == 1);
}

TEST_CASE("where there is no room for more domains, events are in one that says so, and the user is told once") {
  const Named named = name("domains", 1'000'000);
  const auto domain = std::find_if(named.metadata.begin(), named.metadata.end(), [&](const ReadRecord& each) {
    return each.record.type == RecordType::kDomainCreate && each.record.domain == named.last.record.domain;
  });
  REQUIRE(domain != named.metadata.end());
  CHECK(domain->text == "(domains without room)");
  CHECK(count_of(named.metadata, RecordType::kDiagnostic) == 1);
}

TEST_CASE("of names by key, the newest are kept, as a list that is searched from its begin keeps them") {
  using Kept = agent::nvtx::KeptNames<std::uint32_t>;
  const auto kept = std::make_unique<Kept>(8u << 20);
  std::deque<std::uint32_t> order;  // oldest first
  std::map<std::uint32_t, std::string> names;
  std::uint32_t random = 1;
  for (int i = 0; i < 60'000; ++i) {
    random = random * 1'664'525 + 1'013'904'223;
    const std::uint32_t key = (random >> 8) % 40'000;
    const std::string text(random % 7 == 0 ? 0 : random % 90, static_cast<char>('a' + random % 26));
    const bool is_known = names.contains(key);
    const bool is_new = !is_known || names[key] != text;
    REQUIRE(kept->keep(key, text) == is_new);
    if (!is_known) order.push_back(key);
    names[key] = text;
    if (order.size() > Kept::kMost) {
      names.erase(order.front());
      order.pop_front();
    }
  }
  for (std::uint32_t key = 0; key < 40'000; ++key) REQUIRE(kept->find(key) == (names.contains(key) ? names[key] : std::string()));
  std::size_t visited = 0;
  kept->each([&](std::uint32_t key, std::string_view text) {
    ++visited;
    REQUIRE(names.at(key) == text);
  });
  CHECK(visited == static_cast<std::size_t>(std::count_if(names.begin(), names.end(), [](const auto& each) { return !each.second.empty(); })));
}

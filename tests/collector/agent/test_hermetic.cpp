// What the agent brings into a target, as readelf and nm see it.
#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>

#include <dlfcn.h>

#include "support/catch.h"
#include "support/paths.h"

namespace {

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  while (const std::size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), bytes);
  REQUIRE(pclose(pipe) == 0);
  return output;
}

const std::string kAgent = std::string(LANESCOPE_BINARY_DIR) + "/lib/liblanescope-agent.so";

}  // namespace

TEST_CASE("the agent exports its entry points, functions of the C library that it stands before, and nothing else") {
  std::istringstream lines(output_of("nm -D --defined-only '" + kAgent + "'"));
  std::set<std::string> entry_points;
  for (std::string address, type, name; lines >> address >> type >> name;)
    if (type != "A" && dlsym(RTLD_DEFAULT, name.c_str()) == nullptr) entry_points.insert(name);
  CHECK(entry_points ==
        std::set<std::string>{"InitializeInjection", "InitializeInjectionNvtx", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                              "lanescope_agent_attach"});
}

TEST_CASE("the agent needs the C library alone") {
  std::istringstream lines(output_of("readelf -d '" + kAgent + "'"));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    const std::string name = line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1);
    CHECK((name == "libc.so.6" || name == "ld-linux-x86-64.so.2" || name == "libm.so.6" || name == "libdl.so.2" ||
           name == "libpthread.so.0"));
  }
}

TEST_CASE("the agent loads with the C library of 2018") {
  constexpr int kNewestMinor = 27;  // glibc 2.27: docs/user-guide.md promises it
  std::istringstream words(output_of("objdump -T '" + kAgent + "'"));
  const std::string prefix = "GLIBC_2.";
  for (std::string word; words >> word;)
    if (const std::size_t at = word.find(prefix); at != std::string::npos)
      CHECK(std::stoi(word.substr(at + prefix.size())) <= kNewestMinor);
}

TEST_CASE("the agent stays in the process that loaded it, and takes little thread-local memory") {
  CHECK_THAT(output_of("readelf -d '" + kAgent + "'"), contains_text("NODELETE"));
  std::istringstream lines(output_of("readelf -lW '" + kAgent + "'"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string type, offset, virtual_address, physical_address, file_size, memory_size;
    fields >> type >> offset >> virtual_address >> physical_address >> file_size >> memory_size;
    if (type == "TLS") CHECK(std::stoul(memory_size, nullptr, 16) <= 64);  // glibc keeps 1664 bytes for all libraries loaded late
  }
}

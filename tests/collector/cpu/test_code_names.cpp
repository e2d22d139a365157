// Names and lines of code, compared with binutils' addr2line.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "code/code_names.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::cpu;

namespace {

// What a command prints, line by line.
std::vector<std::string> output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<std::string> lines;
  char line[4096];
  while (pipe != nullptr && std::fgets(line, sizeof(line), pipe.get()) != nullptr) lines.emplace_back(line, std::strcspn(line, "\n"));
  return lines;
}

// "file.cpp:12", without folders, and without what addr2line adds if a line has several branches.
std::string place(const std::string& file, std::uint32_t line) { return std::filesystem::path(file).filename().string() + ":" + std::to_string(line); }
std::string place(const std::string& text) {
  const std::string whole = text.substr(0, text.find(" (discriminator"));
  const std::size_t colon = whole.rfind(':');
  return place(whole.substr(0, colon), static_cast<std::uint32_t>(std::atoi(whole.c_str() + colon + 1)));
}

}  // namespace

// A C function without debug information; as a mangled name, its name would be the type float*.
asm(".text\n.globl Pf\n.type Pf, %function\nPf: ret\n.size Pf, .-Pf\n");
extern "C" void Pf();

TEST_CASE("a function of C whose name would be a mangled type keeps it") {
  if (!have_code_names()) {
    WARN("No libdw in this build: not tested.");
    return;
  }
  Dl_info place = {};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&Pf), &place) != 0);
  ModuleTable modules;
  const Module& module = *modules.find(std::filesystem::read_symlink("/proc/self/exe").string(), 0, getpid());
  CodeNames names({});
  const std::vector<CodeName> found = names.find(module, reinterpret_cast<std::uintptr_t>(&Pf) - reinterpret_cast<std::uintptr_t>(place.dli_fbase));
  REQUIRE(found.size() == 1);
  CHECK(found.front().function == "Pf");
}

TEST_CASE("whoever no longer waits for a name goes on at once, and finds it later") {
  if (!have_code_names()) {
    WARN("No libdw in this build: not tested.");
    return;
  }
  const test::TemporaryFolder folder;
  const std::filesystem::path slow = folder.path() / "slow-code-names", go = folder.path() / "go", begun = folder.path() / "begun";
  std::ofstream(slow) << "#!/bin/sh\necho >>" << begun.string() << "\nwhile [ ! -e " << go.string() << " ]; do sleep 0.02; done\nexec "
                      << test::program("lanescope-code-names").string() << " \"$@\"\n";
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  setenv("LANESCOPE_CODE_NAMES", slow.c_str(), 1);
  Dl_info place = {};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&Pf), &place) != 0);
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(&Pf) - reinterpret_cast<std::uintptr_t>(place.dli_fbase);
  ModuleTable modules;
  const Module& module = *modules.find(std::filesystem::read_symlink("/proc/self/exe").string(), 0, getpid());
  CodeNames names({});
  for (int i = 0; i < 2; ++i) CHECK(names.find(module, address, [] { return false; }).empty());  // it would not return: nobody answers yet
  std::ofstream(go).flush();
  const std::vector<CodeName> found = names.find(module, address);
  unsetenv("LANESCOPE_CODE_NAMES");
  REQUIRE(found.size() == 1);
  CHECK(found.front().function == "Pf");
  CHECK(std::filesystem::file_size(begun) == 1);  // the reader that was left to itself, and no other
  CHECK(names.take_notes().empty());
}

TEST_CASE("code stands in the functions and lines that addr2line finds, inlined ones too") {
  if (!have_code_names() || output_of("addr2line --version 2>/dev/null").empty()) {
    WARN("No libdw in this build, or no addr2line here: not tested.");
    return;
  }
  const std::string program = test::program("lanescope_program_cpu_work").string();
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> addresses;
  for (const std::string& line : output_of("nm -C --defined-only --print-size " + program)) {
    std::istringstream words(line);
    std::uint64_t begin = 0, size = 0;
    char kind = 0;
    std::string name;
    if (!(words >> std::hex >> begin >> size >> kind) || (kind != 't' && kind != 'T') || size == 0) continue;
    for (int i = 0; i < 4; ++i) addresses.push_back(begin + random() % size);
  }
  REQUIRE(addresses.size() > 100);

  ModuleTable modules;
  const Module& module = *modules.find(program, 0, getpid());
  CodeNames names({});
  std::size_t inlined = 0;
  for (const std::uint64_t address : addresses) {
    std::ostringstream command;
    command << "addr2line -i -e " << program << " " << std::hex << address;
    std::vector<std::string> expected;
    for (const std::string& line : output_of(command.str()))
      if (const std::string known = place(line); !line.starts_with("??") && !known.ends_with(":0")) expected.push_back(known);
    std::vector<std::string> found;
    for (const CodeName& function : names.find(module, address))
      if (!function.source_file.empty()) found.push_back(place(function.source_file, function.source_line));
    CAPTURE(command.str());
    CHECK(found == expected);
    inlined += found.size() > 1 ? 1 : 0;
  }
  CHECK(inlined > 10);
}

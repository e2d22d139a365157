// Files that are made to harm a reader that looks for names in them.
#include <elf.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "code/code_names.h"
#include "code_names/messages.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::cpu;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kCode = 0x1000;  // address and place of the code
constexpr std::uint64_t kFunctionBytes = 0x100;

// A file of code whose n-th function has the n-th name.
void write_file(const fs::path& path, const std::vector<std::string>& names) {
  std::string strings(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = kCode + i * kFunctionBytes;
    symbol.st_size = kFunctionBytes;
    symbols.push_back(symbol);
    strings += names[i] + '\0';
  }
  const std::uint64_t code_bytes = names.size() * kFunctionBytes;
  const std::uint64_t symbols_at = kCode + code_bytes;
  const std::uint64_t strings_at = symbols_at + symbols.size() * sizeof(Elf64_Sym);
  const std::uint64_t sections_at = (strings_at + strings.size() + 7) & ~std::uint64_t{7};
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(header);
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shoff = sections_at;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  const Elf64_Phdr segment{PT_LOAD, PF_R | PF_X, 0, 0, 0, kCode + code_bytes, kCode + code_bytes, 0x1000};
  Elf64_Shdr sections[4]{};
  sections[1] = {0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kCode, kCode, code_bytes, 0, 0, 16, 0};
  sections[2] = {0, SHT_SYMTAB, 0, 0, symbols_at, symbols.size() * sizeof(Elf64_Sym), 3, 1, 8, sizeof(Elf64_Sym)};
  sections[3] = {0, SHT_STRTAB, 0, 0, strings_at, strings.size(), 0, 0, 1, 0};
  std::ofstream file(path, std::ios::binary);
  const auto put = [&file](std::uint64_t at, const void* data, std::size_t size) {
    file.seekp(static_cast<std::streamoff>(at));
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  };
  put(0, &header, sizeof(header));
  put(sizeof(header), &segment, sizeof(segment));
  put(symbols_at, symbols.data(), symbols.size() * sizeof(Elf64_Sym));
  put(strings_at, strings.data(), strings.size());
  put(sections_at, sections, sizeof(sections));
}

// A short mangled name whose readable form gets four times as long with each level: A<A<A<int, ...>, ...>, ...>.
std::string exploding_name(int levels) {
  std::string name = "_Z1f1AIiiiiE";  // S_ is A, S0_ is A<int, int, int, int>
  constexpr const char* kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int level = 0; level < levels; ++level) {
    const std::string before = std::string("S") + kDigits[level] + "_";
    name += "S_I" + before + before + before + before + "E";
  }
  return name;
}

std::uint64_t own_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stoull(line.substr(9)) * 1024;
  return 0;
}

// The user that our youngest child runs as.
uid_t reader_user() {
  uid_t user = static_cast<uid_t>(-1);
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (pid_t child = 0; children >> child;) {
    std::ifstream status("/proc/" + std::to_string(child) + "/status");
    std::string name;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:")) name = line.substr(6);
      if (line.starts_with("Uid:") && code_names::kProgramName.starts_with(name)) user = static_cast<uid_t>(std::stoul(line.substr(5)));
    }
  }
  return user;
}

std::string name_at(CodeNames& names, const Module& module, std::size_t function) {
  const std::vector<CodeName> found = names.find(module, kCode + function * kFunctionBytes + 5);
  return found.empty() ? "" : found.front().function;
}

}  // namespace

TEST_CASE("a name that would take gigabytes to say costs that name, and no memory of ours") {
  if (!have_code_names()) return;
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "program";
  write_file(path, {"before", exploding_name(24), "_Z5afteri"});
  ModuleTable modules;
  const Module& module = *modules.find(path.string(), 0, getpid());
  REQUIRE(module.segments.size() == 1);
  CodeNames names({});
  const std::uint64_t memory = own_memory();
  CHECK(name_at(names, module, 0) == "before");
  CHECK(name_at(names, module, 1).size() <= code_names::kMaximumText);
  CHECK(name_at(names, module, 2) == "after(int)");
  CHECK(own_memory() < memory + (64u << 20));
}

TEST_CASE("a file of another user is read with no rights, and one of ours with ours") {
  if (!have_code_names()) return;
  if (geteuid() != 0) {
    WARN("Only root has rights to give up: not tested.");
    return;
  }
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "program";
  write_file(path, {"one"});
  constexpr uid_t kNobody = 65534;
  const uid_t owner = GENERATE(uid_t{0}, uid_t{1000});
  REQUIRE(chown(path.c_str(), owner, owner) == 0);
  fs::permissions(path, fs::perms(0644));
  struct stat facts {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  ModuleTable modules;
  const Module& module = *modules.find(path.string(), facts.st_ino, getpid());
  CodeNames names({});
  CHECK(name_at(names, module, 0) == "one");
  CHECK(reader_user() == (owner == 0 ? 0 : kNobody));
}

TEST_CASE("names are found where the limit of stacks is 64 KiB") {
  if (!have_code_names()) return;
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "program";
  const std::string deep = "_Z1f" + std::string(200, 'P') + "i";  // 200 pointers: the demangler calls itself for each
  write_file(path, {deep});
  ModuleTable modules;
  const Module& module = *modules.find(path.string(), 0, getpid());
  rlimit usual{};
  REQUIRE(getrlimit(RLIMIT_STACK, &usual) == 0);
  const rlimit low{64u << 10, usual.rlim_max};
  std::string name;
  std::thread([&] {  // its own stack has the size that it has, whatever the limit says
    CodeNames names({});
    setrlimit(RLIMIT_STACK, &low);
    name = name_at(names, module, 0);
    setrlimit(RLIMIT_STACK, &usual);
  })
      .join();
  CHECK(name == "f(int" + std::string(200, '*') + ")");
}

TEST_CASE("a reader that is ended is begun anew") {
  if (!have_code_names()) return;
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "program";
  write_file(path, {exploding_name(30), exploding_name(31), exploding_name(32), exploding_name(33), "last"});
  ModuleTable modules;
  const Module& module = *modules.find(path.string(), 0, getpid());
  CodeNames names({});
  for (std::size_t i = 0; i < 5; ++i) CHECK(name_at(names, module, i).size() <= code_names::kMaximumText);
  std::string notes;
  for (const std::string& note : names.take_notes()) notes += note;
  CHECK_THAT(notes, contains_text("program has no names: to find them out took too much time or memory."));
}

TEST_CASE("what a reader answers is not believed") {
  using code_names::packed;
  using code_names::unpacked;
  const std::vector<code_names::CodeName> names{{"f", "a.cpp", 7}, {"", "", 0}};
  const std::vector<std::byte> sound = packed(names);
  const auto same = unpacked(sound);
  REQUIRE(same);
  REQUIRE(same->size() == 2);
  CHECK((*same)[0].function == "f");
  CHECK((*same)[0].source_line == 7);
  for (std::size_t size = 0; size < sound.size(); ++size) CHECK_FALSE(unpacked(std::span(sound).first(size)));
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::vector<std::byte> changed = sound;
    changed[at] = std::byte{0xff};
    if (const auto read = unpacked(changed)) CHECK(read->size() <= 2);
  }
}

// By whom the file of an interpreter is read.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "code_names/reader.h"
#include "collector/channel/file_descriptor.h"
#include "interpreter.h"
#include "interpreter_message.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::python;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kNone = std::numeric_limits<uid_t>::max(), kSomebody = 1000, kNobody = 65534;

// The user that our child of this name runs as; kNone if there is no such child.
uid_t reader_user() {
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (pid_t child = 0; children >> child;) {
    std::ifstream status("/proc/" + std::to_string(child) + "/status");
    std::string name;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:")) name = line.substr(6);
      if (line.starts_with("Uid:") && code_names::kProgramName.starts_with(name)) return static_cast<uid_t>(std::stoul(line.substr(5)));
    }
  }
  return kNone;
}

// A file that looks like CPython's library, mapped into this process.
class MappedLibrary {
 public:
  MappedLibrary(uid_t owner, fs::perms rights) : path_(folder_.path() / "libpython3.12.so") {
    fs::copy_file(LANESCOPE_SPLIT_LOOP, path_);
    if (chown(path_.c_str(), owner, owner) != 0) std::abort();
    fs::permissions(path_, rights);
    const channel::FileDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    place_ = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (place_ == MAP_FAILED) std::abort();
  }
  ~MappedLibrary() { munmap(place_, kBytes); }
  MappedLibrary(const MappedLibrary&) = delete;
  MappedLibrary& operator=(const MappedLibrary&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(place_); }

 private:
  static constexpr std::size_t kBytes = 4096;
  test::TemporaryFolder folder_;
  fs::path path_;
  void* place_ = nullptr;
};

InterpreterFile read(const fs::path& path) { return read_interpreter_file(channel::FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)).get()); }

// Sets a variable of the environment for a while.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("root reads its own interpreters itself, and those that others can write with no rights") {
  if (geteuid() != 0) {
    WARN("Only root has rights to give up: not tested.");
    return;
  }
  if (!fs::exists(code_names::program_path())) {
    WARN("This build has no lanescope-code-names: not tested.");
    return;
  }
  struct Case {
    uid_t owner;
    int rights;
    uid_t reader;
  };
  const auto [owner, rights, reader] = GENERATE(Case{0, 0755, kNone}, Case{0, 0775, kNobody}, Case{kSomebody, 0755, kNobody}, Case{kSomebody, 0700, kNobody});
  CAPTURE(owner, rights);
  const MappedLibrary library(owner, fs::perms(rights));
  const InterpreterFile known = read(library.path());
  REQUIRE(known.is_readable);
  REQUIRE(known.runtime != 0);
  InterpreterFinder finder;
  ProcessMemory memory(getpid());
  const InterpreterSearch search = finder.find(getpid(), memory);
  CHECK(reader_user() == reader);
  REQUIRE(search.found);
  const std::uint64_t bias = library.address() - known.start;
  CHECK(search.found->runtime == bias + known.runtime);
  REQUIRE(search.found->loop.size() == known.loop.size());
  for (std::size_t i = 0; i < known.loop.size(); ++i) CHECK(search.found->loop[i].begin == bias + known.loop[i].begin);
}

TEST_CASE("root reads no interpreter of another user if there is nobody to read it") {
  if (geteuid() != 0) {
    WARN("Only root has rights to give up: not tested.");
    return;
  }
  const Variable variable("LANESCOPE_CODE_NAMES", "/bin/false");
  const MappedLibrary library(kSomebody, fs::perms(0755));
  InterpreterFinder finder;
  ProcessMemory memory(getpid());
  const InterpreterSearch search = finder.find(getpid(), memory);
  CHECK_FALSE(search.found);
  CHECK(search.refusal == library.path().string() + ": the file can't be read");
}

TEST_CASE("what is said of an interpreter's file is not believed") {
  const InterpreterFile file{true, 1, 2, 3, {{4, 5}, {6, 7}}};
  InterpreterMessage message = packed(file);
  const auto unpacked = [&message] { return unpacked_interpreter(std::as_bytes(std::span(&message, 1))); };
  const auto same = unpacked();
  REQUIRE(same);
  CHECK((same->is_readable && same->start == 1 && same->runtime == 2 && same->version == 3));
  REQUIRE(same->loop.size() == 2);
  CHECK(same->loop[1].end == 7);
  CHECK_FALSE(unpacked_interpreter(std::as_bytes(std::span(&message, 1)).first(sizeof(message) - 1)));
  message.parts = kMostLoopParts + 1;
  CHECK_FALSE(unpacked());
  message.parts = 0;
  message.is_readable = 2;
  CHECK_FALSE(unpacked());
}
